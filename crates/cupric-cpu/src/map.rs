//! Maps: a program run tile by tile.

use crate::{
    program::{Machine, Position, Program},
    programs::program,
    space::{Space, Tiles},
    threads::Threads,
    transfer::{Field, Stretch, Wanted},
};
use cupric_core::Result;
use cupric_ir::{Component, Id, Map, Node, Operand, Parameter, Store};
use smallvec::SmallVec;
use std::ops::Range;

/// Runs a map; `addresses` are the bases of what it reads and then of what it writes.
pub(crate) fn map(map: &Map, addresses: &[u64], threads: &Threads) -> Result<()> {
    let roots: SmallVec<[Id; 4]> = map.stores.iter().flat_map(store_roots).collect();
    let program = program(&map.graph, &roots)?;
    let plan = Plan::new(map, &program, addresses);
    let tiles = plan.space.tiles();
    threads.share(tiles.count(), plan.space.len, |range| plan.run(tiles, range));
    Ok(())
}

fn store_roots(store: &Store) -> impl Iterator<Item = Id> {
    std::iter::once(store.value.real).chain(store.value.imaginary).chain(store.mask)
}

struct Plan<'a> {
    program: &'a Program,
    parameters: &'a [Parameter],
    // Operands of the space: the stores, then the inputs.
    space: Space,
    inputs: SmallVec<[Field; 4]>,
    stores: SmallVec<[Output<'a>; 2]>,
}

struct Output<'a> {
    store: &'a Store,
    field: Field,
    // Whether the value may be computed right where it is stored.
    direct: bool,
}

impl<'a> Plan<'a> {
    fn new(map: &'a Map, program: &'a Program, addresses: &[u64]) -> Plan<'a> {
        let (reads, writes) = addresses.split_at(map.inputs.len());
        let operands = map.stores.iter().map(|store| &store.operand).chain(&map.inputs);
        let strides: SmallVec<[&[isize]; 8]> = operands.map(|operand| &operand.layout.strides[..]).collect();
        let ordered = map.graph.nodes().iter().any(|(node, _)| *node == Node::Position);
        let space = if ordered { Space::new(&map.shape, &strides) } else { Space::reordered(&map.shape, &strides) };
        let inputs = map.inputs.iter().zip(reads).map(|(operand, &base)| Field::new(operand, base)).collect();
        let mut root = 0;
        let mut stores = SmallVec::new();
        for (index, store) in map.stores.iter().enumerate() {
            let direct = program.is_computed(root) && stands_alone(map, index, addresses);
            stores.push(Output { store, field: Field::new(&store.operand, writes[index]), direct });
            root += store_roots(store).count();
        }
        Plan { program, parameters: &map.parameters, space, inputs, stores }
    }

    fn run(&self, tiles: Tiles, range: Range<usize>) {
        let mut machine = Machine::new(self.program, self.parameters, tiles.width());
        let own: SmallVec<[*mut u8; 2]> =
            self.stores.iter().map(|output| machine.home(output.store.value.real)).collect();
        for tile in range {
            let (start, n) = tiles.tile(tile);
            self.tile(&mut machine, &own, start, n);
        }
    }

    fn tile(&self, machine: &mut Machine<'_>, own: &[*mut u8], start: usize, n: usize) {
        let stretch = |operand| Stretch { space: &self.space, operand, start, n };
        let mut written: SmallVec<[bool; 2]> = SmallVec::new();
        for (index, output) in self.stores.iter().enumerate() {
            let target = if output.direct { output.field.target(stretch(index)) } else { None };
            if output.direct {
                machine.redirect(output.store.value.real, target.unwrap_or(own[index]));
            }
            written.push(target.is_some());
        }
        let first_input = self.stores.len();
        let load = |input: usize, wanted: Wanted, buffer, spare| {
            // SAFETY: the operation's caller vouches for its operands; the machine for its buffers.
            unsafe { self.inputs[input].load(wanted, stretch(first_input + input), buffer, spare) }
        };
        // SAFETY: a tile has no more elements than the machine is wide; `load` gives as many registers.
        unsafe { machine.run(n, Position::From(start), &[], load) };
        for (index, output) in self.stores.iter().enumerate().filter(|&(index, _)| !written[index]) {
            let value = output.store.value;
            let mask = output.store.mask.map(|mask| machine.value(mask).cast_const());
            let real = machine.value(value.real);
            // SAFETY: the operation's caller vouches for its operands; the machine's values are `n` registers.
            unsafe {
                match value.imaginary {
                    None => output.field.store(Component::Real, stretch(index), real, mask, machine.spare()),
                    Some(id) => output.field.store_parts(stretch(index), [real, machine.value(id)], mask),
                }
            }
        }
    }
}

/// Whether a store may be made before the end of the program: nothing else lies there, and nothing else is made of its register.
fn stands_alone(map: &Map, index: usize, addresses: &[u64]) -> bool {
    let store = &map.stores[index];
    let bytes = |operand: &Operand, base: u64| {
        let range = operand.layout.byte_range(operand.dtype.size());
        (base + range.start as u64, base + range.end as u64)
    };
    let writes = &addresses[map.inputs.len()..];
    let (low, high) = bytes(&store.operand, writes[index]);
    let apart = |operand: &Operand, base: u64| {
        let (start, end) = bytes(operand, base);
        end <= low || high <= start
    };
    let others = || map.stores.iter().enumerate().filter(move |&(other, _)| other != index);
    store.mask.is_none()
        && store.value.imaginary.is_none()
        && map.inputs.iter().zip(addresses).all(|(operand, &base)| apart(operand, base))
        && others().all(|(other, store)| apart(&store.operand, writes[other]))
        && others().all(|(_, other)| store_roots(other).all(|root| root != store.value.real))
}
