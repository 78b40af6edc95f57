//! Kernels that a user wrote: compiled or loaded as modules, and launched as they are.

use crate::{
    arguments::{ArgumentBytes, KernelArgument, fit},
    backend::{GpuBackend, stream},
    checksum::checksum,
    driver::{Driver, Function, FunctionAttribute, Launch, Module},
    gpu::Gpu,
    installation::library_search,
    launch::Parameters,
    nvrtc::{Arch, Image, Nvrtc, Request},
    signature::{KernelParameter, ParameterKind, declarations, parameters},
};
use cupric_core::Result;
use cupric_runtime::RawStream;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// What a module is compiled from.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModuleSource<'a> {
    /// CUDA C++.
    pub text: &'a str,
    /// Options for NVRTC, besides the architecture and the folders of CUDA's headers.
    pub options: &'a [String],
    /// Expressions that name functions or variables of the module, `f<float>` say.
    pub name_expressions: &'a [String],
    /// Headers by the name that the text includes them by, and their text.
    pub headers: &'a [(String, String)],
}

/// Loaded code; unloaded when its last owner goes.
#[derive(Clone)]
pub struct UserModule(Arc<Owned>);

struct Owned {
    gpu: Arc<Gpu>,
    module: Module,
    lowered: Vec<(String, String)>,
    /// PTX that declares the kernels, as far as there is any.
    declared: String,
}

/// A kernel of a module, which it keeps loaded.
#[derive(Clone)]
pub struct UserFunction {
    owner: Arc<Owned>,
    function: Function,
    name: Arc<str>,
    parameters: Option<Arc<[KernelParameter]>>,
}

/// How a kernel is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The stream.
    pub stream: RawStream,
}

impl GpuBackend {
    /// Compiles a module with NVRTC's default flags and loads it.
    ///
    /// # Errors
    /// `Compile` with the compiler's log when the text is wrong; `Library` when NVRTC is not installed.
    pub fn compile_module(&self, source: &ModuleSource<'_>) -> Result<UserModule> {
        let Compiled { image, declared } = self.compile_image(source)?;
        let lowered = source.name_expressions.iter().cloned().zip(image.lowered).collect();
        self.module(&image.bytes, lowered, declared)
    }

    /// Loads a module from a binary (cubin, fatbin) or PTX.
    ///
    /// # Errors
    /// When the driver cannot load it, with the loader's log.
    pub fn load_module(&self, image: &[u8]) -> Result<UserModule> {
        // A binary is no text, and declares nothing.
        let declared = std::str::from_utf8(image).map(declarations).unwrap_or_default();
        self.module(image, Vec::new(), declared)
    }

    /// Loads a module from a file.
    ///
    /// # Errors
    /// When the file cannot be read or the driver cannot load it.
    pub fn load_module_file(&self, path: &Path) -> Result<UserModule> {
        let image = std::fs::read(path)
            .map_err(|error| cupric_core::Error::Os(format!("{} cannot be read: {error}", path.display())))?;
        self.load_module(&image)
    }

    fn module(&self, image: &[u8], lowered: Vec<(String, String)>, declared: String) -> Result<UserModule> {
        let driver = self.gpu().enter()?;
        // SAFETY: whoever hands over code vouches for it.
        let module = unsafe { driver.load_module(image) }?;
        Ok(UserModule(Arc::new(Owned { gpu: self.gpu().clone(), module, lowered, declared })))
    }

    fn compile_image(&self, source: &ModuleSource<'_>) -> Result<Compiled> {
        let nvrtc = self.compiler().nvrtc()?;
        let arch = self.gpu().arch();
        let includes = include_folders(nvrtc);
        let identity = identity(source, arch, nvrtc.version(), &includes);
        // Headers in folders may change unseen.
        let cached = !source.options.iter().any(|option| option.starts_with("-I") || option.starts_with("--include"));
        let key = key_of(&identity);
        if cached && let Some(compiled) = self.disk().get(&key).and_then(|entry| decode(&entry, &identity)) {
            return Ok(compiled);
        }
        let options: Vec<String> = source.options.iter().cloned().chain(includes).collect();
        let request = Request {
            source: source.text,
            name: "kernel.cu",
            arch: Arch::Sm(arch),
            options: &options,
            name_expressions: source.name_expressions,
            headers: source.headers,
        };
        let (image, ptx) = nvrtc.compile_with_ptx(&request)?;
        let compiled = Compiled { image, declared: declarations(&ptx) };
        if cached {
            self.disk().put(&key, &encode(&compiled, &identity));
        }
        Ok(compiled)
    }
}

impl UserModule {
    /// A kernel, by its symbol or by one of the expressions that the module was compiled with.
    ///
    /// # Errors
    /// When there is no such kernel.
    pub fn function(&self, name: &str) -> Result<UserFunction> {
        let driver = self.0.gpu.enter()?;
        let function = driver.function(self.0.module, self.symbol(name)).map_err(|error| error.about(name))?;
        let parameters = match parameters(&self.0.declared, self.symbol(name)) {
            Some(known) => Some(known.into()),
            None => driver.parameter_sizes(function)?.map(|sizes| sizes.into_iter().map(of_size).collect()),
        };
        Ok(UserFunction { owner: self.0.clone(), function, name: name.into(), parameters })
    }

    /// The address and the bytes of a global variable.
    ///
    /// # Errors
    /// When there is no such variable.
    pub fn global(&self, name: &str) -> Result<(u64, usize)> {
        let (address, bytes) = self.0.gpu.enter()?.global(self.0.module, self.symbol(name))?;
        Ok((address.0, bytes))
    }

    /// The symbol of an expression that the module was compiled with.
    #[must_use]
    pub fn lowered_name(&self, expression: &str) -> Option<&str> {
        self.0.lowered.iter().find(|(known, _)| known == expression).map(|(_, symbol)| symbol.as_str())
    }

    fn symbol<'a>(&'a self, name: &'a str) -> &'a str {
        self.lowered_name(name).unwrap_or(name)
    }
}

const fn of_size(bytes: usize) -> KernelParameter {
    KernelParameter { kind: ParameterKind::Unknown, bytes }
}

impl UserFunction {
    /// The parameters that it declares, if anybody tells.
    #[must_use]
    pub fn parameters(&self) -> Option<&[KernelParameter]> {
        self.parameters.as_deref()
    }

    /// The bytes of arguments: numbers without a width of their own take the parameter's.
    ///
    /// # Errors
    /// `Type` when the number of arguments, a size or a kind is wrong; `Overflow` when an integer does not fit.
    pub fn fit(&self, arguments: &[KernelArgument<'_>]) -> Result<Vec<ArgumentBytes>> {
        fit(&self.name, self.parameters(), arguments)
    }

    /// Launches the kernel; each argument is given as its bytes.
    ///
    /// # Safety
    /// The arguments are those that the kernel declares, and the memory that it touches is allocated until it has ended.
    ///
    /// # Errors
    /// When the driver refuses the launch.
    pub unsafe fn launch(&self, shape: &LaunchShape, arguments: &[&[u8]]) -> Result<()> {
        let (driver, launch, mut parameters) = self.prepared(shape, arguments)?;
        // SAFETY: the caller vouches for arguments and memory.
        Ok(unsafe { driver.launch(self.function, &launch, &mut parameters.pointers()) }?)
    }

    /// Launches the kernel so that its blocks may wait for each other.
    ///
    /// # Safety
    /// As [`UserFunction::launch`].
    ///
    /// # Errors
    /// When the driver refuses the launch: too many blocks to run at once, say.
    pub unsafe fn launch_cooperative(&self, shape: &LaunchShape, arguments: &[&[u8]]) -> Result<()> {
        let (driver, launch, mut parameters) = self.prepared(shape, arguments)?;
        // SAFETY: the caller vouches for arguments and memory.
        Ok(unsafe { driver.launch_cooperative(self.function, &launch, &mut parameters.pointers()) }?)
    }

    fn prepared(&self, shape: &LaunchShape, arguments: &[&[u8]]) -> Result<(&dyn Driver, Launch, Parameters)> {
        let driver = self.owner.gpu.enter()?;
        let LaunchShape { grid, block, shared_bytes, stream: raw } = *shape;
        let launch = Launch { grid, block, shared_bytes, stream: stream(raw) };
        Ok((driver, launch, Parameters::from_bytes(arguments.iter().copied())))
    }

    /// One number about the kernel.
    ///
    /// # Errors
    /// When the driver does not know it.
    pub fn attribute(&self, attribute: FunctionAttribute) -> Result<i32> {
        Ok(self.owner.gpu.enter()?.function_attribute(self.function, attribute)?)
    }

    /// Sets one number of the kernel.
    ///
    /// # Errors
    /// When it cannot be set.
    pub fn set_attribute(&self, attribute: FunctionAttribute, value: i32) -> Result<()> {
        Ok(self.owner.gpu.enter()?.set_function_attribute(self.function, attribute, value)?)
    }

    /// How many blocks of this size one multiprocessor holds at once.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn active_blocks(&self, block: u32, shared_bytes: usize) -> Result<u32> {
        Ok(self.owner.gpu.enter()?.active_blocks(self.function, block, shared_bytes)?)
    }

    /// The driver's handle.
    #[must_use]
    pub const fn raw(&self) -> Function {
        self.function
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: all functions of the module hold it. A driver that is gone has unloaded it.
        let _ = self.gpu.enter().and_then(|driver| unsafe { driver.unload_module(self.module) });
    }
}

/// Options that name the folders of CUDA's headers that belong to the compiler.
fn include_folders(nvrtc: &Nvrtc) -> Vec<String> {
    let mut wheels: Vec<PathBuf> = library_search().iter().map(|site| site.join("nvidia")).collect();
    // A compiler from a pip wheel lies in `nvidia/<wheel>/lib`.
    wheels.extend(nvrtc.library().path().ancestors().find(|path| path.ends_with("nvidia")).map(Path::to_path_buf));
    let major = nvrtc.version().0;
    let names = [format!("cu{major}"), "cuda_runtime".to_owned(), "cuda_cccl".to_owned(), "curand".to_owned()];
    let names = if major >= 13 { &names[..1] } else { &names[1..] };
    let of_wheels = wheels.iter().flat_map(|wheel| names.iter().map(move |name| wheel.join(name)));
    let toolkits = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let mut folders: Vec<PathBuf> =
        of_wheels.chain(toolkits).map(|root| root.join("include")).filter(|folder| folder.is_dir()).collect();
    folders.dedup();
    folders.iter().map(|folder| format!("-I{}", folder.display())).collect()
}

/// All that a compilation depends on, as text; it is kept beside the result and compared.
fn identity(source: &ModuleSource<'_>, arch: u32, version: (i32, i32), includes: &[String]) -> Vec<u8> {
    let numbers = format!("sm_{arch} {}.{} with declarations", version.0, version.1);
    let headers = source.headers.iter().flat_map(|(name, text)| [name, text]);
    let lists = [source.options, source.name_expressions, includes].into_iter().flatten();
    let counts = format!("{} {}", source.options.len(), source.name_expressions.len());
    let parts = lists.chain(headers).map(String::as_str);
    let mut all = Vec::new();
    for part in [numbers.as_str(), counts.as_str(), source.text].into_iter().chain(parts) {
        all.extend((part.len() as u64).to_le_bytes());
        all.extend(part.as_bytes());
    }
    all
}

fn key_of(identity: &[u8]) -> String {
    // Shorter than the keys of built-in kernels, so that the two never meet.
    format!("{:016x}{:016x}", checksum(identity), identity.len())
}

/// A module's binary, and the PTX that declares its kernels.
#[derive(Debug, PartialEq, Eq)]
struct Compiled {
    image: Image,
    declared: String,
}

/// A disk entry: the identity, the binary, the declarations and the lowered names, each after its length.
fn encode(compiled: &Compiled, identity: &[u8]) -> Vec<u8> {
    let Compiled { image, declared } = compiled;
    let mut entry = Vec::new();
    let mut add = |bytes: &[u8]| {
        entry.extend((bytes.len() as u64).to_le_bytes());
        entry.extend(bytes);
    };
    add(identity);
    add(&image.bytes);
    add(declared.as_bytes());
    image.lowered.iter().for_each(|name| add(name.as_bytes()));
    entry
}

fn decode(entry: &[u8], identity: &[u8]) -> Option<Compiled> {
    let mut rest = entry;
    let mut next = || -> Option<&[u8]> {
        let (length, after) = rest.split_at_checked(8)?;
        let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
        let (part, after) = after.split_at_checked(length)?;
        rest = after;
        Some(part)
    };
    if next()? != identity {
        return None;
    }
    let bytes = next()?.to_vec();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let declared = text(next()?);
    let lowered = std::iter::from_fn(next).map(text).collect();
    Some(Compiled { image: Image { bytes, lowered, log: String::new() }, declared })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{driver::mock::MockDriver, lock};

    fn source(options: &[String]) -> ModuleSource<'_> {
        ModuleSource { text: "__global__ void f() {}", options, ..ModuleSource::default() }
    }

    #[test]
    fn an_entry_serves_only_what_it_was_made_from() {
        let image = Image { bytes: vec![1, 2, 3], lowered: vec!["_Z1f".to_owned()], log: String::new() };
        let compiled = Compiled { image, declared: ".entry _Z1f()".to_owned() };
        let options = ["-G".to_owned()];
        let made = identity(&source(&[]), 90, (12, 0), &[]);
        let entry = encode(&compiled, &made);
        assert_eq!(decode(&entry, &made), Some(compiled));
        for other in [identity(&source(&options), 90, (12, 0), &[]), identity(&source(&[]), 80, (12, 0), &[])] {
            assert_ne!(key_of(&other), key_of(&made));
            assert_eq!(decode(&entry, &other), None);
        }
        assert_eq!(decode(&entry[..entry.len() - 30], &made), None);
    }

    fn kernel(declared: &str, sizes: Option<Vec<usize>>) -> UserFunction {
        let driver = Arc::new(MockDriver::default());
        lock(&driver.seen).parameters = sizes;
        let gpu = Arc::new(Gpu::open(driver, 0).unwrap());
        // SAFETY: the mock takes any number.
        let module = unsafe { Module::from_raw(1) };
        let owned = Owned { gpu, module, lowered: Vec::new(), declared: declared.to_owned() };
        UserModule(Arc::new(owned)).function("f").unwrap()
    }

    #[test]
    fn parameters_are_known_from_the_text_or_else_from_the_driver() {
        let declared = ".entry f(.param .f32 f_param_0)";
        let one = |kernel: UserFunction| kernel.fit(&[KernelArgument::Integer(1)]).map(|all| all[0].to_vec());
        assert_eq!(one(kernel(declared, Some(vec![4]))).unwrap(), 1_f32.to_le_bytes());
        assert_eq!(one(kernel("", Some(vec![4]))).unwrap(), 1_i32.to_le_bytes());
        assert_eq!(one(kernel("", None)).unwrap(), 1_i64.to_le_bytes());
        let error = one(kernel("", Some(vec![]))).unwrap_err().to_string();
        assert_eq!(error, "kernel 'f' takes 0 arguments, but 1 were given");
    }

    #[test]
    fn each_argument_is_a_parameter_of_the_launch() {
        let driver = Arc::new(MockDriver::default());
        let gpu = Arc::new(Gpu::open(driver.clone(), 0).unwrap());
        // SAFETY: the mock takes any number.
        let module = unsafe { Module::from_raw(1) };
        let declared = ".entry f(.param .u64 p, .param .u32 n, .param .f32 x)".to_owned();
        let function =
            UserModule(Arc::new(Owned { gpu, module, lowered: Vec::new(), declared })).function("f").unwrap();
        let given = [KernelArgument::Address(4096), KernelArgument::Integer(-1), KernelArgument::Integer(2)];
        let bytes = function.fit(&given).unwrap();
        let views: Vec<&[u8]> = bytes.iter().map(|one| one.as_slice()).collect();
        let shape = LaunchShape { grid: [2, 1, 1], block: [32, 1, 1], shared_bytes: 0, stream: RawStream(0) };
        // SAFETY: the mock runs nothing.
        unsafe { function.launch(&shape, &views) }.unwrap();
        let words = vec![4096, u64::from(u32::MAX), u64::from(2_f32.to_bits())];
        assert_eq!(lock(&driver.seen).launches, [("f".to_owned(), [2, 1, 1], 0, words)]);
    }
}
