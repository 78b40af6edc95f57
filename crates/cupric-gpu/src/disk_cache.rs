//! Compiled kernels on disk, shared by all processes of a user.

use crate::checksum::checksum;
use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

const MAGIC: &[u8; 8] = b"CUPRICK1";
const HEADER: usize = MAGIC.len() + 16;
const ENTRY: &str = "bin";
const UNFINISHED: &str = "tmp";
/// An unfinished entry this old was left by a process that died.
const ABANDONED: Duration = Duration::from_secs(3600);
/// Writes between two looks at what other processes have added.
const LOOK_AGAIN: u64 = 256;

/// A folder of compiled kernels, by key. It never fails: what cannot be read is absent, what cannot be written is not.
#[derive(Debug)]
pub struct DiskCache {
    folder: Option<PathBuf>,
    limit: u64,
    size: Mutex<Option<Size>>,
    serial: AtomicU64,
}

/// What this process believes the folder to hold.
#[derive(Debug)]
struct Size {
    bytes: u64,
    writes: u64,
}

impl DiskCache {
    /// The size limit where none is given, in bytes.
    pub const DEFAULT_LIMIT: u64 = 512 << 20;

    /// A cache in `folder`, made at the first write; without a folder nothing is kept.
    pub fn new(folder: Option<PathBuf>, limit: u64) -> Self {
        Self { folder, limit, size: Mutex::new(None), serial: AtomicU64::new(0) }
    }

    /// `CUPRIC_CACHE_DIR`, else `cupric` below `XDG_CACHE_HOME` or `~/.cache`.
    pub fn default_folder() -> Option<PathBuf> {
        folder_by(&|name| std::env::var_os(name))
    }

    /// The folder.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The bytes kept under a key of hexadecimal digits. A damaged entry is removed.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.entry(key)?;
        let entry = fs::read(&path).ok()?;
        let bytes = contents(&entry).map(<[u8]>::to_vec);
        if bytes.is_none() {
            // Should another process have mended it just now, it will be compiled once more.
            let _ = fs::remove_file(&path);
        }
        bytes
    }

    /// Keeps bytes under a key of hexadecimal digits. Says whether they were kept.
    pub fn put(&self, key: &str, bytes: &[u8]) -> bool {
        let Some(path) = self.entry(key) else { return false };
        let size = (HEADER + bytes.len()) as u64;
        if size > self.limit || self.write(&path, key, bytes).is_err() {
            return false;
        }
        self.account(size);
        true
    }

    fn entry(&self, key: &str) -> Option<PathBuf> {
        let legal = !key.is_empty() && key.len() <= 128 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
        self.folder.as_ref().filter(|_| legal).map(|folder| folder.join(key).with_extension(ENTRY))
    }

    /// Readers see the whole entry or none: it gets its name once it is complete.
    fn write(&self, path: &Path, key: &str, bytes: &[u8]) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let clock = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().subsec_nanos();
        let unfinished = folder.join(format!("{key}-{}-{serial}-{clock}.{UNFINISHED}", std::process::id()));
        let written = write_new(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, path));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    fn account(&self, added: u64) {
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        let known = size.take().map(|size| Size { bytes: size.bytes + added, writes: size.writes + 1 });
        *size = match known {
            Some(known) if known.bytes <= self.limit && known.writes < LOOK_AGAIN => Some(known),
            _ => Some(Size { bytes: self.evict(), writes: 0 }),
        };
    }

    /// Removes the oldest entries where the folder is over the limit, down to three quarters of it so that this is
    /// rare. Says what remains.
    fn evict(&self) -> u64 {
        let mut entries = self.entries();
        let mut total = entries.iter().map(|entry| entry.bytes).sum();
        if total <= self.limit {
            return total;
        }
        entries.sort_by_key(|entry| entry.written);
        for entry in entries {
            if total <= self.limit / 4 * 3 {
                break;
            }
            let _ = fs::remove_file(&entry.path);
            total -= entry.bytes;
        }
        total
    }

    fn entries(&self) -> Vec<Entry> {
        let Some(listing) = self.folder.as_ref().and_then(|folder| fs::read_dir(folder).ok()) else {
            return Vec::new();
        };
        let mut entries = Vec::new();
        for path in listing.flatten().map(|file| file.path()) {
            let Ok(about) = fs::metadata(&path) else { continue };
            let written = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            match path.extension().and_then(|extension| extension.to_str()) {
                Some(ENTRY) => entries.push(Entry { path, bytes: about.len(), written }),
                Some(UNFINISHED) if written.elapsed().is_ok_and(|age| age > ABANDONED) => {
                    let _ = fs::remove_file(path);
                }
                _ => {}
            }
        }
        entries
    }
}

struct Entry {
    path: PathBuf,
    bytes: u64,
    written: SystemTime,
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..16].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    header[16..].copy_from_slice(&checksum(bytes).to_le_bytes());
    file.write_all(&header)?;
    file.write_all(bytes)
}

/// What an entry holds, unless it is damaged.
fn contents(entry: &[u8]) -> Option<&[u8]> {
    let (header, bytes) = entry.split_at_checked(HEADER)?;
    let number = |at: usize| header[at..at + 8].try_into().map(u64::from_le_bytes).ok();
    let whole = header.starts_with(MAGIC) && number(8)? == bytes.len() as u64 && number(16)? == checksum(bytes);
    whole.then_some(bytes)
}

fn folder_by(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let named = set("CUPRIC_CACHE_DIR");
    named.or_else(|| Some(set("XDG_CACHE_HOME")?.join("cupric"))).or_else(|| Some(set("HOME")?.join(".cache/cupric")))
}

#[cfg(test)]
mod tests;
