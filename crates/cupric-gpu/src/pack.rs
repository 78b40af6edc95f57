//! The pack: kernels compiled ahead, one file for each architecture.
//!
//! A header, the compressed modules, then an index that is searched where it lies. All numbers are little-endian.
//!
//! ```text
//! header   magic 8 | content u128 | index offset u64 | index length u64 | index checksum u64
//! index    architecture kind u32, number u32 | module count u32 | kernel count u32
//!          modules: offset u64, packed length u64, length u64, checksum u64
//!          kernels, by key: key u128, module u32, name offset u32, name length u32
//!          names
//! ```

use crate::{
    checksum::checksum,
    error::{GpuError, Result},
    nvrtc::Arch,
};
use std::{borrow::Cow, collections::BTreeMap, fs::File, os::unix::fs::FileExt, path::Path};

const MAGIC: &[u8; 8] = b"CUPRICP1";
const HEADER: usize = 48;
const COUNTS: usize = 16;
const MODULE: usize = 32;
const KERNEL: usize = 28;
/// Of 0 to 10: the best that costs no more time to unpack.
const LEVEL: u8 = 9;

/// Where a kernel is: its module and its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The module's index.
    pub module: usize,
    /// The kernel's name.
    pub name: &'a str,
}

/// Makes a pack.
#[derive(Debug)]
pub struct PackBuilder {
    arch: Arch,
    modules: Vec<PackedModule>,
    kernels: BTreeMap<u128, (u32, String)>,
}

#[derive(Debug)]
struct PackedModule {
    packed: Vec<u8>,
    length: u64,
    checksum: u64,
}

impl PackBuilder {
    /// An empty pack for one architecture.
    pub fn new(arch: Arch) -> Self {
        Self { arch, modules: Vec::new(), kernels: BTreeMap::new() }
    }

    /// Adds a module and its kernels, each with a key and its name there. Gives the module's index.
    ///
    /// # Errors
    /// When a key is in the pack already.
    pub fn add(&mut self, image: &[u8], kernels: impl IntoIterator<Item = (u128, String)>) -> Result<usize> {
        let module = self.modules.len();
        for (key, name) in kernels {
            if let Some((_, other)) = self.kernels.insert(key, (module as u32, name.clone())) {
                return Err(GpuError::Unsupported(format!("kernels {other} and {name} have the same key {key:032x}")));
            }
        }
        self.modules.push(PackedModule {
            packed: miniz_oxide::deflate::compress_to_vec(image, LEVEL),
            length: image.len() as u64,
            checksum: checksum(image),
        });
        Ok(module)
    }

    /// The file's bytes. `content` is a hash of what the kernels were made from, by which [`Pack::content`] tells whether to make it again.
    pub fn finish(&self, content: u128) -> Vec<u8> {
        let mut body = vec![0; HEADER];
        let mut index = self.counts();
        for module in &self.modules {
            for number in [body.len() as u64, module.packed.len() as u64, module.length, module.checksum] {
                index.extend(number.to_le_bytes());
            }
            body.extend(&module.packed);
        }
        self.add_kernels(&mut index);
        let mut header = Vec::with_capacity(HEADER);
        header.extend(MAGIC);
        header.extend(content.to_le_bytes());
        for number in [body.len() as u64, index.len() as u64, checksum(&index)] {
            header.extend(number.to_le_bytes());
        }
        body[..HEADER].copy_from_slice(&header);
        body.extend(index);
        body
    }

    fn counts(&self) -> Vec<u8> {
        let (kind, number) = match self.arch {
            Arch::Sm(number) => (0, number),
            Arch::Compute(number) => (1, number),
        };
        let counts = [kind, number, self.modules.len() as u32, self.kernels.len() as u32];
        counts.iter().flat_map(|count| count.to_le_bytes()).collect()
    }

    fn add_kernels(&self, index: &mut Vec<u8>) {
        let mut names: Vec<u8> = Vec::new();
        for (key, (module, name)) in &self.kernels {
            index.extend(key.to_le_bytes());
            for number in [*module, names.len() as u32, name.len() as u32] {
                index.extend(number.to_le_bytes());
            }
            names.extend(name.as_bytes());
        }
        index.extend(names);
    }
}

/// An open pack. Only its index is in memory; a module is read and unpacked when it is asked for.
#[derive(Debug)]
pub struct Pack {
    data: Data,
    index: Vec<u8>,
    arch: Arch,
    modules: usize,
    kernels: usize,
}

#[derive(Debug)]
enum Data {
    Memory(Cow<'static, [u8]>),
    File(File),
}

impl Data {
    fn read(&self, offset: u64, length: u64) -> Option<Cow<'_, [u8]>> {
        let length = usize::try_from(length).ok()?;
        match self {
            Self::Memory(bytes) => {
                let start = usize::try_from(offset).ok()?;
                bytes.get(start..start.checked_add(length)?).map(Cow::Borrowed)
            }
            Self::File(file) => {
                // A damaged length must not ask for memory that the file could never fill.
                if offset.checked_add(length as u64)? > file.metadata().ok()?.len() {
                    return None;
                }
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, offset).ok()?;
                Some(Cow::Owned(bytes))
            }
        }
    }
}

impl Pack {
    /// What the kernels of the pack in a file were made from hashes to this; `None` where there is no pack.
    pub fn content(path: &Path) -> Option<u128> {
        let data = Data::File(File::open(path).ok()?);
        let header = data.read(0, HEADER as u64).filter(|header| header.starts_with(MAGIC))?;
        u128_at(&header, 8)
    }

    /// Opens a pack in a file. Kernels are found by what they are made from, so a pack of another build just lacks some.
    ///
    /// # Errors
    /// When it cannot be read or is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| {
            GpuError::Unsupported(format!("the pack of kernels {} cannot be opened: {error}", path.display()))
        })?;
        Self::read(Data::File(file))
    }

    /// Opens a pack in memory.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self> {
        Self::read(Data::Memory(bytes.into()))
    }

    fn read(data: Data) -> Result<Self> {
        let header = data.read(0, HEADER as u64).filter(|header| header.starts_with(MAGIC)).ok_or_else(damaged)?;
        let number = |at| u64_at(&header, at).ok_or_else(damaged);
        let index = data.read(number(24)?, number(32)?).ok_or_else(damaged)?.into_owned();
        if checksum(&index) != number(40)? {
            return Err(damaged());
        }
        drop(header);
        let count = |at| u32_at(&index, at).ok_or_else(damaged);
        let arch = match (count(0)?, count(4)?) {
            (0, number) => Arch::Sm(number),
            (1, number) => Arch::Compute(number),
            _ => return Err(damaged()),
        };
        let (modules, kernels) = (count(8)? as usize, count(12)? as usize);
        Ok(Self { data, arch, modules, kernels, index })
    }

    /// What the kernels were compiled for.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// How many modules there are.
    pub fn modules(&self) -> usize {
        self.modules
    }

    /// How many kernels there are.
    pub fn kernels(&self) -> usize {
        self.kernels
    }

    /// Where the kernel with this key is.
    pub fn find(&self, key: u128) -> Option<Entry<'_>> {
        let rows = COUNTS + MODULE * self.modules;
        let (mut low, mut high) = (0, self.kernels);
        while low < high {
            let middle = low + (high - low) / 2;
            let at = rows + KERNEL * middle;
            match u128_at(&self.index, at)?.cmp(&key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.kernel(at),
            }
        }
        None
    }

    fn kernel(&self, at: usize) -> Option<Entry<'_>> {
        let number = |offset| u32_at(&self.index, at + offset).map(|number| number as usize);
        let names = COUNTS + MODULE * self.modules + KERNEL * self.kernels;
        let start = names + number(20)?;
        let name = self.index.get(start..start + number(24)?)?;
        Some(Entry { module: number(16)?, name: std::str::from_utf8(name).ok()? })
    }

    /// Reads and unpacks a module.
    ///
    /// # Errors
    /// When there is no such module, or it is damaged.
    pub fn module(&self, index: usize) -> Result<Vec<u8>> {
        if index >= self.modules {
            let count = self.modules;
            return Err(GpuError::Unsupported(format!(
                "the pack of kernels holds {count} modules, not module {index}"
            )));
        }
        self.unpack(index).ok_or_else(damaged)
    }

    fn unpack(&self, index: usize) -> Option<Vec<u8>> {
        let at = COUNTS + MODULE * index;
        let packed = self.data.read(u64_at(&self.index, at)?, u64_at(&self.index, at + 8)?)?;
        let length = usize::try_from(u64_at(&self.index, at + 16)?).ok()?;
        let image = miniz_oxide::inflate::decompress_to_vec_with_limit(&packed, length).ok()?;
        (image.len() == length && Some(checksum(&image)) == u64_at(&self.index, at + 24)).then_some(image)
    }
}

fn damaged() -> GpuError {
    GpuError::Unsupported("the pack of kernels is damaged: install the package again".to_owned())
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().map(u32::from_le_bytes).ok()
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().map(u64::from_le_bytes).ok()
}

fn u128_at(bytes: &[u8], at: usize) -> Option<u128> {
    bytes.get(at..at + 16)?.try_into().map(u128::from_le_bytes).ok()
}

#[cfg(test)]
mod tests;
