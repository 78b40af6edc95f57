//! Maps in which some inputs are packed along another axis than the results: those go through tiles in shared memory.

use crate::{
    access::Mode,
    bound::{Bound, Scope},
    element::{loads, memory_type, narrowed},
    functions,
    kernel::{Kernel, Launch},
    map::{Job, Walk, arguments, headline, is_loaded, moved, scalars, uses_position},
    map_rows::weight,
    prelude::{self, Width},
    shape::{self, Shape},
    spell::spell,
};
use cupric_core::DType;
use smallvec::SmallVec;

/// Elements along each side of a tile: the larger, the longer the stretches of memory, and the more loads are in flight.
const SIDES: [usize; 2] = [64, 32];
const THREADS: usize = 256;
/// Shorter sides than this are not worth a tile.
const LEAST: usize = 16;
/// Static shared memory of a block.
const SHARED: usize = 48 << 10;

/// The axis along which some inputs are packed, which inputs, and the elements along a side.
pub(crate) struct Tile {
    axis: usize,
    turned: SmallVec<[bool; 8]>,
    side: usize,
}

/// Whether a map needs tiles.
pub(crate) fn turned(job: &Job, walk: &Walk) -> Option<Tile> {
    let last = walk.dims.len() - 1;
    if last == 0 || job.gathered.is_some() || walk.dims[last] < LEAST {
        return None;
    }
    let steps = |input: usize| &walk.steps[job.stores.len() + input];
    let packed = |input: usize, axis: usize| steps(input)[axis].unsigned_abs() == job.inputs[input].item();
    let far =
        |input: usize| is_loaded(job.graph, input) && steps(input)[last].unsigned_abs() > 2 * job.inputs[input].item();
    let axes = || (0..last).filter(|&axis| walk.dims[axis] >= LEAST);
    let axis =
        (0..job.inputs.len()).filter(|&input| far(input)).find_map(|input| axes().find(|&axis| packed(input, axis)))?;
    let candidates: SmallVec<[bool; 8]> =
        (0..job.inputs.len()).map(|input| far(input) && packed(input, axis)).collect();
    let bytes = |side: usize, input: usize| side * (side + 1) * job.inputs[input].item();
    let all = |side: usize| -> usize {
        (0..job.inputs.len()).filter(|&input| candidates[input]).map(|input| bytes(side, input)).sum()
    };
    let suits = |side: usize| walk.dims[axis].min(walk.dims[last]) >= side && all(side) <= SHARED;
    let side = if suits(SIDES[0]) { SIDES[0] } else { SIDES[1] };
    let mut room = SHARED;
    let turned = candidates.iter().enumerate().map(|(input, &candidate)| {
        let bytes = bytes(side, input);
        let fits = candidate && bytes <= room;
        room -= if fits { bytes } else { 0 };
        fits
    });
    Some(Tile { axis, turned: turned.collect(), side })
}

/// What the text of a kernel depends on, besides its job.
struct Plan<'a> {
    job: &'a Job<'a>,
    turned: &'a [bool],
    side: usize,
    /// Axes besides the two of the tile.
    outer: usize,
    modes: Vec<Mode>,
    width: Width,
}

pub(crate) fn plan(scope: &Scope, job: &Job, mut walk: Walk, tile: &Tile) -> Launch {
    let last = walk.dims.len() - 1;
    walk.dims[tile.axis..last].rotate_left(1);
    for steps in &mut walk.steps {
        steps[tile.axis..last].rotate_left(1);
    }
    let (rows, columns) = (walk.dims[last - 1], walk.dims[last]);
    let outer = &walk.dims[..last - 1];
    let side = tile.side;
    let tiles = [rows.div_ceil(side), columns.div_ceil(side)];
    let blocks = outer.iter().product::<usize>() * tiles[0] * tiles[1];
    let width = scope.width((blocks + 1) * side * side, walk.spans());
    let mut shape = Shape::new(width).count("rows", rows).count("columns", columns);
    if uses_position(job.graph) {
        shape = shape.count("position", walk.offsets[walk.offsets.len() - 1]);
    }
    shape = shape.divisors("tiles", &tiles);
    if !outer.is_empty() {
        shape = shape.divisors("sizes", &outer[1..]);
    }
    shape = shape.steps("steps", walk.steps.iter().map(|steps| &steps[..]));
    let plan = Plan { job, turned: &tile.turned, side, outer: outer.len(), modes: walk.modes(job, 1), width };
    let kernel = scope.planner.kernel(plan.structure(), || plan.spell(&shape));
    let mut given = arguments(job, &walk);
    given.push(shape.argument());
    let block = [side as u32, (THREADS / side) as u32, 1];
    Launch { kernel, grid: [blocks as u32, 1, 1], block, shared: 0, arguments: given }
}

impl Plan<'_> {
    fn structure(&self) -> impl std::hash::Hash + '_ {
        let job = self.job;
        let stores: Vec<_> = job.stores.iter().map(|store| (store.bound.dtype, store.value, store.mask)).collect();
        let inputs: Vec<DType> = job.inputs.iter().map(|input| input.dtype).collect();
        let parameters: Vec<_> = job.parameters.iter().map(|parameter| parameter.ty).collect();
        let access = (self.turned, self.side, self.outer, self.modes_of_bytes(), self.width, sharing(job));
        ("map tile", job.graph, stores, inputs, parameters, access)
    }

    /// Only whether elements are loaded byte by byte matters here.
    fn modes_of_bytes(&self) -> Vec<bool> {
        self.modes.iter().map(|mode| matches!(mode, Mode::Bytes | Mode::OnceBytes)).collect()
    }

    fn spell(&self, shape: &Shape) -> Kernel {
        let job = self.job;
        let mut given = pointers(job);
        given.extend(scalars(job.parameters));
        given.push("const Shape shape".to_owned());
        let body = format!(
            "{index}\n{shape}\n{functions}extern \"C\" __global__ void __launch_bounds__({threads}) @name(\n    {given}) {{\n\
             {place}{turn}{compute}}}\n",
            index = prelude::index(self.width),
            shape = shape.text(),
            functions = functions::definitions([job.graph]),
            threads = THREADS,
            given = given.join(",\n    "),
            place = self.place(),
            turn = self.turn(),
            compute = self.compute(),
        );
        Kernel::new("map_tile", &headline("map in tiles", job), &body)
    }

    fn place(&self) -> String {
        let side = self.side;
        let mut text = format!(
            "  const Index band = shape.tiles[1].quotient(blockIdx.x);\n  \
             const Index column = (blockIdx.x - band * shape.tiles[1].divisor) * {side};\n  \
             [[maybe_unused]] const Index batch = shape.tiles[0].quotient(band);\n  \
             const Index row = (band - batch * shape.tiles[0].divisor) * {side};\n"
        );
        let moved = moved(self.job);
        for (name, _) in &moved {
            text += &format!("  Step {name} = 0;\n");
        }
        text + &shape::walk("  ", "batch", self.outer, "shape.sizes", &moved)
    }

    /// An element's address from its row and column.
    fn address(&self, index: usize, name: &str, row: &str, column: &str) -> String {
        let outer = self.outer;
        let steps = format!("shape.steps[{index}]");
        format!("{name} + {name}_at + Step({row}) * {steps}[{outer}] + Step({column}) * {steps}[{}]", outer + 1)
    }

    /// Loads tiles along the axis in which their inputs are packed.
    fn turn(&self) -> String {
        let (side, rows) = (self.side, THREADS / self.side);
        let (mut tiles, mut body) = (String::new(), String::new());
        for (input, _) in self.turned.iter().enumerate().filter(|(_, turned)| **turned) {
            let index = self.job.stores.len() + input;
            let dtype = self.job.inputs[input].dtype;
            tiles += &format!("  __shared__ {} turned{input}[{side}][{}];\n", memory_type(dtype), side + 1);
            let at = self.address(index, &format!("in{input}"), "row + threadIdx.x", "column + r");
            body += &format!("      turned{input}[r][threadIdx.x] = {};\n", self.modes[index].load_one(dtype, &at));
        }
        format!(
            "{tiles}#pragma unroll\n  for (u32 r = threadIdx.y; r < {side}; r += {rows}) {{\n    \
             if (row + threadIdx.x < shape.rows && column + r < shape.columns) {{\n{body}    }}\n  }}\n  __syncthreads();\n"
        )
    }

    fn compute(&self) -> String {
        let job = self.job;
        let dtypes: Vec<DType> = job.inputs.iter().map(|input| input.dtype).collect();
        let (side, rows) = (self.side, THREADS / self.side);
        let unroll = if weight(job.graph) > 64 { 1 } else { 4 };
        let mut text = format!(
            "#pragma unroll {unroll}\n  for (u32 r = threadIdx.y; r < {side}; r += {rows}) {{\n    \
             if (row + r >= shape.rows || column + threadIdx.x >= shape.columns) continue;\n"
        );
        let address = |index: usize, name: &str| self.address(index, name, "row + r", "column + threadIdx.x");
        for (input, bound) in job.inputs.iter().enumerate() {
            let index = job.stores.len() + input;
            if !is_loaded(job.graph, input) {
                continue;
            }
            let value = if self.turned[input] {
                format!("turned{input}[threadIdx.x][r]")
            } else {
                self.modes[index].load_one(bound.dtype, &address(index, &format!("in{input}")))
            };
            text += &format!("    const {} raw{input} = {value};\n", memory_type(bound.dtype));
        }
        if uses_position(job.graph) {
            let at = address(job.stores.len() + job.inputs.len(), "position").replacen(
                "position",
                "Step(shape.position)",
                1,
            );
            text += &format!("    const i64 position = i64({at});\n");
        }
        text += &loads("    ", job.graph, &dtypes, |input| format!("raw{input}"));
        let spelled = spell(job.graph, "    ");
        text += &spelled.statements;
        for (index, store) in job.stores.iter().enumerate() {
            let value = narrowed(store.bound.dtype, &spelled.register(store.value));
            let at = address(index, &format!("out{index}"));
            let keep = store.mask.map(|mask| format!("if ({}) ", spelled.name(mask))).unwrap_or_default();
            text += &format!("    {keep}{}", self.modes[index].store_one(store.bound.dtype, &at, &value));
        }
        text + "  }\n"
    }
}

/// The pointers' part of a kernel's parameter list.
fn pointers(job: &Job) -> Vec<String> {
    let stores: Vec<&Bound> = job.stores.iter().map(|store| &store.bound).collect();
    let alone = |bound: &Bound, others: usize| stores.iter().filter(|store| store.shares(bound)).count() == others;
    // Loads may move ahead of the stores of the rows before only if no write can change what they read.
    let inputs = job.inputs.iter().enumerate().map(|(index, bound)| {
        let restrict = if alone(bound, 0) { "__restrict__ " } else { "" };
        format!("const char* {restrict}in{index}")
    });
    let outputs = stores.iter().enumerate().map(|(index, bound)| {
        let read = job.inputs.iter().any(|input| input.shares(bound));
        let restrict = if !read && alone(bound, 1) { "__restrict__ " } else { "" };
        format!("char* {restrict}out{index}")
    });
    inputs.chain(outputs).collect()
}

/// What of a job decides on the `__restrict__` of its pointers.
fn sharing(job: &Job) -> SmallVec<[u32; 8]> {
    let stores = || job.stores.iter().map(|store| &store.bound);
    let all = job.inputs.iter().chain(stores());
    all.map(|bound| {
        let reads = job.inputs.iter().filter(|input| input.shares(bound)).count() as u32;
        (reads << 16) | stores().filter(|store| store.shares(bound)).count() as u32
    })
    .collect()
}
