//! Reductions: every plan combines in the order that `cupric_ir::LANES` and `cupric_ir::CHUNK` state.

use crate::{
    access::{Mode, Reuse, mode},
    bound::{Bound, Scope, scalar},
    element::{memory_type, narrowed},
    functions,
    kernel::{Argument, Kernel, Launch, Program},
    prelude::{self, Width},
    shape::{self, Shape},
    source::{Source, arguments, load_states, scratch},
    spell::{literal, spell},
};
use cupric_core::{DType, Dims, Error, Layout, Result, Strides, coalesce, sort_axes};
use cupric_ir::{CHUNK, CompiledFold, Finish, Graph, Id, Parameter, Reduce};
use smallvec::SmallVec;

/// Partial results that a block keeps in shared memory.
const KEPT_IN_BLOCK: usize = 1024;
/// Fewer columns than this are read row by row.
const LEAST_COLUMNS: usize = 16;

/// Plans a reduction.
pub(crate) fn plan(scope: &Scope, reduce: &Reduce) -> Result<Program> {
    let output = scope.write(0);
    if output.layout.is_empty() {
        return Ok(Program::default());
    }
    if reduce.reduced.contains(&0) && reduce.fold.identity.is_none() {
        return Err(Error::ReductionOfEmpty { operation: reduce.fold.fold.ufunc.into() });
    }
    let stage = Stage {
        kept: reduce.kept.clone(),
        reduced: reduce.reduced.clone(),
        graph: &reduce.graph,
        inputs: (0..reduce.inputs.len()).map(|index| scope.read(index)).collect(),
        parameters: &reduce.parameters,
        element: &reduce.element,
        fold: &reduce.fold,
        finish: &reduce.finish,
        output,
        layouts: Layouts::Any,
    };
    let mut program = Program::default();
    stage.plan(scope, &mut program);
    Ok(program)
}

/// Reduces packed elements, register by register, to packed states; the kernels depend on the fold alone.
pub(crate) fn states(
    scope: &Scope,
    reduce: &Reduce,
    elements: &[Bound],
    rows: usize,
    count: usize,
    program: &mut Program,
) -> Vec<Bound> {
    let (graph, element) = load_states(&reduce.fold);
    let (mut inputs, mut count) = (elements.to_vec(), count);
    loop {
        let chunks = count.div_ceil(CHUNK);
        let (partials, end) = scratch(&reduce.fold, program.workspace, &[rows, chunks]);
        program.workspace = end;
        let stage = Stage {
            kept: Dims::from_elem(rows, 1),
            reduced: Dims::from_elem(count, 1),
            graph: &graph,
            inputs: inputs.iter().map(|input| crate::stepwise::over(input, &[rows, count])).collect(),
            parameters: &[],
            element: &element,
            fold: &reduce.fold,
            finish: &reduce.finish,
            output: crate::stepwise::over(&partials[0], &[rows]),
            layouts: Layouts::Packed,
        };
        stage.launch(scope, Form::Row { width: 32 }, &Target::Partials(partials.clone()), program);
        if chunks == 1 {
            return partials.iter().map(|partial| crate::stepwise::over(partial, &[rows])).collect();
        }
        (inputs, count) = (partials, chunks);
    }
}

/// Which layouts kernels are made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layouts {
    /// Those of the operands.
    Any,
    /// Packed states: one kernel serves all.
    Packed,
}

/// A pass over elements, or over the partial results of an earlier pass.
struct Stage<'a> {
    kept: Dims,
    reduced: Dims,
    graph: &'a Graph,
    /// Over the kept axes and then the reduced ones.
    inputs: Vec<Bound>,
    parameters: &'a [Parameter],
    element: &'a [Id],
    fold: &'a CompiledFold,
    finish: &'a Finish,
    /// Over the kept axes.
    output: Bound,
    layouts: Layouts,
}

/// Which threads take which elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Form {
    /// A group of `width` threads takes a chunk of a row.
    Row { width: u32 },
    /// A block takes a row.
    Block { threads: u32 },
    /// A thread takes `height`th elements of a column, neighbouring threads neighbouring columns.
    Column { height: u32 },
    /// There are no elements.
    Identity,
}

/// Where the results of a pass go.
enum Target {
    /// To the reduction's output.
    Finish,
    /// To the workspace: for each register an array over kept elements and chunks.
    Partials(Vec<Bound>),
}

impl<'a> Stage<'a> {
    fn plan(mut self, scope: &Scope, program: &mut Program) {
        self.simplify();
        let rows: usize = self.kept.iter().product();
        let count: usize = self.reduced.iter().product();
        let chunks = count.div_ceil(CHUNK);
        let form = self.form(scope, rows, count);
        let whole = chunks <= 1 || matches!(form, Form::Block { .. });
        if whole {
            self.launch(scope, form, &Target::Finish, program);
            return;
        }
        let column = matches!(form, Form::Column { .. });
        let shape = if column { [chunks, rows] } else { [rows, chunks] };
        let (partials, end) = scratch(self.fold, program.workspace, &shape);
        program.workspace = end;
        self.launch(scope, form, &Target::Partials(partials.clone()), program);
        self.next(partials, column, chunks).plan_with(scope, program);
    }

    /// Sorts and merges axes where that changes nothing but the order in which memory is read.
    fn simplify(&mut self) {
        let split = self.kept.len();
        let kept = |layout: &Layout| Strides::from_slice(&layout.strides[..split]);
        let all: Vec<Strides> =
            self.inputs.iter().map(|input| kept(&input.layout)).chain([self.output.layout.strides.clone()]).collect();
        let views: SmallVec<[&[isize]; 8]> = all.iter().map(|strides| &strides[..]).collect();
        let axes = sort_axes(&self.kept, &views);
        let pick = |strides: &Strides| -> Strides { axes.iter().map(|&axis| strides[axis]).collect() };
        let sorted: Vec<Strides> = all.iter().map(pick).collect();
        let sizes: Dims = axes.iter().map(|&axis| self.kept[axis]).collect();
        let views: SmallVec<[&[isize]; 8]> = sorted.iter().map(|strides| &strides[..]).collect();
        let (kept_dims, kept_steps) = coalesce(&sizes, &views);
        let tails: Vec<&[isize]> = self.inputs.iter().map(|input| &input.layout.strides[split..]).collect();
        let (mut dims, steps) = coalesce(&self.reduced, &tails);
        let mut steps = steps.to_vec();
        if dims.is_empty() {
            dims.push(1);
            steps.iter_mut().zip(&self.inputs).for_each(|(steps, input)| steps.push(input.item() as isize));
        }
        for (index, input) in self.inputs.iter_mut().enumerate() {
            input.layout.shape = kept_dims.iter().chain(&dims).copied().collect();
            input.layout.strides = kept_steps[index].iter().chain(&steps[index]).copied().collect();
        }
        self.output.layout.shape = kept_dims.clone();
        self.output.layout.strides = kept_steps[self.inputs.len()].clone();
        (self.kept, self.reduced) = (kept_dims, dims);
    }

    fn form(&self, scope: &Scope, rows: usize, count: usize) -> Form {
        if count == 0 {
            return Form::Identity;
        }
        let chunks = count.div_ceil(CHUNK);
        let threads = |most: usize| count.div_ceil(4).next_power_of_two().min(most) as u32;
        if self.reads_columns() {
            return Form::Column { height: threads(32) };
        }
        if chunks == 1 {
            return Form::Row { width: threads(32) };
        }
        // As many as keep all multiprocessors busy, each with a few warps for its chunks.
        let processors = scope.planner.limits().sm_count as usize;
        let many = rows >= if chunks <= 16 { processors } else { 8 * processors };
        match chunks {
            // Few warps each: rows of a few chunks leave none idle.
            ..=KEPT_IN_BLOCK if many => Form::Block { threads: 128 },
            ..=64 => Form::Block { threads: 1024 },
            _ => Form::Row { width: 32 },
        }
    }

    /// Whether neighbours in memory belong to different results.
    fn reads_columns(&self) -> bool {
        let split = self.kept.len();
        let moving = self.inputs.iter().find(|input| input.layout.strides.iter().any(|&stride| stride != 0));
        let (Some(input), Some(&columns)) = (moving, self.kept.last()) else { return false };
        let across = input.layout.strides[split - 1].unsigned_abs();
        let along = input.layout.strides[input.layout.ndim() - 1].unsigned_abs();
        columns >= LEAST_COLUMNS && across != 0 && across < along
    }

    /// The pass over the partial results of this one.
    fn next(self, mut partials: Vec<Bound>, column: bool, chunks: usize) -> Next<'a> {
        let rows: usize = self.kept.iter().product();
        for partial in &mut partials {
            let item = partial.item() as isize;
            let (row, chunk) = if column { (item, item * rows as isize) } else { (item * chunks as isize, item) };
            let kept = Layout::row_major(&self.kept, 1).strides.into_iter().map(|step| step * row);
            partial.layout.strides = kept.chain([chunk]).collect();
            partial.layout.shape = self.kept.iter().copied().chain([chunks]).collect();
        }
        Next { kept: self.kept, chunks, partials, fold: self.fold, finish: self.finish, output: self.output }
    }

    fn source(&self, form: Form) -> Source<'_> {
        let split = self.kept.len();
        let modes = self.inputs.iter().map(|input| {
            let steps = &input.layout.strides;
            let packed = mode(input, steps, input.layout.offset, 4, Reuse::Allowed);
            match (packed, form) {
                _ if self.layouts == Layouts::Packed => Mode::Each,
                (Mode::Bytes | Mode::OnceBytes, _) => Mode::Bytes,
                (Mode::Vector | Mode::Once, Form::Row { .. } | Form::Block { .. }) if self.reduced.len() == 1 => packed,
                _ => Mode::Each,
            }
        });
        debug_assert!(self.inputs.iter().all(|input| input.layout.ndim() == split + self.reduced.len()));
        Source {
            graph: self.graph,
            element: self.element,
            parameters: self.parameters,
            fold: self.fold,
            dtypes: self.inputs.iter().map(|input| input.dtype).collect(),
            modes: modes.collect(),
            axes: self.reduced.len(),
        }
    }

    fn launch(&self, scope: &Scope, form: Form, target: &Target, program: &mut Program) {
        let split = self.kept.len();
        let rows: usize = self.kept.iter().product();
        let count: usize = self.reduced.iter().product();
        let chunks = count.div_ceil(CHUNK).max(1);
        let (blocks, block) = form.blocks(rows, chunks);
        let spans = self.inputs.iter().map(Bound::span).chain([self.output.span(), rows * chunks * 8]);
        let work = (rows * chunks + 2048).saturating_mul(32).max(count + 2048);
        let width = scope.width(work, spans);
        let mut shape = Shape::new(width).count("rows", rows).count("count", count).divisors("chunks", &[chunks]);
        if let Form::Column { height } = form {
            shape = shape.divisors("bands", &[rows.div_ceil(columns(height) as usize)]);
        }
        if split > 1 {
            shape = shape.divisors("sizes", &self.kept[1..]);
        }
        let kept = self.inputs.iter().map(|input| &input.layout.strides[..split]);
        shape = shape.steps("steps", kept.chain([&self.output.layout.strides[..]]));
        shape = shape.divisors("reduced_sizes", &self.reduced[1..]);
        shape = shape.steps("reduced", self.inputs.iter().map(|input| &input.layout.strides[split..]));
        let finishes = matches!(target, Target::Finish);
        let spelling = Spelling {
            source: self.source(form),
            form,
            finish: finishes.then_some(self.finish),
            output: (self.output.dtype, self.output.is_aligned()),
            kept: split,
            width,
        };
        let kernel = scope.planner.kernel(spelling.structure(), || spelling.spell(&shape));
        let mut given: Vec<Argument> = self.inputs.iter().map(Bound::argument).collect();
        given.extend(self.parameters.iter().map(scalar));
        match target {
            Target::Finish => {
                given.push(self.output.argument());
                given.extend(self.finish.parameters.iter().map(scalar));
            }
            Target::Partials(partials) => given.extend(partials.iter().map(Bound::argument)),
        }
        given.push(shape.argument());
        program.launches.push(Launch { kernel, grid: [blocks as u32, 1, 1], block, shared: 0, arguments: given });
    }
}

/// A pass over partial results, with what it needs of the pass before.
struct Next<'a> {
    kept: Dims,
    chunks: usize,
    partials: Vec<Bound>,
    fold: &'a CompiledFold,
    finish: &'a Finish,
    output: Bound,
}

impl Next<'_> {
    fn plan_with(self, scope: &Scope, program: &mut Program) {
        let (graph, element) = load_states(self.fold);
        let stage = Stage {
            kept: self.kept,
            reduced: Dims::from_elem(self.chunks, 1),
            graph: &graph,
            inputs: self.partials,
            parameters: &[],
            element: &element,
            fold: self.fold,
            finish: self.finish,
            output: self.output,
            layouts: Layouts::Any,
        };
        stage.plan(scope, program);
    }
}

/// Neighbouring columns that a block takes.
const fn columns(height: u32) -> u32 {
    if height < 8 { 256 / height } else { 32 }
}

impl Form {
    /// Blocks, and threads of a block.
    fn blocks(self, rows: usize, chunks: usize) -> (usize, [u32; 3]) {
        match self {
            Form::Row { width } => ((rows * chunks * width as usize).div_ceil(256), [256, 1, 1]),
            Form::Block { threads } => (rows, [threads, 1, 1]),
            Form::Column { height } => {
                let columns = columns(height);
                (rows.div_ceil(columns as usize) * chunks, [columns, height, 1])
            }
            Form::Identity => (rows.div_ceil(256), [256, 1, 1]),
        }
    }
}

/// What the text of a kernel depends on.
struct Spelling<'a> {
    source: Source<'a>,
    form: Form,
    finish: Option<&'a Finish>,
    output: (DType, bool),
    kept: usize,
    width: Width,
}

impl Spelling<'_> {
    fn structure(&self) -> impl std::hash::Hash + '_ {
        let finish = self.finish.map(|finish| {
            let types: Vec<_> = finish.parameters.iter().map(|parameter| parameter.ty).collect();
            (&finish.graph, types, finish.value, self.output)
        });
        ("reduce", self.source.structure(), self.form, finish, self.kept, self.width)
    }

    fn spell(&self, shape: &Shape) -> Kernel {
        let fold = self.source.fold;
        let (result, target) = match self.finish {
            Some(finish) => (self.finish_text(finish), self.finish_given(finish)),
            None => (String::new(), (0..fold.state.len()).map(|index| format!("char* out{index}")).collect()),
        };
        let given: Vec<String> =
            self.source.given().into_iter().chain(target).chain(["const Shape shape".to_owned()]).collect();
        let threads = match self.form {
            Form::Column { height } => columns(height) * height,
            Form::Block { threads } => threads,
            _ => 256,
        };
        let body = format!(
            "{index}\n{shape}\n{source}{algorithm}\n{result}extern \"C\" __global__ void __launch_bounds__({threads}) \
             @name(\n    {given}) {{\n{work}}}\n",
            index = prelude::index(self.width),
            shape = shape.text(),
            source = self.source.text(),
            algorithm = prelude::REDUCE,
            given = given.join(",\n    "),
            work = self.work(),
        );
        let kind = match self.form {
            Form::Row { .. } => "row",
            Form::Block { .. } => "block",
            Form::Column { .. } => "column",
            Form::Identity => "empty",
        };
        let goal = if self.finish.is_some() { "finish" } else { "partial" };
        let headline = format!("{} {} by {kind}, {goal}", fold.fold.name, fold.accumulator.name());
        Kernel::new(&format!("{}_{kind}", fold.fold.name), &headline, &body)
    }

    /// A device function that makes the result of a state.
    fn finish_text(&self, finish: &Finish) -> String {
        let given: Vec<String> =
            ["const State& total".to_owned()].into_iter().chain(crate::map::scalars(&finish.parameters)).collect();
        let spelled = spell(&finish.graph, "  ");
        // The source's text has the functions of its own programs only.
        format!(
            "{}__device__ __forceinline__ {} finish({}) {{\n{}{}  return {};\n}}\n\n",
            functions::definitions_besides(&finish.graph, [self.source.graph, &self.source.fold.combine]),
            memory_type(self.output.0),
            given.join(", "),
            arguments(&finish.graph, |index| format!("total.s{index}")),
            spelled.statements,
            narrowed(self.output.0, &spelled.register(finish.value)),
        )
    }

    fn finish_given(&self, finish: &Finish) -> Vec<String> {
        let scalars = finish.parameters.iter().enumerate();
        let scalars = scalars.map(|(index, p)| format!("const {} q{index}", crate::spell::ty_name(p.ty)));
        ["char* out0".to_owned()].into_iter().chain(scalars).collect()
    }

    fn work(&self) -> String {
        match self.form {
            Form::Row { width } => self.row(width),
            Form::Block { threads } => self.block(threads),
            Form::Column { height } => self.column(height),
            Form::Identity => self.identity(),
        }
    }

    /// Moves the inputs, and the output of a last pass, to a row.
    fn place(&self) -> String {
        let mut moved = if self.form == Form::Identity { Vec::new() } else { self.source.moved() };
        if self.finish.is_some() {
            moved.push(("out0_at".to_owned(), format!("shape.steps[{}]", self.source.dtypes.len())));
        }
        let mut text: String = moved.iter().map(|(name, _)| format!("  Step {name} = 0;\n")).collect();
        text += &shape::walk("  ", "row", self.kept, "shape.sizes", &moved);
        text
    }

    fn store(&self, place: &str) -> String {
        let Some(finish) = self.finish else {
            let types = self.source.fold.state.iter().enumerate();
            return types
                .map(|(index, ty)| {
                    let value = narrowed(ty.dtype(), &(format!("total.s{index}"), None));
                    let at = format!("out{index} + Step({place}) * {}", ty.size());
                    format!("  store<{}>({at}, {value});\n", memory_type(ty.dtype()))
                })
                .collect();
        };
        let scalars: String = (0..finish.parameters.len()).map(|index| format!(", q{index}")).collect();
        let mode = if self.output.1 { Mode::Each } else { Mode::Bytes };
        format!("  {}", mode.store_one(self.output.0, "out0 + out0_at", &format!("finish(total{scalars})")))
    }

    fn row(&self, width: u32) -> String {
        format!(
            "  const u32 t = threadIdx.x % {width};\n  \
             const Index asked = (Index(blockIdx.x) * 256 + threadIdx.x) / {width};\n  \
             const bool active = asked < shape.rows * shape.chunks[0].divisor;\n  \
             const Index unit = active ? asked : 0;\n  \
             [[maybe_unused]] const Index row = shape.chunks[0].quotient(unit);\n  \
             const Index begin = (unit - row * shape.chunks[0].divisor) * 1024;\n  \
             const u32 length = shape.count - begin < 1024 ? u32(shape.count - begin) : 1024;\n\
             {}  const State total = reduce_chunk<{width}>({}, begin, length, t);\n  \
             if (t != 0 || !active) return;\n{}",
            self.place(),
            self.source.make(),
            self.store("unit"),
        )
    }

    fn block(&self, threads: u32) -> String {
        format!(
            "  __shared__ State partials[{KEPT_IN_BLOCK}];\n  const u32 t = threadIdx.x % 32;\n  \
             [[maybe_unused]] const Index row = blockIdx.x;\n{}  const Source source = {};\n  \
             const u32 chunks = u32(shape.chunks[0].divisor);\n#pragma unroll 1\n  \
             for (u32 chunk = threadIdx.x / 32; chunk < chunks; chunk += {}) {{\n    \
             const Index begin = Index(chunk) * 1024;\n    \
             const u32 length = shape.count - begin < 1024 ? u32(shape.count - begin) : 1024;\n    \
             const State partial = reduce_chunk<32>(source, begin, length, t);\n    \
             if (t == 0) partials[chunk] = partial;\n  }}\n  __syncthreads();\n  \
             if (threadIdx.x >= 32) return;\n  \
             const State total = reduce_chunk<32>(SharedSource{{partials}}, 0, chunks, t);\n  if (t != 0) return;\n{}",
            self.place(),
            self.source.make(),
            threads / 32,
            self.store("row"),
        )
    }

    fn column(&self, height: u32) -> String {
        let columns = columns(height);
        format!(
            "  __shared__ State shared[{}];\n  \
             const Index chunk = shape.bands[0].quotient(blockIdx.x);\n  \
             const Index asked = (blockIdx.x - chunk * shape.bands[0].divisor) * {columns} + threadIdx.x;\n  \
             [[maybe_unused]] const Index row = asked < shape.rows ? asked : shape.rows - 1;\n  const Index begin = chunk * 1024;\n  \
             const u32 length = shape.count - begin < 1024 ? u32(shape.count - begin) : 1024;\n{}  \
             const State total = reduce_column<{columns}, {height}>({}, begin, length, threadIdx.x, threadIdx.y, shared);\n  \
             if (threadIdx.y != 0 || asked >= shape.rows) return;\n{}",
            columns * height,
            self.place(),
            self.source.make(),
            self.store("chunk * shape.rows + row"),
        )
    }

    fn identity(&self) -> String {
        let fold = self.source.fold;
        let bits = fold.identity.clone().unwrap_or_default();
        let values: Vec<String> = fold.state.iter().zip(&bits).map(|(&ty, &bits)| literal(ty, bits)).collect();
        format!(
            "  [[maybe_unused]] const Index row = Index(blockIdx.x) * 256 + threadIdx.x;\n  if (row >= shape.rows) return;\n{}  \
             const State total = State{{{}}};\n{}",
            self.place(),
            values.join(", "),
            self.store("row"),
        )
    }
}
