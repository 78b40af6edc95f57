//! The device functions that kernels share, one topic a file.

/// A topic, and words of which a text that needs it has one.
struct Topic {
    text: &'static str,
    words: &'static [&'static str],
}

// A topic may need those before it.
const TOPICS: &[Topic] = &[
    Topic { text: include_str!("prelude/types.cuh"), words: &[""] },
    Topic { text: include_str!("prelude/half.cuh"), words: &["f16"] },
    Topic { text: include_str!("prelude/cast.cuh"), words: &["to_i32(", "to_i64(", "to_u64("] },
    Topic { text: include_str!("prelude/integer.cuh"), words: &["floor_div(", "floor_mod(", "pow_int("] },
    Topic { text: include_str!("prelude/memory.cuh"), words: &["load", "store", "Pack<"] },
    Topic { text: include_str!("prelude/bytes.cuh"), words: &["true_bytes("] },
    Topic { text: include_str!("prelude/bounds.cuh"), words: &["resolve<"] },
    Topic { text: include_str!("prelude/anywhere.cuh"), words: &["Anywhere"] },
    Topic { text: include_str!("prelude/shuffle.cuh"), words: &["shuffle_word"] },
    Topic { text: include_str!("prelude/order.cuh"), words: &["order_key("] },
];

/// The topics that a text needs, in order.
pub(crate) fn needed(body: &str) -> String {
    let mut chosen: Vec<&str> = Vec::new();
    for topic in TOPICS.iter().rev() {
        let asks = |text: &str| topic.words.iter().any(|word| text.contains(word));
        if asks(body) || chosen.iter().any(|text| asks(text)) {
            chosen.push(topic.text);
        }
    }
    chosen.reverse();
    chosen.join("\n")
}

/// Index arithmetic in 32 or 64 bits.
pub(crate) fn index(wide: Width) -> &'static str {
    match wide {
        Width::Narrow => include_str!("prelude/index32.cuh"),
        Width::Wide => include_str!("prelude/index64.cuh"),
    }
}

/// How wide indices and byte offsets are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Width {
    /// 32 bits.
    Narrow,
    /// 64 bits.
    Wide,
}

/// Partial results of chunks.
pub(crate) const REDUCE: &str = include_str!("prelude/reduce.cuh");
/// Prefixes of chunks.
pub(crate) const SCAN: &str = include_str!("prelude/scan.cuh");
/// Sorting within a block.
pub(crate) const SORT_BLOCK: &str = include_str!("prelude/sort_block.cuh");
/// Sorting long rows digit by digit.
pub(crate) const SORT_RADIX: &str = include_str!("prelude/sort_radix.cuh");
/// The elements where a mask is true.
pub(crate) const SELECT: &str = include_str!("prelude/select.cuh");
/// Matrix products.
pub(crate) const MATMUL: &str = include_str!("prelude/matmul.cuh");
