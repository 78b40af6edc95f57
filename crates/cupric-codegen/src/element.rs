//! Elements in memory, and the registers that they become.

use crate::spell::ty_name;
use cupric_core::DType;
use cupric_ir::{Component, Graph, Node};

/// The type of an element in memory.
pub(crate) const fn memory_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool | DType::UInt8 => "u8",
        DType::Int8 => "i8",
        DType::Int16 => "i16",
        DType::Int32 => "i32",
        DType::Int64 => "i64",
        DType::UInt16 | DType::Float16 | DType::BFloat16 => "u16",
        DType::UInt32 => "u32",
        DType::UInt64 => "u64",
        DType::Float32 => "float",
        DType::Float64 => "double",
        DType::Complex64 => "Complex<float>",
        DType::Complex128 => "Complex<double>",
    }
}

/// The registers of an element in memory: the real one, and the imaginary one of complex elements.
pub(crate) fn widened(dtype: DType, memory: &str) -> (String, Option<String>) {
    match dtype {
        DType::Bool => (format!("{memory} != 0"), None),
        DType::Float16 => (format!("f16_to_f32({memory})"), None),
        DType::BFloat16 => (format!("bf16_to_f32({memory})"), None),
        DType::Complex64 | DType::Complex128 => (format!("{memory}.re"), Some(format!("{memory}.im"))),
        _ => (memory.to_owned(), None),
    }
}

/// The element in memory of registers.
pub(crate) fn narrowed(dtype: DType, (real, imaginary): &(String, Option<String>)) -> String {
    match (dtype, imaginary) {
        (DType::Bool, _) => format!("u8({real})"),
        (DType::Float16, _) => format!("f32_to_f16({real})"),
        (DType::BFloat16, _) => format!("f32_to_bf16({real})"),
        (DType::Complex64 | DType::Complex128, Some(imaginary)) => {
            format!("{}{{{real}, {imaginary}}}", memory_type(dtype))
        }
        _ => real.clone(),
    }
}

/// Statements that name the registers `x0_re`, `x0_im`, .. that a program loads, from the elements in memory.
pub(crate) fn loads(indent: &str, graph: &Graph, dtypes: &[DType], memory: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for &(node, ty) in graph.nodes() {
        let Node::Load { input, component } = node else { continue };
        let (real, imaginary) = widened(dtypes[input as usize], &memory(input as usize));
        let (suffix, value) = match component {
            Component::Real => ("re", real),
            Component::Imaginary => ("im", imaginary.unwrap_or_default()),
        };
        text += &format!("{indent}const {} x{input}_{suffix} = {value};\n", ty_name(ty));
    }
    text
}
