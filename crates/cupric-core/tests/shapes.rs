//! Shapes, axes, and the words of errors.

use cupric_core::{
    DType, Dims, Error, Exception, broadcast_shapes, byte_count, element_count, infer_shape, normalize_axes,
    normalize_axis, normalize_permutation,
};

#[test]
fn shapes_broadcast() {
    assert_eq!(broadcast_shapes(&[&[2, 1], &[3]]).unwrap()[..], [2, 3]);
    assert_eq!(broadcast_shapes(&[&[0, 1], &[1, 5], &[]]).unwrap()[..], [0, 5]);
    assert_eq!(broadcast_shapes(&[]).unwrap()[..], [] as [usize; 0]);
    let error = broadcast_shapes(&[&[3], &[], &[4]]).unwrap_err();
    assert_eq!(error.to_string(), "operands could not be broadcast together with shapes (3,) () (4,) ");
    assert_eq!(error.exception(), Exception::ValueError);
    assert!(broadcast_shapes(&[&[0], &[2]]).is_err());
}

#[test]
fn counts_do_not_overflow() {
    assert_eq!(byte_count(&[3, 4], 8), Ok(96));
    assert_eq!(element_count(&[]), Ok(1));
    assert_eq!(element_count(&[5, 0]), Ok(0));
    assert!(byte_count(&[1 << 40, 1 << 40], 8).is_err());
    assert!(byte_count(&[1 << 62], 8).is_err());
    assert!(byte_count(&[1 << 40, 1 << 40, 0], 1).is_err());
    assert_eq!(
        byte_count(&[1 << 62], 8).unwrap_err().to_string(),
        "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."
    );
}

#[test]
fn axes_count_from_either_end() {
    assert_eq!(normalize_axis(-1, 3), Ok(2));
    assert_eq!(normalize_axes(&[2, -3], 3).unwrap()[..], [2, 0]);
    let error = normalize_axis(3, 3).unwrap_err();
    assert_eq!(error.exception(), Exception::AxisError);
    assert_eq!(error.to_string(), "axis 3 is out of bounds for array of dimension 3");
    assert!(normalize_axis(0, 0).is_err());
    assert!(normalize_axis(isize::MIN, 3).is_err());
    assert_eq!(normalize_axes(&[0, -3], 3).unwrap_err().to_string(), "duplicate value in 'axis'");
    assert_eq!(normalize_permutation(&[0, 0], 2).unwrap_err().to_string(), "repeated axis in transpose");
    assert_eq!(normalize_permutation(&[0], 2).unwrap_err().to_string(), "axes don't match array");
    assert_eq!(normalize_permutation(&[-1, 0], 2).unwrap()[..], [1, 0]);
}

#[test]
fn one_size_may_be_left_to_reshape() {
    assert_eq!(infer_shape(&[4, -1], 24).unwrap()[..], [4, 6]);
    assert_eq!(infer_shape(&[-1], 0).unwrap()[..], [0]);
    assert_eq!(infer_shape(&[5, -1], 0).unwrap()[..], [5, 0]);
    assert_eq!(infer_shape(&[], 1).unwrap()[..], [] as [usize; 0]);
    let text = |shape: &[isize], len| infer_shape(shape, len).unwrap_err().to_string();
    assert_eq!(text(&[5, -1], 24), "cannot reshape array of size 24 into shape (5,newaxis)");
    assert_eq!(text(&[5, 5], 24), "cannot reshape array of size 24 into shape (5,5)");
    assert_eq!(text(&[0, -1], 0), "cannot reshape array of size 0 into shape (0,newaxis)");
    assert_eq!(text(&[7], 24), "cannot reshape array of size 24 into shape (7,)");
    assert_eq!(text(&[-1, -1], 24), "can only specify one unknown dimension");
    assert_eq!(text(&[1; 65], 1), "maximum supported dimension for an ndarray is currently 64, found 65");
}

#[test]
fn errors_speak_the_words_of_numpy() {
    let cast = |ufunc: Option<&str>| Error::CannotCast {
        from: DType::Float64,
        to: DType::Int32,
        casting: cupric_core::Casting::SameKind,
        ufunc: ufunc.map(str::to_owned),
    };
    assert_eq!(
        cast(Some("add")).to_string(),
        "Cannot cast ufunc 'add' output from dtype('float64') to dtype('int32') with casting rule 'same_kind'"
    );
    assert_eq!(cast(Some("add")).exception(), Exception::UFuncTypeError);
    assert_eq!(
        cast(None).to_string(),
        "Cannot cast array data from dtype('float64') to dtype('int32') according to the rule 'same_kind'"
    );
    assert_eq!(cast(None).exception(), Exception::TypeError);
    let aligned = Error::NotAligned { left: vec![2, 3], right: vec![4, 5], axis_left: 1, axis_right: 0 };
    assert_eq!(aligned.to_string(), "shapes (2,3) and (4,5) not aligned: 3 (dim 1) != 4 (dim 0)");
    let deferred = Error::Deferred {
        operation: "take".to_owned(),
        cause: Box::new(Error::IndexOutOfBounds { index: 5, axis: 0, size: 3 }),
    };
    assert_eq!(deferred.to_string(), "index 5 is out of bounds for axis 0 with size 3 (found while running take)");
    assert_eq!(deferred.exception(), Exception::IndexError);
    let memory = Error::OutOfMemory {
        requested: 10,
        free: 5,
        total: 20,
        cached: 0,
        limit: Some(15),
        holders: "12 bytes float32 (3,)".to_owned(),
    };
    assert_eq!(
        memory.to_string(),
        "out of memory: 10 bytes asked; 5 of 20 bytes free, 0 cached, limit 15; largest holders: 12 bytes float32 (3,)"
    );
    let shapes = vec![Dims::from_slice(&[2]), Dims::from_slice(&[3])];
    assert_eq!(
        Error::IndexBroadcast { shapes }.to_string(),
        "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,) "
    );
}
