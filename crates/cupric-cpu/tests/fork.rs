//! A child of a process that has used its threads makes threads of its own.

mod common;

use common::{Source, World, single};
use cupric_core::{DType, Layout, Typed};
use cupric_ir::{Input, MapStep, Step, ufunc};
use smallvec::SmallVec;
use std::sync::Arc;

#[test]
fn a_forked_child_computes() {
    let (mut world, mut source) = (World::new(2), Source(1));
    let shape = [300_000];
    let [input, output] = [(); 2].map(|()| world.array(DType::Float32, Layout::row_major(&shape, 4), &mut source));
    let body =
        ufunc("sqrt").expect("a ufunc").resolve(&[Typed::Strong(DType::Float32)], None).expect("a loop").compile();
    let op = single(Step::Map(MapStep {
        shape: shape[..].into(),
        body: Arc::new(body),
        inputs: [Input::Array(input)].into_iter().collect(),
        outputs: SmallVec::from_elem(output.clone(), 1),
        mask: None,
    }));
    world.run(&op);
    let expected = world.all(&output);
    let empty = vec![0; world.bytes(&output).len()];
    // SAFETY: the child only computes and leaves; it ends by itself if it hangs.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as above.
        unsafe { libc::alarm(30) };
        world.put_back(&output, empty);
        world.run(&op);
        let code = i32::from(world.all(&output) != expected);
        // SAFETY: as above.
        unsafe { libc::_exit(code) };
    }
    let mut status = -1;
    // SAFETY: the child is this process's own.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0);
}
