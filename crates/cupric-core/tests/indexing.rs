//! Indexing against results made by NumPy.

use cupric_core::{Dims, Exception, Index, Layout, Selection, broadcast_shapes, select};

const ITEM: usize = 8;

fn numbers(text: &str) -> Vec<isize> {
    text.split(',').filter(|word| !word.is_empty()).map(|word| word.parse().unwrap()).collect()
}

fn dims(text: &str) -> Dims {
    numbers(text).into_iter().map(|number| number as usize).collect()
}

fn argument(word: &str) -> Index {
    match (word, word.split_at(1)) {
        ("...", _) => Index::Ellipsis,
        ("n", _) => Index::NewAxis,
        ("F", _) => Index::Mask(Dims::new()),
        (_, ("i", rest)) => Index::Int(rest.parse().unwrap()),
        (_, ("I", rest)) => Index::Integers(dims(rest)),
        (_, ("M", rest)) => Index::Mask(dims(rest)),
        _ => {
            let mut bounds = word.split(':').map(|bound| bound.parse().ok());
            let mut next = || bounds.next().flatten();
            Index::Slice { start: next(), stop: next(), step: next() }
        }
    }
}

/// The common shape of the index arrays; all masks are true, but for `F`.
fn broadcast(selection: &Selection, words: &[&str], indices: &[Index]) -> Result<Dims, String> {
    let shapes: Vec<Dims> = selection
        .advanced
        .iter()
        .map(|advanced| match &indices[advanced.argument] {
            Index::Mask(_) if words[advanced.argument] == "F" => Dims::from_slice(&[0]),
            Index::Mask(shape) => Dims::from_slice(&[shape.iter().product()]),
            Index::Integers(shape) => shape.clone(),
            other => panic!("{other:?} is no index array"),
        })
        .collect();
    let shapes: Vec<&[usize]> = shapes.iter().map(|shape| &shape[..]).collect();
    broadcast_shapes(&shapes).map_err(|error| error.to_string())
}

fn check(line: &str) {
    let mut fields = line.split('|');
    let mut next = || fields.next().unwrap();
    let layout = Layout::row_major(&dims(next()), ITEM);
    let words: Vec<&str> = next().split_whitespace().collect();
    let indices: Vec<Index> = words.iter().map(|word| argument(word)).collect();
    let expected = next();
    let selection = select(&layout, &indices);
    if expected.starts_with("IndexError: shape mismatch") {
        assert!(broadcast(&selection.unwrap(), &words, &indices).is_err(), "{line}");
        return;
    }
    if let Some((kind, text)) = expected.split_once(": ") {
        // Positions in an integer array are values, which a layout does not know.
        let Err(error) = selection else {
            assert!(text.starts_with("index 0 is out of bounds"), "{line}: {selection:?}");
            return;
        };
        let exception = if kind == "IndexError" { Exception::IndexError } else { Exception::ValueError };
        assert_eq!((error.exception(), error.to_string().as_str()), (exception, text), "{line}");
        return;
    }
    let selection = selection.unwrap_or_else(|error| panic!("{line}: {error}"));
    let broadcast = broadcast(&selection, &words, &indices).unwrap();
    assert_eq!(selection.result_shape(&broadcast), dims(expected), "{line}");
    if let Some(strides) = fields.next() {
        assert!(selection.is_basic(), "{line}");
        assert_eq!(selection.view.strides.to_vec(), numbers(strides), "{line}");
        let offset = fields.next().unwrap();
        assert!(offset == "x" || selection.view.offset.to_string() == offset, "{line}: {selection:?}");
    }
}

#[test]
fn indexing_selects_what_numpy_selects() {
    let lines: Vec<&str> = include_str!("data/indexing.txt").lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() > 300);
    lines.into_iter().for_each(check);
}

#[test]
fn index_arrays_name_their_argument_and_their_axes() {
    let layout = Layout::row_major(&[2, 3, 4, 5], ITEM);
    let mask = Index::Mask(Dims::from_slice(&[3, 4]));
    let all = Index::Slice { start: None, stop: None, step: None };
    let selection = select(&layout, &[all, mask, Index::Integers(Dims::from_slice(&[7]))]).unwrap();
    let found: Vec<_> = selection.advanced.iter().map(|one| (one.argument, one.axes.clone())).collect();
    assert_eq!(found, [(1, 1..3), (2, 3..4)]);
    assert_eq!(selection.view, layout);
    assert_eq!(selection.position, 1);
    assert_eq!(selection.kept_axes()[..], [0]);
}

#[test]
fn an_integer_beside_an_index_array_counts_for_the_position() {
    let layout = Layout::row_major(&[2, 3, 4], ITEM);
    let all = Index::Slice { start: None, stop: None, step: None };
    let array = Index::Integers(Dims::from_slice(&[2]));
    let selection = select(&layout, &[Index::Int(1), all.clone(), array.clone()]).unwrap();
    assert_eq!((selection.view.offset, selection.position), (96, 0));
    let selection = select(&layout, &[all, Index::Int(1), array]).unwrap();
    assert_eq!((selection.view.offset, selection.position), (32, 1));
}

#[test]
fn more_than_64_dimensions_are_refused() {
    let layout = Layout::row_major(&[1; 63], ITEM);
    let error = select(&layout, &[Index::NewAxis, Index::NewAxis]).unwrap_err();
    assert_eq!(error.to_string(), "number of dimensions must be within [0, 64], indexing result would have 65");
}
