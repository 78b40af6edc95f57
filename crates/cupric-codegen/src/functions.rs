//! The named functions and tables that programs use, as device functions and arrays.

use crate::{
    hash,
    spell::{spell, ty_name},
};
use cupric_ir::{Function, Graph, Node, Program};
use std::collections::{BTreeMap, BTreeSet};

/// The name of a constant table, from what it holds.
pub(crate) fn table_name(table: &[u32]) -> String {
    format!("table_{:08x}", hash::structure(table).0 as u32)
}

/// The definitions that programs need, in an order in which they can be compiled.
pub(crate) fn definitions<'a>(graphs: impl IntoIterator<Item = &'a Graph>) -> String {
    let mut found = Found::default();
    for graph in graphs {
        found.visit(graph);
    }
    let mut text: String = found.tables.iter().map(|(name, table)| array(name, table)).collect();
    text.extend(found.texts);
    text
}

/// The definitions that a program needs besides those of others.
pub(crate) fn definitions_besides<'a>(graph: &Graph, others: impl IntoIterator<Item = &'a Graph>) -> String {
    let mut found = Found::default();
    for other in others {
        found.visit(other);
    }
    found.texts.clear();
    let known = std::mem::take(&mut found.tables);
    found.visit(graph);
    let tables = found.tables.iter().filter(|(name, _)| !known.contains_key(*name));
    let mut text: String = tables.map(|(name, table)| array(name, table)).collect();
    text.extend(found.texts);
    text
}

#[derive(Default)]
struct Found {
    tables: BTreeMap<String, &'static [u32]>,
    known: BTreeSet<Function>,
    texts: Vec<String>,
}

impl Found {
    fn visit(&mut self, graph: &Graph) {
        for &(node, _) in graph.nodes() {
            match node {
                Node::Lookup { table, .. } => {
                    self.tables.insert(table_name(table), table);
                }
                Node::Call { function, .. } if self.known.insert(function) => {
                    let text = self.function(function);
                    self.texts.push(text);
                }
                _ => {}
            }
        }
    }

    fn function(&mut self, function: Function) -> String {
        let programs = function.programs();
        self.visit(&programs.usual.graph);
        let ty = ty_name(function.result());
        let arguments: Vec<String> = (0..function.arity()).map(|index| format!("const {ty} a{index}")).collect();
        let arguments = arguments.join(", ");
        let name = function.name();
        let mut text = String::new();
        let mut branch = String::new();
        if let Some((test, rare)) = &programs.rare {
            self.visit(&rare.graph);
            // A call: the long path would be copied for each element that a thread has.
            text += &format!("__device__ __noinline__ {ty} {name}_rare({arguments}) {{\n{}}}\n\n", body(rare));
            text += &format!("__device__ __forceinline__ bool {name}_is_rare({arguments}) {{\n{}}}\n\n", body(test));
            branch = format!("  if ({name}_is_rare(a0)) return {name}_rare(a0);\n");
        }
        let usual = body(&programs.usual);
        text + &format!("__device__ __forceinline__ {ty} {name}({arguments}) {{\n{branch}{usual}}}\n\n")
    }
}

fn body(program: &Program) -> String {
    let spelled = spell(&program.graph, "  ");
    format!("{}  return {};\n", spelled.statements, spelled.name(program.result))
}

fn array(name: &str, table: &[u32]) -> String {
    let rows: Vec<String> = table
        .chunks(8)
        .map(|row| row.iter().map(|word| format!("{word:#010x}u, ")).collect::<String>())
        .map(|row| format!("  {}\n", row.trim_end()))
        .collect();
    format!("__device__ const u32 {name}[{}] = {{\n{}}};\n\n", table.len(), rows.concat())
}
