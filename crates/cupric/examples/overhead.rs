//! What a call on small arrays costs: `cargo run -p cupric --example overhead`.

use cupric::{
    Array, DType, Reduction, arange, reduce,
    ufunc::{self, Operand},
};
use std::time::Instant;

fn time(name: &str, mut call: impl FnMut() -> Array) {
    let mut rounds: Vec<f64> = (0..50)
        .map(|_| {
            let start = Instant::now();
            let kept: Vec<Array> = (0..200).map(|_| call()).collect();
            let queued = start.elapsed().as_secs_f64() / 200.0;
            drop(kept);
            queued * 1e9
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    println!("{name:16} {:7.0} ns", rounds[rounds.len() / 2]);
}

fn main() -> cupric::Result<()> {
    let (a, b) = (arange(16, DType::Float32)?, arange(16, DType::Float32)?);
    let one = |name: &str, inputs: &[Operand<'_>]| {
        ufunc::call(ufunc::row(name), inputs, Default::default()).expect("fits").remove(0)
    };
    let add = ufunc::row("add");
    time("a + b", || ufunc::call(add, &[(&a).into(), (&b).into()], Default::default()).expect("fits").remove(0));
    time("a + 1.0", || ufunc::call(add, &[(&a).into(), 1.0.into()], Default::default()).expect("fits").remove(0));
    time("sin(a)", || one("sin", &[(&a).into()]));
    time("sum", || reduce("sum", &a, Reduction::default()).expect("fits"));
    time("reshape", || a.reshape(&[4, 4]).expect("fits"));
    time("empty", || Array::empty(&[16], DType::Float32).expect("fits"));
    Ok(())
}
