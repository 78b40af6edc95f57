use super::*;
use cupric_core::Dims;
use cupric_ir::StorageId;

fn operand(layout: Layout) -> Operand {
    Operand { storage: StorageId(0), dtype: DType::Float32, layout: layout.into() }
}

fn packed(shape: &[usize]) -> Layout {
    Layout::row_major(shape, 4)
}

/// `left @ right` of matrices in the last two axes.
fn product(left: Layout, right: Layout) -> MatMul {
    let ndim = left.ndim();
    let (rows, inner, columns) = (left.shape[ndim - 2], left.shape[ndim - 1], right.shape[ndim - 1]);
    let batch: Dims = left.shape[..ndim - 2].into();
    let shape: Dims = batch.iter().copied().chain([rows, columns]).collect();
    let output = operand(packed(&shape));
    MatMul { batch, rows, columns, inner, left: operand(left), right: operand(right), output }
}

/// Computes a planned product in host memory as the library would, and compares with the definition.
fn check(op: &MatMul) -> usize {
    let plan = Product::plan(op).expect("a product of float32");
    let value = |at: u64| (at % 7) as f32 + 1.0;
    let [left, right, output] = [0_u64, 1 << 20, 2 << 20];
    let workspace = 3 << 20;
    // What the packing copies leave in the workspace, by address.
    let mut scratch = std::collections::HashMap::new();
    for ((matrices, operand), base) in plan.inputs.iter().zip([&op.left, &op.right]).zip([left, right]) {
        let Some(layout) = &matrices.packed else { continue };
        for index in 0..layout.len() {
            let (to, from) = (address(layout, layout, index), address(layout, &operand.layout, index));
            scratch.insert(workspace + to, value(base + from));
        }
    }
    let load = |at: u64| if at >= workspace { scratch[&at] } else { value(at) };
    let mut results = std::collections::HashMap::new();
    let mut calls = 0;
    for gemm in plan.calls([left, right, output], workspace) {
        calls += 1;
        for (batch, m, n) in
            (0..gemm.batch).flat_map(|b| (0..gemm.m).flat_map(move |m| (0..gemm.n).map(move |n| (b, m, n))))
        {
            let at = |which: usize, transpose: Transpose, row: i64, column: i64| {
                let (row, column) = if transpose == Transpose::None { (row, column) } else { (column, row) };
                let elements = batch * gemm.batch_strides[which] + row + column * gemm.leading[which];
                gemm.pointers[which].0 + 4 * elements as u64
            };
            let (ta, tb) = gemm.transpose;
            let sum: f32 = (0..gemm.k).map(|k| load(at(0, ta, m, k)) * load(at(1, tb, k, n))).sum();
            results.insert(at(2, Transpose::None, m, n), sum);
        }
    }
    let batches: usize = op.batch.iter().product();
    assert_eq!(results.len(), batches * op.rows * op.columns);
    let at = |operand: &Operand, batch: usize, row: usize, column: usize, base: u64| {
        let shape = &operand.layout.shape;
        let (rows, columns) = (shape[shape.len() - 2], shape[shape.len() - 1]);
        base + address(&operand.layout, &operand.layout, (batch * rows + row) * columns + column)
    };
    for (batch, row, column) in
        (0..batches).flat_map(|b| (0..op.rows).flat_map(move |r| (0..op.columns).map(move |c| (b, r, c))))
    {
        let term = |k| value(at(&op.left, batch, row, k, left)) * value(at(&op.right, batch, k, column, right));
        let expected: f32 = (0..op.inner).map(term).sum();
        assert_eq!(results[&at(&op.output, batch, row, column, output)], expected, "{batch} {row} {column}");
    }
    calls
}

/// Where element `index` of a shape lies by another layout.
fn address(shape: &Layout, layout: &Layout, mut index: usize) -> u64 {
    let mut at = layout.offset as isize;
    for axis in (0..shape.ndim()).rev() {
        at += (index % shape.shape[axis]) as isize * layout.strides[axis];
        index /= shape.shape[axis];
    }
    at as u64
}

#[test]
fn row_and_column_major_matrices_are_read_where_they_lie() {
    let (a, b) = (packed(&[3, 4]), packed(&[4, 5]));
    for left in [a.clone(), packed(&[4, 3]).reversed_axes()] {
        for right in [b.clone(), packed(&[5, 4]).reversed_axes()] {
            let op = product(left.clone(), right);
            assert_eq!(Product::plan(&op).unwrap().scratch(), 0);
            assert_eq!(check(&op), 1);
        }
    }
}

#[test]
fn vectors_and_slices_of_wider_matrices_are_not_packed() {
    let wide = Layout { shape: [3, 4][..].into(), strides: [40, 4][..].into(), offset: 16 };
    for (left, right) in [(wide.clone(), packed(&[4, 1])), (packed(&[1, 3]), wide)] {
        let op = product(left, right);
        assert_eq!(Product::plan(&op).unwrap().scratch(), 0);
        assert_eq!(check(&op), 1);
    }
}

#[test]
fn steps_that_a_blas_cannot_take_are_packed() {
    let every_other = Layout { shape: [3, 4][..].into(), strides: [32, 8][..].into(), offset: 0 };
    for left in
        [every_other, packed(&[3, 4]).flip(1), packed(&[3, 4]).flip(0), packed(&[1, 4]).broadcast_to(&[3, 4]).unwrap()]
    {
        let op = product(left, packed(&[4, 5]));
        assert_eq!(Product::plan(&op).unwrap().scratch(), 256);
        assert_eq!(check(&op), 1);
    }
}

#[test]
fn a_regular_batch_is_one_call_and_any_other_a_few() {
    let regular = product(packed(&[2, 3, 3, 4]), packed(&[2, 3, 4, 5]));
    assert_eq!(check(&regular), 1);
    let shared = product(packed(&[6, 3, 4]), packed(&[1, 4, 5]).broadcast_to(&[6, 4, 5]).unwrap());
    assert_eq!(check(&shared), 1);
    let crossed = product(packed(&[3, 2, 3, 4]).transpose(&[1, 0, 2, 3]), packed(&[2, 3, 4, 5]));
    assert_eq!(check(&crossed), 2);
    let backwards = product(packed(&[3, 3, 4]).flip(0), packed(&[3, 4, 5]));
    assert_eq!(check(&backwards), 3);
    let packed_once = product(packed(&[1, 3, 4]).flip(2).broadcast_to(&[6, 3, 4]).unwrap(), packed(&[6, 4, 5]));
    assert_eq!(Product::plan(&packed_once).unwrap().scratch(), 256);
    assert_eq!(check(&packed_once), 1);
}

#[test]
fn integers_and_empty_products_are_for_our_own_kernels() {
    let mut op = product(packed(&[3, 4]), packed(&[4, 5]));
    op.output.dtype = DType::Int32;
    assert!(Product::plan(&op).is_none());
    assert!(Product::plan(&product(packed(&[3, 0]), packed(&[0, 5]))).is_none());
}
