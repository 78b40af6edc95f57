//! Elements between memory of any layout and registers.

use crate::{
    kernel::by_width,
    level::{Run, unary},
    space::Space,
};
use cupric_core::{DType, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use cupric_ir::{Component, Operand, Ty};

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

    /// Registers with a component of the elements of a stretch: in `buffer`, or where they lie anyway. `spare` has room for
    /// as many half-precision elements.
    ///
    /// # Safety
    /// The elements may be read; the buffers are large enough.
    pub(crate) unsafe fn load(
        &self,
        component: Component,
        at: Stretch<'_>,
        buffer: *mut u8,
        spare: *mut u8,
    ) -> *mut u8 {
        if let Some(address) = self.in_place(at) {
            return address;
        }
        let part = self.dtype.component().size();
        let from = match component {
            Component::Real => self.address,
            Component::Imaginary => self.address + part,
        };
        let form = Form::of(self.dtype);
        let out = if form == Form::Half { spare } else { buffer };
        let step = at.space.step(at.operand);
        // SAFETY: the caller vouches for the elements and for the room.
        at.space.runs(at.operand, at.start, at.n, |offset, count, done| unsafe {
            let from = std::ptr::with_exposed_provenance(from.wrapping_add_signed(offset));
            gather(part, out.add(done * part), from, step, count);
        });
        match form {
            // SAFETY: the bytes were written above.
            Form::Truth => unsafe { normalise(buffer, at.n) },
            // SAFETY: the halves were written above; the two buffers are different ones.
            Form::Half => unsafe { widen(self.dtype)(buffer, spare, spare, spare, at.n) },
            Form::Plain | Form::Part => {}
        }
        buffer
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
            // SAFETY: `spare` has room for the halves.
            unsafe { narrow(self.dtype)(spare, registers, registers, registers, at.n) };
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

/// The loop that turns half-precision elements of a dtype into registers.
fn widen(dtype: DType) -> Run {
    if dtype == DType::Float16 { unary(f16_to_f32) } else { unary(bf16_to_f32) }
}

/// The loop that turns registers into half-precision elements of a dtype.
fn narrow(dtype: DType) -> Run {
    if dtype == DType::Float16 { unary(f32_to_f16) } else { unary(f32_to_bf16) }
}

unsafe fn normalise(bytes: *mut u8, n: usize) {
    // SAFETY: the caller has written `n` bytes here.
    let bytes = unsafe { std::slice::from_raw_parts_mut(bytes, n) };
    bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
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
