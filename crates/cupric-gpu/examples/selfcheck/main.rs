//! Runs every kind of operation on the GPU and on the CPU and compares the bits, then measures the large ones:
//! `selfcheck [part of a name]`. `CUPRIC_SITE_PACKAGES` names folders with NVIDIA's wheels.

mod cases;
mod data;
mod speed;

use cases::{Case, Plan};
use cupric_core::{DType, Kind, Result};
use cupric_ir::{Op, Operand};
use cupric_runtime::{Backend, Blocking, Device, RawStream};
use std::{
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Cases that have not begun by then are left out, and counted.
const PATIENCE: Duration = Duration::from_secs(85);
/// Differing elements that are shown of a case.
const SHOWN: usize = 8;

fn main() -> ExitCode {
    match check() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> Result<bool> {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let gpu = Device::new(cupric_gpu::open(0)?);
    let cpu = Device::new(Box::new(cupric_cpu::Cpu::new(0)));
    let mut plans: Vec<Plan> = cases::all().into_iter().filter(|plan| plan.name.contains(&filter)).collect();
    // Mixed, so that a little of each kind is seen whenever time runs out.
    plans.sort_by_cached_key(|plan| plan.name.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31) ^ u32::from(byte)));
    let [passed, failed, left] = compare_all(&plans, &gpu, &cpu);
    let raised = filter.is_empty().then(|| raises(&gpu, &cpu)).transpose()?.unwrap_or(true);
    let (passed, failed) = (passed + usize::from(raised), failed + usize::from(!raised));
    println!("{passed} passed, {failed} failed, {left} left out for want of time");
    if filter.is_empty() || filter == "speed" {
        speed::measure(gpu.backend())?;
    }
    Ok(failed == 0)
}

/// Passed, failed, and not begun in time.
fn compare_all(plans: &[Plan], gpu: &Arc<Device>, cpu: &Arc<Device>) -> [usize; 3] {
    let start = Instant::now();
    let (next, passed, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let stream = gpu.backend().create_stream(Blocking::Free, 0).expect("a stream can be made");
        while start.elapsed() < PATIENCE {
            let Some(plan) = plans.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let clock = Instant::now();
            let outcome = compare(&(plan.make)(), gpu.backend(), stream, cpu.backend());
            let (counter, verdict) = match &outcome {
                Ok(()) => (&passed, "ok".to_owned()),
                Err(reason) => (&failed, format!("FAILED: {reason}")),
            };
            counter.fetch_add(1, Ordering::Relaxed);
            println!("{}: {verdict} ({:.0} ms)", plan.name, clock.elapsed().as_secs_f64() * 1e3);
        }
        gpu.backend().destroy_stream(stream);
    };
    // Several compilers at once; each thread has a stream of its own.
    let threads = std::thread::available_parallelism().map_or(4, usize::from).clamp(2, 16);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let [passed, failed] = [passed, failed].map(AtomicUsize::into_inner);
    [passed, failed, plans.len() - passed - failed]
}

fn compare(case: &Case, gpu: &dyn Backend, stream: RawStream, cpu: &dyn Backend) -> std::result::Result<(), String> {
    let ours = run(gpu, stream, case).map_err(|error| error.to_string())?;
    let theirs = run(cpu, RawStream(0), case).map_err(|error| format!("on the CPU: {error}"))?;
    let writes = case.ops.iter().flat_map(Op::writes);
    for (operand, (our, their)) in writes.zip(ours.iter().zip(&theirs)) {
        let wrong = differences(operand, our, their, by_library(case));
        if !wrong.is_empty() {
            return Err(report(case, operand, &wrong, our, their));
        }
    }
    Ok(())
}

/// Whether a library may do the work, which leaves the signs of zeros open.
fn by_library(case: &Case) -> bool {
    case.ops.iter().any(|op| matches!(op, Op::MatMul(_)))
}

/// How many elements differ, and the first of them with what they were made from.
fn report(case: &Case, operand: &Operand, wrong: &[usize], ours: &[u8], theirs: &[u8]) -> String {
    // Where the element of an input is that another was made from is plain for packed arrays alone.
    let packed = |operand: &Operand| operand.layout.offset == 0 && operand.layout.is_row_major(operand.dtype.size());
    let beside = |read: &&Operand| packed(read) && packed(operand) && read.layout.shape == operand.layout.shape;
    let given: Vec<&Operand> = case.ops[0].reads().into_iter().filter(beside).collect();
    let mut text = format!("{} elements of {} differ", wrong.len(), operand.dtype);
    for &at in wrong.iter().take(SHOWN) {
        let index = at / operand.dtype.size();
        let storage = |read: &&Operand| &case.storages[read.storage.0 as usize];
        let given = given.iter().map(|read| hex(storage(read), index * read.dtype.size(), read.dtype));
        let given = given.collect::<Vec<_>>().join("; ");
        let [our, their] = [ours, theirs].map(|bytes| hex(bytes, at, operand.dtype));
        text += &format!("\n    element {index} of [{given}]: {our} and not {their}");
    }
    text
}

/// An element's components as numbers of their width, in hexadecimal.
fn hex(bytes: &[u8], at: usize, dtype: DType) -> String {
    let part = dtype.component().size();
    let word = |bytes: &[u8]| bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>();
    let end = (at + dtype.size()).min(bytes.len());
    bytes[at.min(end)..end].chunks(part).map(word).collect::<Vec<_>>().join(" ")
}

/// The contents of all written storages after the operation.
fn run(backend: &dyn Backend, stream: RawStream, case: &Case) -> Result<Vec<Vec<u8>>> {
    let addresses: Vec<u64> =
        case.storages.iter().map(|bytes| backend.allocate(bytes.len().max(1))).collect::<Result<_>>()?;
    for (&address, bytes) in addresses.iter().zip(&case.storages) {
        backend.upload(stream, address, bytes)?;
    }
    let place = |operand: &Operand| operand.storage.0 as usize;
    let outcome = case.ops.iter().try_for_each(|op| {
        let room = backend.workspace(op)?;
        let workspace = backend.allocate(room.max(1))?;
        let (reads, writes) = (op.reads(), op.writes());
        let bases: Vec<u64> = reads.iter().chain(&writes).map(|operand| addresses[place(operand)]).collect();
        let outcome = backend.execute(stream, op, &bases, workspace).map(drop);
        backend.release(workspace, room.max(1));
        outcome
    });
    let mut results = Vec::new();
    for operand in case.ops.iter().flat_map(Op::writes).filter(|_| outcome.is_ok()) {
        let mut bytes = vec![0; case.storages[place(operand)].len()];
        backend.download(stream, addresses[place(operand)], &mut bytes)?;
        results.push(bytes);
    }
    addresses.iter().zip(&case.storages).for_each(|(&address, bytes)| backend.release(address, bytes.len().max(1)));
    outcome.map(|()| results)
}

/// The places of elements in which two storages differ, NaNs counting as equal, and zeros too where their signs are open.
fn differences(operand: &Operand, ours: &[u8], theirs: &[u8], zeros: bool) -> Vec<usize> {
    if ours == theirs {
        return Vec::new();
    }
    let (component, whole) = (operand.dtype.component(), operand.dtype.size());
    let (size, start) = (component.size(), operand.layout.offset % component.size());
    let words = (start..ours.len()).step_by(size).filter(|at| at + size <= ours.len());
    let differ = |&at: &usize| {
        let (our, their) = (&ours[at..at + size], &theirs[at..at + size]);
        let alike = |test: fn(DType, &[u8]) -> bool| test(component, our) && test(component, their);
        our != their && !alike(is_nan) && !(zeros && alike(is_zero))
    };
    let mut places: Vec<usize> = words.filter(differ).map(|at| (at - start) / whole * whole + start).collect();
    places.dedup();
    places
}

/// Whether a floating-point number is a zero of either sign.
fn is_zero(dtype: DType, bytes: &[u8]) -> bool {
    let (last, rest) = bytes.split_last().expect("an element has bytes");
    dtype.kind() == Kind::Float && last & 0x7f == 0 && rest.iter().all(|&byte| byte == 0)
}

fn is_nan(dtype: DType, bytes: &[u8]) -> bool {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    match dtype {
        DType::Float16 => bits & 0x7fff > 0x7c00,
        DType::BFloat16 => bits & 0x7fff > 0x7f80,
        DType::Float32 => f32::from_bits(bits as u32).is_nan(),
        _ => dtype.kind() == Kind::Float && f64::from_bits(bits).is_nan(),
    }
}

/// Whether an index outside of its axis is reported alike.
fn raises(gpu: &Arc<Device>, cpu: &Arc<Device>) -> Result<bool> {
    let case = cases::outside();
    run(gpu.backend(), RawStream(0), &case)?;
    let ours = gpu.backend().take_failures().pop().map(|(_, error)| error.to_string());
    let theirs = run(cpu.backend(), RawStream(0), &case).err().map(|error| error.to_string());
    let same = matches!((&ours, &theirs), (Some(ours), Some(theirs)) if ours.contains(theirs.as_str()));
    println!("an index outside: {}: {ours:?}, on the CPU {theirs:?}", if same { "ok" } else { "FAILED" });
    Ok(same)
}
