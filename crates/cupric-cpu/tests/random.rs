//! Random numbers: each element is a function of key, start and position.

mod common;

use common::{Source, World, layouts};
use cupric_core::{Bits, DType, Scalar};
use cupric_ir::{Distribution, Op, Random};
use cupric_math::random::{bounded, counter_at, normal32, normal64, philox4x64, uniform32, uniform64};

const KEY: [u64; 2] = [0x1234_5678_9abc_def0, 42];
const START: [u64; 4] = [u64::MAX - 5, 7, 0, 0];

fn word(index: usize) -> u64 {
    philox4x64(counter_at(START, index as u64 / 4), KEY)[index % 4]
}

fn half(index: usize) -> f32 {
    uniform32(word(index / 2))[index % 2]
}

fn draw(distribution: Distribution, dtype: DType, skip: u64, threads: usize) -> Vec<Bits> {
    let (mut world, mut source) = (World::new(threads), Source(1));
    let output = world.array(dtype, layouts(&[300, 301], dtype.size())[threads % 4].clone(), &mut source);
    world.run(&Op::Random(Random { key: KEY, counter: START, skip, distribution, output: output.clone() }));
    world.all(&output)
}

fn check(distribution: Distribution, dtype: DType, skip: u64, expected: impl Fn(usize) -> u64) {
    let drawn = draw(distribution, dtype, skip, 1);
    for (index, bits) in drawn.iter().enumerate() {
        assert_eq!(bits.0[0], expected(index), "{distribution:?} {dtype} skipping {skip}, element {index}");
    }
    assert!(drawn == draw(distribution, dtype, skip, 3));
}

#[test]
fn elements_are_made_of_the_words_of_their_place() {
    for skip in [0, 2, 6] {
        let words = skip as usize / 2;
        check(Distribution::Words, DType::UInt64, skip, |i| word(i + words));
        check(Distribution::Uniform, DType::Float64, skip, |i| uniform64(word(i + words)).to_bits());
        let pair = |i: usize| normal64(uniform64(word(i / 2 * 2 + words)), uniform64(word(i / 2 * 2 + 1 + words)));
        check(Distribution::Normal, DType::Float64, skip, |i| pair(i)[i % 2].to_bits());
    }
    for skip in [0, 1, 5] {
        let halves = skip as usize;
        check(Distribution::Uniform, DType::Float32, skip, |i| half(i + halves).to_bits().into());
        let pair = |i: usize| normal32(half(i / 2 * 2 + halves), half(i / 2 * 2 + 1 + halves));
        check(Distribution::Normal, DType::Float32, skip, |i| pair(i)[i % 2].to_bits().into());
    }
}

#[test]
fn integers_lie_in_their_range() {
    let distribution = Distribution::Integers { low: -3, span: 7 };
    check(distribution, DType::Int64, 0, |i| bounded(KEY, START, i as u64, 7).wrapping_sub(3));
    let drawn = draw(distribution, DType::Int8, 0, 1);
    let mut seen: Vec<i128> = drawn
        .iter()
        .map(|&bits| match Scalar::from_bits(DType::Int8, bits) {
            Scalar::Int(value) => value,
            other => panic!("{other:?}"),
        })
        .collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, (-3..4).collect::<Vec<_>>());
    check(Distribution::Integers { low: 1, span: 0 }, DType::UInt64, 0, |i| word(i).wrapping_add(1));
}
