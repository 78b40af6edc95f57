//! Programs for each element: which way through memory a kernel takes.

use crate::{
    access::{Mode, Reuse, mode},
    bound::{Bound, Scope, scalar},
    kernel::{Argument, Launch, MOST_PARAMETER_BYTES, Program},
    map_rows, map_tile,
};
use cupric_core::{Dims, Layout, Result, Strides, coalesce, sort_axes};
use cupric_ir::{Bounds, Graph, Id, Map, Node, Parameter, Register};
use smallvec::SmallVec;

/// A map whose operands may lie in the workspace.
pub(crate) struct Job<'a> {
    pub shape: &'a [usize],
    pub graph: &'a Graph,
    pub inputs: Vec<Bound>,
    pub parameters: &'a [Parameter],
    pub stores: Vec<Store>,
    pub gathered: Option<Gathered>,
}

/// Where a result goes.
pub(crate) struct Store {
    pub bound: Bound,
    pub value: Register,
    pub mask: Option<Id>,
}

/// Input 0 is reached through the others, which are indices.
pub(crate) struct Gathered {
    pub bounds: Bounds,
    /// For each index: the length of its axis and the bytes from one element to the next.
    pub axes: Vec<(usize, isize)>,
}

impl Gathered {
    /// What is left of a mode when any element of the indexed axes may be where it begins.
    fn limit(&self, mode: Mode, item: usize, count: usize) -> Mode {
        let suits = |align: usize| self.axes.iter().all(|(_, stride)| stride.unsigned_abs() % align == 0);
        match mode {
            Mode::Vector if !suits((item * count).min(16)) && suits(item) => Mode::Each,
            Mode::Vector | Mode::Each if !suits(item) => Mode::Bytes,
            Mode::Once if !suits(item) => Mode::OnceBytes,
            _ => mode,
        }
    }
}

/// Plans a map.
pub(crate) fn plan(scope: &Scope, map: &Map) -> Result<Program> {
    let stores = map.stores.iter().enumerate().map(|(index, store)| Store {
        bound: scope.write(index),
        value: store.value,
        mask: store.mask,
    });
    let job = Job {
        shape: &map.shape,
        graph: &map.graph,
        inputs: (0..map.inputs.len()).map(|index| scope.read(index)).collect(),
        parameters: &map.parameters,
        stores: stores.collect(),
        gathered: None,
    };
    Ok(Program { launches: plan_job(scope, &job), workspace: 0 })
}

/// Plans a copy of elements with a conversion.
pub(crate) fn copy(scope: &Scope, shape: &[usize], from: Bound, to: Bound) -> Vec<Launch> {
    let mut builder = cupric_ir::Builder::default();
    let load = |builder: &mut cupric_ir::Builder, component| {
        builder.node(Node::Load { input: 0, component }, cupric_ir::Ty::of(from.dtype))
    };
    let real = load(&mut builder, cupric_ir::Component::Real);
    let imaginary = from.dtype.is_complex().then(|| load(&mut builder, cupric_ir::Component::Imaginary));
    let value = cupric_ir::convert(&mut builder, Register { real, imaginary }, from.dtype, to.dtype);
    let mut roots: SmallVec<[Id; 2]> = std::iter::once(value.real).chain(value.imaginary).collect();
    let graph = builder.finish(&mut roots);
    let value = Register { real: roots[0], imaginary: value.imaginary.map(|_| roots[1]) };
    let stores = vec![Store { bound: to, value, mask: None }];
    plan_job(scope, &Job { shape, graph: &graph, inputs: vec![from], parameters: &[], stores, gathered: None })
}

/// The iteration shape and all operands in the order in which memory likes it best.
pub(crate) struct Walk {
    /// The sizes, the innermost last; at least one.
    pub dims: Dims,
    /// Bytes along them: of stores, then of inputs, then elements of the position if it is used.
    pub steps: Vec<Strides>,
    /// Where the first elements lie.
    pub offsets: Vec<usize>,
}

/// Plans a map; there are no launches if there is no element.
pub(crate) fn plan_job(scope: &Scope, job: &Job) -> Vec<Launch> {
    let mut launches = Vec::new();
    if !job.shape.contains(&0) {
        plan_walk(scope, job, walk(job), &mut launches);
    }
    launches
}

/// Plans a walk, slice by slice where a kernel's parameters could not hold all of its steps.
fn plan_walk(scope: &Scope, job: &Job, walk: Walk, launches: &mut Vec<Launch>) {
    let words = (walk.steps.len() + 2) * (walk.dims.len() + 2) + job.parameters.len();
    if 8 * words > MOST_PARAMETER_BYTES && walk.dims.len() > 1 {
        return (0..walk.dims[0]).for_each(|index| plan_walk(scope, job, walk.slice(index), launches));
    }
    launches.push(match map_tile::turned(job, &walk) {
        Some(tile) => map_tile::plan(scope, job, walk, &tile),
        None => map_rows::plan(scope, job, &walk),
    });
}

/// Whether a program loads an input.
pub(crate) fn is_loaded(graph: &Graph, input: usize) -> bool {
    graph.nodes().iter().any(|(node, _)| matches!(node, Node::Load { input: at, .. } if usize::from(*at) == input))
}

/// Whether a program asks for its position.
pub(crate) fn uses_position(graph: &Graph) -> bool {
    graph.nodes().iter().any(|(node, _)| matches!(node, Node::Position))
}

fn walk(job: &Job) -> Walk {
    let bounds = job.stores.iter().map(|store| &store.bound).chain(&job.inputs);
    let mut layouts: Vec<Layout> = bounds.map(|bound| bound.layout.clone()).collect();
    if uses_position(job.graph) {
        layouts.push(Layout::row_major(job.shape, 1));
    }
    for (axis, &size) in job.shape.iter().enumerate() {
        if size > 1 && layouts[0].strides[axis] < 0 {
            layouts = layouts.iter().map(|layout| layout.flip(axis)).collect();
        }
    }
    let strides: SmallVec<[&[isize]; 8]> = layouts.iter().map(|layout| &layout.strides[..]).collect();
    let axes = sort_axes(job.shape, &strides);
    let sorted: Vec<Layout> = layouts.iter().map(|layout| layout.transpose(&axes)).collect();
    let strides: SmallVec<[&[isize]; 8]> = sorted.iter().map(|layout| &layout.strides[..]).collect();
    let (mut dims, steps) = coalesce(&sorted[0].shape, &strides);
    let mut steps = steps.to_vec();
    if dims.is_empty() {
        dims.push(1);
        for (index, steps) in steps.iter_mut().enumerate() {
            steps.push(operand(job, index).map_or(1, |bound| bound.item() as isize));
        }
    }
    Walk { dims, steps, offsets: layouts.iter().map(|layout| layout.offset).collect() }
}

/// The operand that row `index` of a walk belongs to; none for the position.
pub(crate) fn operand<'a>(job: &'a Job, index: usize) -> Option<&'a Bound> {
    match job.stores.get(index) {
        Some(store) => Some(&store.bound),
        None => job.inputs.get(index - job.stores.len()),
    }
}

impl Walk {
    /// What is at an index of the outermost axis.
    fn slice(&self, index: usize) -> Walk {
        let moved = |(offset, steps): (&usize, &Strides)| offset.wrapping_add_signed(index as isize * steps[0]);
        Walk {
            dims: self.dims[1..].into(),
            steps: self.steps.iter().map(|steps| steps[1..].into()).collect(),
            offsets: self.offsets.iter().zip(&self.steps).map(moved).collect(),
        }
    }

    /// The modes of all operands for `count` elements a thread.
    pub(crate) fn modes(&self, job: &Job, count: usize) -> Vec<Mode> {
        let operands = (0..job.stores.len() + job.inputs.len()).filter_map(|index| Some((index, operand(job, index)?)));
        operands
            .map(|(index, bound)| {
                let reuse = if index < job.stores.len() { Reuse::Forbidden } else { Reuse::Allowed };
                let mode = mode(bound, &self.steps[index], self.offsets[index], count, reuse);
                match &job.gathered {
                    Some(gathered) if index == job.stores.len() => gathered.limit(mode, bound.item(), count),
                    _ => mode,
                }
            })
            .collect()
    }

    /// Bytes that each operand's steps reach.
    pub(crate) fn spans(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().map(|steps| {
            let reach = |(&size, step): (&usize, &isize)| (size - 1).saturating_mul(step.unsigned_abs());
            self.dims.iter().zip(steps).map(reach).fold(16, usize::saturating_add)
        })
    }
}

/// The variables that walk along outer axes, with their steps: of stores, of the inputs that are loaded, of the position.
pub(crate) fn moved(job: &Job) -> Vec<(String, String)> {
    let stores = (0..job.stores.len()).map(|index| format!("out{index}"));
    let needed = |index: usize| job.gathered.is_some() || is_loaded(job.graph, index);
    let inputs = (0..job.inputs.len()).map(|index| if needed(index) { format!("in{index}") } else { String::new() });
    let position = uses_position(job.graph).then(|| "position".to_owned());
    let rows = stores.chain(inputs).chain(position).enumerate().filter(|(_, name)| !name.is_empty());
    rows.map(|(row, name)| (format!("{name}_at"), format!("shape.steps[{row}]"))).collect()
}

/// The declarations of the scalars.
pub(crate) fn scalars(parameters: &[Parameter]) -> impl Iterator<Item = String> {
    let spelled =
        |(index, parameter): (usize, &Parameter)| format!("const {} p{index}", crate::spell::ty_name(parameter.ty));
    parameters.iter().enumerate().map(spelled)
}

/// The arguments for inputs, stores and scalars, with offsets as a walk has them.
pub(crate) fn arguments(job: &Job, walk: &Walk) -> Vec<Argument> {
    let at = |bound: &Bound, index: usize| {
        let layout = Layout { offset: walk.offsets[index], ..Layout::default() };
        Bound { layout, ..bound.clone() }.argument()
    };
    let inputs = job.inputs.iter().enumerate().map(|(index, bound)| at(bound, job.stores.len() + index));
    let outputs = job.stores.iter().enumerate().map(|(index, store)| at(&store.bound, index));
    inputs.chain(outputs).chain(job.parameters.iter().map(scalar)).collect()
}

/// A short description of what a job loads and stores.
pub(crate) fn headline(kind: &str, job: &Job) -> String {
    let names = |bounds: Vec<&Bound>| bounds.iter().map(|bound| bound.dtype.name()).collect::<Vec<_>>().join(", ");
    let outputs = names(job.stores.iter().map(|store| &store.bound).collect());
    format!("{kind}: {outputs} <- {}", names(job.inputs.iter().collect()))
}
