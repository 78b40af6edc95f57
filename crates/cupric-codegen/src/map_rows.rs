//! Maps along the innermost axis: neighbouring threads take neighbouring groups of elements.

use crate::{
    access::Mode,
    bound::{Scope, launch},
    element::{loads, memory_type, narrowed},
    functions,
    kernel::{Argument, Kernel, Launch},
    map::{Gathered, Job, Walk, arguments, headline, is_loaded, moved, scalars, uses_position},
    prelude::{self, Width},
    shape::{self, Shape},
    spell::spell,
};
use cupric_core::DType;
use cupric_ir::{Bounds, Graph, Node};

const THREADS: usize = 256;

/// What the text of a kernel depends on, besides its job.
struct Plan<'a> {
    job: &'a Job<'a>,
    /// Elements of a thread.
    count: usize,
    /// Axes besides the innermost one.
    outer: usize,
    /// Of stores, then of inputs.
    modes: Vec<Mode>,
    width: Width,
}

pub(crate) fn plan(scope: &Scope, job: &Job, walk: &Walk) -> Launch {
    let count = count(job, walk);
    let (inner, outer) = (walk.dims[walk.dims.len() - 1], &walk.dims[..walk.dims.len() - 1]);
    let groups = inner.div_ceil(count);
    let threads = outer.iter().product::<usize>() * groups;
    // The axes that are indexed are none of the walk's.
    let indexed = job.gathered.iter().flat_map(|gathered| &gathered.axes);
    let reach = indexed.flat_map(|&(length, stride)| [length, stride.unsigned_abs()]);
    let width = scope.width((threads + THREADS) * count, walk.spans().chain(reach));
    let plan = Plan { job, count, outer: outer.len(), modes: walk.modes(job, count), width };
    let mut shape = Shape::new(width).count("threads", threads).count("count", inner);
    if uses_position(job.graph) {
        shape = shape.count("position", walk.offsets[walk.offsets.len() - 1]);
    }
    if let Some(gathered) = &job.gathered {
        let (lengths, steps): (Vec<_>, Vec<_>) =
            gathered.axes.iter().map(|&(length, stride)| (length as isize, stride)).unzip();
        shape = shape.steps("lengths", [&lengths[..]]).steps("strides", [&steps[..]]);
    }
    if !outer.is_empty() {
        shape = shape.divisors("groups", &[groups]).divisors("sizes", &outer[1..]);
    }
    shape = shape.steps("steps", walk.steps.iter().map(|steps| &steps[..]));
    let kernel = scope.planner.kernel(plan.structure(), || plan.spell(&shape));
    let mut given = arguments(job, walk);
    if job.gathered.is_some() {
        given.push(Argument::Failure);
    }
    given.push(shape.argument());
    launch(kernel, threads.div_ceil(THREADS), THREADS as u32, given)
}

/// How many elements a thread takes: up to 32 bytes of an operand, as few as the layouts ask for.
fn count(job: &Job, walk: &Walk) -> usize {
    let moving = |steps: &[isize]| steps.iter().any(|&step| step != 0);
    let stores = job.stores.iter().map(|store| &store.bound);
    let bounds = stores.chain(&job.inputs).enumerate();
    let sizes: Vec<usize> = bounds.filter(|(index, _)| moving(&walk.steps[*index])).map(|(_, b)| b.item()).collect();
    let (least, most) = (sizes.iter().min().copied().unwrap_or(16), sizes.iter().max().copied().unwrap_or(16));
    let mut count = (16 / least).min(32 / most).max(1);
    let weight = weight(job.graph);
    let inner = walk.dims[walk.dims.len() - 1];
    let wasteful = |count: usize| walk.dims.len() > 1 && inner.div_ceil(count) * count * 4 > inner * 5;
    // Neighbours that cannot be taken at once are better left to neighbouring threads.
    let scattered = |count: usize| {
        let bounds = job.stores.iter().map(|store| &store.bound).chain(&job.inputs);
        walk.modes(job, count).iter().zip(bounds).enumerate().any(|(index, (mode, bound))| {
            walk.steps[index].last() == Some(&(bound.item() as isize)) && *mode != Mode::Vector
        })
    };
    while count > 1 && (count * weight > 1024 || wasteful(count) || scattered(count)) {
        count /= 2;
    }
    count
}

/// About how many instructions a program has; named functions count as many.
pub(crate) fn weight(graph: &Graph) -> usize {
    graph.nodes().iter().map(|(node, _)| if matches!(node, Node::Call { .. }) { 48 } else { 1 }).sum()
}

impl Plan<'_> {
    fn structure(&self) -> impl std::hash::Hash + '_ {
        let job = self.job;
        let stores: Vec<_> = job.stores.iter().map(|store| (store.bound.dtype, store.value, store.mask)).collect();
        let inputs: Vec<DType> = job.inputs.iter().map(|input| input.dtype).collect();
        let parameters: Vec<_> = job.parameters.iter().map(|parameter| parameter.ty).collect();
        let gathered = job.gathered.as_ref().map(|gathered| gathered.bounds);
        let access = (self.count, self.outer, &self.modes, self.width);
        ("map rows", job.graph, stores, inputs, parameters, gathered, access)
    }

    fn spell(&self, shape: &Shape) -> Kernel {
        let job = self.job;
        let inputs = (0..job.inputs.len()).map(|index| format!("const char* in{index}"));
        let outputs = (0..job.stores.len()).map(|index| format!("char* out{index}"));
        let mut given: Vec<String> = inputs.chain(outputs).collect();
        given.extend(scalars(job.parameters));
        if job.gathered.is_some() {
            given.push("u64* failure".to_owned());
        }
        given.push("const Shape shape".to_owned());
        let body = format!(
            "{index}\n{shape}\n{functions}extern \"C\" __global__ void __launch_bounds__({THREADS}) @name(\n    {given}) {{\n\
             {place}{loads}{compute}{stores}}}\n",
            index = prelude::index(self.width),
            shape = shape.text(),
            functions = functions::definitions([job.graph]),
            given = given.join(",\n    "),
            place = self.place(),
            loads = self.loads(),
            compute = self.compute(),
            stores = self.stores(),
        );
        let kind = if job.gathered.is_some() { "take" } else { "map" };
        Kernel::new(kind, &headline(kind, job), &body)
    }

    /// Where the thread's elements are.
    fn place(&self) -> String {
        let count = self.count;
        let mut text = format!(
            "  const Index thread = Index(blockIdx.x) * {THREADS} + threadIdx.x;\n  if (thread >= shape.threads) return;\n"
        );
        if self.outer == 0 {
            text += &format!("  const Index first = thread * {count};\n");
        } else {
            text += "  const Index row = shape.groups[0].quotient(thread);\n";
            text += &format!("  const Index first = (thread - row * shape.groups[0].divisor) * {count};\n");
            let moved = moved(self.job);
            for (name, _) in &moved {
                text += &format!("  Step {name} = 0;\n");
            }
            text += &shape::walk("  ", "row", self.outer, "shape.sizes", &moved);
        }
        let left = "shape.count - first";
        match count {
            1 => text + "  [[maybe_unused]] constexpr int present = 1;\n",
            _ => text + &format!("  const int present = {left} < {count} ? int({left}) : {count};\n"),
        }
    }

    /// The address of an operand's first element for the thread, and the step to the next one.
    fn address(&self, row: usize, name: &str) -> (String, String) {
        let step = format!("shape.steps[{row}][{}]", self.outer);
        let base = if self.outer == 0 { name.to_owned() } else { format!("{name} + {name}_at") };
        let at = match self.modes[row] {
            Mode::Vector => format!("{base} + Step(first) * {}", self.dtype(row).size()),
            Mode::Each | Mode::Bytes => format!("{base} + Step(first) * {step}"),
            Mode::Once | Mode::OnceBytes => base,
        };
        (at, step)
    }

    fn dtype(&self, row: usize) -> DType {
        match self.job.stores.get(row) {
            Some(store) => store.bound.dtype,
            None => self.job.inputs[row - self.job.stores.len()].dtype,
        }
    }

    /// Loads everything before anything is stored, with one branch for a thread whose elements end early.
    fn loads(&self) -> String {
        let needed = |&index: &usize| match self.job.gathered {
            Some(_) => index > 0,
            None => is_loaded(self.job.graph, index),
        };
        let inputs = (0..self.job.inputs.len()).filter(needed);
        let modes = &self.modes[self.job.stores.len()..];
        let mut text: String = inputs
            .clone()
            .map(|index| {
                let (ty, held) = (memory_type(self.job.inputs[index].dtype), modes[index].held(self.count));
                format!("  Pack<{ty}, {held}> raw{index};\n")
            })
            .collect();
        let load = |part: Part, indent: &str| -> String {
            inputs.clone().map(|index| format!("{indent}raw{index} = {};\n", self.load(index, part))).collect()
        };
        text += &match inputs.clone().any(|index: usize| modes[index].held(self.count) > 1) {
            true => self.branch(&load),
            false => load(Part::Whole, "  "),
        };
        if let Some(gathered) = &self.job.gathered {
            text += &self.gather(gathered);
        }
        text
    }

    fn branch(&self, act: &dyn Fn(Part, &str) -> String) -> String {
        let (whole, part) = (act(Part::Whole, "    "), act(Part::Part, "    "));
        format!("  if (present == {}) {{\n{whole}  }} else {{\n{part}  }}\n", self.count)
    }

    fn load(&self, index: usize, part: Part) -> String {
        let row = self.job.stores.len() + index;
        let (mode, dtype, count) = (self.modes[row], self.dtype(row), self.count);
        let (at, step) = self.address(row, &format!("in{index}"));
        match (part, mode) {
            (Part::Part, Mode::Vector) => Mode::Each.load(dtype, count, &at, &dtype.size().to_string(), "present"),
            (Part::Part, _) => mode.load(dtype, count, &at, &step, "present"),
            (Part::Whole, _) => mode.load(dtype, count, &at, &step, &count.to_string()),
        }
    }

    /// Loads the source through its indices: at once where they are the same for all of the thread's elements.
    fn gather(&self, gathered: &Gathered) -> String {
        let source = self.job.stores.len();
        let (mode, dtype) = (self.modes[source], self.dtype(source));
        let (at, step) = self.address(source, "in0");
        let pack = format!("Pack<{}, {}>", memory_type(dtype), mode.held(self.count));
        let once = self.modes[source + 1..].iter().all(|mode| mode.held(2) == 1);
        if once {
            let (found, load) = (
                self.find(gathered, "  ", "0"),
                mode.load(dtype, self.count, &format!("{at} + jump"), &step, "present"),
            );
            return format!("  bool found = true;\n{found}  {pack} raw0{{}};\n  if (found) raw0 = {load};\n");
        }
        let held = format!("Pack<{}, {}>", memory_type(dtype), self.count);
        let at = match mode {
            Mode::Once | Mode::OnceBytes => at,
            Mode::Vector => format!("{at} + j * {}", dtype.size()),
            _ => format!("{at} + j * {step}"),
        };
        let load = mode.load_one(dtype, &format!("{at} + jump"));
        format!(
            "  {held} raw0{{}};\n#pragma unroll\n  for (int j = 0; j < {}; ++j) {{\n    bool found = j < present;\n{}    \
             if (found) raw0.item[j] = {load};\n  }}\n",
            self.count,
            self.find(gathered, "    ", "j"),
        )
    }

    /// Statements that turn indices into the bytes to jump.
    fn find(&self, gathered: &Gathered, indent: &str, item: &str) -> String {
        let bounds = bounds_name(gathered.bounds);
        let mut text = format!("{indent}i64 jump = 0;\n");
        for axis in 0..gathered.axes.len() {
            let held = self.modes[self.job.stores.len() + 1 + axis].held(self.count);
            let item = if held == 1 { "0" } else { item };
            text += &format!("{indent}i64 index{axis} = i64(raw{}.item[{item}]);\n", axis + 1);
            text += &format!(
                "{indent}found = found && resolve<{bounds}>(index{axis}, shape.lengths[0][{axis}], {axis}, failure);\n"
            );
            text += &format!("{indent}jump += index{axis} * shape.strides[0][{axis}];\n");
        }
        text
    }

    fn compute(&self) -> String {
        let (job, count) = (self.job, self.count);
        let dtypes: Vec<DType> = job.inputs.iter().map(|input| input.dtype).collect();
        let mut text = String::new();
        for (index, store) in job.stores.iter().enumerate() {
            text += &format!("  Pack<{}, {count}> result{index};\n", memory_type(store.bound.dtype));
            if store.mask.is_some() {
                text += &format!("  bool keep{index}[{count}];\n");
            }
        }
        text += &format!("#pragma unroll\n  for (int j = 0; j < {count}; ++j) {{\n");
        if uses_position(job.graph) {
            let row = job.stores.len() + job.inputs.len();
            let at = if self.outer == 0 { String::new() } else { "Index(position_at) + ".to_owned() };
            let step = format!("Index(shape.steps[{row}][{}])", self.outer);
            text += &format!("    const i64 position = i64({at}shape.position + (first + j) * {step});\n");
        }
        text += &loads("    ", job.graph, &dtypes, |input| {
            let held = match job.gathered {
                Some(_) if !self.gathers_once() => count,
                _ => self.modes[job.stores.len() + input].held(count),
            };
            format!("raw{input}.item[{}]", if held == 1 { "0" } else { "j" })
        });
        let spelled = spell(job.graph, "    ");
        text += &spelled.statements;
        for (index, store) in job.stores.iter().enumerate() {
            let value = narrowed(store.bound.dtype, &spelled.register(store.value));
            text += &format!("    result{index}.item[j] = {value};\n");
            if let Some(mask) = store.mask {
                text += &format!("    keep{index}[j] = {};\n", spelled.name(mask));
            }
        }
        text + "  }\n"
    }

    fn gathers_once(&self) -> bool {
        self.modes[self.job.stores.len() + 1..].iter().all(|mode| mode.held(2) == 1)
    }

    fn stores(&self) -> String {
        let store = |part: Part, indent: &str| -> String {
            (0..self.job.stores.len()).map(|index| format!("{indent}{}", self.store(index, part))).collect()
        };
        if self.count == 1 { store(Part::Whole, "  ") } else { self.branch(&store) }
    }

    fn store(&self, index: usize, part: Part) -> String {
        let (store, mode) = (&self.job.stores[index], self.modes[index]);
        let (at, step) = self.address(index, &format!("out{index}"));
        let keep = store.mask.map(|_| format!("keep{index}"));
        let (mode, step) = match (part, mode) {
            (Part::Part, Mode::Vector) => (Mode::Each, store.bound.item().to_string()),
            _ => (mode, step),
        };
        let present = if part == Part::Whole { self.count.to_string() } else { "present".to_owned() };
        let pack = format!("result{index}");
        mode.store(store.bound.dtype, self.count, (&at, &step), &pack, keep.as_deref(), &present)
    }
}

/// Whether a thread has all of its elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Whole,
    Part,
}

/// The name in kernels.
pub(crate) const fn bounds_name(bounds: Bounds) -> &'static str {
    match bounds {
        Bounds::Raise => "Bounds::Raise",
        Bounds::Wrap => "Bounds::Wrap",
        Bounds::Clip => "Bounds::Clip",
    }
}
