//! All universal functions, one row each.

mod arithmetic;
mod bits;
mod compare;
mod elementary;

use crate::row::Ufunc;
use std::sync::LazyLock;

/// Every ufunc, by topic and then in the order of the tables.
#[must_use]
pub fn ufuncs() -> &'static [&'static Ufunc] {
    static ALL: LazyLock<Vec<&'static Ufunc>> = LazyLock::new(|| {
        [arithmetic::ROWS, bits::ROWS, compare::ROWS, elementary::ROWS].into_iter().flatten().collect()
    });
    &ALL
}

/// The ufunc of this name.
#[must_use]
pub fn ufunc(name: &str) -> Option<&'static Ufunc> {
    ufuncs().iter().find(|row| row.name == name).copied()
}
