//! OpenBLAS, opened at run time.

use libloading::Library;
use std::{
    ffi::{c_int, c_void},
    path::{Path, PathBuf},
    sync::{OnceLock, RwLock},
};

static SEARCH: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

/// Names the directories (Python's site-packages, say) where libraries are looked for. Has no effect once one was opened.
pub fn set_library_search(directories: Vec<PathBuf>) {
    *SEARCH.write().unwrap_or_else(std::sync::PoisonError::into_inner) = directories;
}

type Gemm<I, S> =
    unsafe extern "C" fn(c_int, c_int, c_int, I, I, I, S, *const c_void, I, *const c_void, I, S, *mut c_void, I);

/// A product, with the width of integers that the library was built for.
#[derive(Clone, Copy)]
pub(crate) enum Product<S> {
    Wide(Gemm<i64, S>),
    Narrow(Gemm<i32, S>),
}

/// A row-major matrix or the transpose of one.
#[derive(Clone, Copy)]
pub(crate) struct Matrix {
    pub(crate) address: *const c_void,
    pub(crate) leading: usize,
    pub(crate) order: Order,
}

/// Whether a matrix lies as it is or transposed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Rows,
    Columns,
}

impl Order {
    // CBLAS numbers its enumerations so.
    const fn code(self) -> c_int {
        match self {
            Order::Rows => 111,
            Order::Columns => 112,
        }
    }
}

const ROW_MAJOR: c_int = 101;

/// Rows, columns, inner.
pub(crate) type Sizes = [usize; 3];

impl<S: Copy> Product<S> {
    /// `output = left @ right`; `one` and `zero` are those numbers. False when a size is beyond the library's integers.
    ///
    /// # Safety
    /// The matrices are as large as `sizes` tells, and the output's rows are `leading` elements apart.
    pub(crate) unsafe fn run(
        self,
        sizes: Sizes,
        [left, right]: [Matrix; 2],
        [one, zero]: [S; 2],
        output: *mut c_void,
        leading: usize,
    ) -> bool {
        let (a, b) = (left.order.code(), right.order.code());
        let numbers = [sizes[0], sizes[1], sizes[2], left.leading, right.leading, leading];
        match self {
            Product::Wide(gemm) => {
                let [m, n, k, lda, ldb, ldc] = numbers.map(|number| number as i64);
                // SAFETY: the caller's promise.
                unsafe { gemm(ROW_MAJOR, a, b, m, n, k, one, left.address, lda, right.address, ldb, zero, output, ldc) }
            }
            Product::Narrow(gemm) => {
                if numbers.iter().any(|&number| i32::try_from(number).is_err()) {
                    return false;
                }
                let [m, n, k, lda, ldb, ldc] = numbers.map(|number| number as i32);
                // SAFETY: the caller's promise.
                unsafe { gemm(ROW_MAJOR, a, b, m, n, k, one, left.address, lda, right.address, ldb, zero, output, ldc) }
            }
        }
        true
    }
}

/// The products of an opened library.
pub(crate) struct Blas {
    pub(crate) single: Product<f32>,
    pub(crate) double: Product<f64>,
    pub(crate) single_complex: Product<*const c_void>,
    pub(crate) double_complex: Product<*const c_void>,
    _library: Library,
}

impl Blas {
    /// The library, opened at the first call; `None` if there is none. How many threads it uses is left as it is: NumPy may be
    /// using the same one.
    pub(crate) fn here() -> Option<&'static Blas> {
        static HERE: OnceLock<Option<Blas>> = OnceLock::new();
        HERE.get_or_init(|| candidates().iter().find_map(|path| Blas::open(path))).as_ref()
    }

    fn open(path: &Path) -> Option<Blas> {
        // SAFETY: OpenBLAS's initialisers only look at the processor and the environment.
        let library = unsafe { Library::new(path) }.ok()?;
        Some(Blas {
            single: product(&library, "sgemm")?,
            double: product(&library, "dgemm")?,
            single_complex: product(&library, "cgemm")?,
            double_complex: product(&library, "zgemm")?,
            _library: library,
        })
    }
}

fn product<S: Copy>(library: &Library, name: &str) -> Option<Product<S>> {
    for (before, after) in [("scipy_cblas_", "64_"), ("cblas_", "64_")] {
        // SAFETY: this is the signature of products with 64-bit integers.
        if let Ok(gemm) = unsafe { library.get::<Gemm<i64, S>>(format!("{before}{name}{after}").as_str()) } {
            return Some(Product::Wide(*gemm));
        }
    }
    // SAFETY: this is the signature of products with 32-bit integers.
    unsafe { library.get::<Gemm<i32, S>>(format!("cblas_{name}").as_str()) }.ok().map(|gemm| Product::Narrow(*gemm))
}

/// Where the library may be, in the order in which it is looked for.
fn candidates() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::env::var_os("CUPRIC_OPENBLAS").map(PathBuf::from).into_iter().collect();
    let directories = SEARCH.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    found.extend(directories.iter().map(|site| site.join("scipy_openblas64/lib/libscipy_openblas64_.so")));
    for site in &directories {
        let inside = std::fs::read_dir(site.join("numpy.libs")).into_iter().flatten().flatten();
        let named = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libscipy_openblas64_"))
        };
        found.extend(inside.map(|entry| entry.path()).filter(named));
    }
    found.extend(["libopenblas64_.so.0", "libopenblas.so.0", "libopenblas.so"].map(PathBuf::from));
    found
}
