//! Matrix products of every dtype by tiles in shared memory, for where no library is.

use crate::{
    access::Mode,
    bound::{Bound, Scope},
    element::{memory_type, narrowed, widened},
    kernel::{Kernel, Launch, Program},
    prelude::{self, Width},
    shape::{self, Shape},
};
use cupric_core::{DType, Dims, Result, coalesce};
use cupric_ir::{MatMul, Ty};

const TILE: usize = 64;

/// Plans a product.
pub(crate) fn plan(scope: &Scope, product: &MatMul) -> Result<Program> {
    let mut sides = [scope.read(0), scope.read(1), scope.write(0)];
    if sides[2].layout.is_empty() {
        return Ok(Program::default());
    }
    let split = product.batch.len();
    let strides: Vec<&[isize]> = sides.iter().map(|side| &side.layout.strides[..split]).collect();
    let (batch, steps) = coalesce(&product.batch, &strides);
    let sizes = [[product.rows, product.inner], [product.inner, product.columns], [product.rows, product.columns]];
    for ((side, steps), size) in sides.iter_mut().zip(steps).zip(sizes) {
        let last = side.layout.strides[split..].to_vec();
        side.layout.shape = batch.iter().copied().chain(size).collect::<Dims>();
        side.layout.strides = steps.into_iter().chain(last).collect();
    }
    let sizes = [product.rows, product.columns, product.inner];
    Ok(Program { launches: vec![of_sides(scope, &sides, &batch, sizes)], workspace: 0 })
}

/// The product of packed sides with one batch axis; sizes are batch, rows, columns, inner.
pub(crate) fn launch(scope: &Scope, sides: [Bound; 3], [batch, rows, columns, inner]: [usize; 4]) -> Launch {
    of_sides(scope, &sides, &[batch], [rows, columns, inner])
}

fn of_sides(scope: &Scope, sides: &[Bound; 3], batch: &[usize], [rows, columns, inner]: [usize; 3]) -> Launch {
    let split = batch.len();
    let tiles = [rows.div_ceil(TILE), columns.div_ceil(TILE)];
    let blocks = batch.iter().product::<usize>() * tiles[0] * tiles[1];
    let longest = rows.max(columns).max(inner) + TILE;
    let width = scope.width(longest.max(blocks), sides.iter().map(Bound::span));
    let mut shape =
        Shape::new(width).count("rows", rows).count("columns", columns).count("inner", inner).divisors("tiles", &tiles);
    if split > 1 {
        shape = shape.divisors("sizes", &batch[1..]);
    }
    shape = shape.steps("steps", sides.iter().map(|side| &side.layout.strides[..split]));
    shape = shape.steps("along", sides.iter().map(|side| &side.layout.strides[split..]));
    let form = Form {
        dtypes: [sides[0].dtype, sides[1].dtype, sides[2].dtype],
        modes: [&sides[0], &sides[1], &sides[2]].map(|side| if side.is_aligned() { Mode::Each } else { Mode::Bytes }),
        batch: split,
        width,
    };
    let kernel = scope.planner.kernel(("matmul", &form), || form.spell(&shape));
    let arguments = sides.iter().map(Bound::argument).chain([shape.argument()]).collect();
    Launch { kernel, grid: [blocks as u32, 1, 1], block: [256, 1, 1], shared: 0, arguments }
}

/// What the text of a kernel depends on.
#[derive(Hash)]
struct Form {
    dtypes: [DType; 3],
    modes: [Mode; 3],
    batch: usize,
    width: Width,
}

const COMPLEX_TERM: &str = "Value{sum.re + (a.re * b.re - a.im * b.im), sum.im + (a.re * b.im + a.im * b.re)}";

/// The type of sums, and the term that a product adds to one: each step is rounded, as on the CPU.
fn sum(dtype: DType) -> (&'static str, &'static str) {
    match Ty::of(dtype) {
        Ty::Bool => ("bool", "(a && b) || sum"),
        Ty::F32 if dtype.is_complex() => ("Complex<float>", COMPLEX_TERM),
        Ty::F64 if dtype.is_complex() => ("Complex<double>", COMPLEX_TERM),
        Ty::F32 => ("float", "sum + a * b"),
        Ty::F64 => ("double", "sum + a * b"),
        ty if ty.size() == 8 => ("u64", "sum + a * b"),
        _ => ("u32", "sum + a * b"),
    }
}

impl Form {
    fn spell(&self, shape: &Shape) -> Kernel {
        let (value, term) = sum(self.dtypes[2]);
        let place: Vec<(String, String)> = ["in0_at", "in1_at", "out0_at"]
            .iter()
            .enumerate()
            .map(|(index, name)| ((*name).to_owned(), format!("shape.steps[{index}]")))
            .collect();
        let body = format!(
            "{index}\n{shape}\nusing Value = {value};\n\n__device__ __forceinline__ Value zero() {{ return Value{{}}; }}\n\
             __device__ __forceinline__ Value multiply_add(const Value& a, const Value& b, const Value& sum) {{\n  \
             return {term};\n}}\n\n{left}{right}{algorithm}\n\
             extern \"C\" __global__ void __launch_bounds__(256) @name(\n    const char* in0,\n    const char* in1,\n    \
             char* out0,\n    const Shape shape) {{\n  \
             const Index band = shape.tiles[1].quotient(blockIdx.x);\n  \
             const Index column = (blockIdx.x - band * shape.tiles[1].divisor) * {TILE};\n  \
             [[maybe_unused]] const Index batch = shape.tiles[0].quotient(band);\n  \
             const Index row = (band - batch * shape.tiles[0].divisor) * {TILE};\n  \
             Step in0_at = 0;\n  Step in1_at = 0;\n  Step out0_at = 0;\n{walk}  Value sums[4][4];\n  \
             multiply_tile(Left{{in0 + in0_at, shape}}, Right{{in1 + in1_at, shape}}, row, column, shape.inner, sums);\n\
             #pragma unroll\n  for (u32 i = 0; i < 4; ++i) {{\n#pragma unroll\n    for (u32 j = 0; j < 4; ++j) {{\n      \
             const Index r = row + threadIdx.x / 16 + 16 * i;\n      const Index c = column + threadIdx.x % 16 + 16 * j;\n      \
             if (r < shape.rows && c < shape.columns) {{\n        {store}      }}\n    }}\n  }}\n}}\n",
            index = prelude::index(self.width),
            shape = shape.text(),
            left = self.side(0, "Left", "shape.rows", "shape.inner"),
            right = self.side(1, "Right", "shape.inner", "shape.columns"),
            algorithm = prelude::MATMUL,
            walk = shape::walk("  ", "batch", self.batch, "shape.sizes", &place),
            store = self.store(),
        );
        Kernel::new("matmul", &format!("matmul {}", self.dtypes[2].name()), &body)
    }

    fn side(&self, index: usize, name: &str, rows: &str, columns: &str) -> String {
        let dtype = self.dtypes[index];
        let at = format!("in + Step(row) * shape.along[{index}][0] + Step(column) * shape.along[{index}][1]");
        let load = self.modes[index].load_one(dtype, &at);
        let value = match widened(dtype, "raw") {
            (_, Some(_)) => "raw".to_owned(),
            (value, None) => format!("Value({value})"),
        };
        format!(
            "struct {name} {{\n  const char* in;\n  const Shape& shape;\n  \
             __device__ __forceinline__ Value at(const Index row, const Index column) const {{\n    \
             if (row >= {rows} || column >= {columns}) return zero();\n    const {} raw = {load};\n    return {value};\n  \
             }}\n}};\n\n",
            memory_type(dtype),
        )
    }

    fn store(&self) -> String {
        let dtype = self.dtypes[2];
        let value = match dtype {
            _ if dtype.is_complex() => "sums[i][j]".to_owned(),
            _ if dtype.is_integer() => format!("{}(sums[i][j])", memory_type(dtype)),
            _ => narrowed(dtype, &("sums[i][j]".to_owned(), None)),
        };
        let at = "out0 + out0_at + Step(r) * shape.along[2][0] + Step(c) * shape.along[2][1]";
        self.modes[2].store_one(dtype, at, &value)
    }
}
