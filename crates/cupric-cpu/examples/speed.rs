//! Times a few operations on the host, the best of 31 runs: `cargo run -p cupric-cpu --example speed`.

use cupric_core::{Bits, DType, Layout, Scalar, Typed};
use cupric_cpu::Cpu;
use cupric_ir::{
    Builder, Distribution, Finish, Input, MapStep, MatMul, Node, Op, Operand, Random, ReduceStep, Register, Scan, Sort,
    Sorted, Step, StorageId, fold, fuse, ufunc,
};
use cupric_runtime::{Backend, RawStream};
use smallvec::SmallVec;
use std::{collections::HashMap, sync::Arc, time::Instant};

const STREAM: RawStream = RawStream(0);

/// Arrays on the host, by the name of their storage.
struct Bench {
    cpu: Cpu,
    arrays: HashMap<StorageId, u64>,
}

impl Bench {
    fn array(&mut self, dtype: DType, shape: &[usize]) -> Operand {
        let (storage, layout) = (StorageId(self.arrays.len() as u64), Layout::row_major(shape, dtype.size()));
        let bytes = layout.len() * dtype.size();
        let address = self.cpu.allocate(bytes).expect("memory");
        self.cpu.upload(STREAM, address, &vec![0; bytes]).expect("fill");
        self.arrays.insert(storage, address);
        Operand { storage, dtype, layout: layout.into() }
    }

    fn uniform(&mut self, dtype: DType, shape: &[usize]) -> Operand {
        let output = self.array(dtype, shape);
        let seed = self.arrays.len() as u64;
        let random = Random {
            key: [seed, 1],
            counter: [0; 4],
            skip: 0,
            distribution: Distribution::Uniform,
            output: output.clone(),
        };
        self.execute(&Op::Random(random));
        output
    }

    fn execute(&self, op: &Op) {
        let addresses: Vec<u64> =
            op.reads().iter().chain(op.writes().iter()).map(|operand| self.arrays[&operand.storage]).collect();
        let bytes = self.cpu.workspace(op).expect("a size");
        let workspace = self.cpu.allocate(bytes).expect("memory");
        self.cpu.execute(STREAM, op, &addresses, workspace).expect("the operation runs");
        self.cpu.release(workspace, bytes);
    }

    /// Times what the command line's words occur in.
    fn time(&self, name: &str, ops: &[Op]) {
        if !std::env::args().skip(1).all(|word| name.contains(&word)) {
            return;
        }
        let mut times: Vec<f64> = (0..31)
            .map(|_| {
                let start = Instant::now();
                ops.iter().for_each(|op| self.execute(op));
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!("{name:32} {:10.4} ms", times[0]);
    }
}

fn step(name: &str, inputs: &[Input], output: &Operand) -> Step {
    let typed: Vec<Typed> = inputs
        .iter()
        .map(|input| match input {
            Input::Array(operand) => Typed::Strong(operand.dtype),
            Input::Scalar { .. } => Scalar::Float(1.0).typed(),
        })
        .collect();
    let body = ufunc(name).expect("a ufunc").resolve(&typed, None).expect("a loop").compile();
    Step::Map(MapStep {
        shape: output.layout.shape.clone(),
        body: Arc::new(body),
        inputs: inputs.iter().cloned().collect(),
        outputs: SmallVec::from_elem(output.clone(), 1),
        mask: None,
    })
}

fn ops(steps: &[Step], alive: impl Fn(StorageId) -> bool) -> Vec<Op> {
    fuse(steps, alive).into_iter().map(|fused| fused.op).collect()
}

fn array(operand: &Operand) -> Input {
    Input::Array(operand.clone())
}

fn scalar(value: f64) -> Input {
    Input::Scalar { dtype: DType::Float64, bits: Bits([value.to_bits(), 0]) }
}

fn reduction(name: &str, input: &Operand, axes: &[usize], output: &Operand) -> Op {
    let row = fold(name).expect("a fold");
    let fold = Arc::new(row.compile(row.accumulator(input.dtype)).expect("a loop"));
    let mut builder = Builder::default();
    let last = fold.state.len() - 1;
    let mut roots = [builder.node(Node::Argument(last as u16), fold.state[last])];
    let graph = builder.finish(&mut roots);
    let finish = Finish { graph, parameters: Vec::new(), value: Register { real: roots[0], imaginary: None } };
    let step = ReduceStep { input: input.clone(), axes: axes.into(), fold, finish, output: output.clone() };
    ops(&[Step::Reduce(step)], |_| true).remove(0)
}

fn maps(bench: &mut Bench, dtype: DType, n: usize) {
    let name = dtype.name();
    let [a, b, c, t] = [(); 4].map(|()| bench.uniform(dtype, &[n]));
    let [sine, product, square, quotient, sum] = [(); 5].map(|()| bench.array(dtype, &[n]));
    let steps = [
        step("sin", &[array(&a)], &sine),
        step("multiply", &[array(&sine), array(&b)], &product),
        step("multiply", &[array(&c), array(&c)], &square),
        step("add", &[array(&product), array(&square)], &sum),
        step("divide", &[array(&a), array(&b)], &quotient),
        step("subtract", &[array(&sum), array(&quotient)], &t),
    ];
    bench.time(&format!("sin(a)*b+c*c-a/b {name} {n}"), &ops(&steps, |storage| storage == t.storage));
    let steps =
        [step("multiply", &[array(&a), scalar(2.5)], &product), step("add", &[array(&product), scalar(1.0)], &t)];
    bench.time(&format!("a*2.5+1 {name} {n}"), &ops(&steps, |storage| storage == t.storage));
    bench.time(&format!("a+b {name} {n}"), &ops(&[step("add", &[array(&a), array(&b)], &t)], |_| true));
    bench.time(&format!("sin(a) {name} {n}"), &ops(&[step("sin", &[array(&a)], &t)], |_| true));
    bench.time(&format!("exp(a) {name} {n}"), &ops(&[step("exp", &[array(&a)], &t)], |_| true));
    bench.time(&format!("a+=b {name} {n}"), &ops(&[step("add", &[array(&t), array(&b)], &t)], |_| true));
}

fn reductions(bench: &mut Bench) {
    let dtype = DType::Float32;
    let (a, matrix) = (bench.uniform(dtype, &[10_000_000]), bench.uniform(dtype, &[4000, 4000]));
    let (scalar, row, thin) =
        (bench.array(dtype, &[]), bench.array(dtype, &[4000]), bench.uniform(dtype, &[2_000_000, 8]));
    let (place, long) = (bench.array(DType::Int64, &[]), bench.array(dtype, &[2_000_000]));
    bench.time("sum f32 10M", &[reduction("sum", &a, &[0], &scalar)]);
    bench.time("max f32 10M", &[reduction("max", &a, &[0], &scalar)]);
    bench.time("argmax f32 10M", &[reduction("argmax", &a, &[0], &place)]);
    bench.time("sum axis 0 f32 4000x4000", &[reduction("sum", &matrix, &[0], &row)]);
    bench.time("sum axis 1 f32 4000x4000", &[reduction("sum", &matrix, &[1], &row)]);
    bench.time("sum axis 1 f32 2000000x8", &[reduction("sum", &thin, &[1], &long)]);
    let out = bench.array(dtype, &[10_000_000]);
    let row = fold("sum").expect("a fold");
    let fold = Arc::new(row.compile(dtype).expect("a loop"));
    let scan = Scan { shape: [10_000_000][..].into(), input: a.clone(), output: out.clone(), fold };
    bench.time("cumsum f32 10M", &[Op::Scan(scan)]);
    let sort = Sort { shape: [10_000_000][..].into(), input: a.clone(), output: out, answer: Sorted::Values };
    bench.time("sort f32 10M", &[Op::Sort(sort)]);
    let rows = bench.uniform(dtype, &[10_000, 1000]);
    let sorted = bench.array(dtype, &[10_000, 1000]);
    let sort = Sort { shape: [10_000, 1000][..].into(), input: rows, output: sorted, answer: Sorted::Values };
    bench.time("sort f32 10000x1000", &[Op::Sort(sort)]);
    let positions = bench.array(DType::Int64, &[10_000_000]);
    let sort = Sort { shape: [10_000_000][..].into(), input: a, output: positions, answer: Sorted::Positions };
    bench.time("argsort f32 10M", &[Op::Sort(sort)]);
    let turned = Operand { layout: matrix.layout.reversed_axes().into(), ..matrix.clone() };
    let copy = bench.array(dtype, &[4000, 4000]);
    bench.time("transpose copy f32 4000x4000", &ops(&[step("copy", &[array(&turned)], &copy)], |_| true));
    bench.time("a+a.T f32 4000x4000", &ops(&[step("add", &[array(&matrix), array(&turned)], &copy)], |_| true));
}

fn numbers(bench: &mut Bench) {
    for (dtype, distribution) in [
        (DType::Float64, Distribution::Uniform),
        (DType::Float32, Distribution::Uniform),
        (DType::Float64, Distribution::Normal),
        (DType::Float32, Distribution::Normal),
        (DType::Int64, Distribution::Integers { low: 0, span: 1000 }),
    ] {
        let output = bench.array(dtype, &[10_000_000]);
        let random = Random { key: [1, 2], counter: [0; 4], skip: 0, distribution, output };
        bench.time(&format!("random {distribution:?} {dtype} 10M"), &[Op::Random(random)]);
    }
}

fn products(bench: &mut Bench) {
    for (dtype, n) in [(DType::Float32, 1024), (DType::Float64, 1024), (DType::Int64, 512)] {
        let [left, right, output] = [(); 3].map(|()| bench.array(dtype, &[n, n]));
        let product = MatMul { batch: [][..].into(), rows: n, columns: n, inner: n, left, right, output };
        bench.time(&format!("matmul {dtype} {n}"), &[Op::MatMul(product)]);
    }
}

fn main() {
    let threads = std::env::var("CUPRIC_NUM_THREADS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut bench = Bench { cpu: Cpu::new(threads), arrays: HashMap::new() };
    for dtype in [DType::Float32, DType::Float64] {
        maps(&mut bench, dtype, 10_000_000);
    }
    maps(&mut bench, DType::Float32, 16);
    reductions(&mut bench);
    numbers(&mut bench);
    products(&mut bench);
}
