//! Stable sorts: short rows within a block, long rows digit by digit.

use crate::{
    access::Mode,
    bound::{Bound, Scope, launch},
    element::memory_type,
    kernel::{Argument, Kernel, Program},
    map,
    prelude::{self, Width},
    shape::{self, Shape},
    stepwise::over,
};
use cupric_core::{DType, Dims, Layout, Result, coalesce};
use cupric_ir::{Sort, Sorted};
use std::sync::Arc;

/// The longest row that a block sorts alone.
const IN_BLOCK: usize = 2048;
const DIGITS: usize = 256;
/// Elements of one launch over packed rows.
const PIECE: usize = 1 << 26;
/// Rows from here on need counts of 64 bits: two bits of a word are marks.
const MOST_COUNTED: usize = 1 << 30;
const MOST_PASSES: usize = 16;
/// What a block counts, as `span` in the prelude.
const SPAN: usize = 32768;

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
        let block_rows = rows_of_block(self.input.dtype, size);
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
        let threads = threads_of_row(self.input.dtype, size) * block_rows;
        program.launches.push(launch(kernel, rows.div_ceil(block_rows), threads as u32, given));
    }

    fn by_digits(&self, scope: &Scope, program: &mut Program) {
        let rows: usize = self.rows.iter().product();
        let radix = Radix::new(self.input.dtype, self.answer, self.count);
        let shape: Dims = self.rows.iter().copied().chain([self.count]).collect();
        // The output is written by the last pass, which must not read it, and the first pass reads the input alone.
        let shares = self.input.storage.is_some() && self.input.shares(&self.output);
        let direct = self.output.layout.is_row_major(self.output.item()) && !(shares && radix.passes() == 1);
        let room = Room::new(&radix, rows, self.count, direct, program);
        let mut input = self.input.clone();
        if !(input.layout.is_row_major(input.item()) && input.is_aligned()) {
            let copy = Bound::scratch(radix.dtype, room.elements[1], &shape);
            program.launches.extend(map::copy(scope, &shape, input, copy.clone()));
            input = copy;
        }
        let (output, forced) = match (direct, room.answer) {
            (true, _) => (self.output.clone(), if shares { 2.min(radix.passes()) } else { 0 }),
            (false, Some(answer)) => (Bound::scratch(self.output.dtype, answer, &shape), 0),
            (false, None) => {
                let last = room.elements[(radix.passes() - 1) % 2];
                (Bound::scratch(radix.dtype, last, &shape), radix.passes())
            }
        };
        radix.launches(scope, program, &room, [&input, &output], [rows, self.count], forced);
        if !direct {
            program.launches.extend(map::copy(scope, &shape, output, self.output.clone()));
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

/// Whether the threads of a warp hold a row in registers; long keys need too many for long rows.
fn in_registers(dtype: DType, size: usize) -> bool {
    match order(dtype).key {
        "u32" => size <= 1024,
        "u64" => size <= 256,
        _ => false,
    }
}

fn threads_of_row(dtype: DType, size: usize) -> usize {
    if in_registers(dtype, size) { size.min(32) } else { size / 2 }
}

fn rows_of_block(dtype: DType, size: usize) -> usize {
    if in_registers(dtype, size) { 128 / threads_of_row(dtype, size) } else { (512 / size).max(1) }
}

impl Block {
    fn spell(&self, shape: &Shape) -> Kernel {
        let (size, threads) = (self.size, threads_of_row(self.dtype, self.size));
        let block_rows = rows_of_block(self.dtype, size);
        let work = if in_registers(self.dtype, size) { self.by_registers() } else { self.by_shared_memory() };
        let body = format!(
            "{index}\n{shape}\n{key}{sort}\nextern \"C\" __global__ void __launch_bounds__({all}) @name(\n    \
             const char* in0,\n    char* out0,\n    const Shape shape) {{\n  \
             const u32 t = threadIdx.x % {threads};\n  \
             const u32 local = threadIdx.x / {threads};\n  const Index asked = Index(blockIdx.x) * {block_rows} + local;\n  \
             const bool active = asked < shape.rows;\n  [[maybe_unused]] const Index row = active ? asked : 0;\n  \
             Step in0_at = 0;\n  Step out0_at = 0;\n{walk}  const u32 count = u32(shape.count);\n{work}}}\n",
            index = prelude::index(self.width),
            shape = shape.text(),
            key = key_text(self.dtype),
            sort = prelude::SORT_BLOCK,
            all = block_rows * threads,
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
        );
        let answer = if self.answer == Sorted::Values { "values" } else { "positions" };
        let headline = format!("sort {} in blocks of {size}, {answer}", self.dtype.name());
        Kernel::new("sort_block", &headline, &body)
    }

    fn load(&self, place: &str) -> String {
        self.modes[0].load_one(self.dtype, &format!("in0 + in0_at + Step({place}) * shape.along[0][0]"))
    }

    /// A key behind those of all elements.
    fn last(&self) -> &'static str {
        if self.dtype == DType::Complex128 { "Key{~0ull, ~0ull}" } else { "~Key(0)" }
    }

    fn at(&self, place: &str) -> String {
        format!("out0 + out0_at + Step({place}) * shape.along[1][0]")
    }

    fn by_registers(&self) -> String {
        let (size, lanes) = (self.size, self.size.min(32));
        let each = size / lanes;
        let rows = 128 / lanes;
        let store = match self.answer {
            Sorted::Positions => format!(
                "#pragma unroll\n  for (u32 j = 0; j < {each}; ++j) {{\n    const u32 i = j * {lanes} + t;\n    \
                 if (active && i < count) {}  }}\n",
                self.modes[1].store_one(DType::Int64, &self.at("i"), "i64(mine[i + i / 32])"),
            ),
            // Output may be input: everything is read before anything is written.
            Sorted::Values => format!(
                "  Element sorted[{each}];\n#pragma unroll\n  for (u32 j = 0; j < {each}; ++j) {{\n    const u32 i = j * {lanes} + t;\n    \
                 if (i < count) sorted[j] = {};\n  }}\n  __syncwarp();\n\
                 #pragma unroll\n  for (u32 j = 0; j < {each}; ++j) {{\n    const u32 i = j * {lanes} + t;\n    \
                 if (active && i < count) {}  }}\n",
                self.load("mine[i + i / 32]"),
                self.modes[1].store_one(self.dtype, &self.at("i"), "sorted[j]"),
            ),
        };
        format!(
            "  __shared__ u16 positions[{rows}][{room}];\n  Entry<Key> entries[{each}];\n\
             #pragma unroll\n  for (u32 j = 0; j < {each}; ++j) {{\n    const u32 i = j * {lanes} + t;\n    Key key = {last};\n    \
             if (i < count) key = order_key({load});\n    entries[j] = entry(key, i);\n  }}\n  \
             sort_registers<{lanes}, {each}>(entries);\n  u16* mine = positions[local];\n\
             #pragma unroll\n  for (u32 j = 0; j < {each}; ++j) {{\n    const u32 i = t * {each} + j;\n    \
             mine[i + i / 32] = u16(position_of(entries[j]));\n  }}\n  __syncwarp();\n{store}",
            room = size + size / 32,
            last = self.last(),
            load = self.load("i"),
        )
    }

    fn by_shared_memory(&self) -> String {
        let (size, threads) = (self.size, self.size / 2);
        let rows = rows_of_block(self.dtype, size);
        let answer = match self.answer {
            Sorted::Positions => format!(
                "#pragma unroll\n  for (u32 i = t; i < {size}; i += {threads}) {{\n    if (active && i < count) {}  }}\n",
                self.modes[1].store_one(DType::Int64, &self.at("i"), "i64(position_of(mine[i]))"),
            ),
            // Output may be input: everything is read before anything is written.
            Sorted::Values => format!(
                "  const u32 low = t < count ? position_of(mine[t]) : 0;\n  \
                 const u32 high = t + {threads} < count ? position_of(mine[t + {threads}]) : 0;\n  \
                 const Element first = {};\n  const Element second = {};\n  __syncthreads();\n  \
                 if (active && t < count) {}  if (active && t + {threads} < count) {}",
                self.load("low"),
                self.load("high"),
                self.modes[1].store_one(self.dtype, &self.at("t"), "first"),
                self.modes[1].store_one(self.dtype, &self.at(&format!("t + {threads}")), "second"),
            ),
        };
        format!(
            "  __shared__ Entry<Key> entries[{all}];\n  Entry<Key>* mine = entries + local * {size};\n#pragma unroll\n  \
             for (u32 i = t; i < {size}; i += {threads}) {{\n    Key key{{}};\n    \
             if (i < count) key = order_key({load});\n    else key = {last};\n    mine[i] = entry(key, i);\n  }}\n  \
             sort_entries<{size}>(mine, t);\n{answer}",
            all = rows * size,
            load = self.load("i"),
            last = self.last(),
        )
    }
}

/// The kernels of a sort by digits.
struct Radix {
    dtype: DType,
    /// Whether positions go along, and are the answer.
    moves: bool,
    /// Whether counts need 64 bits.
    wide: bool,
}

/// Offsets of the workspace.
struct Room {
    /// Elements on their way: those of passes with an even and with an odd number.
    elements: [usize; 2],
    positions: [usize; 2],
    /// Positions that are copied to the output.
    answer: Option<usize>,
    /// What is cleared before the first pass: whether digits vary, the tickets of tiles, totals, what tiles tell each other.
    varied: usize,
    tickets: usize,
    totals: usize,
    counts: [usize; 2],
    cleared: usize,
}

impl Room {
    fn new(radix: &Radix, rows: usize, count: usize, direct: bool, program: &mut Program) -> Room {
        let mut reserve = |bytes: usize| {
            let offset = program.workspace;
            program.workspace += bytes.next_multiple_of(256);
            offset
        };
        let (tiles, counter) = (count.div_ceil(radix.tile()), radix.counter());
        let several = tiles > 1;
        let elements = [(); 2].map(|()| reserve(rows * count * radix.dtype.size()));
        let positions = [(); 2].map(|()| reserve(if radix.moves { rows * count * counter } else { 0 }));
        let answer = (radix.moves && !direct).then(|| reserve(rows * count * 8));
        let [varied, tickets] = [(); 2].map(|()| reserve(4 * MOST_PASSES));
        let totals = reserve(if several { rows * radix.passes() * DIGITS * counter } else { 0 });
        let counts = [(); 2].map(|()| reserve(if several { rows * tiles * DIGITS * counter } else { 0 }));
        // Each pass clears what the next one tells.
        let cleared = counts[1] - varied;
        Room { elements, positions, answer, varied, tickets, totals, counts, cleared }
    }
}

impl Radix {
    fn new(dtype: DType, answer: Sorted, count: usize) -> Radix {
        Radix { dtype, moves: answer == Sorted::Positions, wide: count >= MOST_COUNTED }
    }

    const fn passes(&self) -> usize {
        order(self.dtype).bits / 8
    }

    /// Elements of a tile, which a block holds in shared memory.
    const fn tile(&self) -> usize {
        match self.dtype.size() {
            16 => 2048,
            8 => 4096,
            _ if self.moves => 4096,
            _ => 8192,
        }
    }

    const fn counter(&self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    fn kernel(&self, scope: &Scope, name: &'static str, spell: impl FnOnce() -> String) -> Arc<Kernel> {
        scope.planner.kernel(("radix", name, self.dtype, self.moves, self.wide), || {
            let positions = if self.moves { " with positions" } else { "" };
            let headline = format!("sort {} by digits{positions}, {name}", self.dtype.name());
            Kernel::new(&format!("sort_{name}"), &headline, &spell())
        })
    }

    /// All passes, from packed rows to packed rows; the first `forced` passes are not left out even if they would move nothing.
    fn launches(
        &self,
        scope: &Scope,
        program: &mut Program,
        room: &Room,
        [input, output]: [&Bound; 2],
        [rows, count]: [usize; 2],
        forced: usize,
    ) {
        let tiles = count.div_ceil(self.tile());
        let bits = |value: usize| Argument::Bits((value as u64).to_le_bytes().as_slice().into());
        let place = |offset: usize| Argument::Workspace { offset };
        let [varied, totals] = [room.varied, room.totals].map(place);
        // A row of one tile counts for itself.
        let forced = if tiles > 1 { forced } else { self.passes() };
        if tiles > 1 {
            let clear = scope.planner.kernel("radix clear", clear);
            let words = room.cleared / 8;
            program.launches.push(launch(clear, words.div_ceil(256), 256, vec![varied.clone(), bits(words)]));
            let spans = count.div_ceil(SPAN);
            let given = vec![input.argument(), totals.clone(), bits(count), bits(spans)];
            let kernel = self.kernel(scope, "count", || self.count_text());
            program.launches.push(launch(kernel, rows * spans, 256, given));
            let given = vec![totals.clone(), varied.clone(), bits(count)];
            let kernel = self.kernel(scope, "vary", || self.vary_text());
            program.launches.push(launch(kernel, rows * self.passes(), 256, given));
        }
        let kernel = self.kernel(scope, "move", || self.move_text());
        for pass in 0..self.passes() {
            let buffers = room.elements.into_iter().chain(room.positions).map(place);
            let counts = [room.counts[pass % 2], room.counts[(pass + 1) % 2]].map(place);
            let mut given = vec![input.argument(), output.argument(), bits(usize::from(output.is_aligned()))];
            given.extend(buffers.chain(counts));
            given.extend([totals.clone(), varied.clone(), place(room.tickets + 4 * pass)]);
            given.extend([count, tiles, pass, forced].map(bits));
            program.launches.push(launch(kernel.clone(), rows * tiles, 512, given));
        }
    }

    fn common(&self) -> String {
        let digit = match self.dtype {
            DType::Complex128 => "u32((shift < 64 ? key.low >> shift : key.high >> (shift - 64)) & 255)",
            _ => "u32(key >> shift) & 255u",
        };
        format!(
            "{}using Count = {};\nconstexpr u32 tile = {};\nconstexpr u32 passes = {};\n\n\
             __device__ __forceinline__ u32 digit_of(const Element& element, const u32 shift) {{\n  \
             const Key key = order_key(element);\n  return {digit};\n}}\n\n{}\n",
            key_text(self.dtype),
            if self.wide { "u64" } else { "u32" },
            self.tile(),
            self.passes(),
            prelude::SORT_RADIX,
        )
    }

    fn count_text(&self) -> String {
        format!(
            "{}extern \"C\" __global__ void __launch_bounds__(256) @name(\n    const Element* from,\n    Count* totals,\n    \
             const u64 length,\n    const u64 spans) {{\n  const u64 row = blockIdx.x / spans;\n  \
             const u64 part = blockIdx.x - row * spans;\n  \
             count_digits(from + row * length, length, part * span, totals + row * passes * {DIGITS});\n}}\n",
            self.common(),
        )
    }

    /// A block looks whether a digit of a row varies.
    fn vary_text(&self) -> String {
        format!(
            "extern \"C\" __global__ void __launch_bounds__(256) @name(\n    const {count}* totals,\n    u32* varied,\n    \
             const u64 length) {{\n  const {count} total = totals[u64(blockIdx.x) * {DIGITS} + threadIdx.x];\n  \
             if (total != 0 && total != length) varied[blockIdx.x % {}] = 1;\n}}\n",
            self.passes(),
            count = if self.wide { "u64" } else { "u32" },
        )
    }

    fn move_text(&self) -> String {
        format!(
            "{}extern \"C\" __global__ void __launch_bounds__(512, 2) @name(\n    const Element* input,\n    char* output,\n    \
             const u64 aligned,\n    Element* elements0,\n    Element* elements1,\n    Count* positions0,\n    \
             Count* positions1,\n    Count* counts,\n    Count* next_counts,\n    const Count* totals,\n    \
             const u32* varied,\n    u32* ticket,\n    const u64 length,\n    const u64 tiles,\n    const u64 pass,\n    \
             const u64 forced) {{\n  __shared__ u32 taken;\n  const Turn turn(varied, u32(pass), u32(forced));\n  \
             // Tiles are taken in order, so that none waits for one that has not begun.\n  \
             if (tiles > 1) {{\n    \
             if (threadIdx.x < {DIGITS}) next_counts[u64(blockIdx.x) * {DIGITS} + threadIdx.x] = 0;\n    \
             if (threadIdx.x == 0) taken = atomicAdd(ticket, 1u);\n    __syncthreads();\n  }}\n  \
             const u64 unit = tiles > 1 ? taken : blockIdx.x;\n  const u64 row = unit / tiles;\n  \
             const u64 part = unit - row * tiles;\n  \
             const Buffers buffers{{input, elements0, elements1, positions0, positions1, output, aligned}};\n  \
             if (turn.here) move_tile<{moves}>(buffers, turn, row, part, length, tiles, u32(pass), counts, totals);\n  \
             else if (turn.none && pass == passes - 1) copy_tile<{moves}>(buffers, row, part, length);\n}}\n",
            self.common(),
            moves = self.moves,
        )
    }
}

/// A kernel that fills words with zeros.
fn clear() -> Kernel {
    let body = "extern \"C\" __global__ void __launch_bounds__(256) @name(\n    u64* words,\n    const u64 count) {\n  \
                const u64 at = u64(blockIdx.x) * 256 + threadIdx.x;\n  if (at < count) words[at] = 0;\n}\n";
    Kernel::new("sort_clear", "sort by digits, clear", body)
}
