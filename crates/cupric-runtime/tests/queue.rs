//! The queue over a backend that keeps a diary: when steps are launched, what waits for what, what failures and limits do.

use cupric_core::{Bits, DType, Error, Layout, Result, Typed};
use cupric_ir::{Input, MapStep, Op, Operand, Step, ufunc};
use cupric_runtime::{
    Backend, Blocking, Device, DeviceKind, Event, RawEvent, RawStream, Running, Storage, Stream, Timing, Waiting,
    current_stream, set_running, use_stream,
};
use smallvec::smallvec;
use std::{
    any::Any,
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

/// What the backend was asked for, in order.
#[derive(Clone, PartialEq, Debug)]
enum Entry {
    Run { stream: u64, stores: usize },
    Wait { stream: u64, after: u64 },
    Release(usize),
    Finish(u64),
}

#[derive(Default)]
struct Diary {
    entries: Mutex<Vec<Entry>>,
    events: Mutex<HashMap<u64, u64>>,
    next: AtomicU64,
    room: AtomicU64,
    fail: Mutex<Option<Error>>,
}

struct Fake(Arc<Diary>);

impl Fake {
    fn next(&self) -> u64 {
        self.0.next.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn note(&self, entry: Entry) {
        self.0.entries.lock().unwrap().push(entry);
    }
}

impl Backend for Fake {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Sim
    }
    fn ordinal(&self) -> usize {
        0
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn allocate(&self, bytes: usize) -> Result<u64> {
        let room = self.0.room.load(Ordering::Relaxed);
        if bytes as u64 > room {
            let (free, total) = (room as usize, room as usize);
            let holders = String::new();
            return Err(Error::OutOfMemory { requested: bytes, free, total, cached: 0, limit: None, holders });
        }
        self.0.room.fetch_sub(bytes as u64, Ordering::Relaxed);
        Ok(self.next() << 20)
    }
    fn release(&self, _: u64, bytes: usize) {
        self.0.room.fetch_add(bytes as u64, Ordering::Relaxed);
        self.note(Entry::Release(bytes));
    }
    fn memory(&self) -> Result<(usize, usize)> {
        Ok((self.0.room.load(Ordering::Relaxed) as usize, 1 << 40))
    }
    fn create_stream(&self, _: Blocking, _: i32) -> Result<RawStream> {
        Ok(RawStream(self.next()))
    }
    fn destroy_stream(&self, _: RawStream) {}
    fn synchronize_stream(&self, stream: RawStream) -> Result<()> {
        self.note(Entry::Finish(stream.0));
        Ok(())
    }
    fn stream_done(&self, _: RawStream) -> Result<bool> {
        Ok(true)
    }
    fn wait_event(&self, stream: RawStream, event: RawEvent) -> Result<()> {
        let after = self.0.events.lock().unwrap()[&event.0];
        self.note(Entry::Wait { stream: stream.0, after });
        Ok(())
    }
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
    fn create_event(&self, _: Timing, _: Waiting) -> Result<RawEvent> {
        Ok(RawEvent(self.next()))
    }
    fn destroy_event(&self, _: RawEvent) {}
    fn record_event(&self, event: RawEvent, stream: RawStream) -> Result<()> {
        self.0.events.lock().unwrap().insert(event.0, stream.0);
        Ok(())
    }
    fn event_done(&self, _: RawEvent) -> Result<bool> {
        Ok(true)
    }
    fn synchronize_event(&self, _: RawEvent) -> Result<()> {
        Ok(())
    }
    fn elapsed(&self, _: RawEvent, _: RawEvent) -> Result<f32> {
        Ok(0.0)
    }
    fn upload(&self, _: RawStream, _: u64, _: &[u8]) -> Result<()> {
        Ok(())
    }
    fn download(&self, _: RawStream, _: u64, to: &mut [u8]) -> Result<()> {
        to.fill(0);
        Ok(())
    }
    fn copy(&self, _: RawStream, _: u64, _: u64, _: usize) -> Result<()> {
        Ok(())
    }
    fn fill(&self, _: RawStream, _: u64, _: u8, _: usize) -> Result<()> {
        Ok(())
    }
    fn ready(&self, op: &Op) -> bool {
        assert!(!op.writes().is_empty(), "asked about an operation that does nothing");
        true
    }
    fn workspace(&self, _: &Op) -> Result<usize> {
        Ok(0)
    }
    fn execute(&self, stream: RawStream, op: &Op, addresses: &[u64], _: u64) -> Result<()> {
        assert_eq!(addresses.len(), op.reads().len() + op.writes().len());
        if let Some(error) = self.0.fail.lock().unwrap().take() {
            return Err(error);
        }
        self.note(Entry::Run { stream: stream.0, stores: op.writes().len() });
        Ok(())
    }
    fn take_failure(&self) -> Option<Error> {
        None
    }
}

const BYTES: usize = 4000;

fn device() -> (Arc<Device>, Arc<Diary>) {
    let diary = Arc::new(Diary { room: AtomicU64::new(1 << 40), ..Diary::default() });
    (Device::new(Box::new(Fake(diary.clone()))), diary)
}

fn operand(storage: &Storage) -> Operand {
    let len = storage.bytes() / 4;
    Operand { storage: storage.id(), dtype: DType::Float32, layout: Layout::row_major(&[len], 4) }
}

fn add(device: &Arc<Device>, a: &Arc<Storage>, b: &Arc<Storage>, out: &Arc<Storage>) -> Result<()> {
    let typed = [Typed::Strong(DType::Float32); 2];
    let step = MapStep {
        shape: operand(out).layout.shape,
        body: Arc::new(ufunc("add").unwrap().resolve(&typed, None)?.compile()),
        inputs: smallvec![Input::Array(operand(a)), Input::Array(operand(b))],
        outputs: smallvec![operand(out)],
        mask: None,
    };
    device.enqueue(&current_stream(device), Step::Map(step), &[a, b], &[out])
}

fn runs(diary: &Diary) -> usize {
    diary.entries.lock().unwrap().iter().filter(|entry| matches!(entry, Entry::Run { .. })).count()
}

#[test]
fn nothing_runs_until_somebody_looks_and_dead_results_are_never_written() {
    let (device, diary) = device();
    let (a, c) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap());
    {
        let b = device.storage(BYTES).unwrap();
        add(&device, &a, &a, &b).unwrap();
        add(&device, &b, &a, &c).unwrap();
    }
    c.settle().unwrap();
    assert_eq!(*diary.entries.lock().unwrap(), [Entry::Run { stream: 0, stores: 1 }]);
}

#[test]
fn what_nobody_holds_is_never_asked_of_the_device() {
    let (device, diary) = device();
    let a = device.storage(BYTES).unwrap();
    {
        let (b, c) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap());
        add(&device, &a, &a, &b).unwrap();
        add(&device, &b, &a, &c).unwrap();
    }
    device.synchronize().unwrap();
    assert_eq!((runs(&diary), device.pool().used_bytes()), (0, 4096));
}

#[test]
fn the_queue_is_launched_in_the_background() {
    let (device, diary) = device();
    let a = device.storage(BYTES).unwrap();
    add(&device, &a, &a, &a).unwrap();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while runs(&diary) == 0 {
        assert!(std::time::Instant::now() < end, "nobody launched it");
        std::thread::yield_now();
    }
}

#[test]
fn a_full_queue_is_launched_at_the_call() {
    let (device, diary) = device();
    let storages: Vec<_> = (0..300).map(|k| device.storage(4 * (k + 1)).unwrap()).collect();
    for storage in &storages {
        add(&device, storage, storage, storage).unwrap();
    }
    assert!(runs(&diary) >= 256);
}

#[test]
fn eager_and_shared_work_runs_at_its_call() {
    let (device, diary) = device();
    let (a, b) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap());
    let before = set_running(Running::Eager);
    add(&device, &a, &a, &a).unwrap();
    assert_eq!(runs(&diary), 1);
    set_running(before);
    b.share().unwrap();
    add(&device, &a, &a, &b).unwrap();
    assert_eq!(runs(&diary), 2);
}

#[test]
fn a_stream_waits_for_what_another_one_wrote() {
    let (device, diary) = device();
    let (one, two) =
        (Stream::new(&device, Blocking::Free, 0).unwrap(), Stream::new(&device, Blocking::Free, 0).unwrap());
    let (a, b) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap());
    let before = use_stream(&one);
    add(&device, &a, &a, &a).unwrap();
    use_stream(&two);
    add(&device, &a, &a, &b).unwrap();
    b.settle().unwrap();
    use_stream(&before);
    let (one, two) = (one.raw().0, two.raw().0);
    let entries = diary.entries.lock().unwrap().clone();
    let waits = Entry::Wait { stream: two, after: one };
    assert_eq!(entries, [Entry::Run { stream: one, stores: 1 }, waits, Entry::Run { stream: two, stores: 1 }]);
}

#[test]
fn a_stream_that_ends_is_waited_for() {
    let (device, diary) = device();
    let stream = Stream::new(&device, Blocking::Free, 0).unwrap();
    let raw = stream.raw().0;
    let a = device.storage(BYTES).unwrap();
    let before = use_stream(&stream);
    add(&device, &a, &a, &a).unwrap();
    use_stream(&before);
    drop(stream);
    assert_eq!(*diary.entries.lock().unwrap(), [Entry::Run { stream: raw, stores: 1 }, Entry::Finish(raw)]);
}

#[test]
fn readers_on_other_streams_are_waited_for_before_a_write() {
    let (device, diary) = device();
    let other = Stream::new(&device, Blocking::Free, 0).unwrap();
    let (a, b) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap());
    let before = use_stream(&other);
    add(&device, &a, &a, &b).unwrap();
    use_stream(&before);
    add(&device, &a, &a, &a).unwrap();
    a.settle().unwrap();
    let waits = Entry::Wait { stream: 0, after: other.raw().0 };
    assert!(diary.entries.lock().unwrap().contains(&waits));
}

#[test]
fn a_failed_result_raises_at_each_look_and_spoils_what_is_made_of_it() {
    let (device, diary) = device();
    let (a, b, c, d) = (
        device.storage(BYTES).unwrap(),
        device.storage(BYTES).unwrap(),
        device.storage(BYTES).unwrap(),
        device.storage(8).unwrap(),
    );
    let failure = Error::Runtime("broken".into());
    *diary.fail.lock().unwrap() = Some(failure.clone());
    add(&device, &a, &a, &b).unwrap();
    assert_eq!(b.settle(), Err(failure.clone()));
    add(&device, &b, &a, &c).unwrap();
    assert_eq!(c.settle(), Err(failure.clone()));
    assert_eq!(b.settle(), Err(failure.clone()));
    assert_eq!(device.report(), Err(failure));
    add(&device, &d, &d, &d).unwrap();
    assert_eq!((d.settle(), device.synchronize()), (Ok(()), Ok(())));
}

#[test]
fn a_limit_counts_promises_and_lets_go_of_them() {
    let (device, _) = device();
    let pool = device.pool();
    pool.set_limit(Some(1 << 20));
    let kept = device.storage(1 << 19).unwrap();
    assert!(matches!(device.storage(3 << 18), Err(Error::OutOfMemory { limit: Some(_), .. })));
    drop(kept);
    assert_eq!(pool.used_bytes(), 0);
    device.storage(1 << 20).unwrap();
}

#[test]
fn caches_are_given_back_before_memory_runs_out() {
    let (device, diary) = device();
    diary.room.store(10 << 20, Ordering::Relaxed);
    let a = device.storage(8 << 20).unwrap();
    add(&device, &a, &a, &a).unwrap();
    a.settle().unwrap();
    drop(a);
    assert_eq!(device.pool().free_bytes(), 8 << 20);
    let b = device.storage(9 << 20).unwrap();
    add(&device, &b, &b, &b).unwrap();
    b.settle().unwrap();
    assert!(diary.entries.lock().unwrap().contains(&Entry::Release(8 << 20)));
}

#[test]
fn events_are_recorded_after_what_was_queued() {
    let (device, diary) = device();
    let a = device.storage(BYTES).unwrap();
    add(&device, &a, &a, &a).unwrap();
    let event = Event::new(&device, Timing::Off, Waiting::Spin).unwrap();
    event.record(device.null_stream()).unwrap();
    assert_eq!(runs(&diary), 1);
}

#[test]
fn many_threads_may_use_one_stream() {
    let (device, diary) = device();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mine = device.storage(BYTES).unwrap();
                for _ in 0..500 {
                    add(&device, &mine, &mine, &mine).unwrap();
                }
                mine.settle().unwrap();
            });
        }
    });
    device.synchronize().unwrap();
    assert!(runs(&diary) > 0 && device.pool().used_bytes() == 0);
}

#[test]
fn scalars_need_no_storage() {
    let (device, diary) = device();
    let out = device.storage(BYTES).unwrap();
    let typed = [Typed::Strong(DType::Float32)];
    let step = MapStep {
        shape: operand(&out).layout.shape,
        body: Arc::new(ufunc("copy").unwrap().resolve(&typed, None).unwrap().compile()),
        inputs: smallvec![Input::Scalar { dtype: DType::Float32, bits: Bits([0, 0]) }],
        outputs: smallvec![operand(&out)],
        mask: None,
    };
    device.enqueue(device.null_stream(), Step::Map(step), &[], &[&out]).unwrap();
    out.settle().unwrap();
    assert_eq!(runs(&diary), 1);
}
