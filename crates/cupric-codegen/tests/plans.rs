//! What plans decide, without a device.

mod common;

use common::{map, packed, reduce, scalar};
use cupric_codegen::{Argument, DeviceLimits, FAILURE_WORDS, Failure, Planner, Program, decode_failure, pack_kernels};
use cupric_core::{DType, Layout};
use cupric_ir::{Bounds, Gather, IndexOperand, Input, Op, Operand, Scan, Scatter, Sort, Sorted, Step, fold, fuse};
use std::{collections::BTreeSet, sync::Arc};

fn plan(op: &Op) -> Program {
    Planner::new(DeviceLimits::default()).plan(op, &[]).unwrap()
}

fn sum(left: Operand, right: Operand, output: Operand) -> Op {
    map("add", vec![Input::Array(left), Input::Array(right)], output)
}

fn flat(storage: u64, len: usize) -> Operand {
    packed(storage, DType::Float32, &[len])
}

#[test]
fn packed_arrays_are_taken_in_vectors() {
    let program = plan(&sum(flat(1, 1_000_000), flat(2, 1_000_000), flat(3, 1_000_000)));
    let [launch] = &program.launches[..] else { panic!("one launch") };
    assert_eq!((launch.grid, launch.block), ([1_000_000_usize.div_ceil(1024) as u32, 1, 1], [256, 1, 1]));
    assert!(launch.kernel.source.contains("load_vector<float, 4>"));
    assert_eq!(launch.arguments[0], Argument::Read { index: 0, offset: 0 });
    assert_eq!(launch.arguments[2], Argument::Write { index: 0, offset: 0 });
}

#[test]
fn a_new_length_or_scalar_is_no_new_kernel() {
    let planner = Planner::new(DeviceLimits::default());
    for (len, value) in [(10, 1.0), (1000, 1.0), (1000, 2.5)] {
        let op = map("multiply", vec![Input::Array(flat(1, len)), scalar(value)], flat(2, len));
        planner.plan(&op, &[]).unwrap();
    }
    assert_eq!(planner.spelled().len(), 1);
}

#[test]
fn addresses_decide_on_vectors_alone() {
    let planner = Planner::new(DeviceLimits::default());
    let op = sum(flat(1, 1000), flat(2, 1000), flat(3, 1000));
    let source = |addresses: &[u64]| planner.plan(&op, addresses).unwrap().launches[0].kernel.source.clone();
    assert!(source(&[256, 512, 768]).contains("= load_vector<"));
    assert!(source(&[256, 516, 768]).contains("= load_each<"));
    assert!(source(&[256, 513, 768]).contains("= load_each_bytes<"));
}

#[test]
fn counts_and_spans_at_the_limit_take_wide_indices() {
    let narrow = "using Index = u32;";
    let source = |limit: u64, op: &Op| {
        let limits = DeviceLimits { index_limit: limit, ..DeviceLimits::default() };
        Planner::new(limits).plan(op, &[]).unwrap().launches[0].kernel.source.clone()
    };
    let op = sum(flat(1, 4096), flat(2, 4096), flat(3, 4096));
    assert!(source(1 << 31, &op).contains(narrow));
    assert!(source(16_300, &op).contains("using Index = u64;"), "the byte span is 16384");
    let long = Layout { strides: [1 << 22][..].into(), ..Layout::row_major(&[1024], 4) };
    let stepping = Operand { layout: long.into(), ..flat(1, 1024) };
    let op = sum(stepping, flat(2, 1024), flat(3, 1024));
    assert!(source(u64::MAX, &op).contains("using Index = u64;"), "a limit above 2^31 counts as 2^31");
}

#[test]
fn a_reversed_copy_of_a_reversed_array_is_flat() {
    let mut input = flat(1, 1000);
    input.layout = input.layout.flip(0).into();
    let output = Operand { storage: flat(2, 1).storage, ..input.clone() };
    let program = plan(&map("copy", vec![Input::Array(input)], output));
    assert!(program.launches[0].kernel.source.contains("load_vector<float, 4>"));
    assert_eq!(program.launches[0].arguments[0], Argument::Read { index: 0, offset: 0 });
}

#[test]
fn a_transposed_input_goes_through_tiles() {
    let mut turned = packed(1, DType::Float64, &[200, 300]);
    turned.layout = turned.layout.reversed_axes().into();
    let program = plan(&map("negative", vec![Input::Array(turned)], packed(2, DType::Float64, &[300, 200])));
    assert_eq!((program.launches[0].grid, program.launches[0].block), ([20, 1, 1], [64, 4, 1]));
    assert!(program.launches[0].kernel.source.contains("__shared__ double turned0[64][65];"));
}

#[test]
fn nothing_is_launched_for_nothing() {
    let empty = packed(1, DType::Float32, &[3, 0]);
    let program = plan(&map("negative", vec![Input::Array(empty.clone())], packed(2, DType::Float32, &[3, 0])));
    assert!(program.launches.is_empty());
    let identity = plan(&reduce("sum", empty.clone(), &[1]));
    assert_eq!(identity.launches.len(), 1, "three sums of nothing are zeros");
    let maximum = Planner::new(DeviceLimits::default()).plan(&reduce("max", empty, &[1]), &[]);
    let message = maximum.map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("maximum"), "{message}");
}

fn forms(op: &Op) -> Vec<(u32, [u32; 3])> {
    plan(op).launches.iter().map(|launch| (launch.grid[0], launch.block)).collect()
}

#[test]
fn reductions_take_rows_blocks_or_columns() {
    let float = |shape: &[usize]| packed(1, DType::Float32, shape);
    // Four threads for each of 50 rows of 16 elements.
    assert_eq!(forms(&reduce("sum", float(&[50, 16]), &[1])), [(1, [256, 1, 1])]);
    // A block for each row of several chunks, where there are many rows.
    assert_eq!(forms(&reduce("sum", float(&[500, 5000]), &[1])), [(500, [128, 1, 1])]);
    // A warp for each chunk, then one block for the chunks' results.
    let long = forms(&reduce("sum", float(&[10_000_000]), &[0]));
    assert_eq!(long, [(9766_u32.div_ceil(8), [256, 1, 1]), (1, [1024, 1, 1])]);
    // 32 columns a block and a chunk, then the chunks' results by columns again.
    assert_eq!(forms(&reduce("sum", float(&[3000, 100]), &[0])), [(12, [32, 32, 1]), (1, [256, 1, 1])]);
}

#[test]
fn long_scans_take_totals_first() {
    let fold = Arc::new(fold("sum").unwrap().compile(DType::Float32).unwrap());
    let scan = |shape: &[usize]| {
        let (input, output) = (packed(1, DType::Float32, shape), packed(2, DType::Float32, shape));
        Op::Scan(Scan { shape: shape.into(), input, output, fold: fold.clone() })
    };
    assert_eq!(forms(&scan(&[100, 100])), [(13, [256, 1, 1])]);
    assert_eq!(forms(&scan(&[100, 500])), [(100, [256, 1, 1])]);
    assert_eq!(forms(&scan(&[2, 5000])).iter().map(|form| form.0).collect::<Vec<_>>(), [10, 1, 10]);
}

#[test]
fn the_workspace_of_a_sort_does_not_depend_on_addresses() {
    let planner = Planner::new(DeviceLimits::default());
    let (input, output) = (flat(1, 100_000), packed(2, DType::Int64, &[100_000]));
    let op = Op::Sort(Sort { shape: [100_000][..].into(), input, output, answer: Sorted::Positions });
    let (aligned, odd) = (planner.plan(&op, &[]).unwrap(), planner.plan(&op, &[1, 0]).unwrap());
    assert_eq!(aligned.workspace, odd.workspace);
    // What is cleared, the counts, which digits vary, and a pass for each of four digits.
    assert_eq!(aligned.launches.len(), 3 + 4);
    assert_eq!(odd.launches.len(), aligned.launches.len() + 1, "an odd address is copied from first");
}

#[test]
fn a_gather_names_the_failure_buffer() {
    let index = packed(2, DType::Int64, &[10]);
    let mut source = flat(1, 10);
    Arc::make_mut(&mut source.layout).strides[0] = 0;
    let indices = vec![IndexOperand { operand: index, length: 7, stride: 4 }];
    let shape = [10][..].into();
    let program = plan(&Op::Gather(Gather { shape, source, indices, bounds: Bounds::Raise, output: flat(3, 10) }));
    assert!(program.launches[0].arguments.contains(&Argument::Failure));
}

#[test]
fn long_axes_that_are_indexed_take_wide_indices() {
    let narrow = |length: usize, stride: isize| {
        let still = |storage: u64| {
            let mut operand = flat(storage, 10);
            Arc::make_mut(&mut operand.layout).strides[0] = 0;
            operand
        };
        let indices = || vec![IndexOperand { operand: packed(2, DType::Int64, &[10]), length, stride }];
        let (shape, bounds) = ([10][..].into(), Bounds::Raise);
        let gather = Gather { shape, source: still(1), indices: indices(), bounds, output: flat(3, 10) };
        let (shape, source) = ([10][..].into(), flat(1, 10));
        let scatter = Scatter { shape, target: still(3), target_len: length, indices: indices(), source, bounds };
        [Op::Gather(gather), Op::Scatter(scatter)]
            .map(|op| plan(&op).launches[0].kernel.source.contains("using Index = u32;"))
    };
    assert_eq!(narrow(1000, 4), [true; 2]);
    assert_eq!(narrow((1 << 31) + 5, 1), [false; 2]);
    assert_eq!(narrow(2, 1 << 31), [false; 2]);
    assert_eq!(narrow(2, -(1 << 33)), [false; 2]);
}

#[test]
fn failures_are_decoded() {
    let mut words = [0; FAILURE_WORDS];
    words[0] = u64::MAX;
    assert_eq!(decode_failure(&words), None);
    words[0] = (3 << 58) | ((1 << 57) - 1 - 20);
    words[4] = 7;
    assert_eq!(decode_failure(&words), Some(Failure { axis: 3, index: -20, length: 7 }));
}

#[test]
fn the_pack_is_the_same_each_time() {
    let (first, second) = (pack_kernels(), pack_kernels());
    assert!(first.len() > 1000);
    assert_eq!(first, second);
    let names: BTreeSet<&str> = first.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names.len(), first.len());
}

#[test]
fn too_many_axes_for_the_parameters_are_taken_slice_by_slice() {
    // Inputs that are repeated along every second axis keep 40 axes apart.
    let shape = [2; 40];
    let wide = |storage: u64| {
        let mut operand = packed(storage, DType::Float32, &shape);
        Arc::make_mut(&mut operand.layout).strides.iter_mut().step_by(2).for_each(|stride| *stride = 0);
        operand
    };
    let mut total = wide(0);
    let mut steps = Vec::new();
    for storage in 1..8 {
        let sum = packed(100 + storage, DType::Float32, &shape);
        steps.push(Step::Map(common::call("add", vec![Input::Array(total), Input::Array(wide(storage))], sum.clone())));
        total = sum;
    }
    let fused = fuse(&steps, |_| true).remove(0);
    let launches = plan(&fused.op).launches;
    assert!(launches.len() > 1);
    let keys: BTreeSet<u128> = launches.iter().map(|launch| launch.kernel.key).collect();
    assert_eq!(keys.len(), 1);
}
