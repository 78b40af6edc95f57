//! The text of a few kernels, compared with files. `CUPRIC_UPDATE_SNAPSHOTS=1` writes them anew.

mod common;

use common::{call, map, packed, reduce, scalar};
use cupric_codegen::{DeviceLimits, Planner};
use cupric_core::DType;
use cupric_ir::{Input, MapStep, Op, Scan, Sort, Sorted, Step, StorageId, fold, fuse};
use std::{path::Path, sync::Arc};

/// Calls as one operation; only the last result is kept.
fn fused(calls: Vec<MapStep>) -> Op {
    let last = calls.last().unwrap().outputs[0].storage;
    let inputs: Vec<StorageId> = calls
        .iter()
        .flat_map(|call| &call.inputs)
        .filter_map(|input| match input {
            Input::Array(operand) => Some(operand.storage),
            Input::Scalar { .. } => None,
        })
        .filter(|id| calls.iter().all(|call| call.outputs[0].storage != *id))
        .collect();
    let steps: Vec<Step> = calls.into_iter().map(Step::Map).collect();
    let mut ops = fuse(&steps, |id| id == last || inputs.contains(&id));
    assert_eq!(ops.len(), 1);
    ops.remove(0).op
}

fn compare(name: &str, op: &Op) {
    let program = Planner::new(DeviceLimits::default()).plan(op, &[]).unwrap();
    let text: Vec<&str> = program.launches.iter().map(|launch| launch.kernel.source.as_str()).collect();
    let text = text.join("\n// ---- next launch\n\n");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{name}.cu"));
    if std::env::var_os("CUPRIC_UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, kept, "{} differs; CUPRIC_UPDATE_SNAPSHOTS=1 writes it anew", path.display());
}

fn array(storage: u64, shape: &[usize]) -> Input {
    Input::Array(packed(storage, DType::Float32, shape))
}

#[test]
fn a_fused_map_of_packed_arrays() {
    let middle = packed(2, DType::Float32, &[1000]);
    let product = call("multiply", vec![array(1, &[1000]), scalar(2.5)], middle.clone());
    let sum = call("add", vec![Input::Array(middle), scalar(1.0)], packed(3, DType::Float32, &[1000]));
    compare("scale_and_shift", &fused(vec![product, sum]));
}

#[test]
fn a_map_with_a_named_function() {
    compare("sine", &map("sin", vec![array(1, &[1000])], packed(2, DType::Float32, &[1000])));
}

#[test]
fn a_map_that_broadcasts_a_row_and_a_column() {
    let mut column = packed(1, DType::Float32, &[64, 1]);
    column.layout = column.layout.broadcast_to(&[64, 100]).unwrap().into();
    let mut row = packed(2, DType::Float32, &[100]);
    row.layout = row.layout.broadcast_to(&[64, 100]).unwrap().into();
    let output = packed(3, DType::Float32, &[64, 100]);
    compare("row_and_column", &map("add", vec![Input::Array(column), Input::Array(row)], output));
}

#[test]
fn a_transposed_copy() {
    let mut turned = packed(1, DType::Float32, &[64, 100]);
    turned.layout = turned.layout.reversed_axes().into();
    compare("transpose", &map("copy", vec![Input::Array(turned)], packed(2, DType::Float32, &[100, 64])));
}

#[test]
fn a_sum_of_rows() {
    compare("row_sum", &reduce("sum", packed(1, DType::Float32, &[10, 1000]), &[1]));
}

#[test]
fn the_position_of_the_largest_by_column() {
    compare("column_argmax", &reduce("argmax", packed(1, DType::Float64, &[3000, 100]), &[0]));
}

#[test]
fn running_sums() {
    let fold = Arc::new(fold("sum").unwrap().compile(DType::Int64).unwrap());
    let (input, output) = (packed(1, DType::Int32, &[5000]), packed(2, DType::Int64, &[5000]));
    compare("running_sum", &Op::Scan(Scan { shape: [5000][..].into(), input, output, fold }));
}

#[test]
fn a_sort_of_short_rows() {
    let (input, output) = (packed(1, DType::Float32, &[3, 500]), packed(2, DType::Float32, &[3, 500]));
    compare("short_sort", &Op::Sort(Sort { shape: [3, 500][..].into(), input, output, answer: Sorted::Values }));
}
