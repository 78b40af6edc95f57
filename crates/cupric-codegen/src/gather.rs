//! Elements by index: a map whose source is reached through its other inputs.

use crate::{
    bound::{Bound, Scope},
    kernel::Program,
    map::{Gathered, Job, Store, plan_job},
};
use cupric_core::Result;
use cupric_ir::{Builder, Component, Gather, Id, Node, Register, Ty};

/// Plans a gather.
pub(crate) fn plan(scope: &Scope, gather: &Gather) -> Result<Program> {
    let indices = (0..gather.indices.len()).map(|index| scope.read(1 + index));
    let source = scope.read(0).raw();
    let mut builder = Builder::default();
    let mut load = |component| builder.node(Node::Load { input: 0, component }, Ty::of(source.dtype));
    let real = load(Component::Real);
    let imaginary = source.dtype.is_complex().then(|| load(Component::Imaginary));
    let mut roots: Vec<Id> = std::iter::once(real).chain(imaginary).collect();
    let graph = builder.finish(&mut roots);
    let job = Job {
        shape: &gather.shape,
        graph: &graph,
        stores: vec![Store { bound: scope.write(0).raw(), value: Register { real, imaginary }, mask: None }],
        inputs: std::iter::once(source).chain(indices).collect::<Vec<Bound>>(),
        parameters: &[],
        gathered: Some(Gathered {
            bounds: gather.bounds,
            axes: gather.indices.iter().map(|index| (index.length, index.stride)).collect(),
        }),
    };
    Ok(Program { launches: plan_job(scope, &job), workspace: 0 })
}
