//! Reductions and scans against the order that is written down.

mod common;

use common::{
    Source, World, assert_same,
    evaluate::{Leaves, evaluate},
    layouts, plain_finish, single,
};
use cupric_core::{Bits, DType, Error, Layout, cast_bits};
use cupric_ir::{CHUNK, CompiledFold, FOLDS, LANES, Op, Operand, ReduceStep, Scan, Step, fold, registers};
use std::sync::Arc;

type State = Vec<u64>;

fn combine(fold: &CompiledFold, left: &State, right: &State) -> State {
    let arguments: Vec<u64> = left.iter().chain(right).copied().collect();
    let leaves = Leaves { load: &|_, _| 0, parameters: &[], arguments: &arguments, position: 0 };
    let values = evaluate(&fold.combine, &leaves);
    fold.combined.iter().map(|&id| values[id as usize]).collect()
}

/// The documented order, word by word.
fn reduced(fold: &CompiledFold, elements: &[State]) -> State {
    let chunks: Vec<State> = elements.chunks(CHUNK).map(|chunk| reduced_chunk(fold, chunk)).collect();
    if chunks.len() == 1 { chunks[0].clone() } else { reduced(fold, &chunks) }
}

fn reduced_chunk(fold: &CompiledFold, chunk: &[State]) -> State {
    let mut lanes: Vec<State> = chunk.iter().take(LANES).cloned().collect();
    for (k, element) in chunk.iter().enumerate().skip(LANES) {
        lanes[k % LANES] = combine(fold, &lanes[k % LANES], element);
    }
    for half in [64, 32, 16, 8, 4, 2, 1] {
        for lane in 0..half {
            if lane + half < lanes.len() {
                lanes[lane] = combine(fold, &lanes[lane], &lanes[lane + half]);
            }
        }
        lanes.truncate(half);
    }
    lanes[0].clone()
}

fn element(fold: &CompiledFold, dtype: DType, bits: Bits, position: usize) -> State {
    let bits = if dtype == DType::Bool { Bits([u64::from(bits.0[0] != 0), 0]) } else { bits };
    let value = registers(fold.accumulator, cast_bits(dtype, fold.accumulator, bits));
    let mut state: State = value.0[..1 + usize::from(fold.accumulator.is_complex())].to_vec();
    if state.len() < fold.state.len() {
        state.push(position as u64);
    }
    state
}

/// What is stored for a state.
fn stored(fold: &CompiledFold, state: &State) -> Bits {
    if fold.fold.is_position() {
        return Bits([state[state.len() - 1], 0]);
    }
    let bits = Bits([state[0], state.get(1).copied().unwrap_or(0)]);
    let half = matches!(fold.gives, DType::Float16 | DType::BFloat16);
    if half { cast_bits(DType::Float32, fold.gives, bits) } else { bits }
}

fn operation(fold: &Arc<CompiledFold>, input: &Operand, axes: &[usize], output: &Operand) -> Op {
    let finish = plain_finish(fold);
    let (input, output) = (input.clone(), output.clone());
    single(Step::Reduce(ReduceStep { input, axes: axes.into(), fold: fold.clone(), finish, output }))
}

fn check(fold: &Arc<CompiledFold>, dtype: DType, layout: &Layout, axes: &[usize], seed: u64) {
    let mut source = Source(seed);
    let mut world = World::new(if seed.is_multiple_of(2) { 1 } else { 3 });
    let input = world.array(dtype, layout.clone(), &mut source);
    let kept: Vec<usize> = (0..layout.ndim()).filter(|axis| !axes.contains(axis)).collect();
    let sizes = |axes: &[usize]| axes.iter().map(|&axis| layout.shape[axis]).collect::<Vec<_>>();
    let output_layout = Layout::column_major(&sizes(&kept), fold.gives.size());
    let output = world.array(fold.gives, output_layout, &mut source);
    let before = world.bytes(&input);
    world.run(&operation(fold, &input, axes, &output));
    assert_eq!(world.bytes(&input), before);
    let order: Vec<usize> = kept.iter().chain(axes).copied().collect();
    let turned = Operand { layout: layout.transpose(&order).into(), ..input };
    let count: usize = sizes(axes).iter().product();
    for index in 0..output.layout.len() {
        let elements: Vec<State> =
            (0..count).map(|k| element(fold, dtype, world.get(&turned, index * count + k), k)).collect();
        let expected = stored(fold, &reduced(fold, &elements));
        let about = || format!("{} of {dtype} {:?} over {axes:?}, result {index}", fold.fold.name, layout.shape);
        assert_same(fold.gives, world.get(&output, index), expected, &about);
    }
}

#[test]
fn every_reduction_combines_in_the_documented_order() {
    let mut seed = 1;
    for row in FOLDS {
        for dtype in DType::ALL {
            let Ok(fold) = row.compile(row.accumulator(dtype)) else { continue };
            let fold = Arc::new(fold);
            for (shape, axes) in [(&[300][..], &[0][..]), (&[20, 70], &[0]), (&[40, 9], &[1]), (&[6, 7, 8], &[0, 2])] {
                for layout in layouts(shape, dtype.size()) {
                    check(&fold, dtype, &layout, axes, seed);
                    seed += 1;
                }
            }
        }
    }
}

#[test]
fn long_reductions_combine_chunks_in_the_same_way() {
    let sum = |dtype| Arc::new(fold("sum").expect("a fold").compile(dtype).expect("a loop"));
    for (index, n) in [127, 128, 129, 1023, 1024, 1025, 5000, (1 << 20) + 3000].into_iter().enumerate() {
        check(&sum(DType::Float32), DType::Float32, &Layout::row_major(&[n], 4), &[0], index as u64 + 9);
    }
    let positions = Arc::new(fold("argmax").expect("a fold").compile(DType::Float64).expect("a loop"));
    for axis in [0, 1] {
        let shape = [[2500, 40], [40, 2500]][axis];
        check(&sum(DType::Complex64), DType::Complex64, &Layout::row_major(&shape, 8), &[axis], 21);
        check(&sum(DType::Float64), DType::Float64, &Layout::row_major(&shape, 8), &[axis], 22);
        check(&positions, DType::Float64, &Layout::row_major(&shape, 8), &[axis], 23);
        check(&positions, DType::Float64, &Layout::row_major(&shape, 8), &[1 - axis], 24);
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let fold = Arc::new(fold("sum").expect("a fold").compile(DType::Float32).expect("a loop"));
    for (shape, axes) in
        [(&[1_500_000][..], &[0][..]), (&[3000, 300], &[0]), (&[300, 3000], &[1]), (&[90_000, 7], &[1])]
    {
        let answers = [1, 2, 5].map(|threads| {
            let (mut world, mut source) = (World::new(threads), Source(31));
            let mut input = world.array(DType::Float32, Layout::row_major(shape, 4), &mut source);
            Arc::make_mut(&mut input.layout).shape = shape.into();
            let kept: Vec<usize> =
                (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).collect();
            let output = world.array(DType::Float32, Layout::row_major(&kept, 4), &mut source);
            world.run(&operation(&fold, &input, axes, &output));
            world.all(&output)
        });
        assert!(answers[0] == answers[1] && answers[0] == answers[2]);
    }
}

#[test]
fn a_reduction_of_nothing_gives_the_identity_or_an_error() {
    for (name, expected) in [("sum", Some(0.0_f64)), ("prod", Some(1.0)), ("max", None)] {
        let fold = Arc::new(fold(name).expect("a fold").compile(DType::Float64).expect("a loop"));
        let (mut world, mut source) = (World::new(1), Source(3));
        let input = world.array(DType::Float64, Layout::row_major(&[3, 0], 8), &mut source);
        let output = world.array(DType::Float64, Layout::row_major(&[3], 8), &mut source);
        let outcome = world.execute(&operation(&fold, &input, &[1], &output));
        match expected {
            Some(value) => assert!(world.all(&output).iter().all(|bits| f64::from_bits(bits.0[0]) == value)),
            None => assert_eq!(outcome, Err(Error::ReductionOfEmpty { operation: "maximum".into() })),
        }
    }
}

/// The association of scans, word by word.
fn scanned(fold: &CompiledFold, elements: &[State]) -> Vec<State> {
    let chunks: Vec<Vec<State>> = elements.chunks(1024).map(|chunk| scanned_chunk(fold, chunk)).collect();
    if chunks.len() == 1 {
        return chunks[0].clone();
    }
    let totals: Vec<State> = chunks.iter().map(|chunk| chunk[chunk.len() - 1].clone()).collect();
    let carries = scanned(fold, &totals);
    let carried = |(index, chunk): (usize, &Vec<State>)| -> Vec<State> {
        chunk.iter().map(|p| if index == 0 { p.clone() } else { combine(fold, &carries[index - 1], p) }).collect()
    };
    chunks.iter().enumerate().flat_map(carried).collect()
}

fn scanned_chunk(fold: &CompiledFold, chunk: &[State]) -> Vec<State> {
    let groups: Vec<Vec<State>> = chunk
        .chunks(4)
        .map(|group| {
            let mut p = vec![group[0].clone()];
            for element in &group[1..] {
                p.push(combine(fold, &p[p.len() - 1], element));
            }
            p
        })
        .collect();
    let mut totals: Vec<State> = groups.iter().map(|p| p[p.len() - 1].clone()).collect();
    for distance in [1, 2, 4, 8, 16] {
        let before = totals.clone();
        for g in (0..totals.len()).filter(|g| g % 32 >= distance) {
            totals[g] = combine(fold, &before[g - distance], &before[g]);
        }
    }
    let mut segments: Vec<State> = totals.chunks(32).map(|segment| segment[segment.len() - 1].clone()).collect();
    for s in 1..segments.len() {
        segments[s] = combine(fold, &segments[s - 1], &segments[s]);
    }
    let mut results = Vec::new();
    for (g, p) in groups.iter().enumerate() {
        let segment = (g >= 32).then(|| &segments[g / 32 - 1]);
        let group = (g % 32 > 0).then(|| &totals[g - 1]);
        let before = match (segment, group) {
            (Some(segment), Some(group)) => Some(combine(fold, segment, group)),
            (Some(one), None) | (None, Some(one)) => Some(one.clone()),
            (None, None) => None,
        };
        results.extend(p.iter().map(|p| before.as_ref().map_or_else(|| p.clone(), |before| combine(fold, before, p))));
    }
    results
}

#[test]
fn scans_associate_as_documented() {
    let mut source = Source(8);
    for name in ["sum", "prod", "max"] {
        for dtype in DType::ALL {
            let row = fold(name).expect("a fold");
            let Ok(fold) = row.compile(row.accumulator(dtype)) else { continue };
            let fold = Arc::new(fold);
            for (n, threads) in [(1, 1), (3, 1), (130, 1), (1024, 1), (1500, 2), (70_000, 3)] {
                let mut world = World::new(threads);
                let shape = if n < 70_000 { vec![3, n] } else { vec![1, n] };
                let places = layouts(&shape, dtype.size());
                let input = world.array(dtype, places[n % 4].clone(), &mut source);
                let gives = fold.gives;
                let output = world.array(gives, layouts(&shape, gives.size())[(n + 1) % 4].clone(), &mut source);
                let (fold, shape) = (fold.clone(), shape[..].into());
                let scan = Scan { shape, input: input.clone(), output: output.clone(), fold: fold.clone() };
                world.run(&Op::Scan(scan));
                for row in 0..output.layout.shape[0] {
                    let elements: Vec<State> =
                        (0..n).map(|k| element(&fold, dtype, world.get(&input, row * n + k), 0)).collect();
                    for (k, state) in scanned(&fold, &elements).iter().enumerate() {
                        let about = || format!("cumulative {name} of {dtype}, {n} elements, element {k}");
                        assert_same(gives, world.get(&output, row * n + k), stored(&fold, state), &about);
                    }
                }
            }
        }
    }
}
