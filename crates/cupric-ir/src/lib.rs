//! What to compute: primitives, expressions, rows, operations, plans, fusion.
//!
//! A ufunc is a [`Ufunc`] row, a reduction a [`Fold`] row. Callers queue [`Step`]s; [`fuse`] turns them into [`Op`]s, which
//! a backend runs. Everything here is pure: no device, no memory.
#![forbid(unsafe_code)]

mod expression;
mod fold;
mod function;
mod fuse;
mod graph;
mod merge;
mod op;
mod row;
mod rows;
mod step;
mod symbolic;
mod ty;

pub use self::{
    expression::{Cx, Ex, trace},
    fold::{Accumulate, CHUNK, CompiledFold, FOLDS, Fold, LANES, Merge, fold},
    function::{Function, Program, Programs},
    fuse::{Fused, MOST_STEPS, alone, fuse},
    graph::{Builder, Component, Graph, Id, Node, Prim},
    merge::{convert, registers},
    op::{
        Bounds, Distribution, Finish, Gather, IndexOperand, Map, MatMul, Op, Operand, Parameter, Random, Reduce, Scan,
        Scatter, Select, Sort, Sorted, StorageId, Store,
    },
    row::{Body, Class, DTypes, Formula, Gives, Loop, Register, Resolved, Rule, Ufunc},
    rows::{ufunc, ufuncs},
    step::{Input, MapStep, ReduceStep, Step},
    symbolic::{S32, S64, SI32, SI64, SW64, Truth},
    ty::Ty,
};
