//! Kernels that a pack holds for every layout: axes, steps and indices are all known at the launch alone.

use crate::{
    bound::{Bound, Scope, launch},
    element::memory_type,
    kernel::{Argument, Kernel, Launch},
};
use cupric_core::{DType, Dims, Strides, coalesce};
use cupric_ir::Bounds;
use smallvec::SmallVec;

/// The most axes, once merged.
const AXES: usize = 32;
/// The most indices.
pub(crate) const INDICES: usize = 8;

/// Bytes of a struct of 64-bit words.
#[derive(Default)]
struct Words(SmallVec<[u8; 16]>);

impl Words {
    fn push(&mut self, word: u64) {
        self.0.extend_from_slice(&word.to_le_bytes());
    }

    /// Values, and zeros up to a length.
    fn array(&mut self, values: impl IntoIterator<Item = i64>, len: usize) {
        let end = self.0.len() + 8 * len;
        values.into_iter().for_each(|value| self.push(value as u64));
        self.0.resize(end, 0);
    }
}

/// A word as an argument.
fn word(value: u64) -> Argument {
    Argument::Bits(value.to_le_bytes().as_slice().into())
}

/// The `Anywhere` of an iteration; none if it has too many axes.
fn place(dims: &Dims, steps: &[Strides]) -> Option<Argument> {
    if dims.len() > AXES {
        return None;
    }
    let mut words = Words::default();
    words.push(dims.iter().product::<usize>() as u64);
    words.push(dims.len() as u64);
    words.array(dims.iter().map(|&size| size as i64), AXES);
    for row in 0..3 {
        words.array(steps.get(row).into_iter().flatten().map(|&step| step as i64), AXES);
    }
    Some(Argument::Bits(words.0))
}

fn merged(shape: &[usize], strides: &[&[isize]]) -> (Dims, Vec<Strides>) {
    let (dims, steps) = coalesce(shape, strides);
    (dims, steps.to_vec())
}

fn aligned(bounds: &[&Bound], jumps: &[isize]) -> Argument {
    let item = bounds[0].item();
    let fits = bounds.iter().all(|bound| bound.is_aligned());
    word(u64::from(fits && jumps.iter().all(|jump| jump.unsigned_abs() % item == 0)))
}

/// Copies elements as they are, where a mask is true if there is one.
pub(crate) fn copy(scope: &Scope, shape: &[usize], from: &Bound, to: &Bound, mask: Option<&Bound>) -> Option<Launch> {
    let mut strides: Vec<&[isize]> = vec![&from.layout.strides, &to.layout.strides];
    strides.extend(mask.map(|mask| &mask.layout.strides[..]));
    let (dims, steps) = merged(shape, &strides);
    let dtype = crate::bound::raw_dtype(from.item());
    let kernel = scope.planner.kernel(("copy anywhere", dtype), || copy_kernel(dtype));
    let mask = mask.map_or_else(|| word(0), Bound::argument);
    let arguments = vec![from.argument(), to.argument(), mask, aligned(&[from, to], &[]), place(&dims, &steps)?];
    Some(launch(kernel, dims.iter().product::<usize>().div_ceil(256), 256, arguments))
}

fn copy_kernel(dtype: DType) -> Kernel {
    let ty = memory_type(dtype);
    let body = format!(
        "extern \"C\" __global__ void __launch_bounds__(256) @name(\n    const char* in0,\n    char* out0,\n    \
         const char* mask,\n    const u64 aligned,\n    const Anywhere any) {{\n  \
         const u64 position = u64(blockIdx.x) * 256 + threadIdx.x;\n  if (position >= any.count) return;\n  \
         const Place place(any, position);\n  if (mask != nullptr && load<u8>(mask + place.mask) == 0) return;\n  \
         store_any<{ty}>(out0 + place.to, load_any<{ty}>(in0 + place.from, aligned), aligned);\n}}\n"
    );
    Kernel::new("copy_anywhere", &format!("copy of elements of {} bytes anywhere", dtype.size()), &body)
}

/// What leads to elements: packed int64 indices in the workspace.
pub(crate) struct Follow<'a> {
    pub bounds: Bounds,
    /// Over the iteration.
    pub indices: &'a [Bound],
    pub lengths: Vec<usize>,
    pub strides: Vec<isize>,
    /// Steps among slots, which scatters have.
    pub slots: Vec<isize>,
}

impl Follow<'_> {
    fn argument(&self, steps: &[Strides]) -> Argument {
        let mut words = Words::default();
        words.push(self.indices.len() as u64);
        words.push(match self.bounds {
            Bounds::Raise => 0,
            Bounds::Wrap => 1,
            Bounds::Clip => 2,
        });
        words.array(self.indices.iter().map(|index| index.layout.offset as i64), INDICES);
        words.array(self.lengths.iter().map(|&length| length as i64), INDICES);
        words.array(self.strides.iter().map(|&stride| stride as i64), INDICES);
        words.array(self.slots.iter().map(|&slot| slot as i64), INDICES);
        for index in 0..INDICES {
            words.array(steps.get(index).into_iter().flatten().map(|&step| step as i64), AXES);
        }
        Argument::Bits(words.0)
    }
}

/// Gathers elements as they are.
pub(crate) fn gather(scope: &Scope, shape: &[usize], from: &Bound, to: &Bound, follow: &Follow) -> Option<Launch> {
    let mut strides: Vec<&[isize]> = vec![&from.layout.strides, &to.layout.strides];
    strides.extend(follow.indices.iter().map(|index| &index.layout.strides[..]));
    let (dims, steps) = merged(shape, &strides);
    let dtype = crate::bound::raw_dtype(from.item());
    let kernel = scope.planner.kernel(("take anywhere", dtype), || gather_kernel(dtype));
    let arguments = vec![
        from.argument(),
        to.argument(),
        Argument::Workspace { offset: 0 },
        Argument::Failure,
        aligned(&[from, to], &follow.strides),
        place(&dims, &steps[..2])?,
        follow.argument(&steps[2..]),
    ];
    Some(launch(kernel, dims.iter().product::<usize>().div_ceil(256), 256, arguments))
}

const FOLLOWING: &str = "    const char* base,\n    u64* failure,\n    const u64 aligned,\n    const Anywhere any,\n    \
                         const Indices indices) {\n  const u64 position = u64(blockIdx.x) * 256 + threadIdx.x;\n  \
                         if (position >= any.count) return;\n  const Place place(any, position);\n  \
                         i64 jump = 0;\n  i64 slot = place.mask;\n  \
                         const bool found = follow(base, indices, any, position, jump, slot, failure);\n";

fn gather_kernel(dtype: DType) -> Kernel {
    let ty = memory_type(dtype);
    let body = format!(
        "extern \"C\" __global__ void __launch_bounds__(256) @name(\n    const char* in0,\n    char* out0,\n{FOLLOWING}  \
         {ty} value{{}};\n  if (found) value = load_any<{ty}>(in0 + place.from + jump, aligned);\n  \
         store_any<{ty}>(out0 + place.to, value, aligned);\n}}\n"
    );
    Kernel::new("take_anywhere", &format!("take of elements of {} bytes anywhere", dtype.size()), &body)
}

/// Scatters elements as they are: `slots` has the steps among the words of `winners` along the axes.
pub(crate) fn scatter(
    scope: &Scope,
    shape: &[usize],
    [from, to]: [&Bound; 2],
    slots: &Strides,
    winners: usize,
    follow: &Follow,
) -> Option<Vec<Launch>> {
    let mut strides: Vec<&[isize]> = vec![&from.layout.strides, &to.layout.strides, slots];
    strides.extend(follow.indices.iter().map(|index| &index.layout.strides[..]));
    let (dims, steps) = merged(shape, &strides);
    let dtype = crate::bound::raw_dtype(from.item());
    let mut launches = Vec::new();
    for stage in ["clear", "vote", "write"] {
        let kernel = scope.planner.kernel(("put anywhere", stage, dtype), || scatter_kernel(stage, dtype));
        let arguments = vec![
            from.argument(),
            to.argument(),
            Argument::Workspace { offset: winners },
            Argument::Workspace { offset: 0 },
            Argument::Failure,
            aligned(&[from, to], &follow.strides),
            place(&dims, &steps[..3])?,
            follow.argument(&steps[3..]),
        ];
        launches.push(launch(kernel, dims.iter().product::<usize>().div_ceil(256), 256, arguments));
    }
    Some(launches)
}

fn scatter_kernel(stage: &str, dtype: DType) -> Kernel {
    let ty = memory_type(dtype);
    let work = match stage {
        "clear" => "  winners[slot] = 0;\n".to_owned(),
        "vote" => "  atomicMax(winners + slot, position + 1);\n".to_owned(),
        _ => format!(
            "  if (winners[slot] != position + 1) return;\n  \
             store_any<{ty}>(out0 + place.to + jump, load_any<{ty}>(in0 + place.from, aligned), aligned);\n"
        ),
    };
    let body = format!(
        "extern \"C\" __global__ void __launch_bounds__(256) @name(\n    const char* in0,\n    char* out0,\n    \
         u64* winners,\n{FOLLOWING}  if (!found) return;\n{work}}}\n"
    );
    Kernel::new(
        &format!("put_anywhere_{stage}"),
        &format!("put of elements of {} bytes anywhere, {stage}", dtype.size()),
        &body,
    )
}
