//! Stable sorts along the last axis, NaN last.

use crate::{
    beside,
    key::{ComplexPart, Form, Key, complex_key},
    radix::{FEW, Item, Pair, Shared, Sorter, sort_few},
    scratch::Scratch,
    space::Space,
    threads::Threads,
    transfer::{Field, gather, scatter},
};
use cupric_core::{DType, Error, Result};
use cupric_ir::{Sort, Sorted};
use std::ops::Range;

/// From this length on a row may be shared among threads, and is sorted in the operation's workspace.
const LONG: usize = 1 << 16;

/// The most bytes of working memory that a thread has for a row of its own.
const OWN_ROOM: usize = 8 << 20;

/// The bytes that a sort wants to work in.
pub(crate) fn workspace(sort: &Sort) -> usize {
    match sort.shape.last() {
        Some(&length) if length >= LONG && !sort.shape.contains(&0) => 2 * room(sort, length),
        _ => 0,
    }
}

/// The bytes that hold a row's items.
fn room(sort: &Sort, length: usize) -> usize {
    let dtype = sort.input.dtype;
    let pair = if dtype.component().size() == 8 || length > u32::MAX as usize { 16 } else { 8 };
    let item = if sort.answer == Sorted::Values && !dtype.is_complex() { dtype.size() } else { pair };
    (length * item).next_multiple_of(64)
}

/// Runs a sort; `addresses` are the bases of input and output.
pub(crate) fn sort(sort: &Sort, addresses: &[u64], workspace: u64, threads: &Threads) -> Result<()> {
    let Some((&length, outer)) = sort.shape.split_last() else {
        return Err(Error::Unsupported { what: "a sort without an axis".into() });
    };
    if sort.shape.contains(&0) {
        return Ok(());
    }
    let (input, output) = (&sort.input.layout.strides, &sort.output.layout.strides);
    let last = outer.len();
    let plan = Plan {
        rows: Space::new(outer, &[&input[..last], &output[..last]]),
        length,
        steps: [input[last], output[last]],
        input: Field::new(&sort.input, addresses[0]),
        output: Field::new(&sort.output, addresses[1]),
        answer: sort.answer,
    };
    if beside::suits(&plan) {
        beside::sort(&plan, threads);
        return Ok(());
    }
    let room = room(sort, length);
    // Rows are shared among threads, and so is each row where there are too few of them.
    if length >= LONG && (plan.rows.len < 4 * threads.count() || 2 * room > OWN_ROOM) {
        let base = std::ptr::with_exposed_provenance_mut(workspace as usize);
        (0..plan.rows.len).for_each(|row| plan.row(row, Rooms::new(base, room), Some(threads)));
        return Ok(());
    }
    threads.share(plan.rows.len, plan.rows.len * length, |range| {
        let mut scratch = Scratch::new(2 * room);
        let base = scratch.base();
        range.for_each(|row| plan.row(row, Rooms::new(base, room), None));
    });
    Ok(())
}

pub(crate) struct Plan {
    // Operands: input, output.
    pub(crate) rows: Space,
    pub(crate) length: usize,
    pub(crate) steps: [isize; 2],
    pub(crate) input: Field,
    pub(crate) output: Field,
    pub(crate) answer: Sorted,
}

/// Two stretches of memory with room for a row's items each.
#[derive(Clone, Copy)]
struct Rooms([*mut u8; 2]);

impl Rooms {
    fn new(base: *mut u8, room: usize) -> Rooms {
        Rooms([base, base.wrapping_add(room)])
    }

    fn of<T>(self) -> [*mut T; 2] {
        self.0.map(<*mut u8>::cast)
    }
}

/// The position of an element, as pairs hold it.
trait Position: Copy + Send + Sync + 'static {
    fn of(at: usize) -> Self;
    fn get(self) -> usize;
}

macro_rules! positions {
    ($($T:ty)*) => {$(
        impl Position for $T {
            #[inline(always)]
            fn of(at: usize) -> $T {
                at as $T
            }
            #[inline(always)]
            fn get(self) -> usize {
                self as usize
            }
        }
    )*};
}

positions!(u32 u64);

impl Plan {
    /// Where a row of the input and of the output begins.
    pub(crate) fn ends(&self, row: usize) -> (*const u8, *mut u8) {
        let from = self.input.address.wrapping_add_signed(self.rows.offset(0, row));
        let to = self.output.address.wrapping_add_signed(self.rows.offset(1, row));
        (std::ptr::with_exposed_provenance(from), std::ptr::with_exposed_provenance_mut(to))
    }

    fn row(&self, row: usize, rooms: Rooms, threads: Option<&Threads>) {
        let dtype = self.input.dtype;
        match (dtype, self.answer) {
            (DType::Complex64, _) if self.length > u32::MAX as usize => {
                self.complex_row::<u32, u64>(row, rooms, threads);
            }
            (DType::Complex64, _) => self.complex_row::<u32, u32>(row, rooms, threads),
            (DType::Complex128, _) => self.complex_row::<u64, u64>(row, rooms, threads),
            (_, Sorted::Values) => match dtype.size() {
                1 => self.values::<u8>(row, rooms, threads),
                2 => self.values::<u16>(row, rooms, threads),
                4 => self.values::<u32>(row, rooms, threads),
                _ => self.values::<u64>(row, rooms, threads),
            },
            (_, Sorted::Positions) => match dtype.size() {
                1 => self.positions_by_length::<u8>(row, rooms, threads),
                2 => self.positions_by_length::<u16>(row, rooms, threads),
                4 => self.positions_by_length::<u32>(row, rooms, threads),
                _ => self.positions::<u64, u64>(row, rooms, threads),
            },
        }
    }

    fn positions_by_length<K: Key + Item<Key = K>>(&self, row: usize, rooms: Rooms, threads: Option<&Threads>) {
        if self.length > u32::MAX as usize {
            self.positions::<K, u64>(row, rooms, threads);
        } else {
            self.positions::<K, u32>(row, rooms, threads);
        }
    }

    /// Elements keep their bits all the way, so that zeros of both signs and NaN of all kinds stay in their order.
    fn values<K: Key + Item<Key = K>>(&self, row: usize, rooms: Rooms, threads: Option<&Threads>) {
        let (form, n, size) = (Form::of(self.input.dtype), self.length, size_of::<K>());
        let (from, to) = self.ends(row);
        let packed = |address: usize, step: isize| step == size as isize && address.is_multiple_of(size);
        let [first, second] = rooms.of::<K>();
        // SAFETY: the operation's caller vouches for the row; the second room has space for it.
        let set_aside = || unsafe {
            gather(size, second.cast(), from, self.steps[0], n);
            if form == Form::Truth {
                std::slice::from_raw_parts_mut(second.cast::<u8>(), n)
                    .iter_mut()
                    .for_each(|byte| *byte = u8::from(*byte != 0));
            }
            second.cast_const()
        };
        let direct = n >= FEW && form != Form::Truth && packed(from.addr(), self.steps[0]);
        let mut source = if direct { from.cast::<K>() } else { set_aside() };
        if n < FEW {
            // SAFETY: the elements were just set aside.
            sort_few(unsafe { std::slice::from_raw_parts_mut(second, n) }, form);
            return self.write(row, second);
        }
        let sorter = Sorter::new(form, n, threads);
        // SAFETY: the source holds the elements.
        let passes = unsafe { sorter.passes(source) };
        let odd = passes.count() % 2 == 1;
        let target = packed(to.addr(), self.steps[1]).then_some(to.cast::<K>());
        let overlap = from.addr() < to.addr() + n * size && to.addr() < from.addr() + n * size;
        if direct && odd && overlap && target.is_some() {
            source = set_aside();
        }
        let targets = match target {
            Some(target) if odd => [target, first],
            Some(target) => [first, target],
            None => [first, second],
        };
        // SAFETY: each has room for the row, and the first pass does not write what it reads.
        let result = unsafe { sorter.sort(&passes, source, targets) };
        if target.is_none_or(|target| target.cast_const() != result) {
            self.write(row, result);
        }
    }

    fn write<T>(&self, row: usize, elements: *const T) {
        // SAFETY: the operation's caller vouches for the row, whose elements are as large as these.
        unsafe { scatter(size_of::<T>(), self.ends(row).1, self.steps[1], elements.cast(), self.length) };
    }

    fn positions<K: Key + Item<Key = K>, P: Position>(&self, row: usize, rooms: Rooms, threads: Option<&Threads>) {
        let (form, from) = (Form::of(self.input.dtype), Shared(self.ends(row).0.cast_mut()));
        let [first, second] = rooms.of::<Pair<K, P>>();
        let step = self.steps[0];
        self.fill(second, threads, |at| {
            // SAFETY: the operation's caller vouches for the row.
            let bits = unsafe { from.get().offset(at as isize * step).cast::<K>().read_unaligned() };
            Pair { bits: bits.key(form), at: P::of(at) }
        });
        let pairs = self.order([second, first], threads);
        self.write_positions(row, pairs, threads);
    }

    /// Makes a row's items.
    fn fill<T: Copy>(&self, items: *mut T, threads: Option<&Threads>, item: impl Fn(usize) -> T + Sync) {
        let items = Shared(items);
        // SAFETY: the room has space for a row's items, each of which is written by one thread.
        self.each(threads, |range| range.for_each(|at| unsafe { items.get().add(at).write(item(at)) }));
    }

    /// Calls `act` with stretches of a row.
    fn each(&self, threads: Option<&Threads>, act: impl Fn(Range<usize>) + Sync) {
        const BLOCK: usize = 1 << 13;
        let Some(threads) = threads else { return act(0..self.length) };
        threads.share(self.length.div_ceil(BLOCK), self.length, |blocks| {
            act(blocks.start * BLOCK..self.length.min(blocks.end * BLOCK));
        });
    }

    /// Sorts the pairs of the first room by the keys they hold; gives the room where they end.
    fn order<K: Key, P: Position>(&self, rooms: [*mut Pair<K, P>; 2], threads: Option<&Threads>) -> *mut Pair<K, P> {
        let [from, other] = rooms;
        if self.length < FEW {
            // SAFETY: the room holds a row's pairs.
            sort_few(unsafe { std::slice::from_raw_parts_mut(from, self.length) }, Form::Unsigned);
            return from;
        }
        let sorter = Sorter::new(Form::Unsigned, self.length, threads);
        // SAFETY: the room holds a row's pairs, and the other one has space for them.
        unsafe {
            let passes = sorter.passes(from);
            sorter.sort(&passes, from, [other, from]).cast_mut()
        }
    }

    fn write_positions<K: Key, P: Position>(&self, row: usize, pairs: *mut Pair<K, P>, threads: Option<&Threads>) {
        let (pairs, to, step) = (Shared(pairs), Shared(self.ends(row).1), self.steps[1]);
        self.each(threads, |range| {
            for at in range {
                // SAFETY: the pairs are there; the operation's caller vouches for the row.
                unsafe {
                    let place = (*pairs.get().add(at)).at.get() as i64;
                    to.get().offset(at as isize * step).cast::<i64>().write_unaligned(place);
                }
            }
        });
    }

    /// By the lesser part of the key first: stable sorts keep what earlier ones found.
    fn complex_row<K, P>(&self, row: usize, rooms: Rooms, threads: Option<&Threads>)
    where
        K: Key + Item<Key = K> + ComplexPart,
        P: Position,
    {
        let (from, step) = (Shared(self.ends(row).0.cast_mut()), self.steps[0]);
        // SAFETY: the operation's caller vouches for the row.
        let element = |at: usize| unsafe { from.get().offset(at as isize * step).cast::<[K; 2]>().read_unaligned() };
        let [mut pairs, mut other] = rooms.of::<Pair<K, P>>();
        self.fill(pairs, threads, |at| Pair { bits: complex_key(element(at)).2, at: P::of(at) });
        for part in 0..3 {
            if part > 0 {
                let known = Shared(pairs);
                self.fill(pairs, threads, |place| {
                    // SAFETY: the pairs are there.
                    let at = unsafe { (*known.get().add(place)).at };
                    let (class, greater, _) = complex_key(element(at.get()));
                    Pair { bits: if part == 1 { greater } else { K::from(class) }, at }
                });
            }
            let result = self.order([pairs, other], threads);
            if result == other {
                std::mem::swap(&mut pairs, &mut other);
            }
        }
        if self.answer == Sorted::Positions {
            return self.write_positions(row, pairs, threads);
        }
        let (known, elements) = (Shared(pairs), other.cast::<[K; 2]>());
        // SAFETY: the pairs are there, and as large as elements.
        self.fill(elements, threads, |place| element(unsafe { (*known.get().add(place)).at.get() }));
        self.write(row, elements);
    }
}
