use super::*;
use crate::{compiler::Compile, driver::mock::MockDriver, error::GpuError, lock, nvrtc::Arch, pack::PackBuilder};
use cupric_codegen::Kernel;
use cupric_core::{DType, Error, Layout, Typed};
use cupric_ir::{Bounds, Gather, IndexOperand, Input, MapStep, Operand, Step, StorageId, alone, ufunc};
use std::{
    sync::{Condvar, Mutex},
    time::{Duration, Instant},
};

/// A compiler whose binaries are the names of the kernels.
#[derive(Default)]
struct Fake {
    compiled: Mutex<Vec<String>>,
    // Compilations wait while this is true.
    held: Mutex<bool>,
    released: Condvar,
    missing: bool,
}

#[derive(Clone)]
struct Shared(Arc<Fake>);

impl Compile for Shared {
    fn version(&self) -> Result<(i32, i32)> {
        match self.0.missing {
            true => Err(GpuError::Library { name: "NVRTC".into(), looked: Vec::new(), help: "Install it.".into() }),
            false => Ok((12, 0)),
        }
    }

    fn compile(&self, name: &str, _: &str) -> Result<Vec<u8>> {
        self.version()?;
        let held = lock(&self.0.held);
        drop(self.0.released.wait_while(held, |held| *held).unwrap());
        lock(&self.0.compiled).push(name.to_owned());
        Ok(name.as_bytes().to_vec())
    }
}

struct World {
    driver: Arc<MockDriver>,
    compiler: Arc<Fake>,
    backend: GpuBackend,
}

fn world(tier: Tier, packed: &[&Kernel], compiler: Fake) -> World {
    let (driver, compiler) = (Arc::new(MockDriver::default()), Arc::new(compiler));
    let gpu = Arc::new(Gpu::open(driver.clone(), 0).unwrap());
    let mut builder = PackBuilder::new(Arch::Sm(90));
    for kernel in packed {
        builder.add(b"packed", [(kernel.key, kernel.name.clone())]).unwrap();
    }
    let pack = Pack::from_bytes(builder.finish(0)).unwrap();
    let disk = || DiskCache::new(None, 0);
    let kernels = Kernels::new(gpu.clone(), tier, Some(pack), disk(), Box::new(Shared(compiler.clone())));
    World { driver, compiler, backend: GpuBackend::assemble(gpu, kernels, disk()).unwrap() }
}

fn operand(storage: u64, dtype: DType, shape: &[usize]) -> Operand {
    Operand { storage: StorageId(storage), dtype, layout: Layout::row_major(shape, dtype.size()).into() }
}

fn addition() -> Op {
    let body = ufunc("add").unwrap().resolve(&[Typed::Strong(DType::Float32); 2], None).unwrap().compile();
    let array = |storage| operand(storage, DType::Float32, &[1000]);
    alone(&Step::Map(MapStep {
        shape: [1000][..].into(),
        body: Arc::new(body),
        inputs: [0, 1].map(|storage| Input::Array(array(storage))).into_iter().collect(),
        outputs: std::iter::once(array(2)).collect(),
        mask: None,
    }))
}

fn gather() -> Op {
    Op::Gather(Gather {
        shape: [8][..].into(),
        source: Operand {
            layout: Layout { shape: [8][..].into(), strides: [0][..].into(), offset: 0 }.into(),
            ..operand(0, DType::Float32, &[8])
        },
        indices: vec![IndexOperand { operand: operand(1, DType::Int64, &[8]), length: 100, stride: 4 }],
        bounds: Bounds::Raise,
        output: operand(2, DType::Float32, &[8]),
    })
}

fn kernel_of(op: &Op) -> Arc<Kernel> {
    let planner = Planner::new(DeviceLimits { sm_count: 1, ..DeviceLimits::default() });
    planner.plan(op, &[]).unwrap().launches[0].kernel.clone()
}

const ADDRESSES: [u64; 3] = [0x1000, 0x2000, 0x3000];

fn execute(world: &World, op: &Op) -> cupric_core::Result<Option<Ticket>> {
    world.backend.execute(RawStream(0), op, &ADDRESSES, 0)
}

fn wait_until(mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "this should have happened long ago");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_the_pack_has_is_not_compiled() {
    let op = addition();
    let kernel = kernel_of(&op);
    for tier in [Tier::Pack, Tier::Both] {
        let world = world(tier, &[&kernel], Fake::default());
        assert!(world.backend.ready(&op));
        execute(&world, &op).unwrap();
        execute(&world, &op).unwrap();
        let seen = lock(&world.driver.seen);
        assert_eq!(seen.images, [b"packed"]);
        assert_eq!(seen.launches.len(), 2);
        assert_eq!(seen.launches[0].0, kernel.name);
        for address in ADDRESSES {
            assert!(seen.launches[0].3.contains(&address), "{address:#x} is a parameter");
        }
        assert!(lock(&world.compiler.compiled).is_empty());
    }
}

#[test]
fn what_the_pack_lacks_is_compiled_once() {
    let op = addition();
    let world = world(Tier::Both, &[], Fake::default());
    execute(&world, &op).unwrap();
    execute(&world, &op).unwrap();
    assert_eq!(*lock(&world.compiler.compiled), [kernel_of(&op).name.clone()]);
    assert_eq!(lock(&world.driver.seen).launches.len(), 2);
}

/// The sum of every second element: general kernels copy them first.
fn strided_addition() -> Op {
    let Op::Map(mut op) = addition() else { unreachable!("an addition is a map") };
    op.inputs.iter_mut().for_each(|input| Arc::make_mut(&mut input.layout).strides[0] = 8);
    Op::Map(op)
}

#[test]
fn without_memory_for_general_kernels_the_compiler_is_waited_for() {
    let op = strided_addition();
    let planner = Planner::new(DeviceLimits { sm_count: 1, ..DeviceLimits::default() });
    let general = planner.plan_packed(&op, &ADDRESSES).unwrap();
    assert!(general.workspace > 0);
    let mut kernels: Vec<&Kernel> = general.launches.iter().map(|launch| &*launch.kernel).collect();
    kernels.sort_by_key(|kernel| kernel.key);
    kernels.dedup_by_key(|kernel| kernel.key);
    let launched =
        |world: &World| lock(&world.driver.seen).launches.iter().map(|seen| seen.0.clone()).collect::<Vec<_>>();

    let roomy = world(Tier::Both, &kernels, Fake::default());
    execute(&roomy, &op).unwrap();
    assert_eq!(launched(&roomy), general.launches.iter().map(|launch| launch.kernel.name.clone()).collect::<Vec<_>>());

    let full = world(Tier::Both, &kernels, Fake::default());
    lock(&full.driver.seen).full = true;
    execute(&full, &op).unwrap();
    assert_eq!(launched(&full), [kernel_of(&op).name.clone()]);

    for (tier, missing) in [(Tier::Both, true), (Tier::Pack, false)] {
        let alone = world(tier, &kernels, Fake { missing, ..Fake::default() });
        lock(&alone.driver.seen).full = true;
        let error = execute(&alone, &op).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { requested, .. } if requested == general.workspace), "{error}");
    }
}

#[test]
fn the_second_tier_compiles_even_what_the_pack_has() {
    let op = addition();
    let world = world(Tier::Compiler, &[&kernel_of(&op)], Fake::default());
    assert!(world.backend.ready(&op), "it waits instead");
    execute(&world, &op).unwrap();
    assert_eq!(lock(&world.compiler.compiled).len(), 1);
}

#[test]
fn the_first_tier_refuses_what_the_pack_lacks() {
    let world = world(Tier::Pack, &[], Fake::default());
    assert!(!world.backend.ready(&addition()));
    let error = execute(&world, &addition()).unwrap_err();
    assert!(error.to_string().contains("is not in the pack, and CUPRIC_TIER=1"), "{error}");
    assert!(lock(&world.compiler.compiled).is_empty());
}

#[test]
fn a_group_is_ready_once_it_was_compiled_in_the_background() {
    let op = addition();
    let world = world(Tier::Both, &[], Fake { held: Mutex::new(true), ..Fake::default() });
    assert!(!world.backend.ready(&op));
    assert!(!world.backend.ready(&op));
    *lock(&world.compiler.held) = false;
    world.compiler.released.notify_all();
    wait_until(|| world.backend.ready(&op));
    assert_eq!(lock(&world.compiler.compiled).len(), 1);
    execute(&world, &op).unwrap();
    assert_eq!(lock(&world.compiler.compiled).len(), 1);
}

#[test]
fn without_a_compiler_groups_are_never_ready_and_the_error_helps() {
    let op = addition();
    let world = world(Tier::Both, &[], Fake { missing: true, ..Fake::default() });
    for _ in 0..3 {
        assert!(!world.backend.ready(&op));
    }
    let error = execute(&world, &op).unwrap_err();
    assert!(matches!(&error, Error::Library { help, .. } if help.contains("Install it.")), "{error}");
}

#[test]
fn finishing_waits_for_what_compiles() {
    let world = world(Tier::Both, &[], Fake::default());
    world.backend.ready(&addition());
    world.backend.finish();
    assert!(lock(&world.compiler.compiled).len() <= 1);
    assert!(!world.backend.ready(&gather()));
    std::thread::sleep(Duration::from_millis(20));
    assert!(lock(&world.compiler.compiled).len() <= 1, "nothing begins after the end");
}

/// Writes what a kernel would report to the place that the launch of this number was given.
fn report(world: &World, launch: usize, index: u64) {
    let (most, length) = ((1_u64 << 57) - 1, 100);
    let slots = world.backend.failures.range().unwrap();
    let seen = lock(&world.driver.seen);
    let address =
        *seen.launches[launch].3.iter().find(|word| slots.contains(word)).expect("the kernel is given a slot");
    // SAFETY: the mock's device memory is host memory.
    unsafe { (address as *mut u64).copy_from(&raw const *[index + most, length].first().unwrap(), 2) };
}

fn out_of_bounds(index: isize) -> Error {
    let cause = Error::IndexOutOfBounds { index, axis: 0, size: 100 };
    Error::Deferred { operation: "take".to_owned(), cause: Box::new(cause) }
}

#[test]
fn a_reported_index_is_told_with_its_launch_after_that_has_ended() {
    let op = gather();
    let world = world(Tier::Both, &[], Fake::default());
    assert_eq!(world.backend.take_failures(), []);
    let tickets: Vec<Ticket> = (0..3).map(|_| execute(&world, &op).unwrap().expect("a take may fail")).collect();
    report(&world, 1, 120);
    report(&world, 2, 130);
    lock(&world.driver.seen).pending = true;
    assert_eq!(world.backend.take_failures(), []);
    lock(&world.driver.seen).pending = false;
    let expected = [(tickets[1], out_of_bounds(120)), (tickets[2], out_of_bounds(130))];
    assert_eq!(world.backend.take_failures(), expected);
    execute(&world, &op).unwrap();
    assert_eq!(world.backend.take_failures(), [], "the reports are cleared");
}

#[test]
fn many_launches_are_told_apart_as_long_as_they_end() {
    let op = gather();
    let world = world(Tier::Both, &[], Fake::default());
    let take = || execute(&world, &op).unwrap().expect("a take may fail");
    let first = take();
    report(&world, 0, 110);
    let tickets: Vec<Ticket> = (1..100).map(|_| take()).collect();
    report(&world, 99, 120);
    let expected = [(first, out_of_bounds(110)), (tickets[98], out_of_bounds(120))];
    assert_eq!(world.backend.take_failures(), expected);
    lock(&world.driver.seen).pending = true;
    let tickets: Vec<Ticket> = (0..100).map(|_| take()).collect();
    report(&world, 199, 130);
    lock(&world.driver.seen).pending = false;
    let failed: Vec<Ticket> = world.backend.take_failures().into_iter().map(|(ticket, _)| ticket).collect();
    assert_eq!(failed, tickets[63..], "those that share a report fail together");
}

#[test]
fn bytes_of_any_count_survive_the_way_there_and_back() {
    let world = world(Tier::Both, &[], Fake::default());
    for count in [0, 1, 1000, 40_000, (2 << 20) + 1, (17 << 20) + 12_345] {
        let bytes: Vec<u8> = (0..count).map(|index| (index * 7 + index / 251) as u8).collect();
        let address = world.backend.allocate(count).unwrap();
        world.backend.upload(RawStream(0), address, &bytes).unwrap();
        let mut back = vec![0; count];
        world.backend.download(RawStream(0), address, &mut back).unwrap();
        assert!(bytes == back, "{count} bytes");
        world.backend.release(address, count);
    }
}

#[test]
fn all_memory_is_given_back() {
    let World { driver, backend, .. } = world(Tier::Both, &[], Fake::default());
    backend.upload(RawStream(0), backend.allocate(0).unwrap(), &[]).unwrap();
    backend.failures.slot(&*driver, Stream::NULL, "take").unwrap();
    assert_eq!(driver.allocations(), 2);
    backend.upload(RawStream(0), 0, &[]).unwrap();
    drop(backend);
    assert_eq!(driver.allocations(), 1, "what the test took itself");
}

#[test]
fn events_without_times_are_reused() {
    let world = world(Tier::Both, &[], Fake::default());
    for _ in 0..10 {
        let event = world.backend.create_event(Timing::Off, Waiting::Spin).unwrap();
        world.backend.destroy_event(event);
    }
    assert_eq!(lock(&world.driver.seen).events, 1);
    lock(&world.driver.seen).pending = true;
    let event = world.backend.create_event(Timing::Off, Waiting::Spin).unwrap();
    assert_eq!(lock(&world.driver.seen).events, 2, "an event that is still ahead is left alone");
    world.backend.destroy_event(event);
    world.backend.create_event(Timing::Kept, Waiting::Spin).unwrap();
    assert_eq!(lock(&world.driver.seen).events, 3);
}

#[test]
fn exhausted_memory_is_told_as_such() {
    let world = world(Tier::Both, &[], Fake::default());
    lock(&world.driver.seen).full = true;
    assert!(matches!(world.backend.allocate(10), Err(Error::OutOfMemory { .. })));
    assert!(world.backend.upload(RawStream(0), 0x1000, &[0; 100_000]).is_err());
}

#[test]
fn much_shared_memory_is_asked_for_once() {
    let op = addition();
    let kernel = kernel_of(&op);
    let world = world(Tier::Both, &[&kernel], Fake::default());
    let loaded = world.backend.kernels.require(&kernel).unwrap();
    for shared in [0, 48 << 10, 100 << 10, 64 << 10, 100 << 10] {
        loaded.function(&*world.driver, shared).unwrap();
    }
    let most = crate::driver::FunctionAttribute::MAX_DYNAMIC_SHARED_BYTES;
    assert_eq!(lock(&world.driver.seen).attributes, [(most, 100 << 10)]);
}

#[test]
fn host_memory_is_taken_from_the_driver_and_given_back() {
    let world = world(Tier::Both, &[], Fake::default());
    let before = world.driver.allocations();
    let address = world.backend.allocate_host(1000).unwrap();
    assert!(address != 0 && world.driver.allocations() == before + 1);
    world.backend.release_host(address, 1000);
    assert_eq!(world.driver.allocations(), before);
}
