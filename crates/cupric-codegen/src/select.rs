//! The elements where a mask is true, or their positions.

use crate::{
    access::Mode,
    bound::{Bound, Scope, launch},
    element::memory_type,
    kernel::{Argument, Kernel, Program},
    prelude::{self, Width},
    shape::{self, Shape},
};
use cupric_core::{DType, Result, coalesce};
use cupric_ir::Select;

const TILE: usize = 4096;

/// Plans a selection.
pub(crate) fn plan(scope: &Scope, select: &Select) -> Result<Program> {
    if select.shape.contains(&0) || select.output.layout.is_empty() {
        return Ok(Program::default());
    }
    let mut inputs = vec![scope.read(0)];
    inputs.extend(select.source.as_ref().map(|_| scope.read(1).raw()));
    let mut program = Program::default();
    launches(scope, &select.shape, inputs, &scope.write(0), &mut program);
    Ok(program)
}

/// The launches for a mask, and a source if there is one, over a shape.
pub(crate) fn launches(scope: &Scope, shape: &[usize], mut inputs: Vec<Bound>, output: &Bound, program: &mut Program) {
    let strides: Vec<&[isize]> = inputs.iter().map(|input| &input.layout.strides[..]).collect();
    let (mut dims, steps) = coalesce(shape, &strides);
    let mut steps = steps.to_vec();
    if dims.is_empty() {
        dims.push(1);
        steps.iter_mut().zip(&inputs).for_each(|(steps, input)| steps.push(input.item() as isize));
    }
    for (input, steps) in inputs.iter_mut().zip(steps) {
        input.layout.shape = dims.clone();
        input.layout.strides = steps;
    }
    let count: usize = dims.iter().product();
    let tiles = count.div_ceil(TILE);
    let width = scope.width(count + TILE, inputs.iter().map(Bound::span));
    let step = output.layout.strides[0];
    let shape = Shape::new(width)
        .count("count", count)
        .divisors("sizes", &dims[1..])
        .steps("steps", inputs.iter().map(|input| &input.layout.strides[..]));
    let aligned = |bound: &Bound| if bound.is_aligned() { Mode::Each } else { Mode::Bytes };
    let mut modes: Vec<Mode> = inputs.iter().chain([output]).map(aligned).collect();
    if let ([1], true) = (&inputs[0].layout.strides[..], inputs[0].starts_at_multiple_of(16)) {
        modes[0] = Mode::Vector;
    }
    let form =
        Form { source: inputs.get(1).map(|source| source.dtype), output: output.dtype, axes: dims.len(), modes, width };
    let counts = Argument::Workspace { offset: program.workspace };
    let bits = |value: u64| Argument::Bits(value.to_le_bytes().as_slice().into());
    let count_kernel = scope.planner.kernel(("select count", &form), || form.spell(Stage::Count, &shape));
    let scan_kernel = scope.planner.kernel("select scan", || form.spell(Stage::Scan, &shape));
    let write_kernel = scope.planner.kernel(("select write", &form), || form.spell(Stage::Write, &shape));
    let read: Vec<Argument> = inputs.iter().map(Bound::argument).collect();
    let place = [output.argument(), bits(step as u64)];
    program.launches.extend([
        launch(count_kernel, tiles, 256, vec![read[0].clone(), counts.clone(), shape.argument()]),
        launch(scan_kernel, 1, 1024, vec![counts.clone(), bits(tiles as u64)]),
        launch(write_kernel, tiles, 256, [&read[..], &place[..], &[counts, shape.argument()]].concat()),
    ]);
    program.workspace += (8 * tiles).next_multiple_of(256);
}

/// What the text of the kernels depends on.
#[derive(Hash)]
struct Form {
    source: Option<DType>,
    output: DType,
    axes: usize,
    /// Of the mask, of the source if there is one, of the output.
    modes: Vec<Mode>,
    width: Width,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Count,
    Scan,
    Write,
}

impl Form {
    fn spell(&self, stage: Stage, shape: &Shape) -> Kernel {
        let (name, given, work) = match stage {
            Stage::Count => (
                "count",
                "const char* in0,\n    u64* counts,\n    const Shape shape".to_owned(),
                format!(
                    "  count_kept(Mask{{in0, {}shape}}, shape.count, Index(blockIdx.x) * tile, counts + blockIdx.x);\n",
                    if self.source.is_some() { "nullptr, nullptr, 0, " } else { "nullptr, 0, " }
                ),
            ),
            Stage::Scan => return self.scan(),
            Stage::Write => {
                let (source, field) =
                    if self.source.is_some() { ("const char* in1,\n    ", "in1, ") } else { ("", "") };
                (
                    "write",
                    format!(
                        "const char* in0,\n    {source}char* out0,\n    const i64 step,\n    const u64* counts,\n    const Shape shape"
                    ),
                    format!(
                        "  write_kept(Mask{{in0, {field}out0, step, shape}}, shape.count, Index(blockIdx.x) * tile, \
                         counts[blockIdx.x]);\n"
                    ),
                )
            }
        };
        let body = format!(
            "{index}\n{shape}\n{mask}\n{algorithm}\nextern \"C\" __global__ void __launch_bounds__(256) @name(\n    {given}) \
             {{\n{work}}}\n",
            index = prelude::index(self.width),
            shape = shape.text(),
            mask = self.mask(),
            algorithm = prelude::SELECT,
        );
        let what = self.source.map_or("positions", DType::name);
        Kernel::new(&format!("select_{name}"), &format!("select {what}, {name}"), &body)
    }

    fn scan(&self) -> Kernel {
        let body = format!(
            "{}\n{}\nextern \"C\" __global__ void __launch_bounds__(1024) @name(\n    u64* counts,\n    const u64 tiles) {{\n  \
             scan_counts(counts, tiles);\n}}\n",
            prelude::index(Width::Narrow),
            prelude::SELECT,
        );
        Kernel::new("select_scan", "select, scan of counts", &body)
    }

    /// The mask and what is written where it is true.
    fn mask(&self) -> String {
        let source = if self.source.is_some() { "  const char* in1;\n" } else { "" };
        let place = |input: usize| {
            let moved = [("at".to_owned(), format!("shape.steps[{input}]"))];
            format!("    Step at = 0;\n{}", shape::walk("    ", "position", self.axes, "shape.sizes", &moved))
        };
        let take = match self.source {
            Some(dtype) => format!("{}    return {};\n", place(1), self.modes[1].load_one(dtype, "in1 + at")),
            None => "    return i64(position);\n".to_owned(),
        };
        let dtype = self.source.unwrap_or(self.output);
        let store = self.modes[self.modes.len() - 1].store_one(dtype, "out0 + i64(rank) * step", "value");
        format!(
            "struct Mask {{\n  using Element = {};\n  const char* in0;\n{source}  char* out0;\n  i64 step;\n  const Shape& shape;\n  \
             __device__ __forceinline__ u32 bits(const Index first, const int present) const {{\n{bits}  }}\n  \
             __device__ __forceinline__ Element take(const Index position) const {{\n{take}  }}\n  \
             __device__ __forceinline__ void put(const Element& value, const u64 rank) const {{\n    {store}  }}\n}};\n",
            memory_type(dtype),
            bits = self.bits(&place(0)),
        )
    }

    /// Statements that give the truth of up to 16 elements as bits.
    fn bits(&self, place: &str) -> String {
        let whole = "    if (present == 16) {\n      \
                     const Pack<u32, 4> words = load_vector<u32, 4>(in0 + Step(first), 4);\n      u32 bits = 0;\n\
                     #pragma unroll\n      for (u32 i = 0; i < 4; ++i) bits |= true_bytes(words.item[i]) << 4 * i;\n      \
                     return bits;\n    }\n";
        let whole = if self.modes[0] == Mode::Vector { whole } else { "" };
        format!(
            "{whole}    u32 bits = 0;\n#pragma unroll 4\n    for (int i = 0; i < present; ++i) {{\n    \
             [[maybe_unused]] const Index position = first + i;\n{place}    \
             bits |= u32(load<u8>(in0 + at) != 0) << i;\n    }}\n    return bits;\n"
        )
    }
}
