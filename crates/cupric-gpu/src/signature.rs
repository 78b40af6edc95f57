//! What a kernel's parameters are: from the PTX that it went through, which tells kinds and sizes, or from the driver, which
//! tells sizes.

/// What a parameter holds, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// An integer, a truth value or an address.
    Integer,
    /// A floating-point number of 4 or 8 bytes.
    Float,
    /// A structure; half-precision and complex numbers are such.
    Structure,
    /// Only its size is known.
    Unknown,
}

/// A parameter of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelParameter {
    /// What it holds.
    pub kind: ParameterKind,
    /// Its size.
    pub bytes: usize,
}

/// The lines of a PTX text that declare kernels and their parameters; [`parameters`] reads them as it reads the whole.
pub(crate) fn declarations(ptx: &str) -> String {
    entries(ptx).map(|(name, list)| format!(".entry {name}({list})\n")).collect()
}

/// The parameters of a kernel that a PTX text declares; `None` when it does not, or in words that are not understood.
pub(crate) fn parameters(ptx: &str, kernel: &str) -> Option<Vec<KernelParameter>> {
    let (_, list) = entries(ptx).find(|(name, _)| *name == kernel)?;
    let lines: Vec<&str> = list.lines().map(|line| line.split("//").next().unwrap_or("").trim()).collect();
    let list = lines.join(" ");
    list.split(',').map(str::trim).filter(|one| !one.is_empty()).map(parameter).collect()
}

/// Each kernel's name, and what stands in its parentheses.
fn entries(ptx: &str) -> impl Iterator<Item = (&str, &str)> {
    ptx.split(".entry ").skip(1).filter_map(|text| {
        let head = text.split_once('{').map_or(text, |(head, _)| head);
        let name = head.split(|c: char| c == '(' || c.is_whitespace()).find(|word| !word.is_empty())?;
        let list = head.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(list, _)| list);
        Some((name, list))
    })
}

/// Reads `.param .u32 name` or `.param .align 4 .b8 name[12]`.
fn parameter(text: &str) -> Option<KernelParameter> {
    let words = || text.split_whitespace();
    let (kind, bytes) = words().find_map(scalar)?;
    let length = words().next_back()?.strip_suffix(']').and_then(|name| name.rsplit_once('['));
    match length {
        Some((_, length)) => {
            Some(KernelParameter { kind: ParameterKind::Structure, bytes: bytes * length.parse::<usize>().ok()? })
        }
        None => Some(KernelParameter { kind, bytes }),
    }
}

/// A PTX type.
fn scalar(word: &str) -> Option<(ParameterKind, usize)> {
    let kind = match word.get(..2)? {
        ".u" | ".s" => ParameterKind::Integer,
        ".f" => ParameterKind::Float,
        ".b" => ParameterKind::Unknown,
        _ => return None,
    };
    match word.get(2..)? {
        "8" => Some((kind, 1)),
        "16" => Some((kind, 2)),
        "32" => Some((kind, 4)),
        "64" => Some((kind, 8)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = r"
.version 8.0
.visible .entry scale(
	.param .u64 .ptr .global .align 4 scale_param_0, // x
	.param .u32 scale_param_1,
	.param .f32 scale_param_2,
	.param .f64 scale_param_3,
	.param .align 4 .b8 scale_param_4[12],
	.param .b32 scale_param_5
)
.maxntid 128, 1, 1
{
	ld.param.u64 %rd1, [scale_param_0];
}
.visible .entry none()
{
}
.entry bare { }
";

    fn of(kernel: &str) -> Option<Vec<(ParameterKind, usize)>> {
        parameters(PTX, kernel).map(|list| list.iter().map(|one| (one.kind, one.bytes)).collect())
    }

    #[test]
    fn declared_parameters_have_kinds_and_sizes() {
        use ParameterKind::{Float, Integer, Structure, Unknown};
        let scale = [(Integer, 8), (Integer, 4), (Float, 4), (Float, 8), (Structure, 12), (Unknown, 4)];
        assert_eq!(of("scale").unwrap(), scale);
        assert_eq!((of("none"), of("bare"), of("scal")), (Some(vec![]), Some(vec![]), None));
    }

    #[test]
    fn declarations_say_what_the_whole_text_says() {
        let short = declarations(PTX);
        assert!(short.len() < PTX.len() && !short.contains("ld.param"));
        for kernel in ["scale", "none", "bare", "other"] {
            assert_eq!(parameters(&short, kernel), parameters(PTX, kernel));
        }
    }

    #[test]
    fn a_type_that_is_not_known_makes_no_guess() {
        assert_eq!(parameters(".entry f(.param .texref t) {", "f"), None);
    }
}
