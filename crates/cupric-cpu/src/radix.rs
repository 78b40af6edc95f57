//! A stable radix sort, from the least byte on, on one thread or several.

use crate::{key::Key, memory::room, threads::Threads};

// Below this a comparison sort is faster.
const FEW: usize = 1024;

/// Sorts stably by key. Items with equal keys must stand in their own order (`T: Ord`), as positions do.
pub(crate) fn sort<T: Copy + Ord + Send + Sync, K: Key>(
    mut items: Vec<T>,
    key: impl Fn(&T) -> K + Sync,
    threads: Option<&Threads>,
) -> Vec<T> {
    if items.len() < FEW {
        items.sort_unstable();
        return items;
    }
    let parts = threads.map_or(1, Threads::count);
    let mut other: Vec<T> = room(items.len());
    for digit in 0..size_of::<K>() {
        let pass = Pass { parts, key: &key, digit, threads };
        let counts = pass.counts(&items);
        let Some(places) = places(&counts, items.len()) else { continue };
        pass.spread(&items, other.as_mut_ptr(), places);
        // SAFETY: all of it was just written.
        unsafe { other.set_len(items.len()) };
        std::mem::swap(&mut items, &mut other);
    }
    items
}

type Counts = [usize; 256];

/// Where each part's items of each digit go; nothing if all items share the digit.
fn places(counts: &[Counts], len: usize) -> Option<Vec<Counts>> {
    let total = |digit: usize| counts.iter().map(|part| part[digit]).sum::<usize>();
    if (0..256).any(|digit| total(digit) == len) {
        return None;
    }
    let (mut places, mut next) = (counts.to_vec(), 0);
    for digit in 0..256 {
        for part in &mut places {
            next += std::mem::replace(&mut part[digit], next);
        }
    }
    Some(places)
}

struct Pass<'a, F> {
    parts: usize,
    key: &'a F,
    digit: usize,
    threads: Option<&'a Threads>,
}

/// A pointer that threads share, each using places of its own.
struct Shared<T>(*mut T);

// SAFETY: every use says which places are whose.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

impl<F: Sync> Pass<'_, F> {
    fn each_part(&self, len: usize, act: impl Fn(usize, std::ops::Range<usize>) + Sync) {
        let bounds = |part: usize| part * len / self.parts..(part + 1) * len / self.parts;
        let run = |range: std::ops::Range<usize>| range.for_each(|part| act(part, bounds(part)));
        match self.threads {
            Some(threads) => threads.share(self.parts, len, run),
            None => run(0..self.parts),
        }
    }

    fn counts<T: Sync, K: Key>(&self, items: &[T]) -> Vec<Counts>
    where
        F: Fn(&T) -> K,
    {
        let mut counts = vec![[0; 256]; self.parts];
        let shared = Shared(counts.as_mut_ptr());
        self.each_part(items.len(), |part, range| {
            // SAFETY: each part counts in its own array.
            let counts: &mut Counts = unsafe { &mut *shared.get().add(part) };
            for item in &items[range] {
                counts[(self.key)(item).digit(self.digit)] += 1;
            }
        });
        counts
    }

    fn spread<T: Copy + Sync + Send, K: Key>(&self, items: &[T], other: *mut T, mut places: Vec<Counts>)
    where
        F: Fn(&T) -> K,
    {
        let (shared, places) = (Shared(other), Shared(places.as_mut_ptr()));
        self.each_part(items.len(), |part, range| {
            // SAFETY: each part has places of its own.
            let places: &mut Counts = unsafe { &mut *places.get().add(part) };
            for item in &items[range] {
                let place = &mut places[(self.key)(item).digit(self.digit)];
                // SAFETY: the places of all parts together are those of all items, each once.
                unsafe { shared.get().add(*place).write(*item) };
                *place += 1;
            }
        });
    }
}
