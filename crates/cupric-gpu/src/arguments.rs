//! Values for a kernel's parameters: plain numbers take the parameter's width, all else must have its size.

use crate::signature::{KernelParameter, ParameterKind};
use cupric_core::{Error, Result};
use smallvec::SmallVec;

/// A value for a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KernelArgument<'a> {
    /// An address.
    Address(u64),
    /// A truth value without a width of its own.
    Bool(bool),
    /// An integer without a width of its own.
    Integer(i128),
    /// A real number without a width of its own.
    Float(f64),
    /// A complex number without a width of its own: real and imaginary part.
    Complex(f64, f64),
    /// A value of a type of its own, by its bytes and the type's name.
    Bytes(&'a [u8], &'a str),
}

/// The bytes of an argument.
pub type ArgumentBytes = SmallVec<[u8; 16]>;

/// Why a value cannot be passed.
enum Misfit {
    /// It has so many bytes.
    Size(usize),
    /// It is of another kind.
    Kind,
    /// The number is too large.
    Range(i128),
}

/// The bytes of all arguments of a kernel. Where nothing is known of its parameters, numbers have 64 bits.
///
/// # Errors
/// `Type` when the number of arguments, a size or a kind is wrong; `Overflow` when an integer does not fit.
pub(crate) fn fit(
    kernel: &str,
    parameters: Option<&[KernelParameter]>,
    given: &[KernelArgument<'_>],
) -> Result<Vec<ArgumentBytes>> {
    let Some(parameters) = parameters else { return given.iter().map(wide).collect() };
    if parameters.len() != given.len() {
        let (takes, were) = (counted(parameters.len()), given.len());
        return Err(Error::Type(format!("kernel '{kernel}' takes {takes}, but {were} were given")));
    }
    let pairs = parameters.iter().zip(given).enumerate();
    pairs
        .map(|(index, (parameter, argument))| {
            fit_one(*parameter, argument).map_err(|misfit| explain(kernel, index + 1, *parameter, argument, &misfit))
        })
        .collect()
}

fn counted(count: usize) -> String {
    if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") }
}

fn fit_one(parameter: KernelParameter, argument: &KernelArgument<'_>) -> Result<ArgumentBytes, Misfit> {
    let KernelParameter { kind, bytes } = parameter;
    match *argument {
        KernelArgument::Address(_) if kind == ParameterKind::Float => Err(Misfit::Kind),
        KernelArgument::Address(address) => sized(bytes, &address.to_le_bytes()),
        KernelArgument::Bytes(value, _) => sized(bytes, value),
        KernelArgument::Bool(value) => integer(parameter, value.into()),
        KernelArgument::Integer(value) => integer(parameter, value),
        KernelArgument::Float(value) => match kind {
            ParameterKind::Float | ParameterKind::Unknown => float(bytes, value),
            ParameterKind::Integer | ParameterKind::Structure => Err(Misfit::Kind),
        },
        KernelArgument::Complex(real, imaginary) => match kind {
            ParameterKind::Structure | ParameterKind::Unknown => complex(bytes, real, imaginary),
            ParameterKind::Integer | ParameterKind::Float => Err(Misfit::Kind),
        },
    }
}

fn sized(bytes: usize, value: &[u8]) -> Result<ArgumentBytes, Misfit> {
    if value.len() == bytes { Ok(ArgumentBytes::from_slice(value)) } else { Err(Misfit::Size(value.len())) }
}

fn integer(parameter: KernelParameter, value: i128) -> Result<ArgumentBytes, Misfit> {
    let KernelParameter { kind, bytes } = parameter;
    match kind {
        ParameterKind::Float => return float(bytes, value as f64),
        ParameterKind::Structure => return Err(Misfit::Kind),
        ParameterKind::Integer | ParameterKind::Unknown => {}
    }
    if !matches!(bytes, 1 | 2 | 4 | 8) {
        return Err(Misfit::Kind);
    }
    // Whether a parameter is signed is not told, so that either range will do.
    let bits = 8 * bytes as u32;
    if !(-(1_i128 << (bits - 1))..1 << bits).contains(&value) {
        return Err(Misfit::Range(value));
    }
    Ok(ArgumentBytes::from_slice(&value.to_le_bytes()[..bytes]))
}

fn float(bytes: usize, value: f64) -> Result<ArgumentBytes, Misfit> {
    match bytes {
        4 => Ok(ArgumentBytes::from_slice(&(value as f32).to_le_bytes())),
        8 => Ok(ArgumentBytes::from_slice(&value.to_le_bytes())),
        // Two bytes may be either half-precision type.
        _ => Err(Misfit::Kind),
    }
}

fn complex(bytes: usize, real: f64, imaginary: f64) -> Result<ArgumentBytes, Misfit> {
    let half = bytes / 2;
    let parts = (float(half, real)?, float(half, imaginary)?);
    if 2 * half == bytes { Ok(parts.0.into_iter().chain(parts.1).collect()) } else { Err(Misfit::Kind) }
}

/// An argument for a parameter of which nothing is known.
fn wide(argument: &KernelArgument<'_>) -> Result<ArgumentBytes> {
    let number = |bytes: [u8; 8]| ArgumentBytes::from_slice(&bytes);
    Ok(match *argument {
        KernelArgument::Address(value) => number(value.to_le_bytes()),
        KernelArgument::Bytes(value, _) => ArgumentBytes::from_slice(value),
        KernelArgument::Bool(value) => ArgumentBytes::from_slice(&[value.into()]),
        KernelArgument::Float(value) => number(value.to_le_bytes()),
        KernelArgument::Complex(real, imaginary) => {
            real.to_le_bytes().into_iter().chain(imaginary.to_le_bytes()).collect()
        }
        KernelArgument::Integer(value) => {
            let low =
                i64::try_from(value).map(i64::to_le_bytes).or_else(|_| u64::try_from(value).map(u64::to_le_bytes));
            number(low.map_err(|_| Error::Overflow(format!("{value} does not fit into 8 bytes")))?)
        }
    })
}

fn explain(
    kernel: &str,
    number: usize,
    parameter: KernelParameter,
    argument: &KernelArgument<'_>,
    misfit: &Misfit,
) -> Error {
    let place = format!("argument {number} of kernel '{kernel}'");
    let what = match parameter.kind {
        ParameterKind::Integer if parameter.bytes == 8 => "an integer or an address",
        ParameterKind::Integer => "an integer",
        ParameterKind::Float => "a floating-point number",
        ParameterKind::Structure => "a structure",
        ParameterKind::Unknown => "a value",
    };
    let expected = format!("{what} of {}", bytes_in_words(parameter.bytes));
    let given = match argument {
        KernelArgument::Address(_) => "an array",
        KernelArgument::Bool(_) => "a Python bool",
        KernelArgument::Integer(_) => "a Python int",
        KernelArgument::Float(_) => "a Python float",
        KernelArgument::Complex(..) => "a Python complex",
        KernelArgument::Bytes(_, name) => name,
    };
    match misfit {
        Misfit::Size(bytes) => Error::Type(format!("{place}: expected {expected}, got {given} of {bytes}")),
        Misfit::Kind if matches!(argument, KernelArgument::Address(_)) => {
            Error::Type(format!("{place}: expected {expected}, got {given}"))
        }
        Misfit::Kind => Error::Type(format!("{place}: expected {expected}, got {given}; a NumPy scalar says its type")),
        Misfit::Range(value) => Error::Overflow(format!("{place}: {value} does not fit into {expected}")),
    }
}

fn bytes_in_words(bytes: usize) -> String {
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}

#[cfg(test)]
mod tests {
    use super::{KernelArgument as Given, ParameterKind as Kind, *};
    use cupric_core::Exception;

    fn one(kind: Kind, bytes: usize, given: Given<'_>) -> Result<Vec<u8>> {
        fit("f", Some(&[KernelParameter { kind, bytes }]), &[given]).map(|all| all[0].to_vec())
    }

    #[test]
    fn plain_numbers_take_the_width_of_the_parameter() {
        assert_eq!(one(Kind::Integer, 4, Given::Integer(-2)).unwrap(), (-2_i32).to_le_bytes());
        assert_eq!(one(Kind::Integer, 4, Given::Integer(u32::MAX.into())).unwrap(), [255; 4]);
        assert_eq!(one(Kind::Unknown, 2, Given::Integer(3)).unwrap(), [3, 0]);
        assert_eq!(one(Kind::Integer, 8, Given::Integer(u64::MAX.into())).unwrap(), [255; 8]);
        assert_eq!(one(Kind::Float, 4, Given::Float(0.1)).unwrap(), 0.1_f32.to_le_bytes());
        assert_eq!(one(Kind::Unknown, 8, Given::Float(0.1)).unwrap(), 0.1_f64.to_le_bytes());
        assert_eq!(one(Kind::Integer, 1, Given::Bool(true)).unwrap(), [1]);
        assert_eq!(one(Kind::Integer, 4, Given::Bool(true)).unwrap(), [1, 0, 0, 0]);
        let half = [1.5_f32.to_le_bytes(), (-2_f32).to_le_bytes()].concat();
        assert_eq!(one(Kind::Structure, 8, Given::Complex(1.5, -2.0)).unwrap(), half);
        let whole = [1.5_f64.to_le_bytes(), (-2_f64).to_le_bytes()].concat();
        assert_eq!(one(Kind::Unknown, 16, Given::Complex(1.5, -2.0)).unwrap(), whole);
    }

    #[test]
    fn an_integer_for_a_float_is_converted() {
        assert_eq!(one(Kind::Float, 4, Given::Integer(3)).unwrap(), 3_f32.to_le_bytes());
        assert_eq!(one(Kind::Float, 8, Given::Integer(1 << 40)).unwrap(), ((1_u64 << 40) as f64).to_le_bytes());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |kind, bytes, given| one(kind, bytes, given).unwrap_err().exception();
        for value in [1 << 32, -(1 << 31) - 1] {
            assert_eq!(refused(Kind::Integer, 4, Given::Integer(value)), Exception::OverflowError);
        }
        for (kind, bytes, given) in [
            (Kind::Integer, 4, Given::Float(1.0)),
            (Kind::Structure, 2, Given::Float(1.0)),
            (Kind::Structure, 4, Given::Integer(1)),
            (Kind::Unknown, 12, Given::Integer(1)),
            (Kind::Unknown, 9, Given::Complex(0.0, 0.0)),
            (Kind::Float, 8, Given::Complex(0.0, 0.0)),
            (Kind::Float, 8, Given::Address(1)),
            (Kind::Integer, 4, Given::Address(1)),
            (Kind::Integer, 4, Given::Bytes(&[0; 8], "numpy.int64")),
            (Kind::Structure, 12, Given::Bytes(&[0; 8], "numpy.void")),
        ] {
            assert_eq!(refused(kind, bytes, given), Exception::TypeError, "{kind:?} {bytes} {given:?}");
        }
    }

    #[test]
    fn refusals_name_kernel_argument_and_sizes() {
        let parameters = [8, 4].map(|bytes| KernelParameter { kind: Kind::Integer, bytes });
        let said = |given: &[Given<'_>]| fit("square", Some(&parameters), given).unwrap_err().to_string();
        let wrong = [Given::Address(1), Given::Bytes(&[0; 8], "numpy.int64")];
        assert_eq!(said(&wrong), "argument 2 of kernel 'square': expected an integer of 4 bytes, got numpy.int64 of 8");
        assert_eq!(said(&[Given::Address(1)]), "kernel 'square' takes 2 arguments, but 1 were given");
        assert!(said(&[Given::Address(1), Given::Integer(1 << 40)]).contains("1099511627776 does not fit"));
    }

    #[test]
    fn without_a_signature_numbers_have_64_bits() {
        let given = [Given::Integer(-1), Given::Float(2.0), Given::Bool(true), Given::Bytes(&[1, 2], "numpy.int16")];
        let lengths: Vec<usize> = fit("f", None, &given).unwrap().iter().map(|bytes| bytes.len()).collect();
        assert_eq!(lengths, [8, 8, 1, 2]);
        assert!(fit("f", None, &[Given::Integer(1 << 64)]).is_err());
    }
}
