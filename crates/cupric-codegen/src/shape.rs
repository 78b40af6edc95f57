//! The numbers of a launch: one struct by value, whose text and bytes come from the same list.

use crate::{kernel::Argument, prelude::Width};
use smallvec::SmallVec;

/// The fields of a kernel's `Shape`.
pub(crate) struct Shape {
    width: Width,
    fields: SmallVec<[Field; 6]>,
}

struct Field {
    name: &'static str,
    values: Values,
}

enum Values {
    Count(usize),
    Divisors(SmallVec<[usize; 6]>),
    Steps { columns: usize, steps: SmallVec<[isize; 16]> },
}

impl Shape {
    pub(crate) fn new(width: Width) -> Shape {
        Shape { width, fields: SmallVec::new() }
    }

    /// An `Index`.
    pub(crate) fn count(mut self, name: &'static str, value: usize) -> Shape {
        self.fields.push(Field { name, values: Values::Count(value) });
        self
    }

    /// An array of `Divisor`; none if there are no values.
    pub(crate) fn divisors(mut self, name: &'static str, values: &[usize]) -> Shape {
        if !values.is_empty() {
            self.fields.push(Field { name, values: Values::Divisors(values.into()) });
        }
        self
    }

    /// An array of rows of `Step`; none if there are no values.
    pub(crate) fn steps<'a>(mut self, name: &'static str, rows: impl IntoIterator<Item = &'a [isize]>) -> Shape {
        let (mut columns, mut steps) = (0, SmallVec::new());
        for row in rows {
            columns = row.len();
            steps.extend_from_slice(row);
        }
        if !steps.is_empty() {
            self.fields.push(Field { name, values: Values::Steps { columns, steps } });
        }
        self
    }

    /// The struct's declaration.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from("struct Shape {\n");
        for Field { name, values } in &self.fields {
            text += &match values {
                Values::Count(_) => format!("  Index {name};\n"),
                Values::Divisors(values) => format!("  Divisor {name}[{}];\n", values.len()),
                Values::Steps { columns, steps } => {
                    format!("  Step {name}[{}][{columns}];\n", steps.len() / columns)
                }
            };
        }
        text + "};\n"
    }

    /// The struct's bytes.
    pub(crate) fn argument(&self) -> Argument {
        let mut bytes: SmallVec<[u8; 16]> = SmallVec::new();
        let mut push = |value: u64| match self.width {
            Width::Narrow => bytes.extend_from_slice(&(value as u32).to_le_bytes()),
            Width::Wide => bytes.extend_from_slice(&value.to_le_bytes()),
        };
        for Field { values, .. } in &self.fields {
            match values {
                Values::Count(value) => push(*value as u64),
                Values::Divisors(values) => values.iter().for_each(|&value| match self.width {
                    Width::Narrow => divisor(value as u32).into_iter().for_each(|word| push(u64::from(word))),
                    Width::Wide => push(value as u64),
                }),
                Values::Steps { steps, .. } => steps.iter().for_each(|&step| push(step as u64)),
            }
        }
        Argument::Bits(bytes)
    }
}

/// What `Divisor` in 32 bits holds: the quotient of `n < 2^31` is `(high(n * multiplier) + n) >> shift`.
fn divisor(value: u32) -> [u32; 3] {
    let shift = 32 - (value - 1).leading_zeros();
    let multiplier = (((1_u64 << 32) * ((1_u64 << shift) - u64::from(value))) / u64::from(value) + 1) as u32;
    [value, multiplier, shift]
}

/// Statements that take a row-major index apart and move variables along: for each of `moved`, the variable and the array
/// of its steps, one for each axis. `divisors` holds the sizes of all axes but the first.
pub(crate) fn walk(indent: &str, index: &str, axes: usize, divisors: &str, moved: &[(String, String)]) -> String {
    let mut text = String::new();
    if axes == 0 || moved.is_empty() {
        return text;
    }
    if axes == 1 {
        for (variable, steps) in moved {
            text += &format!("{indent}{variable} += Step({index}) * {steps}[0];\n");
        }
        return text;
    }
    let inner = format!("{indent}  ");
    text += &format!("{indent}{{\n{inner}Index rest = {index};\n");
    for axis in (1..axes).rev() {
        text += &format!("{inner}{{\n{inner}  const Index outer = {divisors}[{}].quotient(rest);\n", axis - 1);
        text += &format!("{inner}  const Step i = Step(rest - outer * {divisors}[{}].divisor);\n", axis - 1);
        for (variable, steps) in moved {
            text += &format!("{inner}  {variable} += i * {steps}[{axis}];\n");
        }
        text += &format!("{inner}  rest = outer;\n{inner}}}\n");
    }
    for (variable, steps) in moved {
        text += &format!("{inner}{variable} += Step(rest) * {steps}[0];\n");
    }
    text + &format!("{indent}}}\n")
}

#[cfg(test)]
mod tests {
    use super::divisor;

    #[test]
    fn quotients_by_multiplication_are_exact_below_two_to_the_31() {
        let most = (1_u32 << 31) - 1;
        for value in [1, 2, 3, 5, 7, 10, 641, 1000, 65_535, 65_537, 1_000_003, 1 << 30, most - 1, most] {
            let [_, multiplier, shift] = divisor(value);
            let near = [0, 1, value - 1, value, value.wrapping_add(1), most / value * value, most - 1, most];
            for n in near.into_iter().filter(|&n| n <= most) {
                let high = ((u64::from(n) * u64::from(multiplier)) >> 32) as u32;
                assert_eq!((high + n) >> shift, n / value, "{n} / {value}");
            }
        }
    }
}
