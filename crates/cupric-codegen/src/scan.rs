//! Scans: the prefixes of chunks, then the scanned totals of the chunks before.
//!
//! The association is fixed. A chunk of 1024 elements is 256 groups of 4. A group is scanned from left to right. Group
//! totals are scanned in segments of 32 groups by distances 1, 2, 4, 8, 16: `t[g] = combine(t[g - d], t[g])`. The 8 segment
//! totals are scanned from left to right. An element's prefix within the chunk is
//! `combine(combine(segments before, groups before), prefix in the group)`; parts that do not exist are left out. The
//! totals of chunks are scanned by the same rule, and a result is `combine(chunks before, prefix within the chunk)`.

use crate::{
    access::{Mode, Reuse, mode},
    bound::{Bound, Scope},
    element::{memory_type, narrowed},
    kernel::{Argument, Kernel, Program},
    prelude::{self, Width},
    shape::{self, Shape},
    source::{Source, arguments, load_states, scratch},
    spell::spell,
};
use cupric_core::{DType, Dims, Result, Strides, coalesce};
use cupric_ir::{Builder, CompiledFold, Component, Graph, Id, Node, Register, Scan, Ty, convert};
use smallvec::SmallVec;

const CHUNK: usize = 1024;
/// As many elements as a warp scans alone.
const SEGMENT: usize = 128;

/// Plans a scan.
pub(crate) fn plan(scope: &Scope, scan: &Scan) -> Result<Program> {
    let mut program = Program::default();
    let (Some((&count, rows)), false) = (scan.shape.split_last(), scan.shape.contains(&0)) else {
        return Ok(program);
    };
    let (graph, element) = load(&scan.fold, scan.input.dtype);
    let (finish, value) = unload(&scan.fold, scan.output.dtype);
    let pass = Pass {
        rows: rows.into(),
        count,
        graph: &graph,
        element: &element,
        inputs: vec![scope.read(0)],
        fold: &scan.fold,
        finish: &finish,
        outputs: vec![(scope.write(0), value)],
        layouts: Layouts::Any,
    };
    pass.simplified(scope, &mut program);
    Ok(program)
}

/// A program that loads an element and converts it to the fold's accumulator.
pub(crate) fn load(fold: &CompiledFold, dtype: DType) -> (Graph, Vec<Id>) {
    let mut builder = Builder::default();
    let mut part = |component| builder.node(Node::Load { input: 0, component }, Ty::of(dtype));
    let real = part(Component::Real);
    let imaginary = dtype.is_complex().then(|| part(Component::Imaginary));
    let value = convert(&mut builder, Register { real, imaginary }, dtype, fold.accumulator);
    let mut ids: Vec<Id> = std::iter::once(value.real).chain(value.imaginary).collect();
    (builder.finish(&mut ids), ids)
}

/// A program that makes an element of a state.
pub(crate) fn unload(fold: &CompiledFold, dtype: DType) -> (Graph, Register) {
    let mut builder = Builder::default();
    let mut part = |index: u16| builder.node(Node::Argument(index), fold.state[usize::from(index)]);
    let real = part(0);
    let imaginary = fold.accumulator.is_complex().then(|| part(1));
    // A half is rounded as it is stored.
    let same = Ty::of(dtype) == fold.state[0] && dtype.is_complex() == imaginary.is_some();
    let from = if same { dtype } else { fold.accumulator };
    let value = convert(&mut builder, Register { real, imaginary }, from, dtype);
    let mut ids: Vec<Id> = std::iter::once(value.real).chain(value.imaginary).collect();
    let graph = builder.finish(&mut ids);
    (graph, Register { real: ids[0], imaginary: value.imaginary.map(|_| ids[1]) })
}

/// Scans packed states where they lie, with kernels that do not depend on the rows' layout.
pub(crate) fn states(
    scope: &Scope,
    fold: &CompiledFold,
    states: &[Bound],
    rows: usize,
    count: usize,
    program: &mut Program,
) {
    in_place(scope, fold, states, [rows, count], Layouts::Packed, program);
}

fn in_place(
    scope: &Scope,
    fold: &CompiledFold,
    states: &[Bound],
    [rows, count]: [usize; 2],
    layouts: Layouts,
    program: &mut Program,
) {
    let (graph, element) = load_states(fold);
    let mut builder = Builder::default();
    let arguments = fold.state.iter().enumerate();
    let mut ids: Vec<Id> = arguments.map(|(index, &ty)| builder.node(Node::Argument(index as u16), ty)).collect();
    let finish = builder.finish(&mut ids);
    let registers = ids.iter().map(|&real| Register { real, imaginary: None });
    let states: Vec<Bound> = states.iter().map(|state| crate::stepwise::over(state, &[rows, count])).collect();
    let pass = Pass {
        rows: Dims::from_elem(rows, 1),
        count,
        graph: &graph,
        element: &element,
        inputs: states.clone(),
        fold,
        finish: &finish,
        outputs: states.into_iter().zip(registers).collect(),
        layouts,
    };
    match layouts {
        Layouts::Any => pass.simplified(scope, program),
        Layouts::Packed => pass.plan(scope, program),
    }
}

/// A scan over elements, or over the totals of chunks.
struct Pass<'a> {
    rows: Dims,
    count: usize,
    graph: &'a Graph,
    element: &'a [Id],
    /// Over the rows and then the scanned axis, as the outputs are.
    inputs: Vec<Bound>,
    fold: &'a CompiledFold,
    finish: &'a Graph,
    outputs: Vec<(Bound, Register)>,
    layouts: Layouts,
}

/// Which layouts kernels are made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layouts {
    /// Those of the operands.
    Any,
    /// Packed states with one axis of rows: few kernels serve all.
    Packed,
}

/// What a kernel of a scan leaves behind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Goal {
    /// The totals of chunks.
    Totals,
    /// The results of rows of one chunk.
    Rows,
    /// The results of rows of at most 128 elements.
    ShortRows,
    /// The results, from the scanned totals.
    Carried,
}

impl Pass<'_> {
    fn simplified(mut self, scope: &Scope, program: &mut Program) {
        self.simplify();
        self.plan(scope, program);
    }

    fn plan(self, scope: &Scope, program: &mut Program) {
        let rows: usize = self.rows.iter().product();
        let chunks = self.count.div_ceil(CHUNK);
        if chunks == 1 {
            let short = self.count <= SEGMENT && self.layouts == Layouts::Any;
            let goal = if short { Goal::ShortRows } else { Goal::Rows };
            self.launch(scope, goal, &[], program);
            return;
        }
        let (totals, end) = scratch(self.fold, program.workspace, &[rows, chunks]);
        program.workspace = end;
        self.launch(scope, Goal::Totals, &totals, program);
        self.scan_totals(scope, rows, chunks, &totals, program);
        self.launch(scope, Goal::Carried, &totals, program);
    }

    /// Scans the totals where they lie.
    fn scan_totals(&self, scope: &Scope, rows: usize, chunks: usize, totals: &[Bound], program: &mut Program) {
        in_place(scope, self.fold, totals, [rows, chunks], self.layouts, program);
    }

    fn simplify(&mut self) {
        let split = self.rows.len();
        let bounds = self.inputs.iter().chain(self.outputs.iter().map(|(bound, _)| bound));
        let all: Vec<Strides> = bounds.map(|bound| bound.layout.strides.clone()).collect();
        let heads: SmallVec<[&[isize]; 4]> = all.iter().map(|strides| &strides[..split]).collect();
        let (rows, steps) = coalesce(&self.rows, &heads);
        let tails = all.iter().map(|strides| strides[split]);
        let bounds = self.inputs.iter_mut().chain(self.outputs.iter_mut().map(|(bound, _)| bound));
        for ((bound, steps), tail) in bounds.zip(steps).zip(tails) {
            // The step along an axis of one element may be anything.
            let tail = if self.count == 1 { bound.dtype.size() as isize } else { tail };
            bound.layout.strides = steps.into_iter().chain([tail]).collect::<Strides>();
            bound.layout.shape = rows.iter().copied().chain([self.count]).collect();
        }
        self.rows = rows;
    }

    fn launch(&self, scope: &Scope, goal: Goal, totals: &[Bound], program: &mut Program) {
        let split = self.rows.len();
        let rows: usize = self.rows.iter().product();
        let chunks = self.count.div_ceil(CHUNK);
        let bounds: Vec<&Bound> = self.inputs.iter().chain(self.outputs.iter().map(|(bound, _)| bound)).collect();
        let spans = bounds.iter().map(|bound| bound.span()).chain([rows * chunks * 8]);
        let width = scope.width((rows + 8).saturating_mul(32).max(self.count + CHUNK), spans);
        let mut shape = Shape::new(width).count("rows", rows).count("count", self.count).divisors("chunks", &[chunks]);
        if split > 1 {
            shape = shape.divisors("sizes", &self.rows[1..]);
        }
        shape = shape.steps("steps", bounds.iter().map(|bound| &bound.layout.strides[..split]));
        shape = shape.steps("reduced", bounds.iter().map(|bound| &bound.layout.strides[split..]));
        let modes = |bound: &Bound, reuse| match self.layouts {
            Layouts::Any => mode(bound, &bound.layout.strides, bound.layout.offset, 4, reuse),
            Layouts::Packed => Mode::Each,
        };
        let spelling = Spelling {
            source: Source {
                graph: self.graph,
                element: self.element,
                parameters: &[],
                fold: self.fold,
                dtypes: self.inputs.iter().map(|input| input.dtype).collect(),
                modes: self.inputs.iter().map(|input| modes(input, Reuse::Allowed)).collect(),
                axes: 1,
            },
            goal,
            finish: self.finish,
            outputs: self
                .outputs
                .iter()
                .map(|(bound, value)| (bound.dtype, modes(bound, Reuse::Forbidden), *value))
                .collect(),
            rows: split,
            width,
        };
        let kernel = scope.planner.kernel(spelling.structure(), || spelling.spell(&shape));
        let mut given: Vec<Argument> = self.inputs.iter().map(Bound::argument).collect();
        if goal != Goal::Totals {
            given.extend(self.outputs.iter().map(|(bound, _)| bound.argument()));
        }
        given.extend(totals.iter().map(Bound::argument));
        given.push(shape.argument());
        let blocks = if goal == Goal::ShortRows { rows.div_ceil(8) } else { rows * chunks };
        program.launches.push(crate::bound::launch(kernel, blocks, 256, given));
    }
}

/// What the text of a kernel depends on.
struct Spelling<'a> {
    source: Source<'a>,
    goal: Goal,
    finish: &'a Graph,
    outputs: Vec<(DType, Mode, Register)>,
    rows: usize,
    width: Width,
}

impl Spelling<'_> {
    fn structure(&self) -> impl std::hash::Hash + '_ {
        ("scan", self.source.structure(), self.goal, self.finish, &self.outputs, self.rows, self.width)
    }

    fn spell(&self, shape: &Shape) -> Kernel {
        let fold = self.source.fold;
        let results =
            (0..self.outputs.len()).filter(|_| self.goal != Goal::Totals).map(|index| format!("char* out{index}"));
        let totals = match self.goal {
            Goal::Totals => "char* total",
            Goal::Carried => "const char* total",
            _ => "",
        };
        let totals = (0..fold.state.len()).filter(|_| !totals.is_empty()).map(|index| format!("{totals}{index}"));
        let given: Vec<String> = self
            .source
            .given()
            .into_iter()
            .chain(results)
            .chain(totals)
            .chain(["const Shape shape".to_owned()])
            .collect();
        let body = format!(
            "{index}\n{shape}\n{source}{algorithm}\nextern \"C\" __global__ void __launch_bounds__(256) @name(\n    {given}) \
             {{\n{place}{work}}}\n",
            index = prelude::index(self.width),
            shape = shape.text(),
            source = self.source.text(),
            algorithm = prelude::SCAN,
            given = given.join(",\n    "),
            place = self.place(),
            work = match self.goal {
                Goal::Totals => self.totals(),
                Goal::Carried => self.carried() + &self.results(),
                _ => self.results(),
            },
        );
        let goal = match self.goal {
            Goal::Totals => "totals",
            Goal::Rows => "rows",
            Goal::ShortRows => "short rows",
            Goal::Carried => "carried",
        };
        let headline = format!("scan {} {}, {goal}", fold.fold.name, fold.accumulator.name());
        Kernel::new(&format!("scan_{}", fold.fold.name), &headline, &body)
    }

    /// Finds the row and the chunk, and scans it.
    fn place(&self) -> String {
        let mut text = match self.goal {
            Goal::ShortRows => String::from(
                "  const Index asked = Index(blockIdx.x) * 8 + threadIdx.x / 32;\n  \
                 const bool active = asked < shape.rows;\n  [[maybe_unused]] const Index row = active ? asked : 0;\n  \
                 const u32 group = threadIdx.x % 32;\n  const Index begin = 0;\n  const u32 length = u32(shape.count);\n",
            ),
            goal => format!(
                "  const Index unit = {};\n  [[maybe_unused]] const Index row = shape.chunks[0].quotient(unit);\n  \
                 const Index begin = (unit - row * shape.chunks[0].divisor) * 1024;\n  const u32 group = threadIdx.x;\n  \
                 const u32 length = shape.count - begin < 1024 ? u32(shape.count - begin) : 1024;\n",
                // From the end: what was read last for the totals is still near.
                if goal == Goal::Carried {
                    "shape.rows * shape.chunks[0].divisor - 1 - blockIdx.x"
                } else {
                    "blockIdx.x"
                },
            ),
        };
        let mut moved = self.source.moved();
        if self.goal != Goal::Totals {
            let inputs = self.source.dtypes.len();
            let outputs = (0..self.outputs.len())
                .map(|index| (format!("out{index}_at"), format!("shape.steps[{}]", inputs + index)));
            moved.extend(outputs);
        }
        text += &moved.iter().map(|(name, _)| format!("  Step {name} = 0;\n")).collect::<String>();
        text += &shape::walk("  ", "row", self.rows, "shape.sizes", &moved);
        text += "  State prefix[4] = {};\n";
        let source = self.source.make();
        text + &match self.goal {
            Goal::ShortRows => format!("  scan_row({source}, length, prefix);\n  if (!active) return;\n"),
            Goal::Totals => format!("  const State total = scan_chunk({source}, begin, length, prefix);\n"),
            _ => format!("  scan_chunk({source}, begin, length, prefix);\n"),
        }
    }

    /// Stores the prefix of the chunk's last element.
    fn totals(&self) -> String {
        let mut text = String::from("  if (group != (length - 1) / 4) return;\n");
        for (index, ty) in self.source.fold.state.iter().enumerate() {
            let value = narrowed(ty.dtype(), &(format!("total.s{index}"), None));
            let at = format!("total{index} + Step(unit) * {}", ty.size());
            text += &format!("  store<{}>({at}, {value});\n", memory_type(ty.dtype()));
        }
        text
    }

    /// Puts the scanned totals of the chunks before in front.
    fn carried(&self) -> String {
        let loads = self.source.fold.state.iter().enumerate().map(|(index, ty)| {
            let at = format!("total{index} + Step(unit - 1) * {}", ty.size());
            let memory = format!("load<{}>({at})", memory_type(ty.dtype()));
            crate::element::widened(ty.dtype(), &memory).0
        });
        format!(
            "  if (begin > 0) {{\n    const State carry{{{}}};\n#pragma unroll\n    for (int j = 0; j < 4; ++j) prefix[j] = \
             combine(carry, prefix[j]);\n  }}\n",
            loads.collect::<Vec<_>>().join(", ")
        )
    }

    fn results(&self) -> String {
        let mut text = String::from(
            "  if (4 * group >= length) return;\n  const int present = length - 4 * group < 4 ? int(length - 4 * group) : 4;\n",
        );
        for (index, (dtype, ..)) in self.outputs.iter().enumerate() {
            text += &format!("  Pack<{}, 4> result{index};\n", memory_type(*dtype));
        }
        text += "#pragma unroll\n  for (int j = 0; j < 4; ++j) {\n";
        text += &arguments(self.finish, |index| format!("prefix[j].s{index}")).replace("  const", "    const");
        let spelled = spell(self.finish, "    ");
        text += &spelled.statements;
        for (index, (dtype, _, value)) in self.outputs.iter().enumerate() {
            text += &format!("    result{index}.item[j] = {};\n", narrowed(*dtype, &spelled.register(*value)));
        }
        text += "  }\n  const Index first = begin + 4 * group;\n";
        for (index, (dtype, mode, _)) in self.outputs.iter().enumerate() {
            let step = format!("shape.reduced[{}][0]", self.source.dtypes.len() + index);
            let each = if *mode == Mode::Vector { dtype.size().to_string() } else { step.clone() };
            let at = format!("out{index} + out{index}_at + Step(first) * {each}");
            text += "  ";
            text += &mode.store(*dtype, 4, (&at, &step), &format!("result{index}"), None, "present");
        }
        text
    }
}
