//! Programs that a thread has compiled before: compiling takes longer than running them on a few elements.

use crate::program::Program;
use cupric_core::Result;
use cupric_ir::{Graph, Id};
use smallvec::SmallVec;
use std::{
    cell::RefCell,
    hash::{Hash, Hasher},
    sync::Arc,
};

/// How many a thread keeps; a power of two.
const KEPT: usize = 256;

struct Known {
    graph: Graph,
    roots: SmallVec<[Id; 4]>,
    program: Arc<Program>,
}

thread_local! {
    static KNOWN: RefCell<Vec<Option<Known>>> = const { RefCell::new(Vec::new()) };
}

/// The program of a graph whose `roots` are wanted.
///
/// # Errors
/// When a primitive does not exist for its type.
pub(crate) fn program(graph: &Graph, roots: &[Id]) -> Result<Arc<Program>> {
    let slot = slot(graph, roots);
    KNOWN.with_borrow_mut(|known| {
        if known.is_empty() {
            known.resize_with(KEPT, || None);
        }
        if let Some(known) = &known[slot]
            && known.roots[..] == *roots
            && known.graph == *graph
        {
            return Ok(known.program.clone());
        }
        let program = Arc::new(Program::new(graph, roots)?);
        known[slot] = Some(Known { graph: graph.clone(), roots: roots.into(), program: program.clone() });
        Ok(program)
    })
}

fn slot(graph: &Graph, roots: &[Id]) -> usize {
    let mut hasher = Words(0);
    graph.hash(&mut hasher);
    let word = roots.iter().fold(hasher.0, |word, &root| word.wrapping_add(u64::from(root)));
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % KEPT
}

/// Takes the fingerprint that a graph hashes itself to.
struct Words(u64);

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = self.0.rotate_left(5) ^ word;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::program;
    use cupric_ir::{Builder, Node, Prim, Ty};
    use std::sync::Arc;

    #[test]
    fn equal_graphs_share_a_program_and_others_do_not() {
        let graph = |prim: Prim| {
            let mut builder = Builder::default();
            let [a, b] = [0, 1].map(|index| builder.node(Node::Argument(index), Ty::F32));
            let mut roots = [builder.op(prim, Ty::F32, &[a, b])];
            (builder.finish(&mut roots), roots)
        };
        let known = |prim: Prim| {
            let (graph, roots) = graph(prim);
            program(&graph, &roots).unwrap()
        };
        let sum = known(Prim::Add);
        assert!(Arc::ptr_eq(&sum, &known(Prim::Add)));
        assert!(!Arc::ptr_eq(&sum, &known(Prim::Mul)));
        let (graph, _) = graph(Prim::Add);
        assert!(!Arc::ptr_eq(&sum, &program(&graph, &[0]).unwrap()));
    }
}
