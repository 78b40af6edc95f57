//! Launching programs: arguments become bytes, bytes become parameters.

use crate::{
    driver::{Driver, Launch, Stream},
    error::Result,
    kernels::Loaded,
};
use cupric_codegen::{Argument, Program};
use smallvec::SmallVec;
use std::{ffi::c_void, sync::Arc};

/// The addresses that a program's arguments count from.
pub(crate) struct Places<'a> {
    pub(crate) reads: &'a [u64],
    pub(crate) writes: &'a [u64],
    pub(crate) workspace: u64,
    pub(crate) failure: u64,
}

/// Launches a program's kernels, which are loaded.
///
/// # Safety
/// The addresses are those that the program was planned for, of memory that stays allocated until the work has ended and
/// that no other work races for.
pub(crate) unsafe fn launch_program(
    driver: &dyn Driver,
    stream: Stream,
    program: &Program,
    loaded: &[Arc<Loaded>],
    places: &Places<'_>,
) -> Result<()> {
    for (step, kernel) in program.launches.iter().zip(loaded) {
        let launch = Launch { grid: step.grid, block: step.block, shared_bytes: step.shared, stream };
        let mut parameters = Parameters::of(&step.arguments, places);
        // SAFETY: the parameters are those that the kernel's text declares; for memory the caller vouches.
        unsafe { driver.launch(kernel.function(driver, step.shared)?, &launch, &mut parameters.pointers()) }?;
    }
    Ok(())
}

/// Whether a kernel of the program may report a failure.
pub(crate) fn may_fail(program: &Program) -> bool {
    program.launches.iter().any(|launch| launch.arguments.contains(&Argument::Failure))
}

/// The bytes of a kernel's parameters, each beginning at a word.
pub(crate) struct Parameters {
    words: SmallVec<[u64; 48]>,
    starts: SmallVec<[usize; 16]>,
}

impl Parameters {
    fn of(arguments: &[Argument], places: &Places<'_>) -> Parameters {
        let mut parameters = Parameters { words: SmallVec::new(), starts: SmallVec::new() };
        for argument in arguments {
            match argument {
                Argument::Read { index, offset } => parameters.address(places.reads[*index], *offset),
                Argument::Write { index, offset } => parameters.address(places.writes[*index], *offset),
                Argument::Workspace { offset } => parameters.address(places.workspace, *offset),
                Argument::Failure => parameters.address(places.failure, 0),
                Argument::Bits(bytes) => parameters.bytes(bytes),
            }
        }
        parameters
    }

    /// Parameters given as their bytes.
    pub(crate) fn from_bytes<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Parameters {
        let mut parameters = Parameters { words: SmallVec::new(), starts: SmallVec::new() };
        values.into_iter().for_each(|value| parameters.bytes(value));
        parameters
    }

    fn address(&mut self, base: u64, offset: usize) {
        self.starts.push(self.words.len());
        self.words.push(base + offset as u64);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.starts.push(self.words.len());
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.words.push(u64::from_ne_bytes(word));
        }
    }

    /// A pointer to each parameter, as the driver wants them.
    pub(crate) fn pointers(&mut self) -> SmallVec<[*mut c_void; 16]> {
        // An empty structure takes no word, and may be the last.
        self.words.push(0);
        let words = self.words.as_mut_ptr();
        self.starts.iter().map(|&start| words.wrapping_add(start).cast()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_addresses_and_bytes() {
        let places = Places { reads: &[1000, 2000], writes: &[3000], workspace: 4000, failure: 5000 };
        let arguments = [
            Argument::Read { index: 1, offset: 8 },
            Argument::Bits(SmallVec::from_slice(&[1, 2, 3])),
            Argument::Write { index: 0, offset: 0 },
            Argument::Bits(SmallVec::from_vec((0..20).collect())),
            Argument::Workspace { offset: 256 },
            Argument::Failure,
        ];
        let mut parameters = Parameters::of(&arguments, &places);
        let pointers = parameters.pointers();
        // SAFETY: every parameter begins at a word of the list.
        let words: Vec<u64> = pointers.iter().map(|pointer| unsafe { *pointer.cast::<u64>() }).collect();
        assert_eq!(words, [2008, 0x03_0201, 3000, 0x0706_0504_0302_0100, 4256, 5000]);
        // SAFETY: the fourth parameter has 20 bytes.
        let bytes = unsafe { std::slice::from_raw_parts(pointers[3].cast::<u8>(), 20) };
        assert_eq!(bytes, (0..20).collect::<Vec<u8>>());
    }
}
