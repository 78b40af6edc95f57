//! Reading and writing by slices, integers, masks and index arrays.

use crate::{
    array::Array,
    reduction::{Reduction, count_true, reduce},
    ufunc::{Operand, Options, call, row},
};
use cupric_core::{
    DType, Dims, Error, Index, Layout, Order, Result, Scalar, Selection, broadcast_shapes, normalize_axis, select,
};
use cupric_ir::{Bounds, Gather, IndexOperand, Op, Operand as Elements, Scatter, Select, Step};
use cupric_runtime::Storage;
use smallvec::SmallVec;
use std::sync::Arc;

/// One part of an indexing expression.
#[derive(Clone)]
pub enum Item {
    /// An integer: takes the axis away.
    Int(isize),
    /// A slice.
    Slice {
        /// First element.
        start: Option<isize>,
        /// End, excluded.
        stop: Option<isize>,
        /// Step.
        step: Option<isize>,
    },
    /// `...`.
    Ellipsis,
    /// A new axis of length 1.
    NewAxis,
    /// Integers, or truth values, one for each element of the result.
    Array(Array),
}

impl Item {
    fn index(&self) -> Result<Index> {
        Ok(match self {
            Item::Int(index) => Index::Int(*index),
            Item::Slice { start, stop, step } => Index::Slice { start: *start, stop: *stop, step: *step },
            Item::Ellipsis => Index::Ellipsis,
            Item::NewAxis => Index::NewAxis,
            Item::Array(array) if array.dtype() == DType::Bool => Index::Mask(array.shape().into()),
            Item::Array(array) if array.dtype().is_integer() => Index::Integers(array.shape().into()),
            Item::Array(_) => {
                return Err(Error::Index("arrays used as indices must be of integer (or boolean) type".into()));
            }
        })
    }
}

/// Index arrays ready for use: one for each axis of the view that they select from.
#[derive(Clone)]
struct Picks {
    view: Array,
    arrays: SmallVec<[(usize, Array); 4]>,
    broadcast: Dims,
    shape: Dims,
    position: usize,
    kept: Dims,
}

impl Array {
    /// `self[items]`: a view for slices and integers, else a copy.
    ///
    /// # Errors
    /// When an index is outside of its axis, or the index arrays do not fit.
    pub fn get(&self, items: &[Item]) -> Result<Array> {
        let indices = items.iter().map(Item::index).collect::<Result<SmallVec<[Index; 4]>>>()?;
        let selection = select(self.layout(), &indices)?;
        if selection.is_basic() {
            return Ok(self.with_layout(selection.view));
        }
        if let Some(mask) = whole_mask(self, items) {
            return self.compress(mask);
        }
        let picks = self.picks(selection, items)?;
        picks.gather(Bounds::Raise)
    }

    /// `self[items] = value`.
    ///
    /// # Errors
    /// As [`Array::get`], and when the value does not fit or the array is read-only.
    pub fn set(&self, items: &[Item], value: Operand<'_>) -> Result<()> {
        self.writable("assignment destination")?;
        let indices = items.iter().map(Item::index).collect::<Result<SmallVec<[Index; 4]>>>()?;
        let selection = select(self.layout(), &indices)?;
        if selection.is_basic() {
            return self.with_layout(selection.view).assign_operand(value, None);
        }
        if let Some(mask) = whole_mask(self, items)
            && single_value(value)
        {
            return self.assign_operand(value, Some(mask));
        }
        let picks = self.picks(selection, items)?;
        picks.scatter(value)
    }

    /// The elements where a mask of the same shape is true, in row-major order. Waits for their number.
    ///
    /// # Errors
    /// When an operation that should have made the mask failed.
    pub fn compress(&self, mask: &Array) -> Result<Array> {
        let output = self.empty_beside(&[count_true(mask)?], self.dtype())?;
        if output.size() == 0 {
            return Ok(output);
        }
        let op = Op::Select(Select {
            shape: self.layout().shape.clone(),
            mask: mask.operand(),
            source: Some(self.operand()),
            output: output.operand(),
        });
        output.enqueue(Step::Single(Box::new(op)), &[mask.storage(), self.storage()], &[output.storage()])?;
        Ok(output)
    }

    /// For each axis the positions of the nonzero elements. Waits for their number.
    ///
    /// # Errors
    /// When the array has no axes.
    pub fn nonzero(&self) -> Result<Vec<Array>> {
        if self.ndim() == 0 {
            return Err(Error::Value(
                "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead. If the context of \
                 this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`."
                    .into(),
            ));
        }
        let mask = self.to_dtype(DType::Bool)?;
        let flat = mask.flat_positions()?;
        unravel(&flat, self.shape())
    }

    /// The row-major positions of the true elements of a mask.
    fn flat_positions(&self) -> Result<Array> {
        let output = self.empty_beside(&[count_true(self)?], DType::Int64)?;
        if output.size() > 0 {
            let shape = self.layout().shape.clone();
            let op = Op::Select(Select { shape, mask: self.operand(), source: None, output: output.operand() });
            output.enqueue(Step::Single(Box::new(op)), &[self.storage()], &[output.storage()])?;
        }
        Ok(output)
    }

    /// The elements at positions along an axis; along the elements in row-major order if `axis` is `None`.
    ///
    /// # Errors
    /// When a position is outside and `bounds` is [`Bounds::Raise`].
    pub fn take(&self, indices: &Array, axis: Option<isize>, bounds: Bounds) -> Result<Array> {
        let flat;
        let (source, axis) = match axis {
            Some(axis) if self.ndim() > 0 => (self, normalize_axis(axis, self.ndim())?),
            axis => {
                // A number is taken from as one element.
                normalize_axis(axis.unwrap_or(0), 1)?;
                flat = self.reshape(&[-1])?;
                (&flat, 0)
            }
        };
        if !indices.dtype().is_integer() {
            let indices = indices.dtype();
            return Err(Error::Type(format!(
                "Cannot cast array data from dtype('{indices}') to dtype('int64') according to the rule 'safe'"
            )));
        }
        if source.shape()[axis] == 0 && indices.size() > 0 {
            return Err(Error::Index("cannot do a non-empty take from an empty axes.".into()));
        }
        let whole = Item::Slice { start: None, stop: None, step: None };
        let mut items = vec![whole; axis];
        items.push(Item::Array(indices.clone()));
        let kinds = items.iter().map(Item::index).collect::<Result<SmallVec<[Index; 4]>>>()?;
        source.picks(select(source.layout(), &kinds)?, &items)?.gather(bounds)
    }

    fn picks(&self, selection: Selection, items: &[Item]) -> Result<Picks> {
        let mut arrays: SmallVec<[(usize, Array); 4]> = SmallVec::new();
        let mut shapes: SmallVec<[Dims; 4]> = SmallVec::new();
        for advanced in &selection.advanced {
            let Item::Array(array) = &items[advanced.argument] else { continue };
            if array.dtype() != DType::Bool {
                shapes.push(array.shape().into());
                arrays.push((advanced.axes.start, array.clone()));
                continue;
            }
            if array.ndim() == 0 {
                let taken = array.item()? == cupric_core::Scalar::Bool(true);
                shapes.push(SmallVec::from_elem(usize::from(taken), 1));
                continue;
            }
            let positions = array.nonzero()?;
            shapes.push(positions[0].shape().into());
            arrays.extend(advanced.axes.clone().zip(positions));
        }
        let all: SmallVec<[&[usize]; 4]> = shapes.iter().map(|shape| &**shape).collect();
        let broadcast =
            broadcast_shapes(&all).map_err(|_| Error::IndexBroadcast { shapes: shapes.iter().cloned().collect() })?;
        let shape = selection.result_shape(&broadcast);
        let kept = selection.kept_axes();
        let (view, position) = (self.with_layout(selection.view), selection.position);
        Ok(Picks { view, arrays, broadcast, shape, position, kept })
    }
}

/// The mask, if the whole expression is one of the array's own shape.
fn whole_mask<'a>(a: &Array, items: &'a [Item]) -> Option<&'a Array> {
    match items {
        [Item::Array(mask)] if mask.dtype() == DType::Bool && mask.shape() == a.shape() && a.ndim() > 0 => Some(mask),
        _ => None,
    }
}

fn single_value(value: Operand<'_>) -> bool {
    match value {
        Operand::Array(array) => array.ndim() == 0,
        _ => true,
    }
}

/// Row-major positions as one index array for each axis.
fn unravel(flat: &Array, shape: &[usize]) -> Result<Vec<Array>> {
    if let [_] = shape {
        return Ok(vec![flat.clone()]);
    }
    let mut rest = flat.clone();
    let mut axes = Vec::with_capacity(shape.len());
    for &size in shape.iter().rev() {
        let size = (size.max(1) as i64).into();
        let mut parts = call(row("divmod"), &[(&rest).into(), size], Options::default())?;
        axes.push(parts.remove(1));
        rest = parts.remove(0);
    }
    axes.reverse();
    Ok(axes)
}

impl Picks {
    /// The view over the result's shape: the axes that stay have their strides, those of the index arrays have none.
    fn base(&self) -> Elements {
        let mut layout = Layout { shape: self.shape.clone(), ..Layout::default() };
        layout.offset = self.view.layout().offset;
        layout.strides = self.kept.iter().map(|&axis| self.view.layout().strides[axis]).collect();
        let none = SmallVec::<[isize; 6]>::from_elem(0, self.broadcast.len());
        layout.strides.insert_many(self.position, none);
        Elements { storage: self.view.storage().id(), dtype: self.view.dtype(), layout: layout.into() }
    }

    fn indices(&self) -> Result<Vec<IndexOperand>> {
        let after = self.shape.len() - self.position - self.broadcast.len();
        let one = |(axis, array): &(usize, Array)| {
            let mut layout = array.layout().broadcast_to(&self.broadcast)?;
            layout.strides.insert_many(0, std::iter::repeat_n(0, self.position));
            layout.strides.extend(std::iter::repeat_n(0, after));
            layout.shape = self.shape.clone();
            Ok(IndexOperand {
                operand: Elements { storage: array.storage().id(), dtype: array.dtype(), layout: layout.into() },
                length: self.view.shape()[*axis],
                stride: self.view.layout().strides[*axis],
            })
        };
        self.arrays.iter().map(one).collect()
    }

    fn gather(&self, bounds: Bounds) -> Result<Array> {
        let output = self.view.empty_beside(&self.shape, self.view.dtype())?;
        if output.size() == 0 {
            if bounds == Bounds::Raise {
                self.check_unread()?;
            }
            return Ok(output);
        }
        let (shape, source, indices) = (self.shape.clone(), self.base(), self.indices()?);
        let op = Op::Gather(Gather { shape, source, indices, bounds, output: output.operand() });
        let reads: SmallVec<[&Arc<Storage>; 4]> =
            std::iter::once(self.view.storage()).chain(self.arrays.iter().map(|(_, array)| array.storage())).collect();
        output.enqueue(Step::Single(Box::new(op)), &reads, &[output.storage()])?;
        Ok(output)
    }

    fn scatter(&self, value: Operand<'_>) -> Result<()> {
        // The values in the target's dtype, apart from the target's memory.
        let shaped = match value {
            Operand::Array(array) => self.fitted(array)?,
            number => {
                let one = self.view.empty_beside(&[], self.view.dtype())?;
                one.assign_operand(number, None)?;
                one
            }
        };
        let source = shaped
            .layout()
            .broadcast_to(&self.shape)
            .map_err(|_| Error::SelectionBroadcast { from: shaped.shape().to_vec(), into: self.shape.to_vec() })?;
        if self.shape.contains(&0) {
            return self.check_unread();
        }
        // Nor may the indices change while they are read.
        let apart = |(axis, array): &(usize, Array)| {
            let array = if array.overlaps(&self.view) { array.copy(Order::Keep)? } else { array.clone() };
            Ok::<_, Error>((*axis, array))
        };
        let picks = Picks { arrays: self.arrays.iter().map(apart).collect::<Result<_>>()?, ..self.clone() };
        let source = Elements { storage: shaped.storage().id(), dtype: shaped.dtype(), layout: source.into() };
        let op = Op::Scatter(Scatter {
            shape: self.shape.clone(),
            source,
            indices: picks.indices()?,
            bounds: Bounds::Raise,
            target: self.base(),
            target_len: self.view.size(),
        });
        let mut reads: SmallVec<[&Arc<Storage>; 4]> = SmallVec::from_slice(&[shaped.storage()]);
        reads.extend(picks.arrays.iter().map(|(_, array)| array.storage()));
        self.view.enqueue(Step::Single(Box::new(op)), &reads, &[self.view.storage()])
    }

    /// Checks indices that no operation reads, since there is nothing to select. Waits for them.
    fn check_unread(&self) -> Result<()> {
        if self.broadcast.contains(&0) {
            return Ok(());
        }
        for (axis, array) in &self.arrays {
            let size = self.view.shape()[*axis];
            for end in ["min", "max"] {
                let Scalar::Int(index) = reduce(end, array, Reduction::default())?.item()? else { continue };
                if index >= size as i128 || index < -(size as i128) {
                    let (index, axis) = (index as isize, *axis);
                    return Err(Error::IndexOutOfBounds { index, axis, size });
                }
            }
        }
        Ok(())
    }

    fn fitted(&self, array: &Array) -> Result<Array> {
        let extra = array.ndim().saturating_sub(self.shape.len());
        let array = if extra > 0 && array.shape()[..extra].iter().all(|&size| size == 1) {
            array.reshaped(&array.shape()[extra..])?
        } else {
            array.clone()
        };
        if array.dtype() == self.view.dtype() && !array.overlaps(&self.view) {
            return Ok(array);
        }
        array.astype(self.view.dtype(), Order::Keep)
    }
}
