//! The host backend: runs every operation of `cupric_ir` on the processor, vectorised and on all cores.
//!
//! Elementwise programs run in tiles that stay in the first cache, one loop a primitive, compiled for several instruction
//! sets and chosen at run time. What our own loops compute does not depend on threads, layouts or instruction sets.

mod backend;
mod beside;
mod blas;
mod crew;
mod folder;
mod folding;
mod halved;
mod index;
mod kernel;
mod key;
mod level;
mod map;
mod matmul;
mod memory;
mod network;
mod number;
mod places;
mod product;
mod program;
mod programs;
mod radix;
mod random;
mod reduce;
mod scan;
mod scratch;
mod select;
mod sort;
mod space;
mod threads;
mod transfer;

pub use self::{backend::Cpu, blas::set_library_search};
