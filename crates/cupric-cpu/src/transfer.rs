//! Elements between memory of any layout and registers.

use crate::{
    kernel::by_width,
    level::{Kernel, Run, best, unary},
    space::Space,
};
use cupric_core::{DType, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use cupric_ir::{Component, Operand, Ty};
use std::marker::PhantomData;

/// An operand in memory: its element 0, and what elements are.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub(crate) address: usize,
    pub(crate) dtype: DType,
}

/// What lies between an element in memory and its register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Nothing.
    Plain,
    /// Any byte that is not zero is true.
    Truth,
    /// Half precision is widened.
    Half,
    /// One of two parts.
    Part,
}

impl Form {
    const fn of(dtype: DType) -> Form {
        match dtype {
            DType::Bool => Form::Truth,
            DType::Float16 | DType::BFloat16 => Form::Half,
            DType::Complex64 | DType::Complex128 => Form::Part,
            _ => Form::Plain,
        }
    }
}

/// What is wanted of an element.
#[derive(Clone, Copy)]
pub(crate) enum Wanted {
    /// A component.
    One(Component),
    /// Both parts of a complex element; the imaginary one goes here.
    Both(*mut u8),
}

/// Part of a tile in memory.
#[derive(Clone, Copy)]
pub(crate) struct Stretch<'a> {
    pub(crate) space: &'a Space,
    /// Which of the space's operands.
    pub(crate) operand: usize,
    /// The first element.
    pub(crate) start: usize,
    /// How many.
    pub(crate) n: usize,
}

impl Field {
    /// The operand whose storage is at `base`.
    pub(crate) fn new(operand: &Operand, base: u64) -> Field {
        Field { address: base as usize + operand.layout.offset, dtype: operand.dtype }
    }

    /// The same elements, moved.
    pub(crate) fn moved(self, by: isize) -> Field {
        Field { address: self.address.wrapping_add_signed(by), ..self }
    }

    /// Where the elements of a stretch lie, if they lie there as they would in registers.
    pub(crate) fn in_place(&self, at: Stretch<'_>) -> Option<*mut u8> {
        matches!(Form::of(self.dtype), Form::Plain).then_some(())?;
        self.packed(at)
    }

    /// As [`Field::in_place`], for writing: truth values are written as registers hold them.
    pub(crate) fn target(&self, at: Stretch<'_>) -> Option<*mut u8> {
        matches!(Form::of(self.dtype), Form::Plain | Form::Truth).then_some(())?;
        self.packed(at)
    }

    fn packed(&self, at: Stretch<'_>) -> Option<*mut u8> {
        let size = self.dtype.size();
        let whole = at.space.dims.len() == 1 || at.start % at.space.row() + at.n <= at.space.row();
        let packed = whole && (at.space.step(at.operand) == size as isize || at.n == 1);
        let address = packed.then(|| self.address.wrapping_add_signed(at.space.offset(at.operand, at.start)))?;
        address.is_multiple_of(size).then(|| std::ptr::with_exposed_provenance_mut(address))
    }

    /// Registers with a part of the elements of a stretch: in `buffer`, or where they lie anyway. `spare` has room for
    /// as many truth values or half-precision elements.
    ///
    /// # Safety
    /// The elements may be read; the buffers are large enough.
    pub(crate) unsafe fn load(&self, wanted: Wanted, at: Stretch<'_>, buffer: *mut u8, spare: *mut u8) -> *mut u8 {
        let component = match wanted {
            Wanted::One(component) => component,
            // SAFETY: the caller vouches for the elements and for the room.
            Wanted::Both(imaginary) => return unsafe { self.load_parts(at, buffer, imaginary) },
        };
        if let Some(address) = self.in_place(at) {
            return address;
        }
        let size = self.dtype.component().size();
        let from = match component {
            Component::Real => self.address,
            Component::Imaginary => self.address + size,
        };
        let form = Form::of(self.dtype);
        let converted = matches!(form, Form::Truth | Form::Half);
        let out = if converted { spare } else { buffer };
        let packed = if converted { self.packed(at) } else { None };
        if packed.is_none() {
            let step = at.space.step(at.operand);
            // SAFETY: the caller vouches for the elements and for the room.
            at.space.runs(at.operand, at.start, at.n, |offset, count, done| unsafe {
                let from = std::ptr::with_exposed_provenance(from.wrapping_add_signed(offset));
                gather(size, out.add(done * size), from, step, count);
            });
        }
        let from = packed.unwrap_or(out);
        match form {
            // SAFETY: the elements lie in memory or were gathered above; the buffer is another one.
            Form::Truth => unsafe { best::<Normalise>()(buffer, from, from, from, at.n) },
            // SAFETY: as above.
            Form::Half => unsafe { widen(self.dtype)(buffer, from, from, from, at.n) },
            Form::Plain | Form::Part => {}
        }
        buffer
    }

    /// Both parts of complex elements.
    unsafe fn load_parts(&self, at: Stretch<'_>, real: *mut u8, imaginary: *mut u8) -> *mut u8 {
        let (size, step) = (self.dtype.component().size(), at.space.step(at.operand));
        let aligned = self.address.is_multiple_of(size);
        at.space.runs(at.operand, at.start, at.n, |offset, count, done| {
            let from: *const u8 = std::ptr::with_exposed_provenance(self.address.wrapping_add_signed(offset));
            let [real, imaginary] = [real, imaginary].map(|out| out.wrapping_add(done * size));
            if aligned && step == 2 * size as isize {
                // SAFETY: the caller vouches for the elements and for the room.
                return unsafe { parted(size)(real, from, from, imaginary, count) };
            }
            for (out, from) in [(real, from), (imaginary, from.wrapping_add(size))] {
                // SAFETY: as above.
                unsafe { gather(size, out, from, step, count) };
            }
        });
        real
    }

    /// Writes both parts of the elements of a stretch from registers, where `mask` (if there is one) is true.
    ///
    /// # Safety
    /// The elements may be written; registers and mask hold enough.
    pub(crate) unsafe fn store_parts(&self, at: Stretch<'_>, parts: [*mut u8; 2], mask: Option<*const u8>) {
        let (size, step) = (self.dtype.component().size(), at.space.step(at.operand));
        if mask.is_some() || step != 2 * size as isize || !self.address.is_multiple_of(size) {
            for (component, part) in [Component::Real, Component::Imaginary].into_iter().zip(parts) {
                // SAFETY: the caller's promise; complex elements need no spare room.
                unsafe { self.store(component, at, part, mask, part) };
            }
            return;
        }
        at.space.runs(at.operand, at.start, at.n, |offset, count, done| {
            let to = std::ptr::with_exposed_provenance_mut(self.address.wrapping_add_signed(offset));
            let [real, imaginary] = parts.map(|part| part.wrapping_add(done * size).cast_const());
            // SAFETY: the caller's promise.
            unsafe { joined(size)(to, real, imaginary, imaginary, count) };
        });
    }

    /// Writes a component of the elements of a stretch from registers, where `mask` (if there is one) is true.
    ///
    /// # Safety
    /// The elements may be written; registers, mask and spare hold enough.
    pub(crate) unsafe fn store(
        &self,
        component: Component,
        at: Stretch<'_>,
        registers: *const u8,
        mask: Option<*const u8>,
        spare: *mut u8,
    ) {
        let part = self.dtype.component().size();
        let to = match component {
            Component::Real => self.address,
            Component::Imaginary => self.address + part,
        };
        let mut from = registers;
        if Form::of(self.dtype) == Form::Half {
            let packed = if mask.is_none() { self.packed(at) } else { None };
            // SAFETY: `spare` has room for the halves, and so has the memory of packed ones.
            unsafe { narrow(self.dtype)(packed.unwrap_or(spare), registers, registers, registers, at.n) };
            if packed.is_some() {
                return;
            }
            from = spare;
        }
        let step = at.space.step(at.operand);
        // SAFETY: the caller vouches for the elements and the registers.
        at.space.runs(at.operand, at.start, at.n, |offset, count, done| unsafe {
            let to = std::ptr::with_exposed_provenance_mut(to.wrapping_add_signed(offset));
            let from = from.add(done * part);
            match mask {
                None => scatter(part, to, step, from, count),
                Some(mask) => scatter_where(part, to, step, from, mask.add(done), count),
            }
        });
    }
}

/// The loop that takes complex elements apart: the imaginary parts go to the third argument.
fn parted(size: usize) -> Run {
    if size == 4 { best::<Parted<u32>>() } else { best::<Parted<u64>>() }
}

/// The loop that joins real and imaginary parts.
fn joined(size: usize) -> Run {
    if size == 4 { best::<Joined<u32>>() } else { best::<Joined<u64>>() }
}

struct Parted<T>(PhantomData<T>);

impl<T: Copy> Kernel for Parted<T> {
    #[inline(always)]
    unsafe fn run(real: *mut u8, elements: *const u8, _: *const u8, imaginary: *const u8, n: usize) {
        let (real, imaginary) = (real.cast::<T>(), imaginary.cast_mut().cast::<T>());
        for i in 0..n {
            // SAFETY: the caller has `n` elements, and room for as many parts.
            unsafe {
                let [re, im] = *elements.cast::<[T; 2]>().add(i);
                real.add(i).write(re);
                imaginary.add(i).write(im);
            }
        }
    }
}

struct Joined<T>(PhantomData<T>);

impl<T: Copy> Kernel for Joined<T> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, real: *const u8, imaginary: *const u8, _: *const u8, n: usize) {
        for i in 0..n {
            // SAFETY: the caller has `n` parts of both, and room for as many elements.
            unsafe {
                let element = [*real.cast::<T>().add(i), *imaginary.cast::<T>().add(i)];
                out.cast::<[T; 2]>().add(i).write(element);
            }
        }
    }
}

/// The loop that turns half-precision elements of a dtype into registers.
fn widen(dtype: DType) -> Run {
    if dtype == DType::Float16 { unary(f16_to_f32) } else { unary(bf16_to_f32) }
}

/// The loop that turns registers into half-precision elements of a dtype.
fn narrow(dtype: DType) -> Run {
    if dtype == DType::Float16 { unary(f32_to_f16) } else { unary(f32_to_bf16) }
}

/// Bytes as truth values.
struct Normalise;

impl Kernel for Normalise {
    #[inline(always)]
    unsafe fn run(out: *mut u8, from: *const u8, _: *const u8, _: *const u8, n: usize) {
        for i in 0..n {
            // SAFETY: the contract of `Kernel::run`.
            unsafe { out.add(i).write(u8::from(*from.add(i) != 0)) }
        }
    }
}

/// Copies `n` elements of 1, 2, 4, 8 or 16 bytes, `step` bytes apart and anywhere, to packed aligned ones.
///
/// # Safety
/// All of them may be read and written.
pub(crate) unsafe fn gather(size: usize, out: *mut u8, from: *const u8, step: isize, n: usize) {
    // SAFETY: the caller vouches for the elements.
    unsafe {
        match size {
            1 => gather_of::<u8>(out.cast(), from, step, n),
            2 => gather_of::<u16>(out.cast(), from, step, n),
            4 => gather_of::<u32>(out.cast(), from, step, n),
            8 => gather_of::<u64>(out.cast(), from, step, n),
            _ => gather_of::<u128>(out.cast(), from, step, n),
        }
    }
}

/// The reverse of [`gather`].
///
/// # Safety
/// All elements may be read and written.
pub(crate) unsafe fn scatter(size: usize, out: *mut u8, step: isize, from: *const u8, n: usize) {
    // SAFETY: the caller vouches for the elements.
    unsafe {
        match size {
            1 => scatter_of::<u8>(out, step, from.cast(), n),
            2 => scatter_of::<u16>(out, step, from.cast(), n),
            4 => scatter_of::<u32>(out, step, from.cast(), n),
            8 => scatter_of::<u64>(out, step, from.cast(), n),
            _ => scatter_of::<u128>(out, step, from.cast(), n),
        }
    }
}

unsafe fn gather_of<T: Copy>(out: *mut T, from: *const u8, step: isize, n: usize) {
    let size = size_of::<T>() as isize;
    // Constant steps, which the compiler turns into shuffles.
    // SAFETY: the caller vouches for the elements.
    unsafe {
        match step {
            _ if step == size => std::ptr::copy_nonoverlapping(from, out.cast(), n * size_of::<T>()),
            0 => (0..n).for_each(|i| *out.add(i) = from.cast::<T>().read_unaligned()),
            _ if step == 2 * size => (0..n).for_each(|i| *out.add(i) = from.cast::<T>().add(2 * i).read_unaligned()),
            _ => (0..n).for_each(|i| *out.add(i) = from.offset(i as isize * step).cast::<T>().read_unaligned()),
        }
    }
}

unsafe fn scatter_of<T: Copy>(out: *mut u8, step: isize, from: *const T, n: usize) {
    let size = size_of::<T>() as isize;
    // SAFETY: the caller vouches for the elements.
    unsafe {
        match step {
            _ if step == size => std::ptr::copy_nonoverlapping(from.cast(), out, n * size_of::<T>()),
            _ if step == 2 * size => (0..n).for_each(|i| out.cast::<T>().add(2 * i).write_unaligned(*from.add(i))),
            _ => (0..n).for_each(|i| out.offset(i as isize * step).cast::<T>().write_unaligned(*from.add(i))),
        }
    }
}

unsafe fn scatter_where(size: usize, out: *mut u8, step: isize, from: *const u8, mask: *const u8, n: usize) {
    for i in 0..n {
        // SAFETY: the caller vouches for the elements and the mask.
        unsafe {
            if *mask.add(i) != 0 {
                std::ptr::copy_nonoverlapping(from.add(i * size), out.offset(i as isize * step), size);
            }
        }
    }
}

/// Fills `n` registers with one value.
///
/// # Safety
/// There is room for them.
pub(crate) unsafe fn fill(ty: Ty, out: *mut u8, bits: u64, n: usize) {
    // SAFETY: the caller vouches for the room; registers are aligned.
    by_width!(ty, T => unsafe { std::slice::from_raw_parts_mut(out.cast::<T>(), n).fill(bits as T) });
}
