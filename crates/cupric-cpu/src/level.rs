//! The instruction sets that loops are compiled for, and the choice among them at run time.

use std::{marker::PhantomData, ptr::NonNull, sync::OnceLock};

/// Which instructions loops may use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Level {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best one that this processor has.
    pub(crate) fn here() -> Level {
        static HERE: OnceLock<Level> = OnceLock::new();
        *HERE.get_or_init(Level::detect)
    }

    #[cfg(target_arch = "x86_64")]
    fn detect() -> Level {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        match (avx2, avx512) {
            (true, true) => Level::Avx512,
            (true, false) => Level::Avx2,
            _ => Level::Baseline,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn detect() -> Level {
        Level::Baseline
    }
}

/// A loop over a tile: where the results go, up to three arguments, how many elements.
pub(crate) type Run = unsafe fn(*mut u8, *const u8, *const u8, *const u8, usize);

/// A loop that is compiled once per [`Level`].
pub(crate) trait Kernel {
    /// Runs the loop; implementations are `inline(always)`, so that they take on the caller's instruction set.
    ///
    /// # Safety
    /// The pointers are aligned for the loop's types and valid for `n` elements; `out` overlaps no argument.
    unsafe fn run(out: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize);
}

/// The loop as compiled for the best level of this processor.
pub(crate) fn best<K: Kernel>() -> Run {
    match Level::here() {
        Level::Baseline => baseline::<K>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::<K>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::<K>,
    }
}

unsafe fn baseline<K: Kernel>(out: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
    // SAFETY: the caller keeps the kernel's contract.
    unsafe { K::run(out, a, b, c, n) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt")]
unsafe fn avx2<K: Kernel>(out: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
    // SAFETY: the caller keeps the kernel's contract.
    unsafe { K::run(out, a, b, c, n) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
unsafe fn avx512<K: Kernel>(out: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
    // SAFETY: the caller keeps the kernel's contract.
    unsafe { K::run(out, a, b, c, n) }
}

/// A value of a type that has only one: a function item, or a closure that captures nothing.
#[inline(always)]
pub(crate) fn only<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "a loop's body captures nothing") };
    // SAFETY: nothing is read for a type without bytes, and `F` is only named where a value of it was given.
    unsafe { NonNull::<F>::dangling().read() }
}

struct Unary<F, A, R>(PhantomData<(F, A, R)>);

impl<F: Fn(A) -> R + Copy, A: Copy, R> Kernel for Unary<F, A, R> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, a: *const u8, _: *const u8, _: *const u8, n: usize) {
        let (body, out, a) = (only::<F>(), out.cast::<R>(), a.cast::<A>());
        for i in 0..n {
            // SAFETY: the contract of `Kernel::run`.
            unsafe { out.add(i).write(body(*a.add(i))) }
        }
    }
}

struct Binary<F, A, B, R>(PhantomData<(F, A, B, R)>);

impl<F: Fn(A, B) -> R + Copy, A: Copy, B: Copy, R> Kernel for Binary<F, A, B, R> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, a: *const u8, b: *const u8, _: *const u8, n: usize) {
        let (body, out, a, b) = (only::<F>(), out.cast::<R>(), a.cast::<A>(), b.cast::<B>());
        for i in 0..n {
            // SAFETY: the contract of `Kernel::run`.
            unsafe { out.add(i).write(body(*a.add(i), *b.add(i))) }
        }
    }
}

struct Ternary<F, A, B, R>(PhantomData<(F, A, B, R)>);

impl<F: Fn(A, B, B) -> R + Copy, A: Copy, B: Copy, R> Kernel for Ternary<F, A, B, R> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
        let (body, out, a) = (only::<F>(), out.cast::<R>(), a.cast::<A>());
        let (b, c) = (b.cast::<B>(), c.cast::<B>());
        for i in 0..n {
            // SAFETY: the contract of `Kernel::run`.
            unsafe { out.add(i).write(body(*a.add(i), *b.add(i), *c.add(i))) }
        }
    }
}

struct Rare<F, T, G, A>(PhantomData<(F, T, G, A)>);

impl<F, T, G, A: Copy> Kernel for Rare<F, T, G, A>
where
    F: Fn(A) -> A + Copy,
    T: Fn(A) -> bool + Copy,
    G: Fn(A) -> A + Copy,
{
    #[inline(always)]
    unsafe fn run(out: *mut u8, a: *const u8, _: *const u8, _: *const u8, n: usize) {
        let (usual, is_rare, right) = (only::<F>(), only::<T>(), only::<G>());
        let (out, a) = (out.cast::<A>(), a.cast::<A>());
        let mut any = false;
        for i in 0..n {
            // SAFETY: the contract of `Kernel::run`.
            let x = unsafe { *a.add(i) };
            any |= is_rare(x);
            // SAFETY: the contract of `Kernel::run`.
            unsafe { out.add(i).write(usual(x)) }
        }
        if any {
            for i in 0..n {
                // SAFETY: the contract of `Kernel::run`.
                let x = unsafe { *a.add(i) };
                if is_rare(x) {
                    // SAFETY: the contract of `Kernel::run`.
                    unsafe { out.add(i).write(right(x)) }
                }
            }
        }
    }
}

/// The loop of a function of one argument.
pub(crate) fn unary<A: Copy, R>(body: impl Fn(A) -> R + Copy) -> Run {
    fn of<F: Fn(A) -> R + Copy, A: Copy, R>(_: F) -> Run {
        best::<Unary<F, A, R>>()
    }
    of(body)
}

/// The loop of a function of two arguments.
pub(crate) fn binary<A: Copy, B: Copy, R>(body: impl Fn(A, B) -> R + Copy) -> Run {
    fn of<F: Fn(A, B) -> R + Copy, A: Copy, B: Copy, R>(_: F) -> Run {
        best::<Binary<F, A, B, R>>()
    }
    of(body)
}

/// The loop of a function of three arguments, the last two of one type.
pub(crate) fn ternary<A: Copy, B: Copy, R>(body: impl Fn(A, B, B) -> R + Copy) -> Run {
    fn of<F: Fn(A, B, B) -> R + Copy, A: Copy, B: Copy, R>(_: F) -> Run {
        best::<Ternary<F, A, B, R>>()
    }
    of(body)
}

/// The loop of a function that has a short formula for most arguments, and a test for the others.
pub(crate) fn rare<A: Copy>(
    usual: impl Fn(A) -> A + Copy,
    is_rare: impl Fn(A) -> bool + Copy,
    right: impl Fn(A) -> A + Copy,
) -> Run {
    fn of<F: Fn(A) -> A + Copy, T: Fn(A) -> bool + Copy, G: Fn(A) -> A + Copy, A: Copy>(_: F, _: T, _: G) -> Run {
        best::<Rare<F, T, G, A>>()
    }
    of(usual, is_rare, right)
}

#[cfg(test)]
mod tests {
    use super::{Kernel, Run, Unary, baseline};
    #[cfg(target_arch = "x86_64")]
    fn levels<K: Kernel>() -> Vec<Run> {
        let mut levels: Vec<Run> = vec![baseline::<K>];
        if super::Level::here() >= super::Level::Avx2 {
            levels.push(super::avx2::<K>);
        }
        if super::Level::here() >= super::Level::Avx512 {
            levels.push(super::avx512::<K>);
        }
        levels
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn levels<K: Kernel>() -> Vec<Run> {
        vec![baseline::<K>]
    }

    fn same_bits<F: Fn(f32) -> f32 + Copy>(_: F) {
        let input: Vec<f32> = (0..u32::MAX / 9973).map(|i| f32::from_bits(i * 9973)).collect();
        let answers: Vec<Vec<u32>> = levels::<Unary<F, f32, f32>>()
            .into_iter()
            .map(|run| {
                let mut out = vec![0_f32; input.len()];
                let from = input.as_ptr().cast();
                // SAFETY: both are as long as the input.
                unsafe { run(out.as_mut_ptr().cast(), from, from, from, input.len()) };
                out.iter().map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }).collect()
            })
            .collect();
        assert!(answers.iter().all(|answer| *answer == answers[0]));
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        same_bits(cupric_math::trig::sin32::<f32>);
        same_bits(cupric_math::exp::exp32::<f32>);
        same_bits(cupric_math::log::log32::<f32>);
        same_bits(|x: f32| x * 3.1 + 0.7);
        same_bits(|x: f32| cupric_core::f16_to_f32(cupric_core::f32_to_f16(x)));
    }
}
