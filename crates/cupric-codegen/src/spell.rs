//! Programs as CUDA C++: one statement for each node.

use crate::functions;
use cupric_ir::{Component, Graph, Id, Node, Prim, Register, Ty};

/// The name of a register's type.
pub(crate) const fn ty_name(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "bool",
        Ty::I8 => "i8",
        Ty::I16 => "i16",
        Ty::I32 => "i32",
        Ty::I64 => "i64",
        Ty::U8 => "u8",
        Ty::U16 => "u16",
        Ty::U32 => "u32",
        Ty::U64 => "u64",
        Ty::F32 => "float",
        Ty::F64 => "double",
    }
}

/// A program's statements, and the names that its nodes got.
pub(crate) struct Spelled {
    pub statements: String,
    names: Vec<String>,
}

impl Spelled {
    /// The expression of a node.
    pub(crate) fn name(&self, id: Id) -> &str {
        &self.names[id as usize]
    }

    /// The expressions of a register's parts.
    pub(crate) fn register(&self, register: Register) -> (String, Option<String>) {
        (self.name(register.real).to_owned(), register.imaginary.map(|id| self.name(id).to_owned()))
    }
}

/// Spells a program. Its leaves are named by their kinds: `x0_re` and `x0_im` for loads, `p0` for parameters, `a0` for
/// arguments, `position`.
pub(crate) fn spell(graph: &Graph, indent: &str) -> Spelled {
    spell_knowing(graph, indent, |_| None)
}

/// The same, where the values of some nodes are known.
pub(crate) fn spell_knowing(graph: &Graph, indent: &str, known: impl Fn(Node) -> Option<&'static str>) -> Spelled {
    let mut statements = String::new();
    let mut names: Vec<String> = Vec::with_capacity(graph.nodes().len());
    for (index, &(node, ty)) in graph.nodes().iter().enumerate() {
        let name = match node {
            _ if known(node).is_some() => known(node).unwrap_or_default().to_owned(),
            Node::Load { input, component: Component::Real } => format!("x{input}_re"),
            Node::Load { input, component: Component::Imaginary } => format!("x{input}_im"),
            Node::Parameter(index) => format!("p{index}"),
            Node::Argument(index) => format!("a{index}"),
            Node::Position => "position".to_owned(),
            Node::Literal(bits) => literal(ty, bits),
            Node::Op { .. } | Node::Call { .. } | Node::Lookup { .. } => {
                let name = format!("t{index}");
                let value = value(graph, node, ty, &names);
                statements += &format!("{indent}const {} {name} = {value};\n", ty_name(ty));
                name
            }
        };
        names.push(name);
    }
    Spelled { statements, names }
}

fn value(graph: &Graph, node: Node, ty: Ty, names: &[String]) -> String {
    let args: Vec<&str> = node.args().iter().map(|&id| names[id as usize].as_str()).collect();
    match node {
        Node::Op { prim, args: ids } => operation(prim, ty, graph.ty(ids[0]), &args),
        Node::Call { function, .. } => format!("{}({})", function.name(), args.join(", ")),
        Node::Lookup { table, .. } => format!("{}({}[{}])", ty_name(ty), functions::table_name(table), args[0]),
        _ => String::new(),
    }
}

/// A primitive with result type `ty`, whose first argument has type `of`.
fn operation(prim: Prim, ty: Ty, of: Ty, args: &[&str]) -> String {
    let a = args[0];
    let b = args.get(1).copied().unwrap_or_default();
    let narrow = ty == Ty::F32;
    let named = |single: &str, double: &str| format!("{}({})", if narrow { single } else { double }, args.join(", "));
    match prim {
        Prim::Add => arithmetic("+", ty, a, b),
        Prim::Sub => arithmetic("-", ty, a, b),
        Prim::Mul => arithmetic("*", ty, a, b),
        Prim::Div => named("__fdiv_rn", "__ddiv_rn"),
        Prim::FloorDiv => format!("floor_div({a}, {b})"),
        Prim::FloorMod => format!("floor_mod({a}, {b})"),
        Prim::PowInt => format!("pow_int({a}, {b})"),
        Prim::FMod => named("fmodf", "fmod"),
        Prim::Fma => named("__fmaf_rn", "__fma_rn"),
        Prim::Neg if ty.is_float() => format!("-{a}"),
        Prim::Neg => negated(ty, a),
        Prim::Abs if ty.is_float() => named("fabsf", "fabs"),
        Prim::Abs if ty.is_signed() => format!("{a} < 0 ? {} : {a}", negated(ty, a)),
        Prim::Abs => a.to_owned(),
        Prim::Sqrt => named("__fsqrt_rn", "__dsqrt_rn"),
        Prim::Floor => named("floorf", "floor"),
        Prim::Ceil => named("ceilf", "ceil"),
        Prim::Trunc => named("truncf", "trunc"),
        Prim::Rint => named("rintf", "rint"),
        Prim::Max if ty.is_float() => format!("{a} >= {b} || {a} != {a} ? {a} : {b}"),
        Prim::Max => format!("{a} >= {b} ? {a} : {b}"),
        Prim::Min if ty.is_float() => format!("{a} <= {b} || {a} != {a} ? {a} : {b}"),
        Prim::Min => format!("{a} <= {b} ? {a} : {b}"),
        Prim::And => format!("{}({a} & {b})", ty_name(ty)),
        Prim::Or => format!("{}({a} | {b})", ty_name(ty)),
        Prim::Xor => format!("{}({a} ^ {b})", ty_name(ty)),
        Prim::Not if ty == Ty::Bool => format!("!{a}"),
        Prim::Not => format!("{}(~{a})", ty_name(ty)),
        Prim::Shl => format!("{}({}({a}) << {b})", ty_name(ty), unsigned(ty)),
        Prim::Shr => format!("{}({a} >> {b})", ty_name(ty)),
        Prim::MulHigh if ty == Ty::U32 => format!("__umulhi({a}, {b})"),
        Prim::MulHigh => format!("__umul64hi({a}, {b})"),
        Prim::Eq => format!("{a} == {b}"),
        Prim::Ne => format!("{a} != {b}"),
        Prim::Lt => format!("{a} < {b}"),
        Prim::Le => format!("{a} <= {b}"),
        Prim::Select => format!("{a} ? {b} : {}", args[2]),
        Prim::Cast => cast(of, ty, a),
        Prim::Bitcast => bitcast(of, ty, a),
        Prim::RoundF16 => format!("round_f16({a})"),
        Prim::RoundBF16 => format!("round_bf16({a})"),
    }
}

/// Wrapping, on the unsigned type: compilers assume that signed integers do not overflow.
fn arithmetic(operator: &str, ty: Ty, a: &str, b: &str) -> String {
    if ty.is_float() {
        return format!("{a} {operator} {b}");
    }
    let wide = unsigned(ty);
    format!("{}({wide}({a}) {operator} {wide}({b}))", ty_name(ty))
}

fn negated(ty: Ty, a: &str) -> String {
    let wide = unsigned(ty);
    format!("{}({wide}(0) - {wide}({a}))", ty_name(ty))
}

/// The unsigned type in which a type's arithmetic wraps; narrow ones would be promoted to `int`.
const fn unsigned(ty: Ty) -> &'static str {
    if ty.size() == 8 { "u64" } else { "u32" }
}

fn cast(from: Ty, to: Ty, a: &str) -> String {
    let name = ty_name(to);
    match to {
        Ty::Bool => format!("{a} != 0"),
        _ if !from.is_float() || to.is_float() => format!("{name}({a})"),
        Ty::U64 => format!("to_u64({a})"),
        Ty::I64 | Ty::U32 => format!("{name}(to_i64({a}))"),
        _ => format!("{name}(to_i32({a}))"),
    }
}

fn bitcast(from: Ty, to: Ty, a: &str) -> String {
    let name = ty_name(to);
    match (from, to) {
        (Ty::F32, _) => format!("{name}(__float_as_uint({a}))"),
        (Ty::F64, _) => format!("{name}(__double_as_longlong({a}))"),
        (_, Ty::F32) => format!("__uint_as_float(u32({a}))"),
        (_, Ty::F64) => format!("__longlong_as_double(i64({a}))"),
        _ => format!("{name}({a})"),
    }
}

/// A constant, exactly.
pub(crate) fn literal(ty: Ty, bits: u64) -> String {
    match ty {
        Ty::F32 => {
            let value = f64::from(f32::from_bits(bits as u32));
            plain(value, "f").unwrap_or_else(|| format!("__uint_as_float({:#x}u)", bits as u32))
        }
        Ty::F64 => {
            plain(f64::from_bits(bits), "").unwrap_or_else(|| format!("__longlong_as_double(i64({bits:#x}ull))"))
        }
        Ty::Bool => (bits != 0).to_string(),
        Ty::I32 | Ty::I64 | Ty::I8 | Ty::I16 => {
            let suffix = if ty == Ty::I64 { "ull" } else { "u" };
            let half = 1 << (8 * ty.size() - 1);
            if bits < half { format!("{}({bits})", ty_name(ty)) } else { format!("{}({bits:#x}{suffix})", ty_name(ty)) }
        }
        Ty::U64 => format!("{bits:#x}ull"),
        _ => format!("{}({bits:#x}u)", ty_name(ty)),
    }
}

/// Short decimals that are exact; others, and what is not finite, are spelled by their bits.
fn plain(value: f64, suffix: &str) -> Option<String> {
    let exact = value.abs() < 1e6 && (value * 1024.0).fract() == 0.0 && !(value == 0.0 && value.is_sign_negative());
    let text = format!("{value:?}{suffix}");
    exact.then(|| if value < 0.0 { format!("({text})") } else { text })
}
