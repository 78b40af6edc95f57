//! Straight-line programs over registers, without repetition: what a kernel computes for one element.

use crate::{function::Function, ty::Ty};
use rustc_hash::{FxHashMap, FxHasher};
use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

/// Names a node of a [`Graph`].
pub type Id = u32;

/// Which component of an element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Component {
    /// The element itself, or its real part.
    Real,
    /// The imaginary part of a complex element.
    Imaginary,
}

/// The scalar primitives: everything else is composed of them.
///
/// Integers wrap. `Shr` is arithmetic on signed types. Logical operations on `Bool` are the bitwise ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Prim {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`, floating point only.
    Div,
    /// Quotient rounded towards minus infinity, integers only; 0 where `b` is 0.
    FloorDiv,
    /// Remainder with the divisor's sign, integers only; 0 where `b` is 0.
    FloorMod,
    /// Integer power, wrapping; a negative exponent gives the truncated reciprocal.
    PowInt,
    /// C's `fmod`: exact, with the dividend's sign.
    FMod,
    /// `a * b + c`, rounded once.
    Fma,
    /// `-a`.
    Neg,
    /// `|a|`; the least signed integer stays itself.
    Abs,
    /// Square root, correctly rounded.
    Sqrt,
    /// Towards minus infinity.
    Floor,
    /// Towards plus infinity.
    Ceil,
    /// Towards zero.
    Trunc,
    /// To nearest, ties to even.
    Rint,
    /// The larger; NaN if either is NaN (the first one that is).
    Max,
    /// The smaller; NaN if either is NaN (the first one that is).
    Min,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise complement; logical negation of `Bool`.
    Not,
    /// `a << b`, with `b` less than the width.
    Shl,
    /// `a >> b`, with `b` less than the width.
    Shr,
    /// High half of the full product; 32- and 64-bit unsigned only.
    MulHigh,
    /// `a == b`, giving `Bool`.
    Eq,
    /// `a != b`, giving `Bool`.
    Ne,
    /// `a < b`, giving `Bool`.
    Lt,
    /// `a <= b`, giving `Bool`.
    Le,
    /// `a ? b : c`.
    Select,
    /// Converts to the node's type by NumPy's x86-64 table.
    Cast,
    /// The same bits, read as the node's type.
    Bitcast,
    /// `F32` or `F64` rounded once to a float16 value, kept in `F32`.
    RoundF16,
    /// `F32` or `F64` rounded once to a bfloat16 value, kept in `F32`.
    RoundBF16,
}

impl Prim {
    /// How many arguments it takes.
    #[must_use]
    pub const fn arity(self) -> usize {
        match self {
            Prim::Fma | Prim::Select => 3,
            Prim::Neg
            | Prim::Abs
            | Prim::Sqrt
            | Prim::Floor
            | Prim::Ceil
            | Prim::Trunc
            | Prim::Rint
            | Prim::Not
            | Prim::Cast
            | Prim::Bitcast
            | Prim::RoundF16
            | Prim::RoundBF16 => 1,
            _ => 2,
        }
    }

    /// Whether it answers a question: its result is `Bool` whatever its arguments are.
    #[must_use]
    pub const fn is_comparison(self) -> bool {
        matches!(self, Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le)
    }
}

/// One step of a program. Arguments always stand before the node that takes them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// A component of the current element of an input, widened to its register type.
    Load {
        /// Which input.
        input: u16,
        /// Which component of it.
        component: Component,
    },
    /// A scalar given at the launch.
    Parameter(u16),
    /// A register handed in by whoever runs the program (the sides of a combine, the state of a finish).
    Argument(u16),
    /// The row-major position of the current element (in a reduction: within the reduced axes), as `I64`.
    Position,
    /// A constant that is part of a formula; the bits of a register of the node's type.
    Literal(u64),
    /// A primitive.
    Op {
        /// Which one.
        prim: Prim,
        /// Its arguments; those past its arity are 0.
        args: [Id; 3],
    },
    /// A named function.
    Call {
        /// Which one.
        function: Function,
        /// Its arguments; those past its arity are 0.
        args: [Id; 3],
    },
    /// An entry of a constant table, widened with zeros; the index is in range.
    Lookup {
        /// The table.
        table: &'static [u32],
        /// The index.
        index: Id,
    },
}

impl Node {
    /// The nodes that this one takes.
    #[must_use]
    pub fn args(&self) -> &[Id] {
        match self {
            Node::Op { prim, args } => &args[..prim.arity()],
            Node::Call { function, args } => &args[..function.arity()],
            Node::Lookup { index, .. } => std::slice::from_ref(index),
            _ => &[],
        }
    }
}

/// A program: nodes in an order in which they can be computed, each standing once. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Graph {
    nodes: Arc<[(Node, Ty)]>,
    fingerprint: u64,
}

impl PartialEq for Graph {
    fn eq(&self, other: &Graph) -> bool {
        Arc::ptr_eq(&self.nodes, &other.nodes) || (self.fingerprint == other.fingerprint && self.nodes == other.nodes)
    }
}

impl Eq for Graph {}

impl Hash for Graph {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fingerprint.hash(state);
    }
}

impl Graph {
    fn new(nodes: Vec<(Node, Ty)>) -> Graph {
        let mut hasher = FxHasher::default();
        nodes.hash(&mut hasher);
        Graph { nodes: nodes.into(), fingerprint: hasher.finish() }
    }

    /// The nodes with the types of their results.
    #[must_use]
    pub fn nodes(&self) -> &[(Node, Ty)] {
        &self.nodes
    }

    /// The type of a node's result.
    #[must_use]
    pub fn ty(&self, id: Id) -> Ty {
        self.nodes[id as usize].1
    }

    /// How many of the nodes each node is used by, `roots` counting once each.
    #[must_use]
    pub fn uses(&self, roots: &[Id]) -> Vec<u32> {
        uses(&self.nodes, roots)
    }
}

fn uses(nodes: &[(Node, Ty)], roots: &[Id]) -> Vec<u32> {
    let mut uses = vec![0; nodes.len()];
    for &root in roots {
        uses[root as usize] += 1;
    }
    for index in (0..nodes.len()).rev() {
        if uses[index] > 0 {
            for &arg in nodes[index].0.args() {
                uses[arg as usize] += 1;
            }
        }
    }
    uses
}

/// Builds a [`Graph`]; asking twice for the same node gives the same name.
#[derive(Default)]
pub struct Builder {
    nodes: Vec<(Node, Ty)>,
    known: FxHashMap<(Node, Ty), Id>,
}

impl Builder {
    /// The name of a node, which is added if it is new.
    pub fn node(&mut self, node: Node, ty: Ty) -> Id {
        let next = self.nodes.len() as Id;
        let id = *self.known.entry((node, ty)).or_insert(next);
        if id == next {
            self.nodes.push((node, ty));
        }
        id
    }

    /// A primitive applied to arguments.
    pub fn op(&mut self, prim: Prim, ty: Ty, given: &[Id]) -> Id {
        let mut args = [0; 3];
        args[..given.len()].copy_from_slice(given);
        self.node(Node::Op { prim, args }, ty)
    }

    /// Copies another program into this one. `leaf` names what stands here for each of its leaves.
    pub fn splice(&mut self, other: &Graph, mut leaf: impl FnMut(&mut Builder, Node, Ty) -> Id) -> Vec<Id> {
        let mut names = Vec::with_capacity(other.nodes.len());
        for &(node, ty) in other.nodes() {
            let here = |args: &[Id; 3]| args.map(|arg| names.get(arg as usize).copied().unwrap_or(0));
            let id = match node {
                Node::Op { prim, args } => {
                    let mut args = here(&args);
                    args[prim.arity()..].fill(0);
                    self.node(Node::Op { prim, args }, ty)
                }
                Node::Call { function, args } => {
                    let mut args = here(&args);
                    args[function.arity()..].fill(0);
                    self.node(Node::Call { function, args }, ty)
                }
                Node::Lookup { table, index } => {
                    let index = names[index as usize];
                    self.node(Node::Lookup { table, index }, ty)
                }
                other => leaf(self, other, ty),
            };
            names.push(id);
        }
        names
    }

    /// The type of a node's result.
    #[must_use]
    pub fn ty(&self, id: Id) -> Ty {
        self.nodes[id as usize].1
    }

    /// The finished program, without the nodes that none of `roots` needs; `roots` are renamed.
    #[must_use]
    pub fn finish(self, roots: &mut [Id]) -> Graph {
        let uses = uses(&self.nodes, roots);
        if uses.iter().all(|&count| count > 0) {
            return Graph::new(self.nodes);
        }
        let mut names = vec![0; uses.len()];
        let mut nodes = Vec::new();
        for (index, &(node, ty)) in self.nodes.iter().enumerate() {
            if uses[index] == 0 {
                continue;
            }
            let renamed = match node {
                Node::Op { prim, args } => Node::Op { prim, args: rename(args, prim.arity(), &names) },
                Node::Call { function, args } => Node::Call { function, args: rename(args, function.arity(), &names) },
                Node::Lookup { table, index } => Node::Lookup { table, index: names[index as usize] },
                leaf => leaf,
            };
            names[index] = nodes.len() as Id;
            nodes.push((renamed, ty));
        }
        for root in roots {
            *root = names[*root as usize];
        }
        Graph::new(nodes)
    }
}

fn rename(mut args: [Id; 3], arity: usize, names: &[Id]) -> [Id; 3] {
    for arg in &mut args[..arity] {
        *arg = names[*arg as usize];
    }
    args
}
