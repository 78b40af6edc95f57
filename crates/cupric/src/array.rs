//! The array: a dtype, a layout, and a share of a storage.

use cupric_core::{
    Bits, DType, Dims, Error, Layout, Order, Part, Result, Scalar, Strides, byte_count, element_count, infer_shape,
    normalize_permutation,
};
use cupric_ir::{Operand, Step};
use cupric_runtime::{Device, Storage, current_stream};
use std::sync::Arc;

/// Whether an array may be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// It may.
    ReadWrite,
    /// Its elements share bytes, or its memory is somebody's constant.
    ReadOnly,
}

/// An n-dimensional array on a device. Cheap to clone: clones and views share the elements.
#[derive(Clone)]
pub struct Array {
    dtype: DType,
    layout: Arc<Layout>,
    storage: Arc<Storage>,
    access: Access,
}

impl Array {
    /// An array over part of a storage.
    #[must_use]
    pub fn over(storage: Arc<Storage>, dtype: DType, layout: Layout, access: Access) -> Array {
        Array { dtype, layout: Arc::new(layout), storage, access }
    }

    /// A new array of this layout (which starts at offset 0 and is packed), with whatever the memory holds.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub(crate) fn packed(device: &Arc<Device>, dtype: DType, layout: impl Into<Arc<Layout>>) -> Result<Array> {
        let layout = layout.into();
        let storage = device.storage(byte_count(&layout.shape, dtype.size())?)?;
        Ok(Array { dtype, layout, storage, access: Access::ReadWrite })
    }

    /// A new array with whatever the memory holds, on the current device.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn empty(shape: &[usize], dtype: DType) -> Result<Array> {
        element_count(shape)?;
        byte_count(shape, dtype.size())?;
        Array::packed(&crate::current_device()?, dtype, Layout::row_major(shape, dtype.size()))
    }

    /// A new array on the same device.
    pub(crate) fn empty_beside(&self, shape: &[usize], dtype: DType) -> Result<Array> {
        byte_count(shape, dtype.size())?;
        Array::packed(self.device(), dtype, Layout::row_major(shape, dtype.size()))
    }

    /// A new array of the same shape, laid out in the order asked for.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn empty_like(&self, dtype: DType, order: Order) -> Result<Array> {
        byte_count(&self.layout.shape, dtype.size())?;
        Array::packed(self.device(), dtype, self.layout.ordered_like(order, dtype.size()))
    }

    /// What the elements are.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where the elements lie in the storage.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The layout, to be shared by arrays that lie alike.
    pub(crate) const fn shared_layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The memory.
    #[must_use]
    pub const fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Arc<Device> {
        self.storage.device()
    }

    /// Whether it may be written.
    #[must_use]
    pub const fn access(&self) -> Access {
        self.access
    }

    /// The same array, to be read only.
    #[must_use]
    pub fn read_only(mut self) -> Array {
        self.access = Access::ReadOnly;
        self
    }

    /// The length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// Bytes from one element of an axis to the next.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        &self.layout.strides
    }

    /// The number of axes.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.layout.ndim()
    }

    /// The number of elements.
    #[must_use]
    pub fn size(&self) -> usize {
        self.layout.len()
    }

    /// Bytes of an element.
    #[must_use]
    pub const fn item_size(&self) -> usize {
        self.dtype.size()
    }

    /// Whether the elements are packed in row-major order.
    #[must_use]
    pub fn is_row_major(&self) -> bool {
        self.layout.is_row_major(self.item_size())
    }

    /// Whether the elements are packed in column-major order.
    #[must_use]
    pub fn is_column_major(&self) -> bool {
        self.layout.is_column_major(self.item_size())
    }

    /// The elements as an operand of an operation.
    pub(crate) fn operand(&self) -> Operand {
        Operand { storage: self.storage.id(), dtype: self.dtype, layout: self.layout.clone() }
    }

    /// The elements as an operand, repeated to a larger shape.
    pub(crate) fn operand_over(&self, shape: &[usize]) -> Result<Operand> {
        let layout = if self.shape() == shape { self.layout.clone() } else { self.layout.broadcast_to(shape)?.into() };
        Ok(Operand { storage: self.storage.id(), dtype: self.dtype, layout })
    }

    /// Another view of the same elements.
    #[must_use]
    pub fn with_layout(&self, layout: Layout) -> Array {
        Array { layout: layout.into(), ..self.clone() }
    }

    /// Whether two arrays have bytes in common; in doubt, they have.
    pub(crate) fn overlaps(&self, other: &Array) -> bool {
        if Arc::ptr_eq(&self.storage, &other.storage) {
            return self.layout.overlaps(self.item_size(), &other.layout, other.item_size());
        }
        // Memory that is known outside may be shown by several storages.
        let (Some(ours), Some(theirs)) = (self.known_bytes(), other.known_bytes()) else { return false };
        ours.start < theirs.end && theirs.start < ours.end
    }

    /// The addresses from the lowest to the highest byte, where they are known outside.
    fn known_bytes(&self) -> Option<std::ops::Range<u64>> {
        let base = self.storage.shared_address()?;
        let range = self.layout.byte_range(self.item_size());
        Some(base + range.start as u64..base + range.end as u64)
    }

    /// Refuses an array that may not be written.
    pub(crate) fn writable(&self, role: &'static str) -> Result<()> {
        if self.access == Access::ReadOnly { Err(Error::ReadOnly { role }) } else { Ok(()) }
    }

    /// The elements in another shape, shared if the strides allow it, else copied. One size may be -1.
    ///
    /// # Errors
    /// When the shapes hold different numbers of elements.
    ///
    /// ```
    /// # fn main() -> cupric::Result<()> {
    /// let a = cupric::arange(6, cupric::DType::Int64)?;
    /// assert_eq!(a.reshape(&[2, -1])?.shape(), [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reshape(&self, shape: &[isize]) -> Result<Array> {
        let shape = infer_shape(shape, self.size())?;
        self.reshaped(&shape)
    }

    pub(crate) fn reshaped(&self, shape: &[usize]) -> Result<Array> {
        if let Some(layout) = self.layout.reshape(shape, self.item_size()) {
            return Ok(self.with_layout(layout));
        }
        let copy = self.copy(Order::RowMajor)?;
        Ok(copy.with_layout(Layout::row_major(shape, self.item_size())))
    }

    /// The elements in another shape, read and numbered in column-major order.
    ///
    /// # Errors
    /// When the shapes hold different numbers of elements.
    pub fn reshape_column_major(&self, shape: &[isize]) -> Result<Array> {
        let mut shape = infer_shape(shape, self.size())?;
        shape.reverse();
        Ok(self.reversed_axes().reshaped(&shape)?.reversed_axes())
    }

    /// The view with the axes in another order.
    ///
    /// # Errors
    /// When `axes` is not a permutation.
    pub fn transpose(&self, axes: &[isize]) -> Result<Array> {
        let axes = normalize_permutation(axes, self.ndim())?;
        Ok(self.with_layout(self.layout.transpose(&axes)))
    }

    /// The view with the axes reversed.
    #[must_use]
    pub fn reversed_axes(&self) -> Array {
        self.with_layout(self.layout.reversed_axes())
    }

    /// The view with one axis moved to the end.
    pub(crate) fn with_axis_last(&self, axis: usize) -> Array {
        let mut axes: Dims = (0..self.ndim()).filter(|&other| other != axis).collect();
        axes.push(axis);
        self.with_layout(self.layout.transpose(&axes))
    }

    /// A read-only view repeated to a larger shape.
    ///
    /// # Errors
    /// When the shape cannot be reached.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Array> {
        element_count(shape)?;
        Ok(self.with_layout(self.layout.broadcast_to(shape)?).read_only())
    }

    /// The view without axes of length 1; all of them, or those named.
    ///
    /// # Errors
    /// When a named axis has another length.
    pub fn squeeze(&self, axes: Option<&[isize]>) -> Result<Array> {
        Ok(self.with_layout(self.layout.squeeze(axes)?))
    }

    /// A view of a diagonal, put on the last axis; read-only.
    ///
    /// # Errors
    /// When there are fewer than two axes.
    pub fn diagonal(&self, offset: isize, axis1: isize, axis2: isize) -> Result<Array> {
        Ok(self.with_layout(self.layout.diagonal(offset, axis1, axis2)?).read_only())
    }

    /// The real or imaginary part: a view of a complex array. A real array is its own real part.
    ///
    /// # Errors
    /// When zeros for the imaginary part of a real array cannot be made.
    pub fn part(&self, part: Part) -> Result<Array> {
        if self.dtype.is_complex() {
            let layout = self.layout.part(part, self.item_size());
            return Ok(Array { dtype: self.dtype.component(), layout: layout.into(), ..self.clone() });
        }
        match part {
            Part::Real => Ok(self.clone()),
            Part::Imag => {
                let zeros = self.empty_like(self.dtype, Order::Keep)?;
                zeros.fill(Scalar::Int(0))?;
                Ok(zeros.read_only())
            }
        }
    }

    /// The same bytes as elements of another dtype.
    ///
    /// # Errors
    /// When the last axis does not divide.
    pub fn view(&self, dtype: DType) -> Result<Array> {
        let layout = self.layout.view_item(self.item_size(), dtype.size())?;
        Ok(Array { dtype, layout: layout.into(), ..self.clone() })
    }

    /// A copy.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn copy(&self, order: Order) -> Result<Array> {
        let copy = self.empty_like(self.dtype, order)?;
        copy.assign(self)?;
        Ok(copy)
    }

    /// The elements converted to a dtype; always a new array.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn astype(&self, dtype: DType, order: Order) -> Result<Array> {
        let copy = self.empty_like(dtype, order)?;
        copy.assign(self)?;
        Ok(copy)
    }

    /// The elements converted to a dtype; itself when it has that already.
    pub(crate) fn to_dtype(&self, dtype: DType) -> Result<Array> {
        if self.dtype == dtype { Ok(self.clone()) } else { self.astype(dtype, Order::Keep) }
    }

    /// Queues an operation that reads and writes these arrays.
    pub(crate) fn enqueue(&self, step: Step, reads: &[&Arc<Storage>], writes: &[&Arc<Storage>]) -> Result<()> {
        let device = self.device();
        if reads.iter().chain(writes).any(|storage| !Arc::ptr_eq(storage.device(), device)) {
            return Err(Error::Value("arrays on different devices cannot take part in one operation".into()));
        }
        device.enqueue(&current_stream(device), step, reads, writes)
    }

    /// The bytes of the elements, in row-major order.
    ///
    /// # Errors
    /// When an operation that should have made them failed.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.size() * self.item_size()];
        self.read_into(&mut bytes)?;
        Ok(bytes)
    }

    /// Copies the elements, in row-major order, to the host.
    ///
    /// # Errors
    /// When an operation that should have made them failed.
    pub fn read_into(&self, bytes: &mut [u8]) -> Result<()> {
        if bytes.is_empty() {
            return self.storage.settle();
        }
        let packed = if self.is_row_major() { self.clone() } else { self.copy(Order::RowMajor)? };
        packed.device().download(&packed.storage, packed.layout.offset, bytes)
    }

    /// Replaces the elements by these bytes, in row-major order.
    ///
    /// # Errors
    /// When the array is read-only.
    pub fn write_from(&self, bytes: &[u8]) -> Result<()> {
        self.writable("assignment destination")?;
        if bytes.is_empty() {
            return Ok(());
        }
        if self.is_row_major() {
            return self.device().upload(&self.storage, self.layout.offset, bytes);
        }
        let packed = self.empty_beside(self.shape(), self.dtype)?;
        packed.device().upload(&packed.storage, 0, bytes)?;
        self.assign(&packed)
    }

    /// A new array of these bytes, in row-major order, on the current device.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn from_bytes(shape: &[usize], dtype: DType, bytes: &[u8]) -> Result<Array> {
        let array = Array::empty(shape, dtype)?;
        array.write_from(bytes)?;
        Ok(array)
    }

    /// The value of an array of one element.
    ///
    /// # Errors
    /// When it has another number of elements.
    pub fn item(&self) -> Result<Scalar> {
        if self.size() != 1 {
            return Err(Error::Value("can only convert an array of size 1 to a Python scalar".into()));
        }
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..self.item_size()];
        self.device().download(&self.storage, self.layout.offset, bytes)?;
        Ok(Scalar::from_bits(self.dtype, Bits::from_bytes(self.dtype, bytes)))
    }

    /// The view with these strides over this shape, starting `offset` bytes into the array.
    ///
    /// # Errors
    /// When it would reach outside of the storage.
    pub fn as_strided(&self, shape: &[usize], strides: &[isize]) -> Result<Array> {
        element_count(shape)?;
        let layout = Layout { shape: shape.into(), strides: Strides::from_slice(strides), offset: self.layout.offset };
        let reach = shape.iter().zip(strides).filter(|&(&size, _)| size > 0).map(|(&size, &stride)| {
            let last = stride.saturating_mul(size as isize - 1);
            (last.min(0), last.max(0))
        });
        let (low, high) =
            reach.fold((0isize, 0isize), |(low, high), (l, h)| (low.saturating_add(l), high.saturating_add(h)));
        let start = self.layout.offset as isize;
        let inside = low.saturating_add(start) >= 0
            && high.saturating_add(start).saturating_add(self.item_size() as isize) <= self.storage.bytes() as isize;
        if !inside && !layout.is_empty() {
            return Err(Error::Value("the view would reach outside of the array's memory".into()));
        }
        Ok(self.with_layout(layout))
    }
}
