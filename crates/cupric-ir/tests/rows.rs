//! Every row compiles for every dtype that it takes, into programs whose types fit.

use cupric_core::{DType, Error, Typed, Weak};
use cupric_ir::{FOLDS, Function, Graph, Id, Node, Prim, Ty, ufunc, ufuncs};

fn check(graph: &Graph, results: &[(Id, Ty)]) {
    for (index, (node, ty)) in graph.nodes().iter().enumerate() {
        assert!(node.args().iter().all(|&arg| (arg as usize) < index), "an argument stands after its use");
        let types: Vec<Ty> = node.args().iter().map(|&arg| graph.ty(arg)).collect();
        match node {
            Node::Op { prim: Prim::Select, .. } => {
                assert_eq!((types[0], types[1], types[2]), (Ty::Bool, *ty, *ty), "{node:?}");
            }
            Node::Op { prim, .. } if prim.is_comparison() => {
                assert!(types[0] == types[1] && *ty == Ty::Bool, "{node:?}")
            }
            Node::Op { prim: Prim::Cast, .. } => {}
            Node::Op { prim: Prim::Bitcast, .. } => assert_eq!(types[0].size(), ty.size(), "{node:?}"),
            Node::Op { prim: Prim::RoundF16 | Prim::RoundBF16, .. } => assert!(types[0].is_float() && *ty == Ty::F32),
            Node::Op { .. } => assert!(types.iter().all(|given| given == ty), "{node:?}: {types:?} -> {ty:?}"),
            Node::Call { function, .. } => {
                assert!(types.iter().all(|&given| given == function.result()) && *ty == function.result(), "{node:?}");
            }
            _ => {}
        }
    }
    for &(id, ty) in results {
        assert_eq!(graph.ty(id), ty);
    }
}

#[test]
fn every_loop_is_well_typed() {
    for row in ufuncs() {
        let mut loops = 0;
        for dtype in DType::ALL {
            let Ok(resolved) = row.resolve(&vec![Typed::Strong(dtype); row.inputs], None) else { continue };
            let body = resolved.compile();
            assert_eq!(
                (body.takes.len(), body.gives.len(), body.results.len()),
                (row.inputs, row.outputs, row.outputs)
            );
            for (result, gives) in body.results.iter().zip(&body.gives) {
                assert_eq!(result.imaginary.is_some(), gives.is_complex(), "{} {dtype}", row.name);
                let parts = [Some(result.real), result.imaginary];
                check(&body.graph, &parts.into_iter().flatten().map(|id| (id, Ty::of(*gives))).collect::<Vec<_>>());
            }
            loops += 1;
        }
        assert!(loops > 0, "{} takes nothing", row.name);
    }
}

#[test]
fn every_function_is_well_typed() {
    for &function in Function::ALL {
        let programs = function.programs();
        check(&programs.usual.graph, &[(programs.usual.result, function.result())]);
        if let Some((test, rare)) = programs.rare {
            check(&test.graph, &[(test.result, Ty::Bool)]);
            check(&rare.graph, &[(rare.result, function.result())]);
        }
    }
}

#[test]
fn every_fold_is_well_typed() {
    for fold in FOLDS {
        for dtype in DType::ALL {
            let Ok(compiled) = fold.compile(fold.accumulator(dtype)) else { continue };
            let results: Vec<(Id, Ty)> =
                compiled.combined.iter().copied().zip(compiled.state.iter().copied()).collect();
            assert_eq!(results.len(), compiled.state.len());
            check(&compiled.combine, &results);
        }
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<&str> = ufuncs().iter().map(|row| row.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn dtypes_are_chosen_as_numpy_chooses_them() {
    let gives = |name: &str, inputs: &[Typed]| {
        ufunc(name).expect("a ufunc").resolve(inputs, None).map(|resolved| (resolved.takes[0], resolved.gives[0]))
    };
    let strong = Typed::Strong;
    use DType::{Bool, Complex64, Complex128, Float16, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt64};
    assert_eq!(gives("add", &[strong(Int8), strong(UInt8)]), Ok((Int16, Int16)));
    assert_eq!(gives("add", &[strong(Float32), Typed::Weak(Weak::Float)]), Ok((Float32, Float32)));
    assert_eq!(gives("add", &[strong(Int8), Typed::Weak(Weak::Float)]), Ok((Float64, Float64)));
    assert_eq!(gives("divide", &[strong(Int8), strong(Int8)]), Ok((Float64, Float64)));
    assert_eq!(gives("sqrt", &[strong(Int8)]), Ok((Float16, Float16)));
    assert_eq!(gives("sqrt", &[strong(Int16)]), Ok((Float32, Float32)));
    assert_eq!(gives("sin", &[strong(Bool)]), Ok((Float16, Float16)));
    assert_eq!(gives("hypot", &[strong(Int8), strong(cupric_core::DType::UInt16)]), Ok((Float32, Float32)));
    assert_eq!(gives("absolute", &[strong(Complex64)]), Ok((Complex64, Float32)));
    assert_eq!(gives("power", &[strong(Bool), strong(Bool)]), Ok((Int8, Int8)));
    assert_eq!(gives("less", &[strong(Int64), strong(UInt64)]), Ok((Int64, Bool)));
    assert_eq!(gives("where", &[strong(Bool), strong(Int32), strong(Complex128)]), Ok((Bool, Complex128)));
    assert!(matches!(gives("subtract", &[strong(Bool), strong(Bool)]), Err(Error::Type(_))));
    assert!(matches!(gives("bitwise_and", &[strong(Float64), strong(Int8)]), Err(Error::NoLoop { .. })));
    assert!(matches!(gives("remainder", &[strong(Complex64), strong(Complex64)]), Err(Error::NoLoop { .. })));
}
