//! Elements to places by index: of writes to one place the last in row-major order stays.
//!
//! Every place has a slot. The slots that are written are cleared, the highest position wins each slot, and only the
//! winners write.

use crate::{
    access::Mode,
    bound::{Bound, Scope, launch},
    element::memory_type,
    kernel::{Argument, Kernel, Program},
    map_rows::bounds_name,
    prelude::{self, Width},
    shape::{self, Shape},
};
use cupric_core::{DType, Layout, Result, Strides, coalesce};
use cupric_ir::{Bounds, Scatter};

/// Plans a scatter.
pub(crate) fn plan(scope: &Scope, scatter: &Scatter) -> Result<Program> {
    let count: usize = scatter.shape.iter().product();
    if count == 0 {
        return Ok(Program::default());
    }
    let mut bounds: Vec<Bound> = vec![scope.write(0).raw(), scope.read(0).raw()];
    bounds.extend((0..scatter.indices.len()).map(|index| scope.read(1 + index)));
    let (slots, index_slots) = slots(scatter);
    let strides: Vec<&[isize]> = bounds.iter().map(|bound| &bound.layout.strides[..]).chain([&slots[..]]).collect();
    let (mut dims, steps) = coalesce(&scatter.shape, &strides);
    let mut steps = steps.to_vec();
    if dims.is_empty() {
        dims.push(1);
        steps.iter_mut().for_each(|steps| steps.push(0));
    }
    for (bound, steps) in bounds.iter_mut().zip(&steps) {
        bound.layout = Layout { shape: dims.clone(), strides: steps.clone(), offset: bound.layout.offset };
    }
    let slot_count = scatter.target_len.max(1);
    let jumps = scatter.indices.iter().map(|index| index.stride.unsigned_abs());
    let width = scope.width(count + 256, bounds.iter().map(Bound::span).chain([slot_count]).chain(jumps));
    let aligned = |bound: &Bound| if bound.is_aligned() { Mode::Each } else { Mode::Bytes };
    let mut modes: Vec<Mode> = bounds.iter().map(aligned).collect();
    if scatter.indices.iter().any(|index| index.stride.unsigned_abs() % bounds[0].item() != 0) {
        modes[0] = Mode::Bytes;
    }
    let form = Form {
        dtypes: bounds.iter().map(|bound| bound.dtype).collect(),
        modes,
        axes: dims.len(),
        bounds: scatter.bounds,
        width,
    };
    let lengths: Vec<isize> = scatter.indices.iter().map(|index| index.length as isize).collect();
    let jumps: Vec<isize> = scatter.indices.iter().map(|index| index.stride).collect();
    let shape = Shape::new(width)
        .count("count", count)
        .divisors("sizes", &dims[1..])
        .steps("steps", steps.iter().map(|steps| &steps[..]))
        .steps("lengths", [&lengths[..]])
        .steps("strides", [&jumps[..]])
        .steps("slots", [&index_slots[..]]);
    let launches = [Stage::Clear, Stage::Vote, Stage::Write].map(|stage| {
        let kernel = scope.planner.kernel(("scatter", stage, &form), || form.spell(stage, &shape));
        let mut given: Vec<Argument> = bounds.iter().map(Bound::argument).collect();
        given.extend([Argument::Workspace { offset: 0 }, Argument::Failure, shape.argument()]);
        launch(kernel, count.div_ceil(256), 256, given)
    });
    let word = if width == Width::Wide { 8 } else { 4 };
    Ok(Program { launches: launches.into(), workspace: (slot_count * word).next_multiple_of(256) })
}

/// Steps among the slots along the axes of the iteration, and along each indexed axis.
pub(crate) fn slots(scatter: &Scatter) -> (Strides, Strides) {
    let mut next = 1;
    let mut take = |size: usize| {
        let step = next;
        next *= size.max(1) as isize;
        step
    };
    let mut index_slots: Strides = scatter.indices.iter().rev().map(|index| take(index.length)).collect();
    index_slots.reverse();
    let axes = scatter.shape.iter().zip(&scatter.target.layout.strides);
    let mut slots: Strides = axes.rev().map(|(&size, &stride)| if stride == 0 { 0 } else { take(size) }).collect();
    slots.reverse();
    (slots, index_slots)
}

/// What the text of the kernels depends on.
#[derive(Hash)]
struct Form {
    /// Of the target, the source, the indices.
    dtypes: Vec<DType>,
    modes: Vec<Mode>,
    axes: usize,
    bounds: Bounds,
    width: Width,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Stage {
    Clear,
    Vote,
    Write,
}

impl Form {
    fn spell(&self, stage: Stage, shape: &Shape) -> Kernel {
        let indices = self.dtypes.len() - 2;
        let pointers: String = (0..indices).map(|index| format!("    const char* in{},\n", index + 1)).collect();
        let name = match stage {
            Stage::Clear => "clear",
            Stage::Vote => "vote",
            Stage::Write => "write",
        };
        let word = if self.width == Width::Wide { "u64" } else { "u32" };
        let body = format!(
            "{index}\n{shape}\nextern \"C\" __global__ void __launch_bounds__(256) @name(\n    char* out0,\n    \
             const char* in0,\n{pointers}    {word}* winners,\n    u64* failure,\n    const Shape shape) {{\n  \
             const Index position = Index(blockIdx.x) * 256 + threadIdx.x;\n  if (position >= shape.count) return;\n\
             {find}{work}}}\n",
            index = prelude::index(self.width),
            shape = shape.text(),
            find = self.find(stage),
            work = self.work(stage),
        );
        let headline = format!("put {} by {indices} indices, {name}", self.dtypes[0].name());
        Kernel::new(&format!("put_{name}"), &headline, &body)
    }

    /// Finds the slot, and for the last stage the place.
    fn find(&self, stage: Stage) -> String {
        let writes = stage == Stage::Write;
        let mut moved: Vec<(String, String)> = Vec::new();
        if writes {
            moved.push(("out0_at".to_owned(), "shape.steps[0]".to_owned()));
            moved.push(("in0_at".to_owned(), "shape.steps[1]".to_owned()));
        }
        for index in 1..self.dtypes.len() - 1 {
            moved.push((format!("in{index}_at"), format!("shape.steps[{}]", index + 1)));
        }
        moved.push(("slot".to_owned(), format!("shape.steps[{}]", self.dtypes.len())));
        let mut text: String = moved.iter().map(|(name, _)| format!("  Step {name} = 0;\n")).collect();
        text += &shape::walk("  ", "position", self.axes, "shape.sizes", &moved);
        if writes {
            text += "  i64 jump = 0;\n";
        }
        let bounds = bounds_name(self.bounds);
        for axis in 0..self.dtypes.len() - 2 {
            let (name, dtype) = (format!("in{}", axis + 1), self.dtypes[axis + 2]);
            let load = self.modes[axis + 2].load_one(dtype, &format!("{name} + {name}_at"));
            text += &format!("  i64 index{axis} = i64({load});\n");
            text += &format!(
                "  if (!resolve<{bounds}>(index{axis}, shape.lengths[0][{axis}], {axis}, failure)) return;\n  \
                 slot += Step(index{axis}) * shape.slots[0][{axis}];\n"
            );
            if writes {
                text += &format!("  jump += index{axis} * shape.strides[0][{axis}];\n");
            }
        }
        text
    }

    fn work(&self, stage: Stage) -> String {
        let word = if self.width == Width::Wide { "u64" } else { "u32" };
        match stage {
            Stage::Clear => "  winners[slot] = 0;\n".to_owned(),
            Stage::Vote => format!("  atomicMax(winners + slot, {word}(position) + 1);\n"),
            Stage::Write => {
                let dtype = self.dtypes[0];
                let value = self.modes[1].load_one(dtype, "in0 + in0_at");
                format!(
                    "  if (winners[slot] != {word}(position) + 1) return;\n  const {} value = {value};\n  {}",
                    memory_type(dtype),
                    self.modes[0].store_one(dtype, "out0 + out0_at + jump", "value"),
                )
            }
        }
    }
}
