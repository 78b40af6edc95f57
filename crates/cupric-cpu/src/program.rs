//! Graphs compiled to steps over tiles, and the machine that runs them.

use crate::{
    kernel::{by_width, function, kernel},
    level::{Kernel, Run, best},
    scratch::Scratch,
    transfer::{Wanted, fill},
};
use cupric_core::Result;
use cupric_ir::{Component, Graph, Id, Node, Parameter, Prim, Ty};
use smallvec::SmallVec;

/// One step of a compiled program, over registers of tiles.
enum Step {
    Load { input: u16, component: Component, out: u16 },
    // Both parts of a complex element at once.
    LoadParts { input: u16, outs: [u16; 2] },
    Position { out: u16 },
    Argument { index: u16, out: u16 },
    Apply { run: Run, args: [u16; 3], out: u16 },
    Lookup { table: &'static [u32], index: u16, index_ty: Ty, ty: Ty, out: u16 },
}

struct Constant {
    register: u16,
    ty: Ty,
    value: Value,
}

#[derive(Clone, Copy)]
enum Value {
    Literal(u64),
    Parameter(u16),
}

/// A compiled graph.
pub(crate) struct Program {
    steps: Vec<Step>,
    constants: SmallVec<[Constant; 4]>,
    registers: usize,
    // The register of each node.
    homes: SmallVec<[u16; 32]>,
    // Whether each root is computed by a step, and so can be computed anywhere.
    computed: SmallVec<[bool; 4]>,
}

impl Program {
    /// Compiles a graph; the registers of `roots` keep their values to the end.
    ///
    /// # Errors
    /// When a primitive does not exist for its type.
    pub(crate) fn new(graph: &Graph, roots: &[Id]) -> Result<Program> {
        let mut compiler = Compiler::new(graph, roots);
        for (index, &(node, ty)) in graph.nodes().iter().enumerate() {
            if compiler.uses[index] > 0 && !compiler.loaded.contains(&index) {
                compiler.add(index, node, ty)?;
            }
        }
        let computed = roots.iter().map(|&root| {
            matches!(graph.nodes()[root as usize].0, Node::Op { .. } | Node::Call { .. } | Node::Lookup { .. })
        });
        let computed = computed.collect();
        let Compiler { steps, constants, registers, homes, .. } = compiler;
        Ok(Program { steps, constants, registers: registers as usize, homes, computed })
    }

    /// Whether the value of the `index`th root comes out of a step.
    pub(crate) fn is_computed(&self, index: usize) -> bool {
        self.computed[index]
    }
}

struct Compiler<'a> {
    graph: &'a Graph,
    roots: &'a [Id],
    uses: Vec<u32>,
    steps: Vec<Step>,
    constants: SmallVec<[Constant; 4]>,
    registers: u16,
    free: SmallVec<[u16; 16]>,
    homes: SmallVec<[u16; 32]>,
    // Imaginary parts that are loaded with their real parts.
    loaded: SmallVec<[usize; 4]>,
}

impl<'a> Compiler<'a> {
    fn new(graph: &'a Graph, roots: &'a [Id]) -> Compiler<'a> {
        let nodes = graph.nodes().len();
        Compiler {
            graph,
            roots,
            uses: graph.uses(roots),
            steps: Vec::with_capacity(nodes),
            constants: SmallVec::new(),
            registers: 0,
            free: SmallVec::new(),
            homes: SmallVec::from_elem(0, nodes),
            loaded: SmallVec::new(),
        }
    }

    fn fresh(&mut self) -> u16 {
        self.registers += 1;
        self.registers - 1
    }

    /// A register for a node; roots share theirs with nobody, so that it can be moved into an output.
    fn register(&mut self, node: usize) -> u16 {
        let shared = if self.roots.contains(&(node as Id)) { None } else { self.free.pop() };
        let register = shared.unwrap_or_else(|| self.fresh());
        self.homes[node] = register;
        register
    }

    fn add(&mut self, index: usize, node: Node, ty: Ty) -> Result<()> {
        let step = match node {
            Node::Parameter(which) => {
                self.constant(index, ty, Value::Parameter(which));
                return Ok(());
            }
            Node::Literal(bits) => {
                self.constant(index, ty, Value::Literal(bits));
                return Ok(());
            }
            Node::Load { input, component } => match self.other_part(index, input, component) {
                None => Step::Load { input, component, out: self.register(index) },
                Some(other) => {
                    self.loaded.push(other);
                    let mut outs = [index, other].map(|node| self.register(node));
                    if component == Component::Imaginary {
                        outs.reverse();
                    }
                    Step::LoadParts { input, outs }
                }
            },
            Node::Position => Step::Position { out: self.register(index) },
            Node::Argument(which) => Step::Argument { index: which, out: self.register(index) },
            Node::Op { prim, args } => {
                let arity = prim.arity();
                let from = self.graph.ty(args[if prim == Prim::Select { 1 } else { 0 }]);
                Step::Apply { run: kernel(prim, from, ty)?, args: self.args(&args[..arity]), out: self.register(index) }
            }
            Node::Call { function: named, args } => {
                let args = self.args(&args[..named.arity()]);
                Step::Apply { run: function(named), args, out: self.register(index) }
            }
            Node::Lookup { table, index: at } => {
                let (index_ty, out) = (self.graph.ty(at), self.register(index));
                Step::Lookup { table, index: self.homes[at as usize], index_ty, ty, out }
            }
        };
        self.steps.push(step);
        self.release(node.args());
        Ok(())
    }

    /// The load of the other part of the same elements, if that is wanted too.
    fn other_part(&self, index: usize, input: u16, component: Component) -> Option<usize> {
        let other = |node: &Node| matches!(*node, Node::Load { input: of, component: part } if of == input && part != component);
        let found = self.graph.nodes()[index..].iter().position(|(node, _)| other(node))?;
        Some(index + found).filter(|&found| self.uses[found] > 0)
    }

    fn constant(&mut self, node: usize, ty: Ty, value: Value) {
        let register = self.fresh();
        self.homes[node] = register;
        self.constants.push(Constant { register, ty, value });
    }

    fn args(&self, given: &[Id]) -> [u16; 3] {
        let mut args = [0; 3];
        for (arg, &id) in args.iter_mut().zip(given) {
            *arg = self.homes[id as usize];
        }
        args
    }

    /// Takes back the registers of nodes that nothing needs any more; only now, since no loop may write what it reads.
    fn release(&mut self, args: &[Id]) {
        for &arg in args {
            let uses = &mut self.uses[arg as usize];
            *uses -= 1;
            let kept = matches!(self.graph.nodes()[arg as usize].0, Node::Parameter(_) | Node::Literal(_));
            if *uses == 0 && !kept {
                self.free.push(self.homes[arg as usize]);
            }
        }
    }
}

/// The positions of the elements of a tile.
#[derive(Clone, Copy)]
pub(crate) enum Position {
    /// One after the other, from this one on.
    From(usize),
    /// All the same.
    At(usize),
}

/// Runs a program over tiles, with registers of its own.
pub(crate) struct Machine<'a> {
    program: &'a Program,
    homes: SmallVec<[*mut u8; 32]>,
    values: SmallVec<[*mut u8; 32]>,
    spare: *mut u8,
    _scratch: Scratch,
}

impl<'a> Machine<'a> {
    /// A machine for tiles of up to `width` elements.
    pub(crate) fn new(program: &'a Program, parameters: &[Parameter], width: usize) -> Machine<'a> {
        // Registers that began at equal offsets within pages would compete for the same cache lines.
        let room = (width * 8).next_multiple_of(64) + 128;
        let mut scratch = Scratch::new(room * (program.registers + 1));
        let base = scratch.base();
        let homes: SmallVec<[*mut u8; 32]> =
            (0..program.registers).map(|register| base.wrapping_add(register * room)).collect();
        for constant in &program.constants {
            let bits = match constant.value {
                Value::Literal(bits) => bits,
                Value::Parameter(which) => parameters[which as usize].bits,
            };
            // SAFETY: each register has room for `width` elements.
            unsafe { fill(constant.ty, homes[constant.register as usize], bits, width) };
        }
        let spare = base.wrapping_add(program.registers * room);
        Machine { program, values: homes.clone(), homes, spare, _scratch: scratch }
    }

    /// Where the value of a node is after a run.
    pub(crate) fn value(&self, node: Id) -> *mut u8 {
        self.values[self.program.homes[node as usize] as usize]
    }

    /// Room for as many half-precision elements as a tile has.
    pub(crate) fn spare(&self) -> *mut u8 {
        self.spare
    }

    /// Where the value of a node is computed.
    pub(crate) fn home(&self, node: Id) -> *mut u8 {
        self.homes[self.program.homes[node as usize] as usize]
    }

    /// Lets a computed root be written somewhere else than in a register from now on.
    pub(crate) fn redirect(&mut self, root: Id, to: *mut u8) {
        self.homes[self.program.homes[root as usize] as usize] = to;
    }

    /// Runs the program for `n` elements. `load(input, wanted, buffer, spare)` says where registers
    /// with an input's elements are, in the buffer it may fill or elsewhere.
    ///
    /// # Safety
    /// What `load` answers and the `arguments` are `n` valid registers each; `n` is at most the machine's width.
    pub(crate) unsafe fn run(
        &mut self,
        n: usize,
        position: Position,
        arguments: &[*const u8],
        mut load: impl FnMut(usize, Wanted, *mut u8, *mut u8) -> *mut u8,
    ) {
        for step in &self.program.steps {
            match *step {
                Step::Apply { run, args, out } => {
                    let [a, b, c] = args.map(|arg| self.values[arg as usize].cast_const());
                    let out = out as usize;
                    self.values[out] = self.homes[out];
                    // SAFETY: registers hold `n` elements, and no step writes a register that it reads.
                    unsafe { run(self.homes[out], a, b, c, n) }
                }
                Step::Load { input, component, out } => {
                    let buffer = self.homes[out as usize];
                    self.values[out as usize] = load(input as usize, Wanted::One(component), buffer, self.spare);
                }
                Step::LoadParts { input, outs } => {
                    let [real, imaginary] = outs.map(|out| self.homes[out as usize]);
                    self.values[outs[0] as usize] = load(input as usize, Wanted::Both(imaginary), real, self.spare);
                    self.values[outs[1] as usize] = imaginary;
                }
                Step::Argument { index, out } => self.values[out as usize] = arguments[index as usize].cast_mut(),
                Step::Position { out } => {
                    let out = out as usize;
                    self.values[out] = self.homes[out];
                    let (first, step) = match position {
                        Position::From(first) => (first as i64, 1),
                        Position::At(place) => (place as i64, 0),
                    };
                    let [first, step] = [&first, &step].map(|number: &i64| std::ptr::from_ref(number).cast());
                    // SAFETY: a register has room for `n` elements.
                    unsafe { best::<Count>()(self.homes[out], first, step, step, n) }
                }
                Step::Lookup { table, index, index_ty, ty, out } => {
                    let (index, out) = (self.values[index as usize], out as usize);
                    self.values[out] = self.homes[out];
                    // SAFETY: registers hold `n` elements.
                    unsafe { lookup(table, index, index_ty, self.homes[out], ty, n) }
                }
            }
        }
    }
}

/// Positions; arguments are the first and the step.
struct Count;

impl Kernel for Count {
    #[inline(always)]
    unsafe fn run(out: *mut u8, first: *const u8, step: *const u8, _: *const u8, n: usize) {
        // SAFETY: the caller gives two numbers.
        let (first, step) = unsafe { (*first.cast::<i64>(), *step.cast::<i64>()) };
        for i in 0..n {
            // SAFETY: the caller has room for `n` elements.
            unsafe { out.cast::<i64>().add(i).write(first + i as i64 * step) }
        }
    }
}

unsafe fn lookup(table: &[u32], index: *const u8, index_ty: Ty, out: *mut u8, ty: Ty, n: usize) {
    for i in 0..n {
        // SAFETY: the caller has `n` elements in both.
        unsafe {
            let at = by_width!(index_ty, T => *index.cast::<T>().add(i) as usize);
            by_width!(ty, T => out.cast::<T>().add(i).write(table[at] as T));
        }
    }
}
