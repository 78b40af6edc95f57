//! Stable sorts: short rows within a block, long rows digit by digit.

use crate::{
    access::Mode,
    bound::{Bound, Scope, launch},
    element::memory_type,
    kernel::{Argument, Kernel, Program},
    map,
    prelude::{self, Width},
    shape::{self, Shape},
    stepwise::{over, part},
};
use cupric_core::{DType, Dims, Layout, Result, coalesce};
use cupric_ir::{Sort, Sorted};

/// The longest row that a block sorts alone.
const IN_BLOCK: usize = 2048;
const DIGITS: usize = 256;
/// Elements of one launch over packed rows.
const PIECE: usize = 1 << 26;

/// Plans a sort.
pub(crate) fn plan(scope: &Scope, sort: &Sort) -> Result<Program> {
    let mut program = Program::default();
    let (Some((&count, rows)), false) = (sort.shape.split_last(), sort.shape.contains(&0)) else {
        return Ok(program);
    };
    let job = Job { rows: rows.into(), count, input: scope.read(0), output: scope.write(0), answer: sort.answer };
    if count <= IN_BLOCK {
        job.in_block(scope, &mut program)
    } else {
        job.by_digits(scope, &mut program)
    }
    Ok(program)
}

/// Sorts packed rows in the workspace into packed rows there.
pub(crate) fn packed(
    scope: &Scope,
    input: &Bound,
    output: &Bound,
    answer: Sorted,
    rows: usize,
    count: usize,
    program: &mut Program,
) {
    let [input, output] = [input, output].map(|bound| over(bound, &[rows, count]));
    let job = Job { rows: Dims::from_elem(rows, 1), count, input, output, answer };
    if count > IN_BLOCK {
        return job.by_digits(scope, program);
    }
    // So many rows at a time that the steps among them fit 32 bits.
    let most = (PIECE / count).max(1);
    for first in (0..rows).step_by(most) {
        job.of_rows(first, most.min(rows - first)).blocks(scope, program);
    }
}

struct Job {
    rows: Dims,
    count: usize,
    input: Bound,
    output: Bound,
    answer: Sorted,
}

/// How elements of a dtype are ordered.
struct Order {
    /// The type of the keys.
    key: &'static str,
    /// An expression that makes a key of `x`.
    value: &'static str,
    /// Bits of a key that matter.
    bits: usize,
}

const fn order(dtype: DType) -> Order {
    let (key, value, bits) = match dtype {
        DType::Bool => ("u32", "u32(x != 0)", 8),
        DType::UInt8 => ("u32", "u32(x)", 8),
        DType::Int8 => ("u32", "u32(u8(x)) ^ 0x80u", 8),
        DType::UInt16 => ("u32", "u32(x)", 16),
        DType::Int16 => ("u32", "u32(u16(x)) ^ 0x8000u", 16),
        DType::Float16 => ("u32", "u32(order_float<u16>(x, u16(0x7c00)))", 16),
        DType::BFloat16 => ("u32", "u32(order_float<u16>(x, u16(0x7f80)))", 16),
        DType::UInt32 => ("u32", "x", 32),
        DType::Int32 => ("u32", "u32(x) ^ 0x80000000u", 32),
        DType::Float32 => ("u32", "order_bits(x)", 32),
        DType::UInt64 => ("u64", "x", 64),
        DType::Int64 => ("u64", "u64(x) ^ 0x8000000000000000ull", 64),
        DType::Float64 => ("u64", "order_bits(x)", 64),
        DType::Complex64 => ("u64", "u64(pair.high) << 32 | pair.low", 64),
        DType::Complex128 => ("Pair<u64>", "pair", 128),
    };
    Order { key, value, bits }
}

/// `Element`, `Key` and `order_key`, which makes keys of elements.
fn key_text(dtype: DType) -> String {
    let Order { key, value, .. } = order(dtype);
    let (memory, part) = (memory_type(dtype), memory_type(dtype.component()));
    let pair = if dtype.is_complex() {
        let word = if part == "float" { "u32" } else { "u64" };
        format!("  const Pair<{word}> pair = order_complex(x.re, x.im);\n")
    } else {
        String::new()
    };
    format!(
        "using Element = {memory};\nusing Key = {key};\n\n\
         __device__ __forceinline__ Key order_key(const Element x) {{\n{pair}  return {value};\n}}\n\n"
    )
}

impl Job {
    /// Some of the packed rows.
    fn of_rows(&self, first: usize, rows: usize) -> Job {
        let part = |bound: &Bound| {
            let offset = bound.layout.offset + first * self.count * bound.item();
            let layout = Layout { offset, ..Layout::row_major(&[rows, self.count], bound.item()) };
            Bound { layout, ..bound.clone() }
        };
        let (input, output) = (part(&self.input), part(&self.output));
        Job { rows: Dims::from_elem(rows, 1), count: self.count, input, output, answer: self.answer }
    }

    fn in_block(mut self, scope: &Scope, program: &mut Program) {
        let split = self.rows.len();
        let strides = [&self.input.layout.strides[..split], &self.output.layout.strides[..split]];
        let (rows, steps) = coalesce(&self.rows, &strides);
        let tails = [self.input.layout.strides[split], self.output.layout.strides[split]];
        for ((bound, steps), tail) in [&mut self.input, &mut self.output].into_iter().zip(steps).zip(tails) {
            bound.layout.shape = rows.iter().copied().chain([self.count]).collect();
            bound.layout.strides = steps.into_iter().chain([tail]).collect();
        }
        self.rows = rows;
        self.blocks(scope, program);
    }

    fn blocks(&self, scope: &Scope, program: &mut Program) {
        let size = [16, 64, 256, 1024].into_iter().find(|&size| self.count <= size).unwrap_or(IN_BLOCK);
        let (rows, split) = (self.rows.iter().product::<usize>(), self.rows.len());
        let block_rows = (512 / size).max(1);
        let width = scope.width(rows + block_rows, [self.input.span(), self.output.span()]);
        let mut shape = Shape::new(width).count("rows", rows).count("count", self.count);
        if split > 1 {
            shape = shape.divisors("sizes", &self.rows[1..]);
        }
        let steps = |part: fn(&Bound, usize) -> &[isize]| [part(&self.input, split), part(&self.output, split)];
        shape = shape.steps("steps", steps(|bound, split| &bound.layout.strides[..split]));
        shape = shape.steps("along", steps(|bound, split| &bound.layout.strides[split..]));
        let block = Block {
            dtype: self.input.dtype,
            answer: self.answer,
            modes: [&self.input, &self.output].map(|bound| if bound.is_aligned() { Mode::Each } else { Mode::Bytes }),
            size,
            rows: split,
            width,
        };
        let kernel = scope.planner.kernel(("sort block", &block), || block.spell(&shape));
        let given = vec![self.input.argument(), self.output.argument(), shape.argument()];
        program.launches.push(launch(kernel, rows.div_ceil(block_rows), (block_rows * size / 2) as u32, given));
    }

    fn by_digits(&self, scope: &Scope, program: &mut Program) {
        let rows: usize = self.rows.iter().product();
        let dtype = self.input.dtype;
        let moves = self.answer == Sorted::Positions;
        let radix = Radix { dtype, moves, wide: self.count > u32::MAX as usize };
        let tiles = self.count.div_ceil(radix.tile());
        let mut reserve = |bytes: usize| {
            let offset = program.workspace;
            program.workspace += bytes.next_multiple_of(256);
            offset
        };
        let elements = [(); 2].map(|()| reserve(rows * self.count * dtype.size()));
        let positions = [(); 2].map(|()| reserve(if moves { rows * self.count * radix.counter() } else { 0 }));
        let counts = reserve(rows * DIGITS * tiles * radix.counter());
        let totals = reserve(rows * DIGITS * radix.counter());
        let passes = order(dtype).bits / 8;
        let packed =
            |bound: &Bound| bound.layout.is_row_major(bound.item()) && bound.starts_at_multiple_of(bound.item());
        let shape: Dims = self.rows.iter().copied().chain([self.count]).collect();
        let scratch = |offset: usize| Bound::scratch(dtype, offset, &shape);
        let mut from = if packed(&self.input) {
            self.input.clone()
        } else {
            program.launches.extend(map::copy(scope, &shape, self.input.clone(), scratch(elements[0])));
            scratch(elements[0])
        };
        // The last pass must not write what it reads.
        let direct = !moves && packed(&self.output) && (passes > 1 || !self.input.shares(&self.output));
        for pass in 0..passes {
            let to = if direct && pass + 1 == passes { self.output.clone() } else { scratch(elements[(pass + 1) % 2]) };
            let turn = Turn {
                from: from.argument(),
                to: to.argument(),
                positions: [positions[pass % 2], positions[(pass + 1) % 2]],
                counts,
                totals,
                pass,
            };
            radix.pass(scope, program, &turn, rows, self.count, tiles);
            from = to;
        }
        if moves {
            let dtype = if radix.wide { DType::UInt64 } else { DType::UInt32 };
            from = Bound::scratch(dtype, positions[passes % 2], &shape);
        }
        if direct {
            return;
        }
        if packed(&self.output) {
            let all = rows * self.count;
            for (begin, len) in (0..all).step_by(PIECE).map(|begin| (begin, PIECE.min(all - begin))) {
                let [from, to] = [&from, &self.output].map(|bound| part(bound, begin, len));
                program.launches.extend(map::copy(scope, &[len], from, to));
            }
        } else {
            program.launches.extend(map::copy(scope, &shape, from, self.output.clone()));
        }
    }
}

/// A kernel that sorts rows within blocks.
#[derive(Hash)]
struct Block {
    dtype: DType,
    answer: Sorted,
    modes: [Mode; 2],
    size: usize,
    rows: usize,
    width: Width,
}

impl Block {
    fn spell(&self, shape: &Shape) -> Kernel {
        let (size, threads) = (self.size, self.size / 2);
        let block_rows = (512 / size).max(1);
        let body = format!(
            "{index}\n{shape}\n{key}{sort}\nextern \"C\" __global__ void __launch_bounds__({all}) @name(\n    \
             const char* in0,\n    char* out0,\n    const Shape shape) {{\n  \
             __shared__ Entry<Key> entries[{entries}];\n  const u32 t = threadIdx.x % {threads};\n  \
             const u32 local = threadIdx.x / {threads};\n  const Index asked = Index(blockIdx.x) * {block_rows} + local;\n  \
             const bool active = asked < shape.rows;\n  [[maybe_unused]] const Index row = active ? asked : 0;\n  \
             Step in0_at = 0;\n  Step out0_at = 0;\n{walk}  const u32 count = u32(shape.count);\n  \
             Entry<Key>* mine = entries + local * {size};\n#pragma unroll\n  \
             for (u32 i = t; i < {size}; i += {threads}) {{\n    Key key{{}};\n    \
             if (i < count) key = order_key({load});\n    else key = {last};\n    mine[i] = entry(key, i);\n  }}\n  \
             sort_entries<{size}>(mine, t);\n{answer}}}\n",
            index = prelude::index(self.width),
            shape = shape.text(),
            key = key_text(self.dtype),
            sort = prelude::SORT_BLOCK,
            all = block_rows * threads,
            entries = block_rows * size,
            walk = shape::walk(
                "  ",
                "row",
                self.rows,
                "shape.sizes",
                &[
                    ("in0_at".to_owned(), "shape.steps[0]".to_owned()),
                    ("out0_at".to_owned(), "shape.steps[1]".to_owned()),
                ]
            ),
            load = self.load("i"),
            last = if self.dtype == DType::Complex128 { "Key{~0ull, ~0ull}" } else { "~Key(0)" },
            answer = self.answer(),
        );
        let answer = if self.answer == Sorted::Values { "values" } else { "positions" };
        let headline = format!("sort {} in blocks of {size}, {answer}", self.dtype.name());
        Kernel::new("sort_block", &headline, &body)
    }

    fn load(&self, place: &str) -> String {
        self.modes[0].load_one(self.dtype, &format!("in0 + in0_at + Step({place}) * shape.along[0][0]"))
    }

    fn answer(&self) -> String {
        let threads = self.size / 2;
        let at = |place: &str| format!("out0 + out0_at + Step({place}) * shape.along[1][0]");
        match self.answer {
            Sorted::Positions => format!(
                "#pragma unroll\n  for (u32 i = t; i < {}; i += {threads}) {{\n    if (active && i < count) {}  }}\n",
                self.size,
                self.modes[1].store_one(DType::Int64, &at("i"), "i64(position_of(mine[i]))"),
            ),
            // Output may be input: everything is read before anything is written.
            Sorted::Values => format!(
                "  const u32 low = t < count ? position_of(mine[t]) : 0;\n  \
                 const u32 high = t + {threads} < count ? position_of(mine[t + {threads}]) : 0;\n  \
                 const Element first = {};\n  const Element second = {};\n  __syncthreads();\n  \
                 if (active && t < count) {}  if (active && t + {threads} < count) {}",
                self.load("low"),
                self.load("high"),
                self.modes[1].store_one(self.dtype, &at("t"), "first"),
                self.modes[1].store_one(self.dtype, &at(&format!("t + {threads}")), "second"),
            ),
        }
    }
}

/// The kernels of a sort by digits.
struct Radix {
    dtype: DType,
    /// Whether positions go along.
    moves: bool,
    /// Whether counts need 64 bits.
    wide: bool,
}

/// One pass.
struct Turn {
    from: Argument,
    to: Argument,
    positions: [usize; 2],
    counts: usize,
    totals: usize,
    pass: usize,
}

impl Radix {
    const fn tile(&self) -> usize {
        match self.dtype.size() {
            16 if self.wide => 1024,
            8 | 16 => 2048,
            _ if self.moves => 2048,
            _ => 4096,
        }
    }

    const fn counter(&self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    fn pass(&self, scope: &Scope, program: &mut Program, turn: &Turn, rows: usize, count: usize, tiles: usize) {
        let kernel = |name: &'static str, spell: &dyn Fn() -> String| {
            scope.planner.kernel(("radix", name, self.dtype, self.moves, self.wide), || {
                let positions = if self.moves { " with positions" } else { "" };
                let headline = format!("sort {} by digits{positions}, {name}", self.dtype.name());
                Kernel::new(&format!("sort_{name}"), &headline, &format!("{}{}", self.common(), spell()))
            })
        };
        let bits = |value: usize| Argument::Bits((value as u64).to_le_bytes().as_slice().into());
        let workspace = |offset: usize| Argument::Workspace { offset };
        let (counts, totals) = (workspace(turn.counts), workspace(turn.totals));
        let place = [bits(count), bits(tiles), bits(8 * turn.pass)];
        let given = [&[turn.from.clone(), counts.clone()], &place[..]].concat();
        program.launches.push(launch(kernel("count", &count_text), rows * tiles, 256, given));
        let given = vec![counts.clone(), totals.clone(), bits(tiles)];
        program.launches.push(launch(kernel("scan", &scan_text), rows * DIGITS, 1024, given));
        let positions = turn.positions.map(workspace);
        let given = [&[turn.from.clone(), turn.to.clone()], &positions[..], &[counts, totals], &place[..]].concat();
        program.launches.push(launch(kernel("move", &|| self.move_text()), rows * tiles, 256, given));
    }

    fn common(&self) -> String {
        let digit = match self.dtype {
            DType::Complex128 => "u32((shift < 64 ? key.low >> shift : key.high >> (shift - 64)) & 255)",
            _ => "u32(key >> shift) & 255u",
        };
        format!(
            "{}using Count = {};\nconstexpr u32 tile = {};\n\n\
             __device__ __forceinline__ u32 digit_of(const Element element, const u32 shift) {{\n  \
             const Key key = order_key(element);\n  return {digit};\n}}\n\n{}\n",
            key_text(self.dtype),
            if self.wide { "u64" } else { "u32" },
            self.tile(),
            prelude::SORT_RADIX,
        )
    }

    fn move_text(&self) -> String {
        format!(
            "extern \"C\" __global__ void __launch_bounds__(256) @name(\n    const Element* from,\n    Element* to,\n    \
             const Count* positions_from,\n    Count* positions_to,\n    const Count* counts,\n    const Count* totals,\n    \
             const u64 length,\n    const u64 tiles,\n    const u64 shift) {{\n  const u64 row = blockIdx.x / tiles;\n  \
             const u64 part = blockIdx.x - row * tiles;\n  const u64 skipped = row * length;\n  \
             move_tile<{moves}>(from + skipped, to + skipped, positions_from + skipped, positions_to + skipped, length,\n      \
             part * tile, u32(shift), counts + row * tiles * {DIGITS} + part, tiles, totals + row * {DIGITS}, shift == 0);\n}}\n",
            moves = self.moves,
        )
    }
}

fn count_text() -> String {
    format!(
        "extern \"C\" __global__ void __launch_bounds__(256) @name(\n    const Element* from,\n    Count* counts,\n    \
         const u64 length,\n    const u64 tiles,\n    const u64 shift) {{\n  const u64 row = blockIdx.x / tiles;\n  \
         const u64 part = blockIdx.x - row * tiles;\n  \
         count_digits(from + row * length, length, part * tile, u32(shift), counts + row * tiles * {DIGITS} + part, tiles);\n}}\n"
    )
}

fn scan_text() -> String {
    "extern \"C\" __global__ void __launch_bounds__(1024) @name(\n    Count* counts,\n    Count* totals,\n    \
     const u64 tiles) {\n  scan_counts(counts + u64(blockIdx.x) * tiles, tiles, totals + blockIdx.x);\n}\n"
        .to_owned()
}
