//! A stable radix sort, from the least digit on, on one thread or several.

use crate::{
    key::{Form, Key},
    level::{Kernel, best},
    threads::Threads,
};
use smallvec::SmallVec;
use std::{
    marker::PhantomData,
    mem::MaybeUninit,
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Below this a comparison sort is faster.
pub(crate) const FEW: usize = 256;

/// Something that is sorted by the bits of an element.
pub(crate) trait Item: Copy + Send + Sync + 'static {
    /// The unsigned integer that holds them.
    type Key: Key;
    /// The bits.
    fn bits(&self) -> Self::Key;
}

macro_rules! items {
    ($($T:ty)*) => {$(
        impl Item for $T {
            type Key = $T;
            #[inline(always)]
            fn bits(&self) -> $T {
                *self
            }
        }
    )*};
}

items!(u8 u16 u32 u64);

/// An element with its position.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Pair<K, P> {
    pub(crate) bits: K,
    pub(crate) at: P,
}

impl<K: Key, P: Copy + Send + Sync + 'static> Item for Pair<K, P> {
    type Key = K;
    #[inline(always)]
    fn bits(&self) -> K {
        self.bits
    }
}

/// Items of one form, and the threads that may help.
pub(crate) struct Sorter<'a, T> {
    form: Form,
    len: usize,
    threads: Option<&'a Threads>,
    parts: usize,
    item: PhantomData<T>,
}

/// What is left to do for some items.
pub(crate) struct Passes {
    // Digits begin at these bits.
    shifts: SmallVec<[u32; 8]>,
    // Whether equal digits leave an order to be found.
    rest: bool,
}

impl Passes {
    /// How many times all items are moved.
    pub(crate) fn count(&self) -> usize {
        self.shifts.len()
    }
}

const DIGIT: u32 = 8;
const DIGITS: usize = 1 << DIGIT;
type Places = [usize; DIGITS];

// So many bytes may still be in a cache when they are read again.
const CACHED: usize = 8 << 20;

// Digits are computed for so many items at once, in vectors.
const BLOCK: usize = 512;

impl<'a, T: Item> Sorter<'a, T> {
    pub(crate) fn new(form: Form, len: usize, threads: Option<&'a Threads>) -> Sorter<'a, T> {
        Sorter { form, len, threads, parts: threads.map_or(1, Threads::count), item: PhantomData }
    }

    /// Which digits differ.
    ///
    /// # Safety
    /// `items` are the sorter's items.
    pub(crate) unsafe fn passes(&self, items: *const T) -> Passes {
        let mut differences = vec![T::Key::default(); self.parts];
        let (items, shared) = (Shared(items.cast_mut()), Shared(differences.as_mut_ptr()));
        self.each_part(|part, range| {
            let form = std::ptr::from_ref(&self.form).cast();
            let first = items.get().cast_const();
            // SAFETY: the items are there; each part has a place of its own.
            unsafe {
                let out = shared.get().add(part).cast();
                best::<Differences<T>>()(out, first.add(range.start).cast(), first.cast(), form, range.len());
            }
        });
        let differ = differences.into_iter().map(Key::wide).fold(0, |all, one| all | one);
        let (low, high) = (differ.trailing_zeros().min(63), 64 - differ.leading_zeros());
        let all = high.saturating_sub(low).div_ceil(DIGIT);
        // So many digits leave few items with equal ones, for numbers that are spread at all evenly.
        let enough = (self.len.max(2).ilog2() + 14).div_ceil(DIGIT);
        let count = if all > enough + 1 { enough } else { all };
        let low = if count < all { high - count * DIGIT } else { low };
        Passes { shifts: (0..count).map(|digit| low + digit * DIGIT).collect(), rest: count < all }
    }

    /// Sorts from `source` through `targets` in turns; gives the one that holds the result.
    ///
    /// # Safety
    /// All three have room for the items; the first target is not the source.
    pub(crate) unsafe fn sort(&self, passes: &Passes, source: *const T, targets: [*mut T; 2]) -> *const T {
        let mut from = source;
        for (turn, &shift) in passes.shifts.iter().enumerate() {
            let to = targets[turn % 2];
            // SAFETY: the caller's promise; what is read and what is written take turns.
            unsafe { self.pass(from, to, shift) };
            from = to;
        }
        if passes.rest {
            // SAFETY: at least one pass was made, so this is a target.
            unsafe { self.finish(from.cast_mut(), passes.shifts[0]) };
        }
        from
    }

    unsafe fn pass(&self, from: *const T, to: *mut T, shift: u32) {
        let mut places = vec![[0; DIGITS]; self.parts];
        let shared = Shared(places.as_mut_ptr());
        let (from, to) = (Shared(from.cast_mut()), Shared(to));
        self.each_part(|part, range| {
            // SAFETY: each part counts in its own array; the items are there.
            unsafe { self.count(&mut *shared.get().add(part), from.get(), range, shift) };
        });
        let mut next = 0;
        for digit in 0..DIGITS {
            for part in &mut places {
                next += std::mem::replace(&mut part[digit], next);
            }
        }
        let shared = Shared(places.as_mut_ptr());
        self.each_part(|part, range| {
            // SAFETY: the places of all parts together are those of all items, each once.
            unsafe { self.spread(&mut *shared.get().add(part), from.get(), to.get(), range, shift) };
        });
    }

    unsafe fn count(&self, counts: &mut Places, items: *const T, range: Range<usize>, shift: u32) {
        // Equal digits that follow each other are counted in different places, so that they need not wait for each other.
        let mut sides = [[0_usize; DIGITS]; 4];
        let mut act = |_: *const T, digits: &[u8]| {
            let fours = digits.chunks_exact(4);
            fours.remainder().iter().for_each(|&digit| sides[0][digit as usize] += 1);
            fours.for_each(|four| (0..4).for_each(|side| sides[side][four[side] as usize] += 1));
        };
        // SAFETY: the caller's promise.
        unsafe { self.blocks(items, range, shift, &mut act) };
        for (digit, count) in counts.iter_mut().enumerate() {
            *count = sides.iter().map(|side| side[digit]).sum();
        }
    }

    /// Items gather in lines of the cache, one a digit, before they go to their places: whole lines are written to memory without
    /// being read first, and few pages are in use at once.
    unsafe fn spread(&self, places: &mut Places, from: *const T, to: *mut T, range: Range<usize>, shift: u32) {
        let lines = Lines {
            to,
            begins: *places,
            skew: to.addr() / size_of::<T>() % Line::<T>::ITEMS,
            past: self.len * size_of::<T>() > CACHED,
        };
        let mut buffers = [Line::<T>(MaybeUninit::uninit(), PhantomData); DIGITS];
        let mut act = |items: *const T, digits: &[u8]| {
            for (at, &digit) in digits.iter().enumerate() {
                let (digit, place) = (digit as usize, places[digit as usize]);
                let slot = (place + lines.skew) % Line::<T>::ITEMS;
                let buffer = &mut buffers[digit];
                // SAFETY: the caller has the items; a slot lies in its line.
                unsafe { buffer.items().add(slot).write(*items.add(at)) };
                places[digit] = place + 1;
                if slot == Line::<T>::ITEMS - 1 {
                    // SAFETY: the caller's places are those of these items.
                    unsafe { lines.flush(digit, buffer, place + 1) };
                }
            }
        };
        // SAFETY: the caller's promise.
        unsafe { self.blocks(from, range, shift, &mut act) };
        for (digit, buffer) in buffers.iter_mut().enumerate() {
            // SAFETY: as above.
            unsafe { lines.flush(digit, buffer, places[digit]) };
        }
        fence();
    }

    /// Calls `act` with each block of items and their digits.
    #[inline(always)]
    unsafe fn blocks(&self, items: *const T, range: Range<usize>, shift: u32, act: &mut impl FnMut(*const T, &[u8])) {
        let mut digits = [0; BLOCK];
        let how = Digit { form: self.form, shift };
        let how = std::ptr::from_ref(&how).cast();
        let run = best::<Digits<T>>();
        for start in range.clone().step_by(BLOCK) {
            let n = BLOCK.min(range.end - start);
            let items = items.wrapping_add(start);
            // SAFETY: the caller has the items, and there is room for the digits of a block.
            unsafe { run(digits.as_mut_ptr(), items.cast(), how, how, n) };
            act(items, &digits[..n]);
        }
    }

    /// Sorts the items whose bits from `shift` on are equal.
    unsafe fn finish(&self, items: *mut T, shift: u32) {
        let (form, items) = (self.form, Shared(items));
        let key = move |item: &T| item.bits().key(form);
        // Where the first run begins in each part, before anything moves; the part's end where none does.
        let firsts: Vec<AtomicUsize> = (0..self.parts).map(|_| AtomicUsize::new(0)).collect();
        self.each_part(|part, range| {
            // SAFETY: the items are there, and nobody writes them now.
            let upper = |at: usize| key(unsafe { &*items.get().add(at) }).wide() >> shift;
            let begins = |&at: &usize| at == 0 || upper(at - 1) != upper(at);
            firsts[part].store(range.clone().find(begins).unwrap_or(range.end), Ordering::Relaxed);
        });
        let first = |part: usize| firsts[part].load(Ordering::Relaxed);
        let has_own = |part: usize| first(part) < self.bounds(part).end;
        self.each_part(|part, _| {
            if !has_own(part) {
                return;
            }
            let end = (part + 1..self.parts).find(|&later| has_own(later)).map_or(self.len, first);
            // SAFETY: the runs that begin in a part are that part's alone; they end where the next part's begin.
            let own = unsafe { std::slice::from_raw_parts_mut(items.get().add(first(part)), end - first(part)) };
            own.chunk_by_mut(|a, b| key(a).wide() >> shift == key(b).wide() >> shift)
                .filter(|run| run.len() > 1)
                .for_each(|run| run.sort_by_key(key));
        });
    }

    fn bounds(&self, part: usize) -> Range<usize> {
        part * self.len / self.parts..(part + 1) * self.len / self.parts
    }

    fn each_part(&self, act: impl Fn(usize, Range<usize>) + Sync) {
        let run = |range: Range<usize>| range.for_each(|part| act(part, self.bounds(part)));
        match self.threads {
            Some(threads) => threads.share(self.parts, self.len, run),
            None => run(0..self.parts),
        }
    }
}

/// Items of a digit that have not gone to their places yet.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line<T>(MaybeUninit<[u8; 64]>, PhantomData<T>);

impl<T> Line<T> {
    const ITEMS: usize = 64 / size_of::<T>();

    fn items(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }
}

/// Where lines go.
struct Lines<T> {
    to: *mut T,
    // The first place of each digit.
    begins: Places,
    // How many items after the beginning of a line the first place lies.
    skew: usize,
    // Whether they go past the caches.
    past: bool,
}

impl<T> Lines<T> {
    /// Writes what a line holds of the places before `end`.
    #[inline(always)]
    unsafe fn flush(&self, digit: usize, line: &mut Line<T>, end: usize) {
        let begin = self.begins[digit];
        let held = (end + self.skew + Line::<T>::ITEMS - 1) % Line::<T>::ITEMS + 1;
        if end - begin < Line::<T>::ITEMS || held < Line::<T>::ITEMS {
            let count = held.min(end - begin);
            // SAFETY: the last `count` of the slots before `held` were filled, and their places are this digit's.
            unsafe {
                let from = line.items().add(held - count);
                return std::ptr::copy_nonoverlapping(from, self.to.add(end - count), count);
            }
        }
        // SAFETY: all slots were filled; their places make a line that is aligned like one.
        unsafe {
            let (to, from) = (self.to.add(end - Line::<T>::ITEMS).cast::<u8>(), line.0.as_ptr().cast::<u8>());
            if self.past { stream(to, from) } else { std::ptr::copy_nonoverlapping(from, to, 64) }
        }
    }
}

/// Writes 64 aligned bytes past the caches.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn stream(to: *mut u8, from: *const u8) {
    use std::arch::x86_64::{__m128i, _mm_load_si128, _mm_stream_si128};
    for part in 0..4 {
        // SAFETY: the caller gives 64 aligned bytes of both; every processor of this kind has these instructions.
        unsafe { _mm_stream_si128(to.cast::<__m128i>().add(part), _mm_load_si128(from.cast::<__m128i>().add(part))) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn stream(to: *mut u8, from: *const u8) {
    // SAFETY: the caller gives 64 bytes of both.
    unsafe { std::ptr::copy_nonoverlapping(from, to, 64) };
}

/// Makes what was streamed visible before what is written next.
fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this kind has this instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Sorts a few items.
pub(crate) fn sort_few<T: Item>(items: &mut [T], form: Form) {
    items.sort_by_key(|item| item.bits().key(form));
}

/// A pointer that threads share, each using places of its own.
pub(crate) struct Shared<T>(pub(crate) *mut T);

// SAFETY: every use says which places are whose.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub(crate) fn get(&self) -> *mut T {
        self.0
    }
}

/// Runs an expression with `$form` standing for a form whose kind is known, so that loops need not ask.
macro_rules! by_form {
    ($given:expr, $form:ident => $body:expr) => {
        match $given {
            Form::Truth => {
                let $form = Form::Truth;
                $body
            }
            Form::Unsigned => {
                let $form = Form::Unsigned;
                $body
            }
            Form::Signed => {
                let $form = Form::Signed;
                $body
            }
            Form::Float(infinity) => {
                let $form = Form::Float(infinity);
                $body
            }
        }
    };
}
pub(crate) use by_form;

struct Digit {
    form: Form,
    shift: u32,
}

/// Digits of keys.
struct Digits<T>(PhantomData<T>);

impl<T: Item> Kernel for Digits<T> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, items: *const u8, how: *const u8, _: *const u8, n: usize) {
        // SAFETY: the caller gives items, room for as many digits, and what a digit is.
        let (items, out, how) = unsafe {
            let out = std::slice::from_raw_parts_mut(out, n);
            (std::slice::from_raw_parts(items.cast::<T>(), n), out, &*how.cast::<Digit>())
        };
        let shift = how.shift;
        by_form!(how.form, form => out.iter_mut().zip(items).for_each(|(out, item)| {
            *out = item.bits().key(form).digit(shift);
        }));
    }
}

/// The bits in which keys differ from the first one's.
struct Differences<T>(PhantomData<T>);

impl<T: Item> Kernel for Differences<T> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, items: *const u8, first: *const u8, form: *const u8, n: usize) {
        // SAFETY: the caller gives items, the first of all, a form, and room for a key.
        let (items, first, form) =
            unsafe { (std::slice::from_raw_parts(items.cast::<T>(), n), &*first.cast::<T>(), *form.cast::<Form>()) };
        let first = first.bits().key(form);
        let differ = by_form!(form, form => items.iter().fold(T::Key::default(), |differ, item| {
            differ.or(item.bits().key(form).xor(first))
        }));
        // SAFETY: as above.
        unsafe { out.cast::<T::Key>().write(differ) }
    }
}

#[cfg(test)]
mod tests {
    use super::{CACHED, Form, Pair, Sorter};

    #[test]
    fn many_items_are_sorted_stably_wherever_they_lie() {
        let len = CACHED / 16 + 1000;
        for (spread, first) in [(0, 0), (20, 1), (44, 3), (63, 2)] {
            let bits = |at: usize| (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> spread;
            let mut source: Vec<Pair<u64, u64>> =
                (0..len + 4).map(|at| Pair { bits: bits(at), at: at as u64 }).collect();
            let mut target = source.clone();
            let mut expected: Vec<u64> = (first as u64..(first + len) as u64).collect();
            expected.sort_by_key(|&at| bits(at as usize));
            let sorter = Sorter::new(Form::Unsigned, len, None);
            let targets = [&mut target, &mut source].map(|items| items[first..].as_mut_ptr());
            // SAFETY: both have room for the items.
            let found = unsafe {
                let passes = sorter.passes(targets[1]);
                std::slice::from_raw_parts(sorter.sort(&passes, targets[1], targets), len)
            };
            assert!(found.iter().map(|pair| pair.at).eq(expected), "spread {spread}");
        }
    }
}
