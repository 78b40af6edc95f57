//! The array object: making one, its attributes, its conversions to Python numbers.

use crate::{
    convert::{dtype_of, index, native_dtype_of, order_of, shape, to_numpy, to_python},
    errors::{enter, enter_waiting},
};
use cupric::{Access, Array, DType, Layout, Order, Part, Scalar};
use pyo3::{
    exceptions::{PyAttributeError, PyIndexError, PyTypeError, PyValueError},
    prelude::*,
    types::{PyComplex, PyFloat, PyTuple},
};

/// An n-dimensional array on a device.
///
/// Parameters
/// ----------
/// shape : int or tuple of ints
/// dtype : data type, default float64
/// memptr : cupric.cuda.MemoryPointer, optional
///     Where the elements lie; new memory if it is not given.
/// strides : tuple of ints, optional
///     Bytes from one element to the next along each axis.
/// order : {'C', 'F'}
///
/// The elements of a new array are whatever the memory holds; see `zeros`, `array` and `asarray`.
#[pyclass(name = "ndarray", module = "cupric", weakref, freelist = 256)]
pub(crate) struct PyArray {
    pub(crate) array: Array,
    /// The array whose memory this one shows.
    pub(crate) base: Option<Py<PyArray>>,
    /// Whether it was writable until its own flag was taken away.
    closed: bool,
}

impl PyArray {
    /// A new object for an array that owns its memory.
    pub(crate) const fn of(array: Array) -> PyArray {
        PyArray { array, base: None, closed: false }
    }

    /// A new object, as Python sees it.
    pub(crate) fn object(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyArray>> {
        Bound::new(py, PyArray::of(array))
    }

    /// A view of `owner`; a plain array if the memory turned out to be another.
    pub(crate) fn view_of<'py>(owner: &Bound<'py, PyArray>, array: Array) -> PyResult<Bound<'py, PyArray>> {
        let base = {
            let known = owner.borrow();
            let same = std::sync::Arc::ptr_eq(known.array.storage(), array.storage());
            same.then(|| known.base.as_ref().map_or_else(|| owner.clone().unbind(), |base| base.clone_ref(owner.py())))
        };
        Bound::new(owner.py(), PyArray { array, base, closed: false })
    }
}

/// A call that gives a view of an array, or a copy where no view is possible.
pub(crate) fn viewing<'py>(
    owner: &Bound<'py, PyArray>,
    call: impl FnOnce(&Array) -> cupric::Result<Array>,
) -> PyResult<Bound<'py, PyArray>> {
    let array = enter(owner.py(), || call(&owner.borrow().array))?;
    PyArray::view_of(owner, array)
}

#[pymethods]
impl PyArray {
    #[new]
    #[pyo3(signature = (shape, dtype = None, memptr = None, strides = None, order = Some("C")), text_signature = "(shape, dtype=None, memptr=None, strides=None, order='C')")]
    fn new(
        py: Python<'_>,
        shape: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        memptr: Option<&Bound<'_, PyAny>>,
        strides: Option<&Bound<'_, PyAny>>,
        order: Option<&str>,
    ) -> PyResult<PyArray> {
        let shape = self::shape(shape)?;
        let dtype = dtype.map_or(Ok(DType::Float64), dtype_of)?;
        let order = order_of(order, Order::RowMajor)?;
        if let Some(pointer) = memptr.filter(|pointer| !pointer.is_none()) {
            let memory = pointer.getattr("mem")?.getattr("_array")?;
            let memory = memory.cast::<PyArray>()?.borrow();
            let offset: usize = pointer.getattr("_offset")?.extract()?;
            let array = enter(py, || over(&memory.array, offset, &shape, dtype, order))?;
            return strided(py, array, strides);
        }
        let array = enter(py, || crate::creation::empty_ordered(&shape, dtype, order))?;
        strided(py, array, strides)
    }

    /// The length of each axis; may be set to another shape that needs no copy.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.shape())
    }

    #[setter]
    fn set_shape(&mut self, py: Python<'_>, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        let shape = crate::convert::signed_shape(shape)?;
        let array = &self.array;
        let reshaped = enter(py, || array.reshape(&shape))?;
        if !std::sync::Arc::ptr_eq(reshaped.storage(), self.array.storage()) {
            return Err(PyAttributeError::new_err(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape.",
            ));
        }
        self.array = reshaped;
        Ok(())
    }

    /// Bytes from one element to the next along each axis; may be set to others that stay in the memory.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.strides())
    }

    #[setter]
    fn set_strides(&mut self, py: Python<'_>, strides: &Bound<'_, PyAny>) -> PyResult<()> {
        let strides = crate::convert::signed_shape(strides)?;
        if strides.len() != self.array.ndim() {
            return Err(PyValueError::new_err(format!("strides must be same length as shape ({})", self.array.ndim())));
        }
        self.array = enter(py, || self.array.as_strided(self.array.shape(), &strides))?;
        Ok(())
    }

    /// What the elements are, as a `numpy.dtype`; may be set to another one for the same bytes.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_numpy(py, self.array.dtype())
    }

    #[setter]
    fn set_dtype(&mut self, py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<()> {
        let dtype = native_dtype_of(dtype)?;
        self.array = enter(py, || self.array.view(dtype))?;
        Ok(())
    }

    /// Shows other elements from now on.
    fn _become(&mut self, other: &PyArray) {
        self.array = other.array.clone();
    }

    /// Lets the array be written, or not any longer; only what this took away does it give back.
    fn _set_writeable(&mut self, writeable: bool) -> PyResult<()> {
        if writeable == self._writeable() {
            return Ok(());
        }
        if writeable && !self.closed {
            return Err(PyValueError::new_err("cannot set WRITEABLE flag to True of this array"));
        }
        let access = if writeable { Access::ReadWrite } else { Access::ReadOnly };
        let (storage, layout) = (self.array.storage().clone(), self.array.layout().clone());
        self.array = Array::over(storage, self.array.dtype(), layout, access);
        self.closed = !writeable;
        Ok(())
    }

    /// The number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.array.ndim()
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.array.size()
    }

    /// Bytes of an element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.array.item_size()
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.array.size() * self.array.item_size()
    }

    /// The view with the axes reversed.
    #[getter]
    #[pyo3(name = "T")]
    fn transposed<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray>> {
        viewing(slf, |array| Ok(array.reversed_axes()))
    }

    /// The view with the last two axes exchanged.
    #[getter]
    #[pyo3(name = "mT")]
    fn matrix_transposed<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray>> {
        viewing(slf, |array| {
            let ndim = array.ndim();
            if ndim < 2 {
                return Err(cupric::Error::Value("matrix transpose with ndim < 2 is undefined".into()));
            }
            let mut axes: Vec<isize> = (0..ndim as isize).collect();
            axes.swap(ndim - 1, ndim - 2);
            array.transpose(&axes)
        })
    }

    /// The real parts: a view.
    #[getter]
    fn real<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray>> {
        if !slf.borrow().array.dtype().is_complex() {
            return Ok(slf.clone());
        }
        viewing(slf, |array| array.part(Part::Real))
    }

    #[setter]
    fn set_real(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let part = enter(py, || self.array.part(Part::Real))?;
        crate::indexing::assign(py, &part, value)
    }

    /// The imaginary parts: a view of a complex array, else zeros.
    #[getter]
    fn imag<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray>> {
        viewing(slf, |array| array.part(Part::Imag))
    }

    #[setter]
    fn set_imag(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if !self.array.dtype().is_complex() {
            return Err(PyTypeError::new_err("array does not have imaginary part to set"));
        }
        let part = enter(py, || self.array.part(Part::Imag))?;
        crate::indexing::assign(py, &part, value)
    }

    /// The array whose memory this one shows, or None.
    #[getter]
    fn base(&self, py: Python<'_>) -> Option<Py<PyArray>> {
        self.base.as_ref().map(|base| base.clone_ref(py))
    }

    fn _c_contiguous(&self) -> bool {
        self.array.is_row_major()
    }

    fn _f_contiguous(&self) -> bool {
        self.array.is_column_major()
    }

    fn _writeable(&self) -> bool {
        self.array.access() == Access::ReadWrite
    }

    /// Where the device is: its kind and its number.
    fn _place(&self) -> (String, usize) {
        let device = self.array.device();
        (device.kind().to_string(), device.backend().ordinal())
    }

    /// The address of the first element; work on the array is launched at its call from now on.
    fn _address(&self, py: Python<'_>) -> PyResult<u64> {
        let array = &self.array;
        enter_waiting(py, || Ok(array.storage().share()? + array.layout().offset as u64))
    }

    /// The whole memory behind the array, as bytes, and where the array begins in it.
    fn _memory<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray>, usize)> {
        let bytes = self.array.storage().bytes();
        let whole = Array::over(
            self.array.storage().clone(),
            DType::UInt8,
            Layout::row_major(&[bytes], 1),
            self.array.access(),
        );
        Ok((PyArray::object(py, whole)?, self.array.layout().offset))
    }

    /// A view that may not be written.
    fn _read_only<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray>> {
        viewing(slf, |array| Ok(array.clone().read_only()))
    }

    /// A view over other strides, from the first element on.
    fn _as_strided<'py>(
        slf: &Bound<'py, Self>,
        shape: &Bound<'py, PyAny>,
        strides: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray>> {
        let (shape, strides) = (self::shape(shape)?, crate::convert::signed_shape(strides)?);
        viewing(slf, |array| array.as_strided(&shape, &strides))
    }

    /// Whether two arrays have bytes in common, by their ranges or exactly.
    fn _overlaps(&self, other: &PyArray, exactly: bool) -> bool {
        let (a, b) = (&self.array, &other.array);
        if !std::sync::Arc::ptr_eq(a.storage(), b.storage()) {
            return false;
        }
        if exactly {
            return a.layout().overlaps(a.item_size(), b.layout(), b.item_size());
        }
        let (one, two) = (a.layout().byte_range(a.item_size()), b.layout().byte_range(b.item_size()));
        one.start < two.end && two.start < one.end
    }

    fn __len__(&self) -> PyResult<usize> {
        match self.array.shape().first() {
            Some(&size) => Ok(size),
            None => Err(PyTypeError::new_err("len() of unsized object")),
        }
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        match self.array.size() {
            1 => {}
            0 => {
                return Err(PyValueError::new_err(
                    "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.",
                ));
            }
            _ => {
                return Err(PyValueError::new_err(
                    "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
                ));
            }
        }
        Ok(match self.value(py)? {
            Scalar::Bool(value) => value,
            Scalar::Int(value) => value != 0,
            Scalar::Float(value) => value != 0.0,
            Scalar::Complex(re, im) => re != 0.0 || im != 0.0,
        })
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.only_scalar()?;
        match self.value(py)? {
            Scalar::Bool(value) => to_python(py, Scalar::Int(value.into())),
            Scalar::Float(value) => PyFloat::new(py, value).call_method0("__int__"),
            Scalar::Complex(..) => Err(PyTypeError::new_err(
                "int() argument must be a string, a bytes-like object or a real number, not 'complex'",
            )),
            whole => to_python(py, whole),
        }
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        self.only_scalar()?;
        match self.value(py)? {
            Scalar::Bool(value) => Ok(f64::from(u8::from(value))),
            Scalar::Int(value) => Ok(value as f64),
            Scalar::Float(value) => Ok(value),
            Scalar::Complex(..) => {
                Err(PyTypeError::new_err("float() argument must be a string or a real number, not 'complex'"))
            }
        }
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyComplex>> {
        self.only_scalar()?;
        let (re, im) = match self.value(py)? {
            Scalar::Bool(value) => (f64::from(u8::from(value)), 0.0),
            Scalar::Int(value) => (value as f64, 0.0),
            Scalar::Float(value) => (value, 0.0),
            Scalar::Complex(re, im) => (re, im),
        };
        Ok(PyComplex::from_doubles(py, re, im))
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.array.ndim() > 0 || !self.array.dtype().is_integer() {
            return Err(PyTypeError::new_err("only integer scalar arrays can be converted to a scalar index"));
        }
        to_python(py, self.value(py)?)
    }

    /// The value of one element as a Python number. Waits for it.
    ///
    /// Parameters
    /// ----------
    /// *args : nothing for an array of one element; a position in row-major order; or an index for each axis
    ///
    /// Examples
    /// --------
    /// >>> import cupric as cp
    /// >>> cp.arange(6).reshape(2, 3).item(1, 2)
    /// 5
    #[pyo3(signature = (*args))]
    fn item<'py>(slf: &Bound<'py, Self>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let one = match args.len() {
            0 => slf.borrow().array.clone(),
            1 if !args.get_item(0)?.is_instance_of::<PyTuple>() => {
                element(&slf.borrow().array, index(&args.get_item(0)?)?)?
            }
            _ => {
                let place = if args.len() == 1 { args.get_item(0)? } else { args.clone().into_any() };
                let place = crate::convert::signed_shape(&place)?;
                if place.len() != slf.borrow().array.ndim() {
                    return Err(PyValueError::new_err("incorrect number of indices for array"));
                }
                let items: Vec<cupric::Item> = place.iter().map(|&index| cupric::Item::Int(index)).collect();
                enter(py, || slf.borrow().array.get(&items))?
            }
        };
        to_python(py, enter_waiting(py, || one.item())?)
    }
}

impl PyArray {
    fn value(&self, py: Python<'_>) -> PyResult<Scalar> {
        let array = &self.array;
        enter_waiting(py, || array.item())
    }

    fn only_scalar(&self) -> PyResult<()> {
        if self.array.ndim() > 0 {
            return Err(PyTypeError::new_err("only 0-dimensional arrays can be converted to Python scalars"));
        }
        Ok(())
    }
}

/// The element at a position in row-major order.
fn element(array: &Array, position: isize) -> PyResult<Array> {
    let size = array.size() as isize;
    let from_front = if position < 0 { position + size } else { position };
    if from_front < 0 || from_front >= size {
        return Err(PyIndexError::new_err(format!("index {position} is out of bounds for size {size}")));
    }
    let mut rest = from_front;
    let mut layout = Layout { offset: array.layout().offset, ..Layout::default() };
    for (&size, &stride) in array.shape().iter().zip(array.strides()).rev() {
        layout.offset = layout.offset.wrapping_add_signed(rest % size as isize * stride);
        rest /= size as isize;
    }
    Ok(array.with_layout(layout))
}

/// An array over memory that is there already.
fn over(memory: &Array, offset: usize, shape: &[usize], dtype: DType, order: Order) -> cupric::Result<Array> {
    let mut layout = match order {
        Order::ColumnMajor => Layout::column_major(shape, dtype.size()),
        _ => Layout::row_major(shape, dtype.size()),
    };
    layout.offset = memory.layout().offset + offset;
    if layout.offset + cupric::byte_count(shape, dtype.size())? > memory.storage().bytes() {
        return Err(cupric::Error::Value("the array would reach outside of the memory".into()));
    }
    Ok(Array::over(memory.storage().clone(), dtype, layout, memory.access()))
}

fn strided(py: Python<'_>, array: Array, strides: Option<&Bound<'_, PyAny>>) -> PyResult<PyArray> {
    let Some(strides) = strides.filter(|strides| !strides.is_none()) else { return Ok(PyArray::of(array)) };
    let strides = crate::convert::signed_shape(strides)?;
    if strides.len() != array.ndim() {
        return Err(PyValueError::new_err("strides, if given, must have as many entries as the shape"));
    }
    enter(py, || array.as_strided(array.shape(), &strides)).map(PyArray::of)
}
