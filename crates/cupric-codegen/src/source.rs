//! Where a reduction or scan takes its states from: a program for each element, by position along the reduced axes.

use crate::{
    access::Mode,
    bound::Bound,
    element::{loads, memory_type},
    functions, shape,
    spell::{spell, spell_knowing, ty_name},
};
use cupric_core::DType;
use cupric_ir::{CompiledFold, Graph, Id, Node, Parameter, Prim, Ty};

/// What the text of a source depends on.
pub(crate) struct Source<'a> {
    pub graph: &'a Graph,
    pub element: &'a [Id],
    pub parameters: &'a [Parameter],
    pub fold: &'a CompiledFold,
    pub dtypes: Vec<DType>,
    /// How four neighbours are loaded.
    pub modes: Vec<Mode>,
    /// How many reduced axes there are.
    pub axes: usize,
}

impl<'a> Source<'a> {
    pub(crate) fn structure(&self) -> impl std::hash::Hash + '_ {
        let types: Vec<Ty> = self.parameters.iter().map(|parameter| parameter.ty).collect();
        (
            self.graph,
            self.element,
            types,
            self.fold.fold.name,
            self.fold.accumulator,
            &self.dtypes,
            &self.modes,
            self.axes,
        )
    }

    /// The kernel's parameters that name the inputs and the scalars.
    pub(crate) fn given(&self) -> Vec<String> {
        let inputs = (0..self.dtypes.len()).map(|index| format!("const char* in{index}"));
        inputs.chain(crate::map::scalars(self.parameters)).collect()
    }

    /// The expression that makes the source of a row.
    pub(crate) fn make(&self) -> String {
        let inputs = (0..self.dtypes.len()).map(|index| format!("in{index} + in{index}_at"));
        let scalars = (0..self.parameters.len()).map(|index| format!("p{index}"));
        let fields: Vec<String> = inputs.chain(scalars).chain(["shape".to_owned()]).collect();
        format!("Source{{{}}}", fields.join(", "))
    }

    /// The variables that move to a row, with their steps.
    pub(crate) fn moved(&self) -> Vec<(String, String)> {
        (0..self.dtypes.len()).map(|index| (format!("in{index}_at"), format!("shape.steps[{index}]"))).collect()
    }

    /// `State`, `combine`, `element` and `Source`.
    pub(crate) fn text(&self) -> String {
        let functions = functions::definitions([self.graph, &self.fold.combine]);
        format!(
            "{functions}{}\n{}\n{}\n{}\n",
            state(&self.fold.state),
            combine(self.fold),
            self.element(),
            self.source()
        )
    }

    /// An element's state from its bits in memory.
    fn element(&self) -> String {
        let raws =
            self.dtypes.iter().enumerate().map(|(index, &dtype)| format!("const {} raw{index}", memory_type(dtype)));
        let given: Vec<String> = ["const i64 position".to_owned()]
            .into_iter()
            .chain(raws)
            .chain(crate::map::scalars(self.parameters))
            .collect();
        let spelled = spell(self.graph, "  ");
        let values: Vec<&str> = self.element.iter().map(|&id| spelled.name(id)).collect();
        format!(
            "__device__ __forceinline__ State element({}) {{\n{}{}  return State{{{}}};\n}}\n",
            given.join(", "),
            loads("  ", self.graph, &self.dtypes, |input| format!("raw{input}")),
            spelled.statements,
            values.join(", "),
        )
    }

    fn source(&self) -> String {
        let mut fields: String = (0..self.dtypes.len()).map(|index| format!("  const char* in{index};\n")).collect();
        for (index, parameter) in self.parameters.iter().enumerate() {
            fields += &format!("  {} p{index};\n", ty_name(parameter.ty));
        }
        let weight = 4 * (crate::map_rows::weight(self.graph) + crate::map_rows::weight(&self.fold.combine));
        let unroll = match weight {
            // All of a chunk's loads are in flight at once; an argmax weighs about a hundred.
            0..=160 => 7,
            161..=256 => 2,
            _ => 1,
        };
        format!(
            "struct Source {{\n  static constexpr int unroll = {unroll};\n{fields}  const Shape& shape;\n{}{}}};\n",
            self.one(),
            self.some()
        )
    }

    fn call(&self, position: &str, raw: impl Fn(usize) -> String) -> String {
        let raws = (0..self.dtypes.len()).map(raw);
        let scalars = (0..self.parameters.len()).map(|index| format!("p{index}"));
        let given: Vec<String> = [format!("i64({position})")].into_iter().chain(raws).chain(scalars).collect();
        format!("element({})", given.join(", "))
    }

    /// One state at any position.
    fn one(&self) -> String {
        let mut text = String::from("  __device__ __forceinline__ State one(const Index position) const {\n");
        let at = |index: usize| match self.axes {
            1 => format!("in{index} + Step(position) * shape.reduced[{index}][0]"),
            _ => format!("in{index} + at{index}"),
        };
        if self.axes > 1 {
            for index in 0..self.dtypes.len() {
                text += &format!("    Step at{index} = 0;\n");
            }
            let moved: Vec<_> =
                (0..self.dtypes.len()).map(|index| (format!("at{index}"), format!("shape.reduced[{index}]"))).collect();
            text += &shape::walk("    ", "position", self.axes, "shape.reduced_sizes", &moved);
        }
        let call = self.call("position", |index| self.modes[index].load_one(self.dtypes[index], &at(index)));
        text + &format!("    return {call};\n  }}\n")
    }

    /// The states of up to four neighbours.
    fn some(&self) -> String {
        let mut text = String::from(
            "  __device__ __forceinline__ void some(const Index position, const int present, State* out) const {\n",
        );
        if self.axes > 1 {
            return text
                + "#pragma unroll\n    for (int j = 0; j < 4; ++j) {\n      if (j < present) out[j] = one(position + j);\n    }\n  }\n";
        }
        for (index, (&dtype, mode)) in self.dtypes.iter().zip(&self.modes).enumerate() {
            let step = format!("shape.reduced[{index}][0]");
            let at = match mode {
                Mode::Vector => format!("in{index} + Step(position) * {}", dtype.size()),
                Mode::Once | Mode::OnceBytes => format!("in{index}"),
                _ => format!("in{index} + Step(position) * {step}"),
            };
            let pack = format!("Pack<{}, {}>", memory_type(dtype), mode.held(4));
            text += &format!("    const {pack} raw{index} = {};\n", mode.load(dtype, 4, &at, &step, "present"));
        }
        let call = self.call("position + j", |index| match self.modes[index].held(4) {
            1 => format!("raw{index}.item[0]"),
            _ => format!("raw{index}.item[j]"),
        });
        text + &format!(
            "#pragma unroll\n    for (int j = 0; j < 4; ++j) {{\n      if (j < present) out[j] = {call};\n    }}\n  }}\n"
        )
    }
}

/// The registers of a partial result, and how threads exchange them.
fn state(types: &[Ty]) -> String {
    let fields: String =
        types.iter().enumerate().map(|(index, &ty)| format!("  {} s{index};\n", ty_name(ty))).collect();
    let each = |call: &dyn Fn(usize) -> String| (0..types.len()).map(call).collect::<Vec<_>>().join(", ");
    format!(
        "struct State {{\n{fields}}};\n\n\
         __device__ __forceinline__ State shuffle_down(const State& x, const u32 distance, const int width) {{\n  \
         return State{{{}}};\n}}\n\
         __device__ __forceinline__ State shuffle_up(const State& x, const u32 distance) {{\n  return State{{{}}};\n}}\n\
         __device__ __forceinline__ State shuffle_across(const State& x, const u32 distance) {{\n  return State{{{}}};\n}}\n\
         // By registers: a choice between structs is one between addresses.\n\
         __device__ __forceinline__ State choose(const bool first, const State& a, const State& b) {{\n  return State{{{}}};\n}}\n",
        each(&|index| format!("shuffle_word(x.s{index}, distance, width)")),
        each(&|index| format!("shuffle_word_up(x.s{index}, distance)")),
        each(&|index| format!("shuffle_word_across(x.s{index}, distance)")),
        each(&|index| format!("first ? a.s{index} : b.s{index}")),
    )
}

/// `combine`, and `combine_next` for a right side that stands behind all of the left one, as its position need not be asked then.
fn combine(fold: &CompiledFold) -> String {
    let nodes = fold.combine.nodes();
    let last = fold.state.len() - 1;
    let is_last = |id: Id, side: usize| nodes[id as usize].0 == Node::Argument((side * fold.state.len() + last) as u16);
    let stands_before = |node: Node| match node {
        Node::Op { prim: Prim::Lt, args } if is_last(args[0], 1) && is_last(args[1], 0) => Some("false"),
        _ => None,
    };
    if fold.fold.is_position() {
        return combination(fold, "combine", |_| None) + &combination(fold, "combine_next", stands_before);
    }
    combination(fold, "combine", |_| None)
        + "__device__ __forceinline__ State combine_next(const State& left, const State& right) { return combine(left, right); }\n"
}

fn combination(fold: &CompiledFold, name: &str, known: impl Fn(Node) -> Option<&'static str>) -> String {
    let count = fold.state.len();
    let spelled = spell_knowing(&fold.combine, "  ", known);
    let values: Vec<&str> = fold.combined.iter().map(|&id| spelled.name(id)).collect();
    let arguments = arguments(&fold.combine, |index| {
        if index < count { format!("left.s{index}") } else { format!("right.s{}", index - count) }
    });
    format!(
        "__device__ __forceinline__ State {name}(const State& left, const State& right) {{\n{arguments}{}  \
         return State{{{}}};\n}}\n",
        spelled.statements,
        values.join(", "),
    )
}

/// Statements that name the arguments that a program uses.
pub(crate) fn arguments(graph: &Graph, value: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for &(node, ty) in graph.nodes() {
        if let Node::Argument(index) = node {
            text += &format!("  const {} a{index} = {};\n", ty_name(ty), value(usize::from(index)));
        }
    }
    text
}

/// The operands that hold states, register by register, packed over a shape from an offset of the workspace on; and the
/// offset behind them.
pub(crate) fn scratch(fold: &CompiledFold, offset: usize, shape: &[usize]) -> (Vec<Bound>, usize) {
    let mut end = offset;
    let count: usize = shape.iter().product();
    let operands = fold.state.iter().map(|ty| {
        let bound = Bound::scratch(ty.dtype(), end, shape);
        end += (count * ty.size()).next_multiple_of(256);
        bound
    });
    (operands.collect(), end)
}

/// A program that loads states.
pub(crate) fn load_states(fold: &CompiledFold) -> (Graph, Vec<Id>) {
    let mut builder = cupric_ir::Builder::default();
    let mut ids: Vec<Id> = fold
        .state
        .iter()
        .enumerate()
        .map(|(index, &ty)| {
            let load = Node::Load { input: index as u16, component: cupric_ir::Component::Real };
            builder.node(load, ty)
        })
        .collect();
    (builder.finish(&mut ids), ids)
}
