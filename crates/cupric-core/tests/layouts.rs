//! Layouts against results made by NumPy, and against a model that lists every element.

use std::collections::HashMap;

use cupric_core::{Dims, Layout, Order, Part, Strides, coalesce, sort_axes};

/// Small pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn layout(&mut self, item: usize) -> Layout {
        let ndim = self.roll(4);
        let shape: Dims = (0..ndim).map(|_| [0, 1, 2, 3, 3, 4, 5][self.roll(7).max(self.roll(2))]).collect();
        let unit = if self.roll(2) == 0 { item as isize } else { 1 };
        let strides = (0..ndim).map(|_| unit * (self.roll(21) as isize - 10)).collect();
        Layout { shape, strides, offset: 1000 + self.roll(40) }
    }
}

/// Offsets of all elements, in row-major order.
fn offsets(shape: &[usize], strides: &[isize], offset: isize) -> Vec<isize> {
    let Some((&size, rest)) = shape.split_first() else { return vec![offset] };
    (0..size as isize).flat_map(|index| offsets(rest, &strides[1..], offset + index * strides[0])).collect()
}

fn elements(layout: &Layout) -> Vec<isize> {
    offsets(&layout.shape, &layout.strides, layout.offset as isize)
}

/// How many elements lie on each byte.
fn bytes(layout: &Layout, item: usize) -> HashMap<isize, usize> {
    let mut counts = HashMap::new();
    for byte in elements(layout).into_iter().flat_map(|offset| offset..offset + item as isize) {
        *counts.entry(byte).or_default() += 1;
    }
    counts
}

fn numbers(text: &str) -> Vec<isize> {
    text.split(',').filter(|word| !word.is_empty()).map(|word| word.parse().unwrap()).collect()
}

#[test]
fn reshapes_copies_and_contiguity_are_those_of_numpy() {
    let lines: Vec<&str> = include_str!("data/layouts.txt").lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 420);
    for line in lines {
        let fields: Vec<&str> = line.split('|').collect();
        let dims = |text| numbers(text).into_iter().map(|size| size as usize).collect::<Dims>();
        let strides = numbers(fields[1]);
        let layout = Layout { shape: dims(fields[0]), strides: strides.into(), offset: 1000 };
        assert_eq!(layout.is_row_major(8), fields[2] == "1", "{line}");
        assert_eq!(layout.is_column_major(8), fields[3] == "1", "{line}");
        assert_eq!(layout.ordered_like(Order::Keep, 8).strides.to_vec(), numbers(fields[4]), "{line}");
        assert_eq!(layout.ordered_like(Order::Any, 8).strides.to_vec(), numbers(fields[5]), "{line}");
        let reshaped = layout.reshape(&dims(fields[6]), 8);
        match fields[7] {
            "copy" => assert_eq!(reshaped, None, "{line}"),
            "x" => assert!(reshaped.unwrap().is_empty()),
            strides => {
                let reshaped = reshaped.unwrap_or_else(|| panic!("{line}"));
                assert_eq!(reshaped.strides.to_vec(), numbers(strides), "{line}");
                assert_eq!(elements(&reshaped), elements(&layout), "{line}");
            }
        }
    }
}

#[test]
fn self_overlap_is_exact() {
    let mut dice = Dice(1);
    let mut overlapping = 0;
    for _ in 0..20_000 {
        let item = [1, 2, 4, 8][dice.roll(4)];
        let layout = dice.layout(item);
        let expected = bytes(&layout, item).values().any(|&count| count > 1);
        assert_eq!(layout.self_overlaps(item), expected, "{layout:?} {item}");
        overlapping += usize::from(expected);
    }
    assert!((1000..19_000).contains(&overlapping), "{overlapping}");
}

#[test]
fn overlap_of_two_layouts_is_exact() {
    let mut dice = Dice(2);
    let mut overlapping = 0;
    for _ in 0..20_000 {
        let (item, other_item) = ([1, 2, 4, 8][dice.roll(4)], [1, 2, 4, 8][dice.roll(4)]);
        let (layout, other) = (dice.layout(item), dice.layout(other_item));
        let mine = bytes(&layout, item);
        let expected = bytes(&other, other_item).keys().any(|byte| mine.contains_key(byte));
        assert_eq!(layout.overlaps(item, &other, other_item), expected, "{layout:?} {item} {other:?} {other_item}");
        overlapping += usize::from(expected);
    }
    assert!((1000..19_000).contains(&overlapping), "{overlapping}");
}

#[test]
fn overlap_of_large_layouts_takes_no_time() {
    let even = Layout { shape: Dims::from_slice(&[1 << 40]), strides: Strides::from_slice(&[16]), offset: 0 };
    let odd = Layout { offset: 8, ..even.clone() };
    assert!(!even.overlaps(8, &odd, 8));
    assert!(even.overlaps(8, &Layout { offset: 7, ..even.clone() }, 8));
    assert!(!Layout::row_major(&[1 << 20, 1 << 20, 4], 8).self_overlaps(8));
    let columns = Layout { shape: Dims::from_slice(&[1 << 20, 7]), strides: Strides::from_slice(&[80, 8]), offset: 0 };
    assert!(!columns.overlaps(8, &Layout { shape: Dims::from_slice(&[1 << 20, 3]), offset: 56, ..columns.clone() }, 8));
    let window = Layout { shape: Dims::from_slice(&[1000, 5]), strides: Strides::from_slice(&[8, 8]), offset: 0 };
    assert!(window.self_overlaps(8));
}

#[test]
fn byte_range_spans_exactly_the_elements() {
    let mut dice = Dice(3);
    for _ in 0..2000 {
        let layout = dice.layout(4);
        let bytes = bytes(&layout, 4);
        let range = layout.byte_range(4);
        match (bytes.keys().min(), bytes.keys().max()) {
            (Some(&low), Some(&high)) => assert_eq!((low as usize, high as usize + 1), (range.start, range.end)),
            _ => assert!(range.is_empty()),
        }
        let aligned = elements(&layout).iter().all(|offset| offset % 4 == 0);
        assert_eq!(layout.is_aligned(4), aligned, "{layout:?}");
    }
}

#[test]
fn coalescing_keeps_the_walk_and_merges_all_it_can() {
    let mut dice = Dice(4);
    let mut merged = 0;
    for _ in 0..5000 {
        let layout = dice.layout(8);
        let packed = Layout::row_major(&layout.shape, 8);
        let other = if dice.roll(2) == 0 { packed.clone() } else { layout.flip_all() };
        let (shape, strides) = coalesce(&layout.shape, &[&packed.strides, &other.strides]);
        for (old, new) in [&packed, &other].into_iter().zip(&strides) {
            assert_eq!(offsets(&layout.shape, &old.strides, 0), offsets(&shape, new, 0));
        }
        for axis in 1..shape.len() {
            let merges = |one: &Strides| one[axis - 1] == one[axis] * shape[axis] as isize;
            assert!(!strides.iter().all(merges), "{layout:?}");
        }
        assert!(!shape.contains(&1));
        merged += usize::from(shape.len() < layout.ndim());
    }
    assert!(merged > 1000, "{merged}");
    let (shape, strides) = coalesce(&[1, 1], &[&[5, 6]]);
    assert_eq!((shape.len(), strides[0].len()), (0, 0));
}

trait FlipAll {
    fn flip_all(&self) -> Layout;
}

impl FlipAll for Layout {
    fn flip_all(&self) -> Layout {
        (0..self.ndim()).fold(self.clone(), |layout, axis| layout.flip(axis))
    }
}

#[test]
fn flipping_every_axis_reverses_the_walk() {
    let mut dice = Dice(5);
    for _ in 0..2000 {
        let layout = dice.layout(8);
        let mut expected = elements(&layout);
        expected.reverse();
        assert_eq!(elements(&layout.flip_all()), expected);
    }
}

#[test]
fn diagonals_pick_the_elements_they_should() {
    let layout = Layout::row_major(&[3, 4, 2], 8);
    for offset in -5..6 {
        let diagonal = layout.diagonal(offset, 0, -2).unwrap();
        let pairs = (0..3_isize).map(|row| (row, row + offset)).filter(|&(_, column)| (0..4).contains(&column));
        let expected: Vec<isize> = pairs.map(|(row, column)| row * 64 + column * 16).collect();
        let lane = Layout { shape: diagonal.shape[1..].into(), strides: diagonal.strides[1..].into(), ..diagonal };
        assert_eq!(elements(&lane), expected, "{offset}");
    }
    let text = |result: cupric_core::Result<Layout>| result.unwrap_err().to_string();
    assert_eq!(text(layout.diagonal(0, 1, 1)), "axis1 and axis2 cannot be the same");
    assert_eq!(text(layout.diagonal(0, 0, 5)), "axis2: axis 5 is out of bounds for array of dimension 3");
    assert_eq!(text(Layout::row_major(&[3], 8).diagonal(0, 0, 1)), "diag requires an array of at least two dimensions");
}

#[test]
fn views_with_another_item_size_cover_the_same_bytes() {
    let layout = Layout::row_major(&[4, 6], 4);
    for to_item in [1, 2, 4, 8] {
        let view = layout.view_item(4, to_item).unwrap();
        assert_eq!(bytes(&view, to_item), bytes(&layout, 4));
        assert!(view.is_row_major(to_item));
    }
    let text = |layout: &Layout, to_item| layout.view_item(4, to_item).unwrap_err().to_string();
    assert!(text(&Layout::default(), 2).starts_with("Changing the dtype of a 0d array"));
    assert!(text(&layout.flip(1), 2).ends_with("the last axis must be contiguous"));
    assert!(text(&layout.reversed_axes(), 8).ends_with("the last axis must be contiguous"));
    assert!(text(&layout, 16).starts_with("When changing to a larger dtype"));
    let lane = Layout { shape: Dims::from_slice(&[4, 1]), strides: Strides::from_slice(&[32, 99]), offset: 0 };
    assert_eq!(lane.view_item(4, 1).unwrap().strides[..], [32, 1]);
}

#[test]
fn broadcasting_repeats_unit_axes() {
    let layout = Layout::row_major(&[3, 1], 8);
    let wide = layout.broadcast_to(&[2, 3, 4]).unwrap();
    assert_eq!(wide.strides[..], [0, 8, 0]);
    assert_eq!(
        layout.broadcast_to(&[2, 4]).unwrap_err().to_string(),
        "operands could not be broadcast together with remapped shapes [original->remapped]: (3,1)  and requested shape (2,4)"
    );
    assert_eq!(Layout::default().broadcast_to(&[1 << 40, 1 << 40]).unwrap_err().to_string(), "iterator is too large");
    assert_eq!(
        layout.broadcast_to(&[3]).unwrap_err().to_string(),
        "input operand has more dimensions than allowed by the axis remapping"
    );
}

#[test]
fn axes_come_and_go() {
    let layout = Layout::row_major(&[2, 3], 8);
    let wide = layout.expand_dims(&[0, 2, 4]);
    assert_eq!(wide.shape[..], [1, 2, 1, 3, 1]);
    assert_eq!(elements(&wide), elements(&layout));
    assert_eq!(wide.squeeze(None), Ok(layout.clone()));
    assert_eq!(wide.squeeze(Some(&[0, -1])).unwrap().shape[..], [2, 1, 3]);
    assert_eq!(Layout::default().squeeze(Some(&[-1])), Ok(Layout::default()));
    let text = |axes: &[isize]| wide.squeeze(Some(axes)).unwrap_err().to_string();
    assert_eq!(text(&[1]), "cannot select an axis to squeeze out which has size not equal to one");
    assert_eq!(text(&[9]), "axis 9 is out of bounds for array of dimension 5");
    assert_eq!(text(&[0, -5]), "duplicate value in 'axis'");
}

#[test]
fn parts_of_complex_elements_are_views() {
    let layout = Layout::row_major(&[2], 16);
    assert_eq!(layout.part(Part::Real, 16), layout);
    assert_eq!(elements(&layout.part(Part::Imag, 16)), [8, 24]);
}

#[test]
fn axes_are_sorted_by_the_first_operand() {
    assert_eq!(sort_axes(&[2, 3, 4], &[&[8, 64, -16]])[..], [1, 2, 0]);
    assert_eq!(sort_axes(&[2, 3, 4], &[&[0, 0, 8], &[8, 16, 48]])[..], [2, 1, 0]);
    assert_eq!(sort_axes(&[2, 2], &[&[8, 8]])[..], [0, 1]);
    assert_eq!(sort_axes(&[], &[])[..], [] as [usize; 0]);
}
