//! The Python module `cupric._core`: arguments in, results out. No algorithm.

mod array;
mod convert;
mod creation;
mod device;
mod dlpack;
#[cfg(feature = "gpu")]
mod driver;
mod errors;
mod functions;
mod gate;
mod host;
mod indexing;
#[cfg(feature = "gpu")]
mod kernels;
mod methods;
mod operators;
mod places;
mod random;
mod reductions;
mod ufunc;

use pyo3::prelude::*;

/// What Cupric does in Rust.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    cupric::runtime::set_place_source(places::place);
    cupric::runtime::set_outside(errors::outside);
    module.add_class::<array::PyArray>()?;
    module.add_class::<ufunc::PyUfunc>()?;
    module.add_class::<random::PyGenerator>()?;
    creation::register(module)?;
    functions::register(module)?;
    device::register(module)?;
    dlpack::register(module)?;
    host::register(module)?;
    #[cfg(feature = "gpu")]
    {
        driver::register(module)?;
        kernels::register(module)?;
    }
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let rows = pyo3::types::PyDict::new(module.py());
    for &row in cupric::ufuncs() {
        rows.set_item(row.name, Bound::new(module.py(), ufunc::PyUfunc(row))?)?;
    }
    module.add("ufuncs", rows)
}
