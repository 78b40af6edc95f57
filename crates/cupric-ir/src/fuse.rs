//! Which queued steps become one kernel, and in which order the kernels run.

use crate::{
    merge::{merge_maps, merge_reduce},
    op::{Op, Operand, StorageId},
    step::{Input, MapStep, ReduceStep, Step},
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The most steps that are planned together.
pub const MOST_STEPS: usize = 256;

// Beyond these a kernel gains nothing from being larger, and runs out of registers and launch parameters.
const MOST_OPERANDS: usize = 24;
const MOST_SCALARS: usize = 48;
const MOST_NODES: usize = 600;

/// A set of up to 256 small numbers.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Set([u64; MOST_STEPS / 64]);

impl Set {
    fn insert(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    fn remove(&mut self, index: usize) {
        self.0[index / 64] &= !(1 << (index % 64));
    }

    const fn has(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    fn add(&mut self, other: &Set) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }

    fn both(&self, other: &Set) -> Set {
        let mut both = *self;
        for (word, more) in both.0.iter_mut().zip(other.0) {
            *word &= more;
        }
        both
    }

    fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(place, word)| {
            std::iter::successors((word != 0).then_some(word), |&left| {
                let left = left & (left - 1);
                (left != 0).then_some(left)
            })
            .map(move |left| place * 64 + left.trailing_zeros() as usize)
        })
    }
}

/// The operands that a kernel is given, each once.
type Operands<'a> = SmallVec<[&'a Operand; 8]>;

/// One kernel to be: the steps in it.
#[derive(Default)]
struct Group<'a> {
    steps: SmallVec<[usize; 4]>,
    members: Set,
    // Groups that must run before this one, those that they need included.
    before: Set,
    // Not those that its steps hand to each other alone.
    operands: Operands<'a>,
    scalars: usize,
    nodes: usize,
    // A reduction's group takes only the maps that feed it.
    open: bool,
}

/// Who uses a storage.
#[derive(Default)]
struct Users {
    readers: Set,
    writers: Set,
}

/// Steps that become one operation.
pub struct Fused {
    /// The operation.
    pub op: Op,
    /// The steps in it, in their order.
    pub steps: SmallVec<[usize; 4]>,
}

/// Turns queued steps into operations, in an order in which they can run. `alive` says whether anybody outside of the queue
/// holds a storage: results that nobody holds and no other kernel needs are never written.
///
/// # Panics
/// When there are more than [`MOST_STEPS`] steps.
#[must_use]
pub fn fuse(steps: &[Step], alive: impl Fn(StorageId) -> bool) -> Vec<Fused> {
    assert!(steps.len() <= MOST_STEPS, "the queue is cut before it grows past the limit");
    let needed = needed(steps, &alive);
    let mut single = needed.iter();
    if let (Some(index), None) = (single.next(), single.next()) {
        return vec![Fused { op: alone(&steps[index]), steps: SmallVec::from_slice(&[index]) }];
    }
    let users = users(steps, needed);
    let absorbed = absorbed(steps, needed, &users, &alive);
    let home = vec![usize::MAX; steps.len()];
    let mut plan = Plan { steps, users: &users, alive: &alive, groups: Vec::new(), home, needs: Vec::new() };
    let mut waiting: FxHashMap<usize, usize> = FxHashMap::default();
    let mut seen: FxHashMap<StorageId, Users> = FxHashMap::default();
    for (index, step) in steps.iter().enumerate() {
        if !needed.has(index) {
            plan.needs.push(Set::default());
            continue;
        }
        let relations = Relations::of(step, &seen);
        plan.place(index, &relations, absorbed[index], &mut waiting);
        note(step, index, &mut seen);
    }
    let order = plan.order();
    order.into_iter().map(|group| Fused { op: plan.emit(group), steps: plan.groups[group].steps.clone() }).collect()
}

/// The operation that one step is by itself.
#[must_use]
pub fn alone(step: &Step) -> Op {
    match step {
        Step::Map(map) => merge_maps(&[map], |_, _| true),
        Step::Reduce(reduce) => merge_reduce(&[], reduce),
        Step::Single(op) => Op::clone(op),
    }
}

fn note(step: &Step, index: usize, seen: &mut FxHashMap<StorageId, Users>) {
    for operand in step.reads() {
        seen.entry(operand.storage).or_default().readers.insert(index);
    }
    for operand in step.writes() {
        seen.entry(operand.storage).or_default().writers.insert(index);
    }
}

/// The steps that somebody will see something of.
fn needed(steps: &[Step], alive: &impl Fn(StorageId) -> bool) -> Set {
    let mut needed = Set::default();
    let mut read: FxHashSet<StorageId> = FxHashSet::default();
    for (index, step) in steps.iter().enumerate().rev() {
        let seen = |operand: &&Operand| read.contains(&operand.storage) || alive(operand.storage);
        if matches!(step, Step::Single(_)) || step.writes().iter().any(seen) {
            needed.insert(index);
            read.extend(step.reads().iter().map(|operand| operand.storage));
        }
    }
    needed
}

fn users(steps: &[Step], needed: Set) -> FxHashMap<StorageId, Users> {
    let mut users = FxHashMap::default();
    for index in needed.iter() {
        note(&steps[index], index, &mut users);
    }
    users
}

/// What a step has to do with the steps before it.
#[derive(Default)]
struct Relations {
    // Those that wrote what it reads.
    sources: Set,
    // Those that must have run before it: the sources, and the users of what it writes.
    needs: Set,
}

impl Relations {
    /// The groups that wrote what it reads.
    fn makers(&self, home: &[usize]) -> SmallVec<[usize; 8]> {
        let mut makers = Set::default();
        for step in self.sources.iter() {
            makers.insert(home[step]);
        }
        makers.iter().collect()
    }

    fn of(step: &Step, seen: &FxHashMap<StorageId, Users>) -> Relations {
        let mut relations = Relations::default();
        for users in step.reads().iter().filter_map(|operand| seen.get(&operand.storage)) {
            relations.sources.add(&users.writers);
        }
        relations.needs.add(&relations.sources);
        for users in step.writes().iter().filter_map(|operand| seen.get(&operand.storage)) {
            relations.needs.add(&users.writers);
            relations.needs.add(&users.readers);
        }
        relations
    }
}

/// For each step the reduction that takes it in, if one does: a map whose results only that reduction sees.
fn absorbed(
    steps: &[Step],
    needed: Set,
    users: &FxHashMap<StorageId, Users>,
    alive: &impl Fn(StorageId) -> bool,
) -> Vec<Option<usize>> {
    let mut taker = vec![None; steps.len()];
    for index in needed.iter() {
        let Step::Reduce(reduce) = &steps[index] else { continue };
        let mut wanted: Vec<&Operand> = vec![&reduce.input];
        while let Some(operand) = wanted.pop() {
            let Some(maker) = sole_maker(operand, index, users, alive, &taker) else { continue };
            let Step::Map(map) = &steps[maker] else { continue };
            if taker[maker].is_none() && can_absorb(map, operand, reduce) {
                taker[maker] = Some(index);
                wanted.extend(steps[maker].reads());
            }
        }
    }
    taker
}

/// The one step that writes a storage which only `reader`, and what it has taken in, reads.
fn sole_maker(
    operand: &Operand,
    reader: usize,
    users: &FxHashMap<StorageId, Users>,
    alive: &impl Fn(StorageId) -> bool,
    taker: &[Option<usize>],
) -> Option<usize> {
    let users = users.get(&operand.storage)?;
    let mut makers = users.writers.iter();
    let maker = makers.next()?;
    let private = users.readers.iter().all(|step| step == reader || taker[step] == Some(reader));
    (makers.next().is_none() && private && maker < reader && !alive(operand.storage)).then_some(maker)
}

fn can_absorb(map: &MapStep, operand: &Operand, reduce: &ReduceStep) -> bool {
    let uses_position = || map.body.graph.nodes().iter().any(|(node, _)| *node == crate::graph::Node::Position);
    map.shape == reduce.input.layout.shape
        && map.mask.is_none()
        && map.outputs.len() == 1
        && map.outputs[0] == *operand
        && !uses_position()
}

struct Plan<'a> {
    steps: &'a [Step],
    users: &'a FxHashMap<StorageId, Users>,
    alive: &'a dyn Fn(StorageId) -> bool,
    groups: Vec<Group<'a>>,
    home: Vec<usize>,
    // For each step, those that must have run before it.
    needs: Vec<Set>,
}

impl<'a> Plan<'a> {
    fn place(
        &mut self,
        index: usize,
        relations: &Relations,
        taker: Option<usize>,
        waiting: &mut FxHashMap<usize, usize>,
    ) {
        let mut before = Set::default();
        for step in relations.needs.iter() {
            before.insert(self.home[step]);
        }
        let reserved = |step: usize| waiting.get(&step).copied();
        let chosen = match (&self.steps[index], taker) {
            (Step::Map(_), Some(reduction)) => {
                reserved(reduction).filter(|&g| self.may_join(g, index, relations, &before))
            }
            (Step::Map(map), None) => {
                self.candidates(map, relations).find(|&g| self.may_join(g, index, relations, &before))
            }
            (Step::Reduce(_), _) => reserved(index).filter(|&g| self.may_join(g, index, relations, &before)),
            (Step::Single(_), _) => None,
        };
        let group = chosen.unwrap_or_else(|| {
            self.groups
                .push(Group { open: matches!(self.steps[index], Step::Map(_)) && taker.is_none(), ..Group::default() });
            self.groups.len() - 1
        });
        if let Some(reduction) = taker {
            waiting.insert(reduction, group);
        }
        self.needs.push(relations.needs);
        self.join(group, index, before);
        if self.groups[group].open {
            for maker in relations.makers(&self.home) {
                self.merge(group, maker);
            }
        }
    }

    /// Makes one group of two, where all steps of both can run together.
    fn merge(&mut self, into: usize, from: usize) {
        if into == from || !self.may_merge(into, from) {
            return;
        }
        let operands = self.merged_operands(into, from);
        let gone = std::mem::take(&mut self.groups[from]);
        for &step in &gone.steps {
            self.home[step] = into;
        }
        let target = &mut self.groups[into];
        target.steps.extend(gone.steps);
        target.steps.sort_unstable();
        target.members.add(&gone.members);
        target.operands = operands;
        target.scalars += gone.scalars;
        target.nodes += gone.nodes;
        target.before.add(&gone.before);
        target.before.remove(into);
        target.before.remove(from);
        let all = target.before;
        for other in &mut self.groups {
            if other.before.has(from) || other.before.has(into) {
                other.before.remove(from);
                other.before.insert(into);
                other.before.add(&all);
            }
        }
    }

    fn may_merge(&self, into: usize, from: usize) -> bool {
        let (target, other) = (&self.groups[into], &self.groups[from]);
        if !other.open
            || target.scalars + other.scalars > MOST_SCALARS
            || target.nodes + other.nodes > MOST_NODES
            || self.steps[target.steps[0]].shape() != self.steps[other.steps[0]].shape()
            || self.merged_operands(into, from).len() > MOST_OPERANDS
        {
            return false;
        }
        // Nothing may have to run between the two.
        let between = |earlier: usize, later: &Group| {
            let after = |&group: &usize| self.groups[group].before.has(earlier);
            later.before.iter().filter(|&group| group != into && group != from).any(|group| after(&group))
        };
        let fit = |later: &Group, earlier: &Group| {
            later.steps.iter().all(|&step| {
                let shared = self.needs[step].both(&earlier.members);
                shared.iter().all(|before| fits(&self.steps[before], &self.steps[step]))
            })
        };
        !between(from, target) && !between(into, other) && fit(target, other) && fit(other, target)
    }

    /// The groups that a map may belong to: those that made what it reads, and the last one if it does the same to other
    /// elements. Maps that have nothing to do with each other stay apart: each new mixture would be a kernel to compile.
    fn candidates(&self, map: &MapStep, relations: &Relations) -> impl Iterator<Item = usize> {
        let last = self.groups.len().checked_sub(1);
        let alike = last.filter(|&group| match self.groups[group].steps.last().map(|&step| &self.steps[step]) {
            Some(Step::Map(other)) => std::sync::Arc::ptr_eq(&other.body, &map.body),
            _ => false,
        });
        relations.makers(&self.home).into_iter().rev().chain(alike).filter(|&group| self.groups[group].open)
    }

    /// Whether a step can run inside a group: nothing that it needs waits for the group, and what it shares with the group it
    /// uses in the same places, so that each element's thread sees its own writes.
    fn may_join(&self, group: usize, index: usize, relations: &Relations, before: &Set) -> bool {
        let target = &self.groups[group];
        let waits = before.iter().any(|other| other != group && self.groups[other].before.has(group));
        let (scalars, nodes) = weight(&self.steps[index]);
        !waits
            && target.scalars + scalars <= MOST_SCALARS
            && target.nodes + nodes <= MOST_NODES
            && self.steps[target.steps[0]].shape() == self.steps[index].shape()
            && self.joined_operands(group, index).len() <= MOST_OPERANDS
            && relations.needs.both(&target.members).iter().all(|step| fits(&self.steps[step], &self.steps[index]))
    }

    fn join(&mut self, group: usize, index: usize, before: Set) {
        let mut all = before;
        for other in before.iter() {
            if other != group {
                let earlier = self.groups[other].before;
                all.add(&earlier);
            }
        }
        all.remove(group);
        let (scalars, nodes) = weight(&self.steps[index]);
        let operands = self.joined_operands(group, index);
        let target = &mut self.groups[group];
        target.steps.push(index);
        target.members.insert(index);
        target.operands = operands;
        target.scalars += scalars;
        target.nodes += nodes;
        target.before.add(&all);
        let all = target.before;
        for other in &mut self.groups {
            if other.before.has(group) {
                other.before.add(&all);
            }
        }
        self.home[index] = group;
    }

    /// What a group is given once a step has joined it.
    fn joined_operands(&self, group: usize, index: usize) -> Operands<'a> {
        let (target, step) = (&self.groups[group], &self.steps[index]);
        let mut members = target.members;
        members.insert(index);
        let more: Operands<'a> = step.reads().into_iter().chain(step.writes()).collect();
        self.operands(&target.operands, &more, &members)
    }

    /// What two groups are given once they are one.
    fn merged_operands(&self, into: usize, from: usize) -> Operands<'a> {
        let (target, other) = (&self.groups[into], &self.groups[from]);
        let mut members = target.members;
        members.add(&other.members);
        self.operands(&target.operands, &other.operands, &members)
    }

    /// Operands and more of them, without those that these steps hand to each other alone.
    fn operands(&self, known: &Operands<'a>, more: &Operands<'a>, members: &Set) -> Operands<'a> {
        let mut all = known.clone();
        for &operand in more {
            if self.is_private(operand.storage, members) {
                all.retain(|other| other.storage != operand.storage);
            } else if !all.contains(&operand) {
                all.push(operand);
            }
        }
        all
    }

    /// Whether some steps alone use a storage, the first of them writing it whole, and nobody looks at it later.
    fn is_private(&self, storage: StorageId, members: &Set) -> bool {
        let Some(users) = self.users.get(&storage) else { return false };
        let Some(first) = users.writers.iter().next() else { return false };
        let within = |set: &Set| set.both(members) == *set;
        let whole = matches!(&self.steps[first], Step::Map(map) if map.mask.is_none());
        let made = whole && users.readers.iter().next().is_none_or(|reader| reader > first);
        made && within(&users.readers) && within(&users.writers) && !(self.alive)(storage)
    }

    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> =
            (0..self.groups.len()).filter(|&group| !self.groups[group].steps.is_empty()).collect();
        // A group's predecessors are a proper subset of those of any group that waits for it.
        order.sort_by_key(|&group| self.groups[group].before.iter().count());
        order
    }

    fn emit(&self, group: usize) -> Op {
        let steps = &self.groups[group].steps;
        let maps: SmallVec<[&MapStep; 4]> = steps
            .iter()
            .filter_map(|&step| match &self.steps[step] {
                Step::Map(map) => Some(map),
                _ => None,
            })
            .collect();
        match steps.last().map(|&step| &self.steps[step]) {
            Some(Step::Reduce(reduce)) => merge_reduce(&maps, reduce),
            Some(Step::Single(op)) => Op::clone(op),
            _ => merge_maps(&maps, |step, output| {
                let storage = maps[step].outputs[output].storage;
                let users = &self.users[&storage];
                let mut all = users.readers.iter().chain(users.writers.iter());
                (self.alive)(storage) || all.any(|user| self.home[user] != group)
            }),
        }
    }
}

/// How many scalars a step takes, and how many nodes its program has.
fn weight(step: &Step) -> (usize, usize) {
    match step {
        Step::Map(map) => {
            let scalars = map.inputs.iter().filter(|input| matches!(input, Input::Scalar { .. })).count();
            (scalars, map.body.graph.nodes().len())
        }
        _ => (0, 1),
    }
}

/// Whether two steps that share storages can run in one kernel, the first one first.
fn fits(first: &Step, second: &Step) -> bool {
    let Step::Map(earlier) = first else { return false };
    let clash = |a: &Operand, b: &Operand| a.storage == b.storage && a != b;
    let (reads, writes) = (second.reads(), second.writes());
    // One result of a reduction is written while the elements of others are still being read.
    let touched = |operand: &Operand| {
        first.reads().into_iter().chain(first.writes()).any(|use_of| use_of.storage == operand.storage)
    };
    if matches!(second, Step::Reduce(_)) && writes.iter().any(|operand| touched(operand)) {
        return false;
    }
    let mut uses = reads.iter().chain(&writes);
    let same_places = |use_of: &&Operand| {
        let masked = |out: &Operand| earlier.mask.is_some() && out.storage == use_of.storage;
        !earlier.outputs.iter().any(|out| clash(out, use_of) || masked(out))
    };
    uses.all(same_places) && first.reads().iter().all(|read| !writes.iter().any(|written| clash(read, written)))
}
