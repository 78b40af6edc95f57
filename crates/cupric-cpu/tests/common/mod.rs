//! Arrays on the host, hostile values and layouts, and a plain evaluator of programs.
#![expect(dead_code, reason = "each test uses its part")]

pub mod evaluate;

use cupric_core::{Bits, DType, Dims, Layout};
use cupric_cpu::Cpu;
use cupric_ir::{Builder, CompiledFold, Finish, Node, Op, Operand, Register, Step, StorageId, fuse};
use cupric_runtime::{Backend, RawStream};
use std::collections::HashMap;

/// A generator of hostile values.
pub struct Source(pub u64);

impl Source {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 32) % limit
    }

    /// An element: often a special one, often a small number, else anything.
    pub fn element(&mut self, dtype: DType) -> Bits {
        let mut part = || cupric_core::cast_bits(DType::Float64, dtype.component(), Bits([self.double(), 0])).0[0];
        let (real, imaginary) = (part(), part());
        let dice = self.below(4);
        let mask = u64::MAX >> (64 - 8 * dtype.component().size());
        let word = |source: &mut Source| if dtype == DType::Bool { source.below(3) } else { source.next() & mask };
        match dice {
            0 => Bits([word(self), if dtype.is_complex() { word(self) } else { 0 }]),
            _ => Bits([real, if dtype.is_complex() { imaginary } else { 0 }]),
        }
    }

    fn double(&mut self) -> u64 {
        const SPECIAL: [f64; 10] =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.0, -1.0, 1e-310, 1e300, 0.5];
        let value = match self.below(3) {
            0 => SPECIAL[self.below(10) as usize],
            1 => self.below(21) as f64 - 10.0,
            _ => (self.next() as i64 as f64) / 2f64.powi(60),
        };
        value.to_bits()
    }
}

/// Storages and the device.
pub struct World {
    pub cpu: Cpu,
    storages: HashMap<StorageId, Vec<u128>>,
}

impl World {
    pub fn new(threads: usize) -> World {
        World { cpu: Cpu::new(threads), storages: HashMap::new() }
    }

    /// A storage that has room for a layout's elements, with random bytes.
    pub fn storage(&mut self, bytes: usize, source: &mut Source) -> StorageId {
        let id = StorageId(self.storages.len() as u64 + 1);
        let words = (0..bytes / 16 + 2).map(|_| u128::from(source.next()) << 64 | u128::from(source.next()));
        self.storages.insert(id, words.collect());
        id
    }

    /// An array of hostile values.
    pub fn array(&mut self, dtype: DType, layout: Layout, source: &mut Source) -> Operand {
        let storage = self.storage(layout.byte_range(dtype.size()).end, source);
        let operand = Operand { storage, dtype, layout: layout.into() };
        for index in 0..operand.layout.len() {
            let element = source.element(dtype);
            self.set(&operand, index, element);
        }
        operand
    }

    fn address(&self, operand: &Operand, index: usize) -> *mut u8 {
        let (mut rest, mut offset) = (index, operand.layout.offset as isize);
        for (&size, &stride) in operand.layout.shape.iter().zip(&operand.layout.strides).rev() {
            offset += (rest % size) as isize * stride;
            rest /= size;
        }
        self.storages[&operand.storage].as_ptr().cast::<u8>().cast_mut().wrapping_offset(offset)
    }

    /// An element, by its row-major position.
    pub fn get(&self, operand: &Operand, index: usize) -> Bits {
        // SAFETY: storages have room for their arrays' layouts.
        let bytes = unsafe { std::slice::from_raw_parts(self.address(operand, index), operand.dtype.size()) };
        Bits::from_bytes(operand.dtype, bytes)
    }

    pub fn set(&mut self, operand: &Operand, index: usize, bits: Bits) {
        let bytes = bits.to_bytes(operand.dtype);
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.address(operand, index), bytes.len()) };
    }

    pub fn all(&self, operand: &Operand) -> Vec<Bits> {
        (0..operand.layout.len()).map(|index| self.get(operand, index)).collect()
    }

    /// Every byte of a storage.
    pub fn bytes(&self, operand: &Operand) -> Vec<u128> {
        self.storages[&operand.storage].clone()
    }

    pub fn put_back(&mut self, operand: &Operand, bytes: Vec<u128>) {
        self.storages.insert(operand.storage, bytes);
    }

    pub fn execute(&self, op: &Op) -> cupric_core::Result<()> {
        let base = |operand: &&Operand| self.storages[&operand.storage].as_ptr() as u64;
        let addresses: Vec<u64> = op.reads().iter().map(base).chain(op.writes().iter().map(base)).collect();
        let workspace = vec![0_u128; self.cpu.workspace(op)?.div_ceil(16) + 4];
        let address = (workspace.as_ptr() as u64).next_multiple_of(64);
        self.cpu.execute(RawStream(0), op, &addresses, address).map(drop)
    }

    pub fn run(&self, op: &Op) {
        self.execute(op).expect("the operation runs");
    }
}

/// The one operation that a step is.
pub fn single(step: Step) -> Op {
    fuse(&[step], |_| true).remove(0).op
}

/// Layouts of a shape: packed, column-major, reversed, every other element of a padded buffer at an odd offset, repeated.
pub fn layouts(shape: &[usize], item: usize) -> Vec<Layout> {
    let packed = Layout::row_major(shape, item);
    let mut reversed = packed.clone();
    for axis in 0..shape.len() {
        reversed = reversed.flip(axis);
    }
    let wide: Dims = shape.iter().map(|&size| size * 2).collect();
    let mut sparse = Layout::row_major(&wide, item);
    sparse.shape = shape.into();
    sparse.strides.iter_mut().for_each(|stride| *stride *= 2);
    sparse.offset = 3;
    let columns = Layout { offset: item, ..Layout::column_major(shape, item) };
    vec![packed, columns, reversed, sparse]
}

/// The first axis repeated.
pub fn repeated(shape: &[usize], item: usize) -> Layout {
    let mut one: Dims = shape.into();
    one[0] = 1;
    Layout::row_major(&one, item).broadcast_to(shape).expect("a unit axis is repeated")
}

/// A finish that gives the fold's value, or its position.
pub fn plain_finish(fold: &CompiledFold) -> Finish {
    let mut builder = Builder::default();
    let first = if fold.fold.is_position() { fold.state.len() - 1 } else { 0 };
    let mut roots: Vec<_> =
        (first..fold.state.len()).map(|state| builder.node(Node::Argument(state as u16), fold.state[state])).collect();
    let graph = builder.finish(&mut roots);
    Finish { graph, parameters: Vec::new(), value: Register { real: roots[0], imaginary: roots.get(1).copied() } }
}

/// Equal bits, all NaN being one.
#[track_caller]
pub fn assert_same(dtype: DType, found: Bits, expected: Bits, about: &dyn Fn() -> String) {
    let part = |bits: u64| match dtype.component() {
        DType::Float16 => (bits & 0x7fff > 0x7c00).then_some(()).map_or(bits, |()| 0x7e00),
        DType::BFloat16 => (bits & 0x7fff > 0x7f80).then_some(()).map_or(bits, |()| 0x7fc0),
        DType::Float32 => {
            if f32::from_bits(bits as u32).is_nan() {
                0x7fc0_0000
            } else {
                bits
            }
        }
        DType::Float64 => {
            if f64::from_bits(bits).is_nan() {
                0x7ff8 << 48
            } else {
                bits
            }
        }
        DType::Bool => u64::from(bits != 0),
        _ => bits,
    };
    let (found, expected) = (found.0.map(part), expected.0.map(part));
    assert!(found == expected, "{}: found {found:x?}, expected {expected:x?}", about());
}
