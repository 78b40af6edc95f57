//! The queue over a backend that keeps a diary: when steps are launched, what waits for what, what failures and limits do.

use cupric_core::{Bits, DType, Error, Layout, Result, Typed};
use cupric_ir::{Input, MapStep, Op, Operand, Step, ufunc};
use cupric_runtime::{
    Backend, Blocking, Device, DeviceKind, Event, RawEvent, RawStream, Running, Storage, Stream, Ticket, Timing,
    Waiting, current_stream, set_running, use_stream,
};
use smallvec::smallvec;
use std::{
    any::Any,
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

/// What the backend was asked for, in order.
#[derive(Clone, PartialEq, Debug)]
enum Entry {
    Run { stream: u64, stores: usize },
    Wait { stream: u64, after: u64 },
    Release(usize),
    Destroy(u64),
}

#[derive(Default)]
struct Diary {
    entries: Mutex<Vec<Entry>>,
    events: Mutex<HashMap<u64, u64>>,
    next: AtomicU64,
    room: AtomicU64,
    fail: Mutex<Option<Error>>,
    // Whether the device is still working on what it was given.
    busy: AtomicBool,
    // Whether launches may turn out to have failed, and which have.
    tickets: AtomicBool,
    failed: Mutex<Vec<(Ticket, Error)>>,
    allocations: AtomicU64,
    // Runs by threads other than the one in the background.
    by_callers: AtomicU64,
    worthwhile: AtomicUsize,
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
        self.0.allocations.fetch_add(1, Ordering::Relaxed);
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
    fn destroy_stream(&self, stream: RawStream) {
        self.note(Entry::Destroy(stream.0));
    }
    fn synchronize_stream(&self, _: RawStream) -> Result<()> {
        Ok(())
    }
    fn stream_done(&self, _: RawStream) -> Result<bool> {
        Ok(!self.0.busy.load(Ordering::Relaxed))
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
        Ok(!self.0.busy.load(Ordering::Relaxed))
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
    fn ready(&self, op: &Op) -> bool {
        assert!(!op.writes().is_empty(), "asked about an operation that does nothing");
        true
    }
    fn workspace(&self, _: &Op) -> Result<usize> {
        Ok(0)
    }
    fn execute(&self, stream: RawStream, op: &Op, addresses: &[u64], _: u64) -> Result<Option<Ticket>> {
        assert_eq!(addresses.len(), op.reads().len() + op.writes().len());
        if let Some(error) = self.0.fail.lock().unwrap().take() {
            return Err(error);
        }
        if std::thread::current().name() != Some("cupric-flusher") {
            self.0.by_callers.fetch_add(1, Ordering::Relaxed);
        }
        self.note(Entry::Run { stream: stream.0, stores: op.writes().len() });
        Ok(self.0.tickets.load(Ordering::Relaxed).then_some(Ticket(1)))
    }
    fn take_failures(&self) -> Vec<(Ticket, Error)> {
        std::mem::take(&mut self.0.failed.lock().unwrap())
    }
    fn worthwhile_traffic(&self) -> usize {
        match self.0.worthwhile.load(Ordering::Relaxed) {
            0 => usize::MAX,
            bytes => bytes,
        }
    }
}

const BYTES: usize = 4000;

fn device() -> (Arc<Device>, Arc<Diary>) {
    let diary = Arc::new(Diary { room: AtomicU64::new(1 << 40), ..Diary::default() });
    (Device::new(Box::new(Fake(diary.clone()))), diary)
}

fn operand(storage: &Storage) -> Operand {
    let len = storage.bytes() / 4;
    Operand { storage: storage.id(), dtype: DType::Float32, layout: Layout::row_major(&[len], 4).into() }
}

fn add(device: &Arc<Device>, a: &Arc<Storage>, b: &Arc<Storage>, out: &Arc<Storage>) -> Result<()> {
    add_on(device, &current_stream(device), a, b, out)
}

fn add_on(
    device: &Arc<Device>,
    stream: &Arc<Stream>,
    a: &Arc<Storage>,
    b: &Arc<Storage>,
    out: &Arc<Storage>,
) -> Result<()> {
    let typed = [Typed::Strong(DType::Float32); 2];
    let step = MapStep {
        shape: operand(out).layout.shape.clone(),
        body: Arc::new(ufunc("add").unwrap().resolve(&typed, None)?.compile()),
        inputs: smallvec![Input::Array(operand(a)), Input::Array(operand(b))],
        outputs: smallvec![operand(out)],
        mask: None,
    };
    device.enqueue(stream, Step::Map(step), &[a, b], &[out])
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
    // Where this thread is held up between two calls, the background takes the queue before it is full.
    let full = (0..100).any(|_| {
        let before = diary.by_callers.load(Ordering::Relaxed);
        storages.iter().for_each(|storage| add(&device, storage, storage, storage).unwrap());
        diary.by_callers.load(Ordering::Relaxed) >= before + 256
    });
    assert!(full, "{} runs", runs(&diary));
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
    assert_eq!(device.synchronize(), Ok(()), "whoever looked was told");
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
        shape: operand(&out).layout.shape.clone(),
        body: Arc::new(ufunc("copy").unwrap().resolve(&typed, None).unwrap().compile()),
        inputs: smallvec![Input::Scalar { dtype: DType::Float32, bits: Bits([0, 0]) }],
        outputs: smallvec![operand(&out)],
        mask: None,
    };
    device.enqueue(device.null_stream(), Step::Map(step), &[], &[&out]).unwrap();
    out.settle().unwrap();
    assert_eq!(runs(&diary), 1);
}

#[test]
fn an_operation_that_fails_leaves_no_old_values_behind() {
    let (device, diary) = device();
    let (a, b) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap());
    add(&device, &a, &a, &b).unwrap();
    b.settle().unwrap();
    let failure = Error::Runtime("broken".into());
    *diary.fail.lock().unwrap() = Some(failure.clone());
    add(&device, &b, &a, &b).unwrap();
    assert_eq!(b.settle(), Err(failure.clone()), "b has been half updated");
    assert_eq!(b.settle(), Err(failure));
    add(&device, &a, &a, &b).unwrap();
    assert_eq!(b.settle(), Ok(()), "it is whole again once all of it is written");
}

#[test]
fn a_failure_is_told_where_its_stream_is_looked_at() {
    let (device, diary) = device();
    let stream = Stream::new(&device, Blocking::Free, 0).unwrap();
    let (a, b) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap());
    let failure = Error::Runtime("broken".into());
    *diary.fail.lock().unwrap() = Some(failure.clone());
    add_on(&device, &stream, &a, &a, &b).unwrap();
    stream.flush();
    assert_eq!(device.report(device.null_stream().id()), Ok(()));
    assert_eq!(stream.synchronize(), Err(failure));
    assert_eq!(stream.synchronize(), Ok(()));
}

#[test]
fn a_launch_that_turns_out_to_have_failed_fails_what_it_made() {
    let (device, diary) = device();
    let [a, b, c, d] = [(); 4].map(|()| device.storage(BYTES).unwrap());
    diary.tickets.store(true, Ordering::Relaxed);
    add(&device, &a, &a, &b).unwrap();
    b.settle().unwrap();
    diary.tickets.store(false, Ordering::Relaxed);
    add(&device, &b, &a, &c).unwrap();
    add(&device, &a, &a, &d).unwrap();
    c.settle().unwrap();
    let failure = Error::Runtime("found later".into());
    diary.failed.lock().unwrap().push((Ticket(1), failure.clone()));
    for _ in 0..2 {
        assert_eq!((b.settle(), c.settle()), (Err(failure.clone()), Err(failure.clone())));
        assert_eq!((a.settle(), d.settle()), (Ok(()), Ok(())));
    }
    assert_eq!(device.synchronize(), Ok(()), "it was told already");
}

#[test]
fn memory_belongs_to_the_stream_that_writes_it_first() {
    let (device, diary) = device();
    let stream = Stream::new(&device, Blocking::Free, 0).unwrap();
    let (a, b) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap());
    add(&device, &a, &a, &b).unwrap();
    b.settle().unwrap();
    drop(b);
    diary.busy.store(true, Ordering::Relaxed);
    // Made while the null stream is current, which has a block to give, and written on another one.
    let c = device.storage(BYTES).unwrap();
    let before = diary.allocations.load(Ordering::Relaxed);
    add_on(&device, &stream, &c, &c, &c).unwrap();
    c.settle().unwrap();
    assert_eq!(diary.allocations.load(Ordering::Relaxed), before + 1, "the null stream's block may be in use");
    diary.busy.store(false, Ordering::Relaxed);
    let d = device.storage(BYTES).unwrap();
    add_on(&device, &stream, &d, &d, &d).unwrap();
    d.settle().unwrap();
    assert_eq!(diary.allocations.load(Ordering::Relaxed), before + 1, "the null stream is done with it");
}

#[test]
fn a_stream_that_nobody_holds_is_waited_for_until_its_work_is_done() {
    let (device, diary) = device();
    let (a, b, c) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap());
    let stream = Stream::new(&device, Blocking::Free, 0).unwrap();
    let raw = stream.raw().0;
    diary.busy.store(true, Ordering::Relaxed);
    add_on(&device, &stream, &a, &a, &b).unwrap();
    drop(stream);
    add(&device, &b, &b, &c).unwrap();
    c.settle().unwrap();
    let entries = diary.entries.lock().unwrap().clone();
    let run = entries.iter().position(|entry| *entry == Entry::Run { stream: raw, stores: 1 });
    let wait = entries.iter().position(|entry| *entry == Entry::Wait { stream: 0, after: raw });
    assert!(run.is_some() && run < wait, "{entries:?}");
    assert!(!entries.contains(&Entry::Destroy(raw)));
    diary.busy.store(false, Ordering::Relaxed);
    device.flush();
    assert!(diary.entries.lock().unwrap().contains(&Entry::Destroy(raw)));
}

#[test]
fn a_stream_of_somebody_elses_may_go_when_its_handle_does() {
    let (device, diary) = device();
    let (a, b, c) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap());
    let stream = Stream::external(&device, RawStream(77));
    add_on(&device, &stream, &a, &a, &b).unwrap();
    diary.busy.store(true, Ordering::Relaxed);
    drop(stream);
    diary.entries.lock().unwrap().clear();
    add(&device, &b, &b, &c).unwrap();
    c.settle().unwrap();
    let entries = diary.entries.lock().unwrap().clone();
    assert!(entries.contains(&Entry::Wait { stream: 0, after: 77 }), "{entries:?}");
    diary.busy.store(false, Ordering::Relaxed);
    device.flush();
    assert!(!diary.entries.lock().unwrap().contains(&Entry::Destroy(77)));
}

#[test]
fn a_thread_may_end_with_a_stream_and_work_in_it() {
    let (device, _) = device();
    let (a, b) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let stream = Stream::new(&device, Blocking::Free, 0).unwrap();
            use_stream(&stream);
            add_on(&device, &current_stream(&device), &a, &a, &b).unwrap();
        });
    });
    assert_eq!(b.settle(), Ok(()));
}

#[test]
fn memory_of_somebody_elses_is_kept_while_the_device_uses_it() {
    struct Owner(Arc<AtomicU64>);
    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (device, diary) = device();
    let gone = Arc::new(AtomicU64::new(0));
    let foreign = Storage::foreign(device.clone(), 4096, BYTES, Box::new(Owner(gone.clone())));
    let a = device.storage(BYTES).unwrap();
    diary.busy.store(true, Ordering::Relaxed);
    add(&device, &foreign, &foreign, &a).unwrap();
    drop(foreign);
    device.flush();
    assert_eq!(gone.load(Ordering::Relaxed), 0);
    diary.busy.store(false, Ordering::Relaxed);
    device.flush();
    assert_eq!(gone.load(Ordering::Relaxed), 1);
}

#[test]
fn closed_groups_that_keep_the_device_busy_are_launched() {
    let (device, diary) = device();
    diary.worthwhile.store(1, Ordering::Relaxed);
    let device = {
        drop(device);
        Device::new(Box::new(Fake(diary.clone())))
    };
    let (a, b, c) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap(), device.storage(8).unwrap());
    add(&device, &a, &a, &b).unwrap();
    add(&device, &b, &a, &b).unwrap();
    assert_eq!(runs(&diary), 0, "the last group stays open");
    add(&device, &c, &c, &c).unwrap();
    assert_eq!(runs(&diary), 0, "the caller's temporaries may be dying");
    add(&device, &c, &c, &c).unwrap();
    assert_eq!(runs(&diary), 1, "what is of another shape has closed it");
    c.settle().unwrap();
    assert_eq!(runs(&diary), 2, "the open group was not cut");
}

#[test]
fn the_largest_arrays_are_named_when_memory_runs_out() {
    let (device, _) = device();
    let _held: Vec<Arc<Storage>> = (0..3).map(|_| device.storage(8 << 20).unwrap()).collect();
    device.pool().set_limit(Some(32 << 20));
    let Err(Error::OutOfMemory { holders, .. }) = device.storage(16 << 20) else { panic!("it does not fit") };
    assert_eq!(holders, "3 of 8388608 bytes");
}

#[test]
fn a_limit_bounds_cached_memory_too() {
    let (device, diary) = device();
    device.pool().set_limit(Some(32 << 20));
    for megabytes in [8_usize, 12, 16, 24, 30] {
        let a = device.storage(megabytes << 20).unwrap();
        add(&device, &a, &a, &a).unwrap();
        a.settle().unwrap();
        let held = (1_u64 << 40) - diary.room.load(Ordering::Relaxed);
        assert!(held <= 32 << 20, "{held} bytes");
    }
}

#[test]
fn memory_of_a_stream_that_is_elsewhere_is_waited_for_before_others_use_it() {
    let (device, diary) = device();
    let (theirs, ours) = (Stream::external(&device, RawStream(77)), Stream::new(&device, Blocking::Free, 0).unwrap());
    let (a, b) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap());
    add_on(&device, &theirs, &a, &a, &a).unwrap();
    add_on(&device, &ours, &a, &a, &b).unwrap();
    b.settle().unwrap();
    diary.busy.store(true, Ordering::Relaxed);
    drop(theirs);
    diary.entries.lock().unwrap().clear();
    let before = diary.allocations.load(Ordering::Relaxed);
    drop(a);
    let c = device.storage(BYTES).unwrap();
    add(&device, &c, &c, &c).unwrap();
    c.settle().unwrap();
    let entries = diary.entries.lock().unwrap().clone();
    assert_eq!(diary.allocations.load(Ordering::Relaxed), before, "the block is used again");
    let place = |wanted: Entry| entries.iter().position(|entry| *entry == wanted);
    let run = place(Entry::Run { stream: 0, stores: 1 });
    for after in [77, ours.raw().0] {
        let wait = place(Entry::Wait { stream: 0, after });
        assert!(wait.is_some() && wait < run, "{entries:?}");
    }
}

#[test]
fn a_recording_is_repeated_and_one_that_nobody_ends_is_given_up() {
    let (device, diary) = device();
    let stream = Stream::new(&device, Blocking::Free, 0).unwrap();
    let (a, b) = (device.storage(BYTES).unwrap(), device.storage(BYTES).unwrap());
    stream.begin_capture().unwrap();
    add_on(&device, &stream, &a, &a, &b).unwrap();
    assert_eq!(runs(&diary), 0);
    let graph = stream.end_capture().unwrap();
    for turn in 1..4 {
        graph.launch(&stream).unwrap();
        assert_eq!(runs(&diary), turn);
    }
    stream.begin_capture().unwrap();
    assert!(stream.begin_capture().is_err() && stream.synchronize().is_err());
    drop(stream);
    device.flush();
    assert_eq!(device.synchronize(), Ok(()));
}
