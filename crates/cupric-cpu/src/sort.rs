//! Stable sorts along the last axis, NaN last.

use crate::{
    key::{Form, Key, complex_key},
    memory::room,
    radix,
    space::Space,
    threads::Threads,
    transfer::{Field, gather, scatter},
};
use cupric_core::{DType, Error, Result};
use cupric_ir::{Sort, Sorted};
use rayon::prelude::*;

/// Runs a sort; `addresses` are the bases of input and output.
pub(crate) fn sort(sort: &Sort, addresses: &[u64], threads: &Threads) -> Result<()> {
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
    // Rows are shared among threads, and so is each row where there are too few of them.
    let within = plan.rows.len < 4 * threads.count() && length >= 1 << 16;
    if within {
        (0..plan.rows.len).for_each(|row| plan.row(row, Some(threads)));
    } else {
        threads.share(plan.rows.len, plan.rows.len * length, |range| range.for_each(|row| plan.row(row, None)));
    }
    Ok(())
}

struct Plan {
    // Operands: input, output.
    rows: Space,
    length: usize,
    steps: [isize; 2],
    input: Field,
    output: Field,
    answer: Sorted,
}

impl Plan {
    fn row(&self, row: usize, threads: Option<&Threads>) {
        let dtype = self.input.dtype;
        match dtype {
            DType::Complex64 | DType::Complex128 => self.complex_row(row, threads),
            _ => match dtype.size() {
                1 => self.real_row::<u8>(row, threads),
                2 => self.real_row::<u16>(row, threads),
                4 => self.real_row::<u32>(row, threads),
                _ => self.real_row::<u64>(row, threads),
            },
        }
    }

    fn read<T: Copy>(&self, row: usize) -> Vec<T> {
        let mut elements: Vec<T> = room(self.length);
        let from = self.input.address.wrapping_add_signed(self.rows.offset(0, row));
        let from = std::ptr::with_exposed_provenance(from);
        // SAFETY: the operation's caller vouches for the row; the vector has room for it.
        unsafe { gather(size_of::<T>(), elements.as_mut_ptr().cast(), from, self.steps[0], self.length) };
        // SAFETY: all of it was just written.
        unsafe { elements.set_len(self.length) };
        elements
    }

    fn write<T: Copy>(&self, row: usize, elements: &[T]) {
        let to = self.output.address.wrapping_add_signed(self.rows.offset(1, row));
        let to = std::ptr::with_exposed_provenance_mut(to);
        // SAFETY: the operation's caller vouches for the row, whose elements are as large as these.
        unsafe { scatter(size_of::<T>(), to, self.steps[1], elements.as_ptr().cast(), elements.len()) };
    }

    fn real_row<K: Key>(&self, row: usize, threads: Option<&Threads>) {
        let form = Form::of(self.input.dtype);
        let bits = self.read::<K>(row);
        match self.answer {
            Sorted::Values => self.write(row, &sorted(bits, form, threads)),
            Sorted::Positions if self.length <= u32::MAX as usize => {
                let mut pairs = room(self.length);
                pairs.extend(bits.iter().enumerate().map(|(at, &bits)| (bits.key(form), at as u32)));
                self.write_positions(
                    row,
                    radix::sort(pairs, |pair: &(K, u32)| pair.0, threads).iter().map(|pair| pair.1.into()),
                );
            }
            Sorted::Positions => {
                let mut pairs = room(self.length);
                pairs.extend(bits.iter().enumerate().map(|(at, &bits)| (bits.key(form), at as u64)));
                self.write_positions(
                    row,
                    radix::sort(pairs, |pair: &(K, u64)| pair.0, threads).iter().map(|pair| pair.1),
                );
            }
        }
    }

    fn write_positions(&self, row: usize, positions: impl Iterator<Item = u64>) {
        let mut answer = room(self.length);
        answer.extend(positions.map(|at| at as i64));
        self.write(row, &answer);
    }

    fn complex_row(&self, row: usize, threads: Option<&Threads>) {
        if self.input.dtype == DType::Complex64 {
            self.ordered_row(row, |bits: [u32; 2]| complex_key(bits), threads);
        } else {
            self.ordered_row(row, |bits: [u64; 2]| complex_key(bits), threads);
        }
    }

    fn ordered_row<T, K>(&self, row: usize, key: impl Fn(T) -> K, threads: Option<&Threads>)
    where
        T: Copy,
        K: Ord + Copy + Send,
    {
        let elements = self.read::<T>(row);
        // With the position in it no two keys are equal, so any sort is stable.
        let mut keys: Vec<(K, u64)> = elements.iter().enumerate().map(|(at, &bits)| (key(bits), at as u64)).collect();
        match threads {
            Some(threads) => threads.run(|| keys.par_sort_unstable()),
            None => keys.sort_unstable(),
        }
        match self.answer {
            Sorted::Positions => self.write_positions(row, keys.iter().map(|key| key.1)),
            Sorted::Values => {
                self.write(row, &keys.iter().map(|key| elements[key.1 as usize]).collect::<Vec<_>>());
            }
        }
    }
}

/// Sorted elements, each with the bits it had. Keys forget the sign of zero and what a NaN holds; those are put back.
fn sorted<K: Key>(mut bits: Vec<K>, form: Form, threads: Option<&Threads>) -> Vec<K> {
    let zero = K::default().key(form);
    let is_nan = |bits: K| form.is_float() && bits.key(form) == K::LAST;
    let forgotten = |bits: K| is_nan(bits) || form.is_float() && bits.is_negative_zero();
    let (mut nans, mut zeros) = (Vec::new(), Vec::new());
    if form.is_float() && bits.iter().fold(false, |any, &bits| any | forgotten(bits)) {
        nans.extend(bits.iter().copied().filter(|&bits| is_nan(bits)));
        zeros.extend(bits.iter().copied().filter(|bits| bits.key(form) == zero));
    }
    each(&mut bits, threads, |bits| bits.key(form));
    let mut keys = radix::sort(bits, |&key| key, threads);
    let numbers = keys.len() - nans.len();
    let first = if zeros.is_empty() { 0 } else { keys[..numbers].partition_point(|&key| key < zero) };
    each(&mut keys, threads, |key| key.bits(form));
    keys[first..first + zeros.len()].copy_from_slice(&zeros);
    keys[numbers..].copy_from_slice(&nans);
    keys
}

fn each<K: Key>(items: &mut [K], threads: Option<&Threads>, act: impl Fn(K) -> K + Sync) {
    let all = |items: &mut [K]| items.iter_mut().for_each(|item| *item = act(*item));
    match threads {
        Some(threads) => threads.run(|| items.par_chunks_mut(1 << 16).for_each(all)),
        None => all(items),
    }
}
