//! How a GPU is told: operations become kernel plans, plans become CUDA C++ text.
//!
//! A [`Planner`] turns an operation into a [`Program`]: launches of kernels with their arguments, in order. Everything here is
//! arithmetic and text; compiling and launching are for who has a device. Shapes, strides and scalars are arguments and never
//! part of a text, so a new shape or value is no new kernel; text is only made for a structure that is new.
#![forbid(unsafe_code)]

mod access;
mod anywhere;
mod bound;
mod element;
mod functions;
mod gather;
mod hash;
mod kernel;
mod map;
mod map_rows;
mod map_tile;
mod matmul;
mod pack;
mod packed;
mod planner;
mod prelude;
mod random;
mod reduce;
mod scan;
mod scatter;
mod select;
mod shape;
mod sort;
mod source;
mod spell;
mod stepwise;

pub use self::{
    kernel::{Argument, DeviceLimits, FAILURE_WORDS, Failure, Kernel, Launch, Program, decode_failure},
    pack::pack_kernels,
    planner::Planner,
};
