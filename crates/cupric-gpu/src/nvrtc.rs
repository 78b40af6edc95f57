//! NVIDIA's kernel compiler: text in, a binary or PTX out. It needs neither a GPU nor a driver.

use crate::{
    error::{GpuError, Result},
    library::{Library, Soname, Spec, functions},
};
use std::{
    ffi::{CStr, CString, c_char},
    path::PathBuf,
    ptr::null,
};

static LIBNVRTC: Spec = Spec {
    name: "NVRTC (the CUDA kernel compiler)",
    variable: "CUPRIC_NVRTC",
    sonames: &[
        Soname::new("libnvrtc.so.13", 13),
        Soname::new("libnvrtc.so.12", 12),
        Soname::new("libnvrtc.so.11.2", 11),
        Soname::new("libnvrtc.so", 0),
    ],
    companions: &["libnvrtc-builtins.so"],
    help: "Install it with `pip install nvidia-cuda-nvrtc` (for drivers older than 580 `nvidia-cuda-nvrtc-cu12`).",
};

/// The first version that knows `-minimal`.
const KNOWS_MINIMAL: (i32, i32) = (12, 4);

functions! {
    /// The compiler's functions.
    #[expect(non_snake_case, reason = "the library's own names")]
    Api {
        nvrtcVersion(*mut i32, *mut i32);
        nvrtcGetNumSupportedArchs(*mut i32);
        nvrtcGetSupportedArchs(*mut i32);
        nvrtcCreateProgram(*mut usize, *const c_char, *const c_char, i32, *const *const c_char, *const *const c_char);
        nvrtcDestroyProgram(*mut usize);
        nvrtcAddNameExpression(usize, *const c_char);
        nvrtcCompileProgram(usize, i32, *const *const c_char);
        nvrtcGetLoweredName(usize, *const c_char, *mut *const c_char);
        nvrtcGetProgramLogSize(usize, *mut usize);
        nvrtcGetProgramLog(usize, *mut c_char);
        nvrtcGetPTXSize(usize, *mut usize);
        nvrtcGetPTX(usize, *mut c_char);
        nvrtcGetCUBINSize(usize, *mut usize);
        nvrtcGetCUBIN(usize, *mut c_char);
    }
}

/// What to compile for, as compute capability times ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arch {
    /// A real architecture: gives a binary.
    Sm(u32),
    /// A virtual architecture: gives PTX.
    Compute(u32),
}

/// One compilation.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The text.
    pub source: &'a str,
    /// The name that messages call it.
    pub name: &'a str,
    /// What to compile for.
    pub arch: Arch,
    /// Options besides the architecture. Those that this version does not know but can do without are left out.
    pub options: &'a [String],
    /// Expressions whose symbols are wanted, `f<float>` say.
    pub name_expressions: &'a [String],
    /// Headers by the name that the text includes them by, and their text.
    pub headers: &'a [(String, String)],
}

/// What a compilation gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The binary, or PTX without its final NUL.
    pub bytes: Vec<u8>,
    /// The symbol of each name expression, in their order.
    pub lowered: Vec<String>,
    /// The compiler's warnings.
    pub log: String,
}

/// The compiler, opened at run time. It may be used from several threads at once.
pub struct Nvrtc {
    library: Library,
    api: Api,
    version: (i32, i32),
    name_of: unsafe extern "C" fn(i32) -> *const c_char,
}

impl Nvrtc {
    /// Finds and opens the newest compiler. `search` lists directories that may hold pip wheels.
    ///
    /// # Errors
    /// When there is none, or the one found is damaged.
    pub fn open(search: &[PathBuf]) -> Result<Self> {
        Self::load(Library::open(&LIBNVRTC, search, None)?)
    }

    /// Finds and opens the newest compiler of CUDA `major` or older: a driver loads no binary of a newer one.
    ///
    /// # Errors
    /// When there is none, or the one found is damaged or too new.
    pub fn open_at_most(search: &[PathBuf], major: i32) -> Result<Self> {
        let nvrtc = Self::load(Library::open(&LIBNVRTC, search, Some(major))?)?;
        if nvrtc.version.0 > major {
            return Err(GpuError::Unsupported(format!(
                "NVRTC {}.{} ({}) is too new for this driver, which serves CUDA {major}: install \
                 nvidia-cuda-nvrtc-cu{major} or a newer driver",
                nvrtc.version.0,
                nvrtc.version.1,
                nvrtc.library.path().display()
            )));
        }
        Ok(nvrtc)
    }

    fn load(library: Library) -> Result<Self> {
        let api = Api::load(&library)?;
        // SAFETY: the signature is the header's.
        let name_of = unsafe { library.function("nvrtcGetErrorString") }?;
        let mut nvrtc = Self { library, api, version: (0, 0), name_of };
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to live locals.
        let code = unsafe { (nvrtc.api.nvrtcVersion)(&mut major, &mut minor) };
        nvrtc.check("nvrtcVersion", code)?;
        nvrtc.version = (major, minor);
        Ok(nvrtc)
    }

    /// The library, for a report of where it was found.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The compiler's version.
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    /// The architectures that it knows, as compute capability times ten.
    ///
    /// # Errors
    /// When the compiler refuses to tell.
    pub fn architectures(&self) -> Result<Vec<u32>> {
        let mut count = 0;
        // SAFETY: `count` is a live local.
        let code = unsafe { (self.api.nvrtcGetNumSupportedArchs)(&mut count) };
        self.check("nvrtcGetNumSupportedArchs", code)?;
        let mut known = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: `known` holds as many numbers as the compiler said it has.
        let code = unsafe { (self.api.nvrtcGetSupportedArchs)(known.as_mut_ptr()) };
        self.check("nvrtcGetSupportedArchs", code)?;
        Ok(known.into_iter().filter_map(|arch| u32::try_from(arch).ok()).collect())
    }

    /// Compiles a kernel.
    ///
    /// # Errors
    /// [`GpuError::Compile`] with the compiler's own log when the text or an option is wrong.
    pub fn compile(&self, request: &Request<'_>) -> Result<Image> {
        Ok(self.run(request)?.1)
    }

    /// Compiles a kernel, and tells the PTX that it went through on its way to the binary.
    ///
    /// # Errors
    /// As [`Nvrtc::compile`].
    pub fn compile_with_ptx(&self, request: &Request<'_>) -> Result<(Image, String)> {
        let (program, image) = self.run(request)?;
        let ptx = String::from_utf8_lossy(&program.ptx()?).into_owned();
        Ok((image, ptx))
    }

    fn run(&self, request: &Request<'_>) -> Result<(Program<'_>, Image)> {
        let program = Program::new(self, request)?;
        let names = c_strings(request.name_expressions.iter().map(String::as_str))?;
        for name in &names {
            program.add_name(name)?;
        }
        program.compile(request)?;
        let bytes = program.image(request.arch)?;
        let lowered = names.iter().map(|name| program.lowered(name)).collect::<Result<_>>()?;
        let log = program.log()?;
        Ok((program, Image { bytes, lowered, log }))
    }

    fn check(&self, call: &'static str, code: i32) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the compiler answers any number with a string that lives as long as it does, or null.
        let name = unsafe { (self.name_of)(code) };
        let name = match name.is_null() {
            true => "unknown error".to_owned(),
            // SAFETY: not null, see above.
            false => unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned(),
        };
        Err(GpuError::Driver { call, code, name, message: "the kernel compiler refused the call".to_owned() })
    }
}

/// A program of the compiler; used by one thread, destroyed when dropped.
struct Program<'a> {
    nvrtc: &'a Nvrtc,
    handle: usize,
}

impl<'a> Program<'a> {
    fn new(nvrtc: &'a Nvrtc, request: &Request<'_>) -> Result<Self> {
        let [source, name] = [c_string(request.source)?, c_string(request.name)?];
        let texts = c_strings(request.headers.iter().map(|(_, text)| text.as_str()))?;
        let names = c_strings(request.headers.iter().map(|(name, _)| name.as_str()))?;
        let (text_list, name_list) = (pointers(&texts), pointers(&names));
        let mut handle = 0;
        // SAFETY: all strings end with NUL and live through the call, which copies them; the lists are equally long.
        let code = unsafe {
            (nvrtc.api.nvrtcCreateProgram)(
                &mut handle,
                source.as_ptr(),
                name.as_ptr(),
                text_list.len() as i32,
                text_list.as_ptr(),
                name_list.as_ptr(),
            )
        };
        nvrtc.check("nvrtcCreateProgram", code)?;
        Ok(Self { nvrtc, handle })
    }

    fn add_name(&self, name: &CStr) -> Result<()> {
        // SAFETY: the program is alive; the string is copied.
        let code = unsafe { (self.nvrtc.api.nvrtcAddNameExpression)(self.handle, name.as_ptr()) };
        self.nvrtc.check("nvrtcAddNameExpression", code)
    }

    fn compile(&self, request: &Request<'_>) -> Result<()> {
        let options = options(request.arch, request.options, self.nvrtc.version);
        let options = c_strings(options.iter().map(String::as_str))?;
        let list = pointers(&options);
        // SAFETY: the program is alive; the options end with NUL and live through the call.
        let code = unsafe { (self.nvrtc.api.nvrtcCompileProgram)(self.handle, list.len() as i32, list.as_ptr()) };
        let Err(error) = self.nvrtc.check("nvrtcCompileProgram", code) else { return Ok(()) };
        match self.log()? {
            log if log.is_empty() => Err(error),
            log => Err(GpuError::Compile { log, source: request.source.to_owned() }),
        }
    }

    fn image(&self, arch: Arch) -> Result<Vec<u8>> {
        let api = &self.nvrtc.api;
        match arch {
            Arch::Sm(_) => self.bytes("nvrtcGetCUBIN", api.nvrtcGetCUBINSize, api.nvrtcGetCUBIN),
            Arch::Compute(_) => self.ptx(),
        }
    }

    fn ptx(&self) -> Result<Vec<u8>> {
        let api = &self.nvrtc.api;
        self.bytes("nvrtcGetPTX", api.nvrtcGetPTXSize, api.nvrtcGetPTX).map(without_terminator)
    }

    fn log(&self) -> Result<String> {
        let api = &self.nvrtc.api;
        let bytes = self.bytes("nvrtcGetProgramLog", api.nvrtcGetProgramLogSize, api.nvrtcGetProgramLog)?;
        Ok(String::from_utf8_lossy(&without_terminator(bytes)).trim_end().to_owned())
    }

    fn bytes(
        &self,
        call: &'static str,
        size: unsafe extern "C" fn(usize, *mut usize) -> i32,
        get: unsafe extern "C" fn(usize, *mut c_char) -> i32,
    ) -> Result<Vec<u8>> {
        let mut length = 0;
        // SAFETY: the program is alive, `length` is a live local.
        let code = unsafe { size(self.handle, &mut length) };
        self.nvrtc.check(call, code)?;
        let mut bytes = vec![0_u8; length];
        // SAFETY: the buffer is as long as the compiler said that it must be.
        let code = unsafe { get(self.handle, bytes.as_mut_ptr().cast()) };
        self.nvrtc.check(call, code)?;
        Ok(bytes)
    }

    fn lowered(&self, name: &CStr) -> Result<String> {
        let mut lowered = null();
        // SAFETY: the program is alive, `lowered` is a live local.
        let code = unsafe { (self.nvrtc.api.nvrtcGetLoweredName)(self.handle, name.as_ptr(), &mut lowered) };
        self.nvrtc.check("nvrtcGetLoweredName", code)?;
        // SAFETY: on success it is a string that lives as long as the program.
        Ok(unsafe { CStr::from_ptr(lowered) }.to_string_lossy().into_owned())
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the program is alive and nobody else holds it.
        unsafe { (self.nvrtc.api.nvrtcDestroyProgram)(&mut self.handle) };
    }
}

/// The options of a compilation by this version of the compiler.
fn options(arch: Arch, more: &[String], version: (i32, i32)) -> Vec<String> {
    let arch = match arch {
        Arch::Sm(number) => format!("--gpu-architecture=sm_{number}"),
        Arch::Compute(number) => format!("--gpu-architecture=compute_{number}"),
    };
    let known = |option: &&String| version >= KNOWS_MINIMAL || !matches!(option.as_str(), "-minimal" | "--minimal");
    std::iter::once(arch).chain(more.iter().filter(known).cloned()).collect()
}

fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| GpuError::Unsupported("a kernel's text may not hold a NUL character".to_owned()))
}

fn c_strings<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Vec<CString>> {
    texts.map(c_string).collect()
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

fn without_terminator(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    bytes
}

#[cfg(test)]
mod tests;
