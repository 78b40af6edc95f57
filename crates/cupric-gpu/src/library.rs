//! Finding and opening a shared library in a documented order, and never closing it.

use crate::error::{GpuError, Result};
use libloading::os::unix::{Library as Handle, RTLD_LOCAL, RTLD_NOW};
use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fmt, fs,
    mem::ManuallyDrop,
    path::{Path, PathBuf},
};

// Not exported by libloading; the value of glibc and musl.
const RTLD_NOLOAD: i32 = 4;

/// Directories that are searched for pip wheels besides those that the caller passes.
const SITE_PACKAGES: &str = "CUPRIC_SITE_PACKAGES";

/// A library: its names and how to get it.
#[derive(Debug)]
pub struct Spec {
    /// As a user calls it.
    pub name: &'static str,
    /// The variable that overrides the search with a path.
    pub variable: &'static str,
    /// File names, the best first.
    pub sonames: &'static [Soname],
    /// Libraries that must lie beside it and be opened before it, without version (`libcublasLt.so`).
    pub companions: &'static [&'static str],
    /// How to mend a missing one.
    pub help: &'static str,
}

/// A file name of a library, and the CUDA major version that it belongs to (0: any).
#[derive(Debug, Clone, Copy)]
pub struct Soname {
    /// The file name.
    pub file: &'static str,
    /// The major version.
    pub major: i32,
}

impl Soname {
    /// A row of a [`Spec`].
    pub const fn new(file: &'static str, major: i32) -> Self {
        Self { file, major }
    }
}

/// Where a library was found: the search's steps, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// An explicit variable.
    Variable,
    /// Already loaded in this process, by PyTorch say.
    Loaded,
    /// A pip wheel.
    Pip,
    /// A conda environment.
    Conda,
    /// `CUDA_PATH` or `CUDA_HOME`.
    Toolkit,
    /// The system's library cache or one of the usual folders.
    System,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Variable => "an explicit variable",
            Self::Loaded => "already loaded in this process",
            Self::Pip => "a pip wheel",
            Self::Conda => "conda",
            Self::Toolkit => "CUDA_PATH or CUDA_HOME",
            Self::System => "the system",
        })
    }
}

/// An open library. It is never closed: its threads and its exit handlers may outlive any owner.
#[derive(Debug)]
pub struct Library {
    name: &'static str,
    handle: ManuallyDrop<Handle>,
    path: PathBuf,
    place: Place,
}

impl Library {
    /// Opens the first library that fits `spec`. `search` lists directories that may hold pip wheels (Python's
    /// `sys.path`); `newest` leaves out versions that are too new for the driver.
    ///
    /// # Errors
    /// [`GpuError::Library`] when there is none, saying where it was looked for.
    pub fn open(spec: &'static Spec, search: &[PathBuf], newest: Option<i32>) -> Result<Self> {
        if let Some(value) = variable(spec.variable).filter(|value| !value.is_empty()) {
            return Self::open_at(spec, Path::new(&value));
        }
        let mut hunt = Hunt::new(spec, newest);
        let found = hunt
            .loaded()
            .or_else(|| hunt.folders(Place::Pip, "pip wheels (nvidia/*/lib)", &pip_folders(search, &variable)))
            .or_else(|| hunt.folders(Place::Conda, "conda (CONDA_PREFIX)", &conda_folders(&variable)))
            .or_else(|| hunt.folders(Place::Toolkit, "CUDA_PATH and CUDA_HOME", &toolkit_folders(&variable)))
            .or_else(|| hunt.system_cache())
            .or_else(|| hunt.folders(Place::System, "system folders", &system_folders()));
        found.ok_or_else(|| hunt.missing())
    }

    /// Opens the library at `path`: the file, or the folder that holds it.
    pub(crate) fn open_at(spec: &'static Spec, path: &Path) -> Result<Self> {
        Hunt::new(spec, None).explicit(path)
    }

    /// As a user calls it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The file that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which step of the search found it.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Looks up a function.
    ///
    /// # Errors
    /// [`GpuError::Symbol`] when the library lacks it.
    ///
    /// # Safety
    /// `F` is a function pointer type with the function's true signature.
    pub unsafe fn function<F: Copy>(&self, symbol: &str) -> Result<F> {
        // SAFETY: the caller vouches for the type; the library stays open for the life of the process.
        match unsafe { self.handle.get::<F>(symbol) } {
            Ok(function) => Ok(*function),
            Err(_) => Err(GpuError::Symbol {
                library: format!("{} ({})", self.name, self.path.display()),
                symbol: symbol.to_owned(),
            }),
        }
    }
}

/// Declares a struct of function pointers, one line a function; every function answers with an integer status.
macro_rules! functions {
    ($(#[$attribute:meta])* $table:ident { $($name:ident($($argument:ty),* $(,)?);)* }) => {
        $(#[$attribute])*
        struct $table { $($name: unsafe extern "C" fn($($argument),*) -> i32,)* }
        impl $table {
            fn load(library: &$crate::library::Library) -> $crate::error::Result<Self> {
                // SAFETY: the signatures in the table are those of the library's header.
                Ok(Self { $($name: unsafe { library.function(stringify!($name)) }?,)* })
            }
        }
    };
}
pub(crate) use functions;

/// One search, and the places it has looked at.
struct Hunt {
    spec: &'static Spec,
    newest: Option<i32>,
    looked: Vec<String>,
}

impl Hunt {
    fn new(spec: &'static Spec, newest: Option<i32>) -> Self {
        Self { spec, newest, looked: Vec::new() }
    }

    fn sonames(&self) -> impl Iterator<Item = &'static str> + use<> {
        let newest = self.newest.unwrap_or(i32::MAX);
        self.spec.sonames.iter().filter(move |soname| soname.major <= newest).map(|soname| soname.file)
    }

    fn explicit(&mut self, path: &Path) -> Result<Library> {
        let found = if path.is_dir() {
            self.folders(Place::Variable, self.spec.variable, &[path.to_owned()])
        } else {
            self.file(Place::Variable, path)
        };
        found.ok_or_else(|| {
            self.looked.push(format!("{} = {}", self.spec.variable, path.display()));
            self.missing()
        })
    }

    fn loaded(&mut self) -> Option<Library> {
        self.looked.push(format!("{} in this process", self.sonames().collect::<Vec<_>>().join(", ")));
        let maps = mapped_files();
        for soname in self.sonames() {
            let known = maps.iter().find(|path| path.file_name().is_some_and(|file| is_version_of(file, soname)));
            if let Ok(handle) = open(OsStr::new(soname), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) {
                let path = known.cloned().unwrap_or_else(|| soname.into());
                return Some(self.library(handle, path, Place::Loaded));
            }
            let Some(path) = known else { continue };
            if let Ok(handle) = open(path.as_os_str(), RTLD_NOW | RTLD_LOCAL) {
                return Some(self.library(handle, path.clone(), Place::Loaded));
            }
        }
        None
    }

    fn folders(&mut self, place: Place, what: &str, folders: &[PathBuf]) -> Option<Library> {
        let listed: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
        self.looked.push(match listed.is_empty() {
            true => format!("{what}: none here"),
            false => format!("{what}: {}", listed.join(", ")),
        });
        for soname in self.sonames() {
            for path in folders.iter().map(|folder| folder.join(soname)).filter(|path| path.exists()) {
                if let Some(library) = self.file(place, &path) {
                    return Some(library);
                }
            }
        }
        None
    }

    fn system_cache(&mut self) -> Option<Library> {
        self.looked.push("the system's library path".to_owned());
        for soname in self.sonames() {
            let Ok(handle) = open(OsStr::new(soname), RTLD_NOW | RTLD_LOCAL) else { continue };
            let known = mapped_files()
                .into_iter()
                .find(|path| path.file_name().is_some_and(|file| is_version_of(file, soname)));
            return Some(self.library(handle, known.unwrap_or_else(|| soname.into()), Place::System));
        }
        None
    }

    fn file(&mut self, place: Place, path: &Path) -> Option<Library> {
        open_companions(self.spec, path);
        match open(path.as_os_str(), RTLD_NOW | RTLD_LOCAL) {
            Ok(handle) => Some(self.library(handle, path.to_owned(), place)),
            Err(error) => {
                self.looked.push(format!("{} could not be opened: {error}", path.display()));
                None
            }
        }
    }

    fn library(&self, handle: Handle, path: PathBuf, place: Place) -> Library {
        Library { name: self.spec.name, handle: ManuallyDrop::new(handle), path, place }
    }

    fn missing(&mut self) -> GpuError {
        GpuError::Library {
            name: self.spec.name.to_owned(),
            looked: std::mem::take(&mut self.looked),
            help: format!("{} Or set {} to its path.", self.spec.help, self.spec.variable),
        }
    }
}

fn open(file: &OsStr, flags: i32) -> std::result::Result<Handle, libloading::Error> {
    // SAFETY: opening runs the library's initialisers; only files named like NVIDIA's libraries, or named by the
    // user, get here.
    unsafe { Handle::open(Some(file), flags) }
}

// A library opens its companions by bare name, and only some installations carry a run path that finds them.
fn open_companions(spec: &Spec, path: &Path) {
    let (Some(folder), Some(file)) = (path.parent(), path.file_name().and_then(OsStr::to_str)) else { return };
    let version = file.split_once(".so").map_or("", |(_, version)| version);
    for companion in spec.companions {
        let prefix = format!("{companion}{version}");
        let files = listed(folder).into_iter().filter(|file| file_name(file).starts_with(&prefix));
        let distinct: BTreeSet<_> = files.filter_map(|file| file.canonicalize().ok()).collect();
        for file in distinct {
            // A companion that does not open makes the library itself fail, with the better message.
            if let Ok(handle) = open(file.as_os_str(), RTLD_NOW | RTLD_LOCAL) {
                std::mem::forget(handle);
            }
        }
    }
}

fn mapped_files() -> Vec<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let files: BTreeSet<_> = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..])).collect();
    files.into_iter().map(PathBuf::from).filter(|path| path.exists()).collect()
}

/// Whether `file` is `soname`, a fuller version of it (`libx.so.12.9.86` for `libx.so.12`), or a wheel's renamed copy
/// (`libx-1a2b3c4d.so.12`).
fn is_version_of(file: &OsStr, soname: &str) -> bool {
    let (Some(file), Some((stem, version))) = (file.to_str(), soname.split_once(".so")) else { return false };
    let Some((file_stem, file_version)) = file.split_once(".so") else { return false };
    let renamed = file_stem.strip_prefix(stem).is_some_and(|rest| {
        rest.is_empty() || rest.strip_prefix('-').is_some_and(|hash| hash.len() == 8 && is_hexadecimal(hash))
    });
    let fuller = file_version.strip_prefix(version).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    renamed && fuller
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

fn pip_folders(search: &[PathBuf], variables: Variables<'_>) -> Vec<PathBuf> {
    let more = variables(SITE_PACKAGES).unwrap_or_default();
    let more = std::env::split_paths(&more).filter(|path| !path.as_os_str().is_empty());
    let sites: Vec<_> = search.iter().cloned().chain(more).collect();
    let wheels = sites.iter().flat_map(|site| listed(&site.join("nvidia")));
    wheels.map(|wheel| wheel.join("lib")).filter(|folder| folder.is_dir()).collect()
}

fn conda_folders(variables: Variables<'_>) -> Vec<PathBuf> {
    let prefix = variables("CONDA_PREFIX").map(PathBuf::from);
    prefix.iter().flat_map(|prefix| [prefix.join("lib"), prefix.join(target())]).filter(|path| path.is_dir()).collect()
}

fn toolkit_folders(variables: Variables<'_>) -> Vec<PathBuf> {
    let roots = ["CUDA_PATH", "CUDA_HOME"].iter().filter_map(|name| variables(name)).map(PathBuf::from);
    roots.flat_map(|root| ["lib64", "lib", target()].map(|lib| root.join(lib))).filter(|path| path.is_dir()).collect()
}

fn system_folders() -> Vec<PathBuf> {
    let toolkits = listed(Path::new("/usr/local")).into_iter().rev().filter(|path| file_name(path).starts_with("cuda"));
    let toolkits = toolkits.map(|toolkit| toolkit.join("lib64"));
    let others = ["/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"].map(PathBuf::from);
    toolkits.chain(others).filter(|path| path.is_dir()).collect()
}

const fn target() -> &'static str {
    match cfg!(target_arch = "aarch64") {
        true => "targets/sbsa-linux/lib",
        false => "targets/x86_64-linux/lib",
    }
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

#[cfg(test)]
mod tests;
