//! The backend: what the queue asks of a GPU.

use crate::{
    blas::{Blas, packing},
    compiler::Compiler,
    disk_cache::DiskCache,
    driver::{
        Attribute, CaptureMode, DevicePtr, Driver, Event, EventFlags, HostFlags, MemoryInfo, Progress, Properties,
        Stream, StreamKind,
    },
    error::Result,
    events::Events,
    failures::Failures,
    gpu::Gpu,
    graph::CapturedGraph,
    installation::pack_file,
    kernels::{Kernels, Loaded, Tier},
    launch::{Places, launch_program, may_fail},
    lock,
    pack::Pack,
    product::Product,
    properties::{Property, named_properties},
    staging::Staging,
};
use cupric_codegen::{DeviceLimits, Planner, Program};
use cupric_core::Error;
use cupric_ir::{MatMul, Op};
use cupric_runtime::{Backend, Blocking, Config, DeviceKind, RawEvent, RawStream, Recording, Ticket, Timing, Waiting};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::{
    any::Any,
    path::Path,
    ptr::NonNull,
    sync::{Arc, Mutex},
};

/// A GPU.
pub struct GpuBackend {
    // What lives in the context comes before it, so that it is dropped first.
    staging: Staging,
    events: Events,
    failures: Failures,
    // Scratch memory of what each stream is recording.
    recorded: Mutex<FxHashMap<usize, Vec<DevicePtr>>>,
    blas: Blas,
    kernels: Arc<Kernels>,
    compiler: Compiler,
    disk: DiskCache,
    planner: Planner,
    gpu: Arc<Gpu>,
}

impl GpuBackend {
    /// Opens a device of a driver.
    ///
    /// # Errors
    /// When there is none of this number, or its context cannot be made.
    pub fn open(driver: Arc<dyn Driver>, ordinal: usize) -> Result<GpuBackend> {
        let gpu = Arc::new(Gpu::open(driver, ordinal)?);
        let disk = || DiskCache::new(DiskCache::default_folder(), DiskCache::DEFAULT_LIMIT);
        let pack = pack_file(gpu.arch()).and_then(|file| opened(&file));
        let compiler = Box::new(Compiler::new(&gpu)?);
        let kernels = Kernels::new(gpu.clone(), Tier::from_environment(), pack, disk(), compiler);
        Self::assemble(gpu, kernels, disk())
    }

    pub(crate) fn assemble(gpu: Arc<Gpu>, kernels: Arc<Kernels>, disk: DiskCache) -> Result<GpuBackend> {
        let sm_count = gpu.attribute(Attribute::MULTIPROCESSOR_COUNT)?.max(1) as u32;
        Ok(GpuBackend {
            staging: Staging::new(gpu.clone()),
            events: Events::new(gpu.clone()),
            failures: Failures::new(gpu.clone()),
            recorded: Mutex::default(),
            blas: Blas::new(gpu.clone()),
            kernels,
            compiler: Compiler::new(&gpu)?,
            disk,
            planner: Planner::new(DeviceLimits { sm_count, ..DeviceLimits::default() }),
            gpu,
        })
    }

    pub(crate) const fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub(crate) const fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    pub(crate) const fn disk(&self) -> &DiskCache {
        &self.disk
    }

    /// The driver, with the device's context current in this thread: for what has no place in the `Backend` trait.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn driver(&self) -> cupric_core::Result<&dyn Driver> {
        Ok(self.gpu.enter()?)
    }

    /// All that is commonly asked about the device.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn properties(&self) -> cupric_core::Result<Properties> {
        Ok(self.gpu.enter()?.properties(self.gpu.device())?)
    }

    /// The same by the names of CUDA's `cudaDeviceProp`.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn named_properties(&self) -> cupric_core::Result<Vec<(&'static str, Property)>> {
        Ok(named_properties(&self.properties()?))
    }

    /// One number about the device.
    ///
    /// # Errors
    /// When the driver does not know it.
    pub fn attribute(&self, attribute: Attribute) -> cupric_core::Result<i32> {
        Ok(self.gpu.attribute(attribute)?)
    }

    /// Compute capability times ten.
    #[must_use]
    pub fn architecture(&self) -> u32 {
        self.gpu.arch()
    }

    /// Waits for compilations that run in the background and begins no more: to be called before the process ends.
    pub fn finish(&self) {
        self.kernels.finish();
    }

    /// The program's kernels, compiled if need be.
    fn loaded(&self, program: &Program) -> Result<SmallVec<[Arc<Loaded>; 4]>> {
        let mut loaded = SmallVec::new();
        for (index, launch) in program.launches.iter().enumerate() {
            if let Some(kernel) = self.kernels.ready(&launch.kernel)? {
                loaded.push(kernel);
                continue;
            }
            // The following ones in other threads meanwhile: the programs of long reductions have several.
            program.launches[index + 1..].iter().for_each(|launch| self.kernels.start(&launch.kernel));
            loaded.push(self.kernels.require(&launch.kernel)?);
        }
        Ok(loaded)
    }

    /// Whether all kernels are there; if not, they are begun.
    fn prepare(&self, program: &Program) -> Result<bool> {
        let mut complete = true;
        for launch in &program.launches {
            if self.kernels.ready(&launch.kernel)?.is_none() {
                complete = false;
                self.kernels.start(&launch.kernel);
            }
        }
        Ok(complete)
    }

    /// Runs an operation by the kernels made for it. Until they are there it runs by the pack's general kernels, which give the
    /// same bits, while the better ones are made in the background.
    fn run(&self, stream: Stream, op: &Op, addresses: &[u64], workspace: u64) -> cupric_core::Result<Option<Ticket>> {
        let program = self.planner.plan(op, addresses)?;
        let mut lack = None;
        if self.kernels.tier() != Tier::Compiler
            && !self.prepare(&program)?
            && let Some(general) = self.planner.plan_packed(op, addresses)
            && let Some(loaded) = self.known(&general)?
        {
            match self.scratch(general.workspace) {
                Ok(scratch) => return self.run_general(stream, op, &general, &loaded, addresses, scratch),
                Err(error) => lack = Some(error),
            }
        }
        // What there was no memory for is better waited for; without a compiler that lack is what to tell of.
        let loaded = self.loaded(&program).map_err(|error| lack.unwrap_or_else(|| error.into()))?;
        self.launch(stream, op, &program, &loaded, addresses, workspace)
    }

    /// Scratch memory for general kernels: from the driver, since the pool was not asked for it.
    fn scratch(&self, bytes: usize) -> cupric_core::Result<u64> {
        if bytes == 0 {
            return Ok(0);
        }
        self.allocate(bytes).map_err(|error| match (error, self.memory()) {
            (Error::OutOfMemory { cached, limit, holders, .. }, Ok((free, total))) => {
                Error::OutOfMemory { requested: bytes, free, total, cached, limit, holders }
            }
            (error, _) => error,
        })
    }

    /// All kernels of a program, if they are there.
    fn known(&self, program: &Program) -> Result<Option<SmallVec<[Arc<Loaded>; 4]>>> {
        program.launches.iter().map(|launch| self.kernels.ready(&launch.kernel)).collect()
    }

    /// Runs a program of general kernels. Its scratch memory goes back at once, which waits for the launches: this is for first
    /// calls.
    fn run_general(
        &self,
        stream: Stream,
        op: &Op,
        program: &Program,
        loaded: &[Arc<Loaded>],
        addresses: &[u64],
        scratch: u64,
    ) -> cupric_core::Result<Option<Ticket>> {
        let outcome = self.launch(stream, op, program, loaded, addresses, scratch);
        if program.workspace > 0 {
            self.let_go(stream, scratch, program.workspace)?;
        }
        outcome
    }

    /// Gives scratch memory back, or keeps it with what is being recorded, which will use it again.
    fn let_go(&self, stream: Stream, scratch: u64, bytes: usize) -> cupric_core::Result<()> {
        if self.gpu.enter()?.is_capturing(stream)? {
            lock(&self.recorded).entry(stream.raw()).or_default().push(DevicePtr(scratch));
        } else {
            self.release(scratch, bytes);
        }
        Ok(())
    }

    fn launch(
        &self,
        stream: Stream,
        op: &Op,
        program: &Program,
        loaded: &[Arc<Loaded>],
        addresses: &[u64],
        workspace: u64,
    ) -> cupric_core::Result<Option<Ticket>> {
        let (reads, writes) = addresses.split_at(op.reads().len());
        let driver = self.gpu.enter()?;
        let slot = may_fail(program).then(|| self.failures.slot(driver, stream, op.name())).transpose()?;
        let failure = slot.as_ref().map_or(0, |slot| slot.address);
        // SAFETY: the queue keeps the storages and the workspace alive, and orders work on them.
        unsafe { launch_program(driver, stream, program, loaded, &Places { reads, writes, workspace, failure }) }?;
        let ticket = slot.and_then(|slot| slot.ticket);
        if let Some(ticket) = ticket {
            self.failures.mark(driver, ticket)?;
        }
        Ok(ticket)
    }

    fn multiply(
        &self,
        stream: Stream,
        op: &MatMul,
        plan: &Product,
        bases: [u64; 3],
        workspace: u64,
    ) -> cupric_core::Result<()> {
        for (matrices, (operand, base)) in plan.inputs.iter().zip([(&op.left, bases[0]), (&op.right, bases[1])]) {
            let Some(layout) = &matrices.packed else { continue };
            self.run(stream, &packing(operand, layout)?, &[base, workspace], 0)?;
        }
        Ok(self.blas.run(stream, plan, bases, workspace)?)
    }

    fn product(&self, op: &Op) -> Option<(&Blas, Product)> {
        let Op::MatMul(product) = op else { return None };
        self.blas.plan(product).map(|plan| (&self.blas, plan))
    }
}

/// The pack in a file. One that is damaged is as good as none, and the log says so.
fn opened(file: &Path) -> Option<Pack> {
    let opened = Pack::open(file);
    if let (Err(error), true) = (&opened, Config::get().log) {
        eprintln!("cupric: {}: {error}", file.display());
    }
    opened.ok()
}

/// The driver's stream behind the queue's name for it.
pub(crate) const fn stream(raw: RawStream) -> Stream {
    // SAFETY: the queue names only streams that this backend made, or that the user vouches for, and not after their end.
    unsafe { Stream::from_raw(raw.0 as usize) }
}

const fn event(raw: RawEvent) -> Event {
    // SAFETY: the queue names only events that this backend made, and not after their end.
    unsafe { Event::from_raw(raw.0 as usize) }
}

impl Backend for GpuBackend {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Cuda
    }

    fn ordinal(&self) -> usize {
        self.gpu.ordinal()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn allocate(&self, bytes: usize) -> cupric_core::Result<u64> {
        Ok(self.gpu.enter()?.allocate(bytes)?.0)
    }

    fn release(&self, address: u64, _bytes: usize) {
        // SAFETY: the pool gives back what it was given, once; the driver waits for work that uses it. A driver that is gone
        // has taken the memory with it.
        let _ = self.gpu.enter().and_then(|driver| unsafe { driver.free(DevicePtr(address)) });
    }

    fn allocate_host(&self, bytes: usize) -> cupric_core::Result<u64> {
        Ok(self.gpu.enter()?.allocate_host(bytes, HostFlags::PORTABLE)?.as_ptr() as u64)
    }

    fn release_host(&self, address: u64, _bytes: usize) {
        let Some(pointer) = NonNull::new(std::ptr::with_exposed_provenance_mut(address as usize)) else { return };
        // SAFETY: the pool gives back what it was given, once, when nobody copies from or to it. A driver that is gone has
        // taken the memory with it.
        let _ = self.gpu.enter().and_then(|driver| unsafe { driver.free_host(pointer) });
    }

    fn memory(&self) -> cupric_core::Result<(usize, usize)> {
        let MemoryInfo { free, total } = self.gpu.enter()?.memory_info()?;
        Ok((free as usize, total as usize))
    }

    fn create_stream(&self, blocking: Blocking, priority: i32) -> cupric_core::Result<RawStream> {
        let driver = self.gpu.enter()?;
        let kind = match blocking {
            Blocking::WithNull => StreamKind::Blocking,
            Blocking::Free => StreamKind::NonBlocking,
        };
        Ok(RawStream(driver.create_stream(kind, priority)?.raw() as u64))
    }

    fn destroy_stream(&self, raw: RawStream) {
        // SAFETY: its owner gives it up; work that was given to it still runs.
        let _ = self.gpu.enter().and_then(|driver| unsafe { driver.destroy_stream(stream(raw)) });
    }

    fn synchronize_stream(&self, raw: RawStream) -> cupric_core::Result<()> {
        Ok(self.gpu.enter()?.synchronize_stream(stream(raw))?)
    }

    fn stream_done(&self, raw: RawStream) -> cupric_core::Result<bool> {
        Ok(self.gpu.enter()?.query_stream(stream(raw))? == Progress::Done)
    }

    fn wait_event(&self, raw: RawStream, mark: RawEvent) -> cupric_core::Result<()> {
        Ok(self.gpu.enter()?.wait_event(stream(raw), event(mark))?)
    }

    fn synchronize(&self) -> cupric_core::Result<()> {
        Ok(self.gpu.enter()?.synchronize()?)
    }

    fn create_event(&self, timing: Timing, waiting: Waiting) -> cupric_core::Result<RawEvent> {
        let timing = match timing {
            Timing::Kept => EventFlags::DEFAULT,
            Timing::Off => EventFlags::DISABLE_TIMING,
        };
        let waiting = match waiting {
            Waiting::Spin => EventFlags::DEFAULT,
            Waiting::Block => EventFlags::BLOCKING_SYNC,
        };
        Ok(RawEvent(self.events.take(EventFlags(timing.0 | waiting.0))?.raw() as u64))
    }

    fn destroy_event(&self, raw: RawEvent) {
        self.events.give(event(raw));
    }

    fn record_event(&self, mark: RawEvent, raw: RawStream) -> cupric_core::Result<()> {
        Ok(self.gpu.enter()?.record_event(event(mark), stream(raw))?)
    }

    fn event_done(&self, mark: RawEvent) -> cupric_core::Result<bool> {
        Ok(self.gpu.enter()?.query_event(event(mark))? == Progress::Done)
    }

    fn synchronize_event(&self, mark: RawEvent) -> cupric_core::Result<()> {
        Ok(self.gpu.enter()?.synchronize_event(event(mark))?)
    }

    fn elapsed(&self, start: RawEvent, end: RawEvent) -> cupric_core::Result<f32> {
        Ok(self.gpu.enter()?.elapsed(event(start), event(end))?)
    }

    fn upload(&self, raw: RawStream, to: u64, from: &[u8]) -> cupric_core::Result<()> {
        match from.is_empty() {
            true => Ok(()),
            false => Ok(self.staging.upload(stream(raw), DevicePtr(to), from)?),
        }
    }

    fn download(&self, raw: RawStream, from: u64, to: &mut [u8]) -> cupric_core::Result<()> {
        match to.is_empty() {
            true => self.synchronize_stream(raw),
            false => Ok(self.staging.download(stream(raw), DevicePtr(from), to)?),
        }
    }

    fn workspace(&self, op: &Op) -> cupric_core::Result<usize> {
        if let Some((_, product)) = self.product(op) {
            return Ok(Blas::workspace(&product));
        }
        match op {
            // Planned once less: these never need any.
            Op::Map(_) | Op::Gather(_) | Op::Random(_) => Ok(0),
            _ => Ok(self.planner.plan(op, &[])?.workspace),
        }
    }

    fn begin_capture(&self, raw: RawStream) -> cupric_core::Result<()> {
        // Modules may be loaded and memory taken meanwhile: neither disturbs what is recorded.
        Ok(self.gpu.enter()?.begin_capture(stream(raw), CaptureMode::RELAXED)?)
    }

    fn end_capture(&self, raw: RawStream) -> cupric_core::Result<Option<Box<dyn Recording>>> {
        let scratch = lock(&self.recorded).remove(&stream(raw).raw()).unwrap_or_default();
        Ok(Some(Box::new(CapturedGraph::end(&self.gpu, stream(raw), scratch)?)))
    }

    fn records(&self) -> bool {
        true
    }

    fn worthwhile_traffic(&self) -> usize {
        const MICROSECONDS: usize = 20;
        let attribute = |which| self.gpu.attribute(which).map_or(0, |value| value.max(0) as usize);
        let (kilohertz, bits) =
            (attribute(Attribute::MEMORY_CLOCK_RATE), attribute(Attribute::GLOBAL_MEMORY_BUS_WIDTH));
        // Both edges of the clock move data.
        let per_microsecond = 2 * kilohertz * bits / 8 / 1000;
        // A driver that does not tell is taken for one of a terabyte a second.
        MICROSECONDS * if per_microsecond == 0 { 1_000_000 } else { per_microsecond }
    }

    fn ready(&self, op: &Op) -> bool {
        if self.kernels.tier() == Tier::Compiler {
            return true;
        }
        // What cannot be planned or loaded is told of by `execute`.
        self.planner.plan(op, &[]).is_ok_and(|program| self.prepare(&program).unwrap_or(true))
    }

    fn execute(
        &self,
        raw: RawStream,
        op: &Op,
        addresses: &[u64],
        workspace: u64,
    ) -> cupric_core::Result<Option<Ticket>> {
        if let (Op::MatMul(matrices), Some((_, plan)), &[left, right, output]) = (op, self.product(op), addresses) {
            self.multiply(stream(raw), matrices, &plan, [left, right, output], workspace)?;
            return Ok(None);
        }
        self.run(stream(raw), op, addresses, workspace)
    }

    fn take_failures(&self) -> Vec<(Ticket, cupric_core::Error)> {
        self.failures.take()
    }
}

#[cfg(test)]
mod tests;
