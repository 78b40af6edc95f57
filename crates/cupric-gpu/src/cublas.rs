//! NVIDIA's BLAS: matrix products of every floating type, alone or in batches.

use crate::{
    driver::{DevicePtr, Stream},
    error::{GpuError, Result},
    library::{Library, Soname, Spec, functions},
};
use std::{
    ffi::{CStr, c_char, c_void},
    path::PathBuf,
};

static LIBCUBLAS: Spec = Spec {
    name: "cuBLAS",
    variable: "CUPRIC_CUBLAS",
    sonames: &[Soname::new("libcublas.so.13", 13), Soname::new("libcublas.so.12", 12), Soname::new("libcublas.so", 0)],
    companions: &["libcublasLt.so"],
    help: "Install it with `pip install nvidia-cublas` (for drivers older than 580 `nvidia-cublas-cu12`).",
};

functions! {
    /// The library's functions.
    #[expect(non_snake_case, reason = "the library's own names")]
    Api {
        cublasCreate_v2(*mut usize);
        cublasDestroy_v2(usize);
        cublasGetVersion_v2(usize, *mut i32);
        cublasSetStream_v2(usize, usize);
        cublasSetWorkspace_v2(usize, u64, usize);
        cublasSetMathMode(usize, i32);
        cublasSetAtomicsMode(usize, i32);
        cublasGemmEx(usize, i32, i32, i32, i32, i32, *const c_void, u64, i32, i32, u64, i32, i32, *const c_void, u64, i32, i32, i32, i32);
        cublasGemmEx_64(usize, i32, i32, i64, i64, i64, *const c_void, u64, i32, i64, u64, i32, i64, *const c_void, u64, i32, i64, i32, i32);
        cublasGemmStridedBatchedEx(
            usize, i32, i32, i32, i32, i32, *const c_void, u64, i32, i32, i64, u64, i32, i32, i64, *const c_void, u64, i32, i32, i64, i32, i32, i32,
        );
        cublasGemmStridedBatchedEx_64(
            usize, i32, i32, i64, i64, i64, *const c_void, u64, i32, i64, i64, u64, i32, i64, i64, *const c_void, u64, i32, i64, i64, i64, i32, i32,
        );
    }
}

/// The type of a matrix's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    /// Computed in float32.
    F16,
    /// Computed in float32.
    BF16,
    /// float32, never TF32.
    F32,
    /// float64.
    F64,
    /// complex64, never TF32.
    C64,
    /// complex128.
    C128,
}

impl Element {
    /// The library's code for the type.
    const fn code(self) -> i32 {
        match self {
            Self::F32 => 0,
            Self::F64 => 1,
            Self::F16 => 2,
            Self::C64 => 4,
            Self::C128 => 5,
            Self::BF16 => 14,
        }
    }

    /// The library's code for the type that sums are kept in.
    const fn compute(self) -> i32 {
        match self {
            Self::F16 | Self::BF16 | Self::F32 | Self::C64 => 68,
            Self::F64 | Self::C128 => 70,
        }
    }

    /// A real factor as the library reads it: in the type that sums are kept in, complex where the elements are.
    fn factor(self, value: f64) -> [u8; 16] {
        let mut bytes = [0; 16];
        match self.compute() {
            68 => bytes[..4].copy_from_slice(&(value as f32).to_ne_bytes()),
            _ => bytes[..8].copy_from_slice(&value.to_ne_bytes()),
        }
        bytes
    }
}

/// How a matrix is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transpose {
    /// As it is.
    None,
    /// Transposed.
    Transposed,
    /// Transposed and conjugated.
    Adjoint,
}

impl Transpose {
    const fn code(self) -> i32 {
        match self {
            Self::None => 0,
            Self::Transposed => 1,
            Self::Adjoint => 2,
        }
    }
}

/// The products `c = alpha * op(a) @ op(b) + beta * c` of a batch, all matrices in **column-major** order.
///
/// Row-major `c = a @ b` is column-major `c.T = b.T @ a.T`: exchange `a` and `b`, `m` and `n`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gemm {
    /// The type of all elements.
    pub element: Element,
    /// How `a` and `b` are read.
    pub transpose: (Transpose, Transpose),
    /// Rows of `c`.
    pub m: i64,
    /// Columns of `c`.
    pub n: i64,
    /// Terms of each sum.
    pub k: i64,
    /// Factor of the product.
    pub alpha: f64,
    /// Factor of the old `c`; with zero it is not read.
    pub beta: f64,
    /// `a`, `b`, `c`.
    pub pointers: [DevicePtr; 3],
    /// Elements from one column of `a`, `b`, `c` to the next.
    pub leading: [i64; 3],
    /// Elements from one matrix `a`, `b`, `c` of the batch to the next.
    pub batch_strides: [i64; 3],
    /// Matrices of the batch.
    pub batch: i64,
}

impl Gemm {
    /// The sizes in 32 bits, where all fit: m, n, k, the leading dimensions and the batch.
    fn narrow(&self) -> Option<[i32; 7]> {
        let [a, b, c] = self.leading;
        let wide = [self.m, self.n, self.k, a, b, c, self.batch];
        let mut narrow = [0; 7];
        for (to, from) in narrow.iter_mut().zip(wide) {
            *to = i32::try_from(from).ok()?;
        }
        Some(narrow)
    }
}

/// A handle of the library, for one thread at a time.
#[derive(Debug, PartialEq, Eq)]
pub struct Handle(usize);

/// Device memory that the library may use: fixed, so that it allocates nothing and always chooses alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workspace {
    /// The memory, aligned to 256 bytes.
    pub pointer: DevicePtr,
    /// Its size.
    pub bytes: usize,
}

/// The library, opened at run time.
pub struct Cublas {
    library: Library,
    api: Api,
    name_of: unsafe extern "C" fn(i32) -> *const c_char,
    text_of: unsafe extern "C" fn(i32) -> *const c_char,
}

/// Calls a function of the table and turns its status into a result that names the call.
macro_rules! call {
    ($cublas:ident.$function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the handle is alive, which its type says; factors and results are live locals; for device memory
        // the caller's promise holds.
        let code = unsafe { ($cublas.api.$function)($($argument),*) };
        $cublas.check(stringify!($function), code)
    }};
}

impl Cublas {
    /// Finds and opens the library of CUDA `major` (the driver's) or older, with `cublasLt` from the same folder.
    /// `search` lists directories that may hold pip wheels.
    ///
    /// # Errors
    /// When there is none, or the one found is damaged or older than 12.
    pub fn open(search: &[PathBuf], major: i32) -> Result<Self> {
        let library = Library::open(&LIBCUBLAS, search, Some(major))?;
        let api = Api::load(&library)?;
        // SAFETY: the signatures are the header's.
        let [name_of, text_of] =
            unsafe { [library.function("cublasGetStatusName")?, library.function("cublasGetStatusString")?] };
        Ok(Self { library, api, name_of, text_of })
    }

    /// The library, for a report of where it was found.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Makes a handle in the current context: TF32 off, sums of 16-bit products in float32 throughout, no atomics.
    ///
    /// # Errors
    /// When the library cannot start, for want of memory say.
    pub fn create(&self) -> Result<Handle> {
        // The default mode (0) uses TF32 only when asked; 16 forbids 16-bit partial sums.
        const MATH_MODE: i32 = 16;
        const NO_ATOMICS: i32 = 0;
        let mut handle = 0;
        call!(self.cublasCreate_v2(&mut handle))?;
        let handle = Handle(handle);
        let settled = call!(self.cublasSetMathMode(handle.0, MATH_MODE))
            .and_then(|()| call!(self.cublasSetAtomicsMode(handle.0, NO_ATOMICS)));
        match settled {
            Ok(()) => Ok(handle),
            Err(error) => self.destroy(handle).and(Err(error)),
        }
    }

    /// Ends a handle.
    ///
    /// # Errors
    /// When the library was not started.
    pub fn destroy(&self, handle: Handle) -> Result<()> {
        call!(self.cublasDestroy_v2(handle.0))
    }

    /// The library's version: 10000 * major + 100 * minor + patch.
    ///
    /// # Errors
    /// When the library was not started.
    pub fn version(&self, handle: &Handle) -> Result<i32> {
        let mut version = 0;
        call!(self.cublasGetVersion_v2(handle.0, &mut version))?;
        Ok(version)
    }

    /// Sends later calls to `stream`, with this workspace. One call for both: a new stream takes the workspace away.
    ///
    /// # Safety
    /// The workspace stays allocated, and no other handle or stream uses it, until it is replaced and the stream's work
    /// has ended.
    ///
    /// # Errors
    /// When the workspace is not aligned.
    pub unsafe fn bind(&self, handle: &Handle, stream: Stream, workspace: Workspace) -> Result<()> {
        call!(self.cublasSetStream_v2(handle.0, stream.raw()))?;
        call!(self.cublasSetWorkspace_v2(handle.0, workspace.pointer.0, workspace.bytes))
    }

    /// Queues matrix products.
    ///
    /// # Safety
    /// The matrices lie in device memory that stays allocated until the stream's work has ended, and nothing races with it.
    ///
    /// # Errors
    /// When a size is negative, a leading dimension too small, or the device does not know the type.
    pub unsafe fn gemm(&self, handle: &Handle, gemm: &Gemm) -> Result<()> {
        match (gemm.batch, gemm.narrow()) {
            (1, Some(sizes)) => self.single(handle, gemm, sizes),
            (1, None) => self.single_64(handle, gemm),
            (_, Some(sizes)) => self.batched(handle, gemm, sizes),
            (_, None) => self.batched_64(handle, gemm),
        }
    }

    fn single(&self, handle: &Handle, gemm: &Gemm, [m, n, k, lda, ldb, ldc, _]: [i32; 7]) -> Result<()> {
        let Parts { ta, tb, a, b, c, t, compute, alpha, beta } = Parts::of(gemm);
        let (alpha, beta) = (alpha.as_ptr().cast(), beta.as_ptr().cast());
        call!(self.cublasGemmEx(
            handle.0,
            ta,
            tb,
            m,
            n,
            k,
            alpha,
            a,
            t,
            lda,
            b,
            t,
            ldb,
            beta,
            c,
            t,
            ldc,
            compute,
            DEFAULT_ALGORITHM
        ))
    }

    fn single_64(&self, handle: &Handle, gemm: &Gemm) -> Result<()> {
        let Parts { ta, tb, a, b, c, t, compute, alpha, beta } = Parts::of(gemm);
        let (alpha, beta) = (alpha.as_ptr().cast(), beta.as_ptr().cast());
        let (Gemm { m, n, k, .. }, [lda, ldb, ldc]) = (*gemm, gemm.leading);
        call!(self.cublasGemmEx_64(
            handle.0,
            ta,
            tb,
            m,
            n,
            k,
            alpha,
            a,
            t,
            lda,
            b,
            t,
            ldb,
            beta,
            c,
            t,
            ldc,
            compute,
            DEFAULT_ALGORITHM
        ))
    }

    fn batched(&self, handle: &Handle, gemm: &Gemm, [m, n, k, lda, ldb, ldc, batch]: [i32; 7]) -> Result<()> {
        let Parts { ta, tb, a, b, c, t, compute, alpha, beta } = Parts::of(gemm);
        let (alpha, beta) = (alpha.as_ptr().cast(), beta.as_ptr().cast());
        let [sa, sb, sc] = gemm.batch_strides;
        call!(self.cublasGemmStridedBatchedEx(
            handle.0,
            ta,
            tb,
            m,
            n,
            k,
            alpha,
            a,
            t,
            lda,
            sa,
            b,
            t,
            ldb,
            sb,
            beta,
            c,
            t,
            ldc,
            sc,
            batch,
            compute,
            DEFAULT_ALGORITHM
        ))
    }

    fn batched_64(&self, handle: &Handle, gemm: &Gemm) -> Result<()> {
        let Parts { ta, tb, a, b, c, t, compute, alpha, beta } = Parts::of(gemm);
        let (alpha, beta) = (alpha.as_ptr().cast(), beta.as_ptr().cast());
        let (Gemm { m, n, k, batch, .. }, [lda, ldb, ldc], [sa, sb, sc]) = (*gemm, gemm.leading, gemm.batch_strides);
        call!(self.cublasGemmStridedBatchedEx_64(
            handle.0,
            ta,
            tb,
            m,
            n,
            k,
            alpha,
            a,
            t,
            lda,
            sa,
            b,
            t,
            ldb,
            sb,
            beta,
            c,
            t,
            ldc,
            sc,
            batch,
            compute,
            DEFAULT_ALGORITHM
        ))
    }

    fn check(&self, call: &'static str, code: i32) -> Result<()> {
        match code {
            0 => Ok(()),
            _ => Err(GpuError::Driver {
                call,
                code,
                name: status(self.name_of, code),
                message: status(self.text_of, code),
            }),
        }
    }
}

const DEFAULT_ALGORITHM: i32 = -1;

/// What all four entry points take, as the library spells it.
struct Parts {
    ta: i32,
    tb: i32,
    a: u64,
    b: u64,
    c: u64,
    t: i32,
    compute: i32,
    alpha: [u8; 16],
    beta: [u8; 16],
}

impl Parts {
    fn of(gemm: &Gemm) -> Self {
        let [a, b, c] = gemm.pointers.map(|pointer| pointer.0);
        Self {
            ta: gemm.transpose.0.code(),
            tb: gemm.transpose.1.code(),
            a,
            b,
            c,
            t: gemm.element.code(),
            compute: gemm.element.compute(),
            alpha: gemm.element.factor(gemm.alpha),
            beta: gemm.element.factor(gemm.beta),
        }
    }
}

fn status(function: unsafe extern "C" fn(i32) -> *const c_char, code: i32) -> String {
    // SAFETY: any number is answered with a string that lives as long as the library, or null.
    let text = unsafe { function(code) };
    match text.is_null() {
        true => "unknown error".to_owned(),
        // SAFETY: not null, see above.
        false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRODUCT: Gemm = Gemm {
        element: Element::F32,
        transpose: (Transpose::None, Transpose::Adjoint),
        m: 3,
        n: 4,
        k: 5,
        alpha: 1.0,
        beta: 0.0,
        pointers: [DevicePtr(1), DevicePtr(2), DevicePtr(3)],
        leading: [3, 4, 3],
        batch_strides: [0; 3],
        batch: 1,
    };

    #[test]
    fn sizes_are_narrow_until_one_is_not() {
        assert_eq!(PRODUCT.narrow(), Some([3, 4, 5, 3, 4, 3, 1]));
        for wide in [Gemm { k: 1 << 31, ..PRODUCT }, Gemm { leading: [3, 1 << 31, 3], ..PRODUCT }] {
            assert_eq!(wide.narrow(), None);
        }
    }

    #[test]
    fn factors_have_the_type_that_sums_are_kept_in() {
        assert_eq!(Element::BF16.factor(1.0)[..4], 1.0_f32.to_ne_bytes());
        assert_eq!(Element::C64.factor(1.0)[4..8], [0; 4]);
        assert_eq!(Element::C128.factor(1.0)[..8], 1.0_f64.to_ne_bytes());
    }

    #[test]
    fn a_missing_library_is_an_error_value() {
        let Err(error) = Cublas::open(&[], 10) else { return println!("skipped: a cuBLAS is installed") };
        assert!(error.to_string().contains("pip install nvidia-cublas"), "{error}");
    }
}
