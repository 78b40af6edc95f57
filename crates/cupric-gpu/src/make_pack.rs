//! Making a pack: kernels, grouped into modules, compiled in several threads.

use crate::{
    checksum::checksum,
    compiler::compile_builtin,
    error::Result,
    lock,
    nvrtc::{Arch, Nvrtc},
    pack::PackBuilder,
};
use cupric_codegen::Kernel;
use std::sync::{Arc, Mutex};

/// Large modules share the compiler's start, small ones load quickly.
const KERNELS_OF_MODULE: usize = 24;

/// A hash of all that a pack is made from.
#[must_use]
pub fn pack_content(kernels: &[Arc<Kernel>], arch: Arch, version: (i32, i32)) -> u128 {
    let mut words: Vec<u8> = format!("{arch:?} {version:?} {KERNELS_OF_MODULE}").into_bytes();
    words.extend(kernels.iter().flat_map(|kernel| kernel.key.to_le_bytes()));
    let first = checksum(&words);
    words.extend(first.to_le_bytes());
    u128::from(first) << 64 | u128::from(checksum(&words))
}

/// Compiles kernels and gives the bytes of a pack; `progress` is told how many modules of how many are done.
///
/// # Errors
/// When a kernel does not compile.
pub fn make_pack(
    nvrtc: &Nvrtc,
    arch: Arch,
    kernels: &[Arc<Kernel>],
    threads: usize,
    progress: impl Fn(usize, usize) + Sync,
) -> Result<Vec<u8>> {
    let groups: Vec<&[Arc<Kernel>]> = kernels.chunks(KERNELS_OF_MODULE).collect();
    let work = Mutex::new(groups.iter().enumerate());
    let images = Mutex::new(Vec::new());
    let compile = || -> Result<()> {
        loop {
            // Bound, so that the lock is not held while compiling.
            let next = lock(&work).next();
            let Some((index, group)) = next else { return Ok(()) };
            let image = compile_builtin(nvrtc, arch, &format!("module_{index}"), &module_text(group))?;
            let mut images = lock(&images);
            images.push((index, image));
            progress(images.len(), groups.len());
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.max(1)).map(|_| scope.spawn(compile)).collect();
        let mine = compile();
        others.into_iter().map(|other| other.join().expect("compiling does not panic")).fold(mine, Result::and)
    })?;
    let mut images = std::mem::take(&mut *lock(&images));
    images.sort_by_key(|(index, _)| *index);
    let mut builder = PackBuilder::new(arch);
    for (group, (_, image)) in groups.iter().zip(images) {
        builder.add(&image, group.iter().map(|kernel| (kernel.key, kernel.name.clone())))?;
    }
    Ok(builder.finish(pack_content(kernels, arch, nvrtc.version())))
}

/// Kernels side by side: each carries its own prelude, in a namespace of its own.
fn module_text(kernels: &[Arc<Kernel>]) -> String {
    let spaced =
        |(index, kernel): (usize, &Arc<Kernel>)| format!("namespace kernel_{index} {{\n{}\n}}\n", kernel.source);
    kernels.iter().enumerate().map(spaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::GpuError, pack::Pack};

    fn kernel(key: u128, name: &str) -> Arc<Kernel> {
        let source = format!(
            "struct Shape {{ int n; }};\nextern \"C\" __global__ void {name}(int* a, Shape s) {{ a[0] = s.n; }}\n"
        );
        Arc::new(Kernel { key, name: name.to_owned(), source })
    }

    #[test]
    fn the_content_follows_kernels_and_architecture() {
        let kernels = [kernel(1, "a"), kernel(2, "b")];
        let content = pack_content(&kernels, Arch::Sm(90), (12, 0));
        assert_eq!(content, pack_content(&kernels, Arch::Sm(90), (12, 0)));
        assert_ne!(content, pack_content(&kernels[..1], Arch::Sm(90), (12, 0)));
        assert_ne!(content, pack_content(&kernels, Arch::Sm(80), (12, 0)));
    }

    #[test]
    fn kernels_with_the_same_types_share_a_module() {
        let nvrtc = match Nvrtc::open(&[]) {
            Ok(nvrtc) => nvrtc,
            Err(error) => {
                assert!(matches!(error, GpuError::Library { .. }), "{error}");
                return println!("skipped: {error}");
            }
        };
        let kernels: Vec<_> = (0..30).map(|index| kernel(index, &format!("kernel_of_{index}"))).collect();
        let bytes = make_pack(&nvrtc, Arch::Sm(90), &kernels, 2, |_, _| {}).unwrap();
        let pack = Pack::from_bytes(bytes).unwrap();
        assert_eq!((pack.modules(), pack.kernels()), (2, 30));
        let entry = pack.find(29).unwrap();
        assert_eq!((entry.module, entry.name), (1, "kernel_of_29"));
        assert!(pack.module(1).unwrap().starts_with(b"\x7fELF"));
    }
}
