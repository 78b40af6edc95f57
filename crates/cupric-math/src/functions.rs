//! The list of elementary functions, for those who make something of each.

/// Whether a function needs a second form for rare arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rare {
    /// The one form is right everywhere.
    Never,
    /// Where `trig32_is_rare` (`trig64_is_rare`) holds, the form named `..._rare` is needed; it is right everywhere.
    LargeTrig,
}

/// An elementary function; each has a form for either width, called name and width (`exp32`), with `_` between where the name holds a
/// digit (`log1p_64`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name in C's library: `atan2`.
    pub name: &'static str,
    /// How many numbers it takes.
    pub arity: usize,
    /// Whether there is a guard and a second form.
    pub rare: Rare,
}

const fn row(name: &'static str, arity: usize, rare: Rare) -> Function {
    Function { name, arity, rare }
}

/// Every elementary function of this crate.
pub const FUNCTIONS: &[Function] = &[
    row("exp", 1, Rare::Never),
    row("exp2", 1, Rare::Never),
    row("expm1", 1, Rare::Never),
    row("log", 1, Rare::Never),
    row("log2", 1, Rare::Never),
    row("log10", 1, Rare::Never),
    row("log1p", 1, Rare::Never),
    row("sin", 1, Rare::LargeTrig),
    row("cos", 1, Rare::LargeTrig),
    row("tan", 1, Rare::LargeTrig),
    row("sinh", 1, Rare::Never),
    row("cosh", 1, Rare::Never),
    row("tanh", 1, Rare::Never),
    row("asinh", 1, Rare::Never),
    row("acosh", 1, Rare::Never),
    row("atanh", 1, Rare::Never),
    row("cbrt", 1, Rare::Never),
    row("asin", 1, Rare::Never),
    row("acos", 1, Rare::Never),
    row("atan", 1, Rare::Never),
    row("atan2", 2, Rare::Never),
    row("hypot", 2, Rare::Never),
    row("pow", 2, Rare::Never),
];
