//! How long large operations take, beside a copy within the device.

use crate::cases::{expression, reduction, scan};
use cupric_core::{DType, Layout, Result, Scalar, Typed};
use cupric_gpu::{DevicePtr, GpuBackend, Stream};
use cupric_ir::{Input, MapStep, Op, Operand, Sort, Sorted, Step, StorageId, fold, fuse, ufunc};
use cupric_runtime::{Backend, RawStream, Timing, Waiting};
use std::{sync::Arc, time::Instant};

const COUNT: usize = 50_000_000;
const ROUNDS: usize = 20;
const STREAM: RawStream = RawStream(0);

fn array(storage: u64, shape: &[usize]) -> Operand {
    Operand { storage: StorageId(storage), dtype: DType::Float32, layout: Layout::row_major(shape, 4).into() }
}

fn step(name: &str, inputs: Vec<Input>, output: Operand) -> Step {
    let typed = vec![Typed::Strong(DType::Float32); inputs.len()];
    let resolved = ufunc(name).expect("a row").resolve(&typed, None).expect("a loop");
    Step::Map(MapStep {
        shape: output.layout.shape.clone(),
        body: Arc::new(resolved.compile()),
        inputs: inputs.into_iter().collect(),
        outputs: std::iter::once(output).collect(),
        mask: None,
    })
}

fn number(value: f64) -> Input {
    Input::Scalar { dtype: DType::Float32, bits: Scalar::Float(value).to_bits(DType::Float32) }
}

fn one(steps: &[Step]) -> Op {
    fuse(steps, |storage| storage == StorageId(3)).remove(0).op
}

struct Row {
    name: &'static str,
    ops: Vec<Op>,
    // What has to be moved for each element.
    bytes: usize,
}

/// Storages 0 to 2 are read, storage 3 is written, later ones are temporaries.
fn rows() -> Vec<Row> {
    let flat = |storage| array(storage, &[COUNT]);
    let input = |storage| Input::Array(flat(storage));
    let matrix = || array(0, &[5_000, COUNT / 5_000]);
    let result = |_: DType, shape: &[usize]| array(3, shape);
    let sum = fold("sum").expect("a fold");
    let mut temporaries = 3;
    let fresh = || {
        temporaries += 1;
        flat(temporaries)
    };
    let scaled = [
        step("multiply", vec![input(0), number(2.5)], flat(9)),
        step("add", vec![Input::Array(flat(9)), number(1.0)], flat(3)),
    ];
    let positions = reduction(fold("argmax").expect("a fold"), flat(0), &[0], result_of_positions);
    let sort = Op::Sort(Sort { shape: [COUNT][..].into(), input: flat(0), output: flat(3), answer: Sorted::Values });
    let row = |name, op, bytes| Row { name, ops: vec![op], bytes };
    vec![
        row("copy", one(&[step("copy", vec![input(0)], flat(3))]), 8),
        row("a*2.5+1", one(&scaled), 8),
        row("a+b", one(&[step("add", vec![input(0), input(1)], flat(3))]), 12),
        Row { name: "sin(a)*b+c*c-a/b", ops: expression(&[0, 1, 2].map(flat), flat(3), fresh), bytes: 16 },
        row("sum", reduction(sum, flat(0), &[0], result), 4),
        row("sum axis 0", reduction(sum, matrix(), &[0], result), 4),
        row("sum axis 1", reduction(sum, matrix(), &[1], result), 4),
        row("argmax", positions, 4),
        row("cumsum", scan(sum, flat(0), result), 8),
        row("sort (four passes)", sort, 32),
    ]
}

fn result_of_positions(_: DType, shape: &[usize]) -> Operand {
    Operand { dtype: DType::Int64, layout: Layout::row_major(shape, 8).into(), ..array(3, shape) }
}

pub fn measure(backend: &dyn Backend) -> Result<()> {
    let storages: Vec<u64> = (0..10).map(|_| backend.allocate(4 * COUNT)).collect::<Result<_>>()?;
    let mut numbers = crate::data::Numbers::new(1);
    let host: Vec<u8> =
        (0..COUNT).flat_map(|_| (numbers.below(1 << 24) as f32 / (1 << 22) as f32 - 2.0).to_le_bytes()).collect();
    transfers(backend, storages[0], &host)?;
    backend.upload(STREAM, storages[1], &host)?;
    backend.upload(STREAM, storages[2], &host)?;
    let gpu = backend.as_any().downcast_ref::<GpuBackend>().expect("speed is that of a GPU");
    let (driver, [from, to]) = (gpu.driver()?, [storages[0], storages[3]].map(DevicePtr));
    // SAFETY: both are that long, and live until the end of the measurements.
    let copy = time(backend, || Ok(unsafe { driver.copy_on_device(to, from, 4 * COUNT, Stream::NULL) }?))?;
    println!("{COUNT} float32: the driver's copy {copy:.0} us, {:.2} TB/s", rate(8, copy));
    for row in rows() {
        measure_row(backend, &row, &storages, copy)?;
    }
    small(backend, &storages)?;
    storages.into_iter().for_each(|address| backend.release(address, 4 * COUNT));
    Ok(())
}

fn measure_row(backend: &dyn Backend, row: &Row, storages: &[u64], copy: f64) -> Result<()> {
    let rooms: Vec<usize> = row.ops.iter().map(|op| backend.workspace(op)).collect::<Result<_>>()?;
    let room = rooms.into_iter().max().unwrap_or(0).max(1);
    let workspace = backend.allocate(room)?;
    let run = |op: &Op| {
        let (reads, writes) = (op.reads(), op.writes());
        let bases: Vec<u64> = reads.iter().chain(&writes).map(|operand| storages[operand.storage.0 as usize]).collect();
        backend.execute(STREAM, op, &bases, workspace).map(drop)
    };
    let taken = time(backend, || row.ops.iter().try_for_each(run))?;
    println!(
        "{}: {taken:.0} us, {:.2} TB/s, {:.2} of the copy, {} operations",
        row.name,
        rate(row.bytes, taken),
        taken / copy,
        row.ops.len()
    );
    backend.release(workspace, room);
    Ok(())
}

fn small(backend: &dyn Backend, storages: &[u64]) -> Result<()> {
    let few = |storage| array(storage, &[16]);
    let op = one(&[step("add", vec![Input::Array(few(0)), Input::Array(few(1))], few(3))]);
    let addresses = [storages[0], storages[1], storages[3]];
    backend.execute(STREAM, &op, &addresses, 0)?;
    let clock = Instant::now();
    for _ in 0..1000 {
        backend.workspace(&op)?;
        backend.execute(STREAM, &op, &addresses, 0)?;
    }
    println!("a+b of 16 elements: {:.2} us a call on the host", clock.elapsed().as_secs_f64() * 1e3);
    backend.synchronize()
}

fn transfers(backend: &dyn Backend, address: u64, host: &[u8]) -> Result<()> {
    for round in ["first", "second"] {
        let clock = Instant::now();
        backend.upload(STREAM, address, host)?;
        backend.synchronize()?;
        let up = host.len() as f64 / clock.elapsed().as_secs_f64() / 1e9;
        let mut back = vec![0; host.len()];
        let clock = Instant::now();
        backend.download(STREAM, address, &mut back)?;
        let down = host.len() as f64 / clock.elapsed().as_secs_f64() / 1e9;
        let whole = if back == host { "" } else { " AND DAMAGES BYTES" };
        println!("{round} upload {up:.1} GB/s, download {down:.1} GB/s{whole}");
    }
    Ok(())
}

fn rate(bytes: usize, microseconds: f64) -> f64 {
    (bytes * COUNT) as f64 / microseconds / 1e6
}

/// Microseconds of one call, the median of three times twenty.
fn time(backend: &dyn Backend, call: impl Fn() -> Result<()>) -> Result<f64> {
    call()?;
    let start = backend.create_event(Timing::Kept, Waiting::Spin)?;
    let end = backend.create_event(Timing::Kept, Waiting::Spin)?;
    let mut times = Vec::new();
    for _ in 0..3 {
        backend.record_event(start, STREAM)?;
        (0..ROUNDS).try_for_each(|_| call())?;
        backend.record_event(end, STREAM)?;
        backend.synchronize_event(end)?;
        times.push(f64::from(backend.elapsed(start, end)?) * 1e3 / ROUNDS as f64);
    }
    times.sort_by(f64::total_cmp);
    backend.destroy_event(start);
    backend.destroy_event(end);
    Ok(times[1])
}
