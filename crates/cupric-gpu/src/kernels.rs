//! From a kernel's text to a function of the device: what is loaded, else the pack, else the disk, else the compiler.

use crate::{
    compiler::Compile,
    disk_cache::DiskCache,
    driver::{Driver, Function, FunctionAttribute, Module},
    error::{GpuError, Result},
    gpu::Gpu,
    lock,
    pack::Pack,
    workers::Workers,
};
use cupric_codegen::Kernel;
use cupric_runtime::Config;
use rustc_hash::FxHashMap;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, OnceLock, PoisonError, RwLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

/// Where kernels may come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tier {
    /// The pack alone.
    Pack,
    /// The compiler alone (and what it made before).
    Compiler,
    /// The pack first; what it lacks is compiled, groups of operations in the background.
    Both,
}

impl Tier {
    /// `CUPRIC_TIER`: 1 for the pack alone, 2 for the compiler alone.
    pub(crate) fn from_environment() -> Tier {
        match std::env::var("CUPRIC_TIER").as_deref() {
            Ok("1") => Tier::Pack,
            Ok("2") => Tier::Compiler,
            _ => Tier::Both,
        }
    }
}

/// What dynamic shared memory a kernel may have without asking.
const SHARED_BY_DEFAULT: u32 = 48 << 10;

/// A kernel on the device.
pub(crate) struct Loaded {
    function: Function,
    granted: AtomicU32,
}

impl Loaded {
    /// The function, allowed to be launched with this much dynamic shared memory.
    pub(crate) fn function(&self, driver: &dyn Driver, shared: u32) -> Result<Function> {
        if shared > self.granted.load(Ordering::Relaxed) {
            let most = FunctionAttribute::MAX_DYNAMIC_SHARED_BYTES;
            driver.set_function_attribute(self.function, most, i32::try_from(shared).unwrap_or(i32::MAX))?;
            self.granted.fetch_max(shared, Ordering::Relaxed);
        }
        Ok(self.function)
    }
}

/// All kernels of a device.
pub(crate) struct Kernels {
    gpu: Arc<Gpu>,
    tier: Tier,
    pack: Option<Pack>,
    // The pack's modules that are loaded.
    modules: Mutex<FxHashMap<usize, Module>>,
    disk: DiskCache,
    compiler: Box<dyn Compile>,
    loaded: RwLock<FxHashMap<u128, Arc<Loaded>>>,
    making: Mutex<FxHashMap<u128, Making>>,
    made: Condvar,
    workers: OnceLock<Workers>,
}

/// A kernel that is not there yet.
enum Making {
    /// Somebody compiles it.
    Running,
    /// It cannot be had.
    Failed(GpuError),
}

impl Kernels {
    pub(crate) fn new(
        gpu: Arc<Gpu>,
        tier: Tier,
        pack: Option<Pack>,
        disk: DiskCache,
        compiler: Box<dyn Compile>,
    ) -> Arc<Kernels> {
        Arc::new(Kernels {
            gpu,
            tier,
            pack,
            modules: Mutex::default(),
            disk,
            compiler,
            loaded: RwLock::default(),
            making: Mutex::default(),
            made: Condvar::new(),
            workers: OnceLock::new(),
        })
    }

    pub(crate) const fn tier(&self) -> Tier {
        self.tier
    }

    /// The kernel, if it is loaded or can be loaded without compiling.
    pub(crate) fn ready(&self, kernel: &Kernel) -> Result<Option<Arc<Loaded>>> {
        if let Some(loaded) = self.known(kernel.key) {
            return Ok(Some(loaded));
        }
        if let Some(function) = self.packed(kernel)? {
            return Ok(Some(self.keep(kernel.key, function)));
        }
        // While it is being made it is not looked for again.
        if lock(&self.making).contains_key(&kernel.key) {
            return Ok(None);
        }
        match self.kept_on_disk(kernel) {
            Some(image) => Ok(Some(self.load(kernel, &image)?)),
            None => Ok(None),
        }
    }

    /// The kernel, compiled if need be.
    pub(crate) fn require(&self, kernel: &Kernel) -> Result<Arc<Loaded>> {
        match self.ready(kernel)? {
            Some(loaded) => Ok(loaded),
            None if self.tier == Tier::Pack => Err(GpuError::Unsupported(format!(
                "the kernel {} is not in the pack, and CUPRIC_TIER=1 forbids to compile it",
                kernel.name
            ))),
            None => self.make(kernel),
        }
    }

    /// Begins to make a kernel in the background, unless that has been tried.
    pub(crate) fn start(self: &Arc<Self>, kernel: &Arc<Kernel>) {
        if self.tier == Tier::Pack || lock(&self.making).contains_key(&kernel.key) {
            return;
        }
        let (kernels, kernel) = (Arc::downgrade(self), kernel.clone());
        self.workers.get_or_init(Workers::default).run(kernel.key, move || {
            if let Some(kernels) = kernels.upgrade() {
                // A failure is kept for whoever requires the kernel.
                let _ = kernels.require(&kernel);
            }
        });
    }

    /// Drops what has not begun to compile, and waits for what has.
    pub(crate) fn finish(&self) {
        if let Some(workers) = self.workers.get() {
            workers.finish();
        }
    }

    fn known(&self, key: u128) -> Option<Arc<Loaded>> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    fn keep(&self, key: u128, function: Function) -> Arc<Loaded> {
        let loaded = Arc::new(Loaded { function, granted: AtomicU32::new(SHARED_BY_DEFAULT) });
        self.loaded.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(loaded).clone()
    }

    fn packed(&self, kernel: &Kernel) -> Result<Option<Function>> {
        let pack = self.pack.as_ref().filter(|_| self.tier != Tier::Compiler);
        let Some((pack, entry)) = pack.and_then(|pack| Some((pack, pack.find(kernel.key)?))) else { return Ok(None) };
        let driver = self.gpu.enter()?;
        let mut modules = lock(&self.modules);
        let module = match modules.get(&entry.module) {
            Some(module) => *module,
            None => {
                // SAFETY: the pack's modules are whole binaries, guarded by checksums.
                let module = unsafe { driver.load_module(&pack.module(entry.module)?) }?;
                modules.insert(entry.module, module);
                module
            }
        };
        driver.function(module, entry.name).map(Some)
    }

    fn kept_on_disk(&self, kernel: &Kernel) -> Option<Vec<u8>> {
        if self.tier == Tier::Pack {
            return None;
        }
        self.disk.get(&self.disk_key(kernel)?)
    }

    /// Without a compiler there is none: what it would make is what the key names.
    fn disk_key(&self, kernel: &Kernel) -> Option<String> {
        self.disk.folder()?;
        let (major, minor) = self.compiler.version().ok()?;
        Some(format!("{:032x}{:04x}{major:04x}{minor:04x}", kernel.key, self.gpu.arch()))
    }

    fn load(&self, kernel: &Kernel, image: &[u8]) -> Result<Arc<Loaded>> {
        let driver = self.gpu.enter()?;
        // SAFETY: the compiler made the image, now or before; the disk cache guards it by a checksum.
        let module = unsafe { driver.load_module(image) }?;
        Ok(self.keep(kernel.key, driver.function(module, &kernel.name)?))
    }

    /// Compiles a kernel, or waits for the thread that does.
    fn make(&self, kernel: &Kernel) -> Result<Arc<Loaded>> {
        let mut making = lock(&self.making);
        loop {
            if let Some(loaded) = self.known(kernel.key) {
                return Ok(loaded);
            }
            match making.get(&kernel.key) {
                Some(Making::Running) => making = self.made.wait(making).unwrap_or_else(PoisonError::into_inner),
                Some(Making::Failed(error)) => return Err(error.clone()),
                None => break,
            }
        }
        making.insert(kernel.key, Making::Running);
        drop(making);
        // A panic must not leave others waiting for ever.
        let made = || self.compile(kernel).and_then(|image| self.load(kernel, &image));
        let outcome = catch_unwind(AssertUnwindSafe(made)).unwrap_or_else(|_| {
            Err(GpuError::Unsupported(format!("making the kernel {} panicked, which is a bug", kernel.name)))
        });
        let mut making = lock(&self.making);
        match &outcome {
            Ok(_) => making.remove(&kernel.key),
            Err(error) => making.insert(kernel.key, Making::Failed(error.clone())),
        };
        drop(making);
        self.made.notify_all();
        outcome
    }

    fn compile(&self, kernel: &Kernel) -> Result<Vec<u8>> {
        let start = Instant::now();
        let image = self.compiler.compile(&kernel.name, &kernel.source)?;
        if Config::get().log {
            eprintln!("cupric: compiled {} in {:?}", kernel.name, start.elapsed());
        }
        if let Some(key) = self.disk_key(kernel) {
            self.disk.put(&key, &image);
        }
        Ok(image)
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        self.finish();
        // Modules stay: they go with the context, and work that is still running may use them.
    }
}
