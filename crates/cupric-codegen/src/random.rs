//! Random numbers: a thread makes the elements of four words.

use crate::{
    access::{Mode, Reuse, mode},
    bound::{Bound, Scope, launch},
    element::memory_type,
    kernel::{Argument, Kernel, Launch, Program},
    prelude::{self, Width},
    shape::{self, Shape},
    spell::{spell, ty_name},
};
use cupric_core::{DType, Error, Result, coalesce};
use cupric_ir::{Distribution, Ex, Random, S32, S64, SW64, Ty, trace};
use cupric_math::random::{
    attempt_counter, bounded_threshold, counter_at, normal32, normal64, philox4x64, uniform32, uniform64,
};

/// Plans random numbers.
pub(crate) fn plan(scope: &Scope, random: &Random) -> Result<Program> {
    let output = scope.write(0);
    if output.layout.is_empty() {
        return Ok(Program::default());
    }
    Ok(Program { launches: vec![launch_for(scope, random, output)?], workspace: 0 })
}

/// The launch that writes to an output, which has an element.
pub(crate) fn launch_for(scope: &Scope, random: &Random, mut output: Bound) -> Result<Launch> {
    let kind = Kind::of(random.distribution, output.dtype)?;
    let (mut dims, steps) = coalesce(&output.layout.shape, &[&output.layout.strides]);
    output.layout.strides = steps[0].clone();
    if dims.is_empty() {
        dims.push(1);
        output.layout.strides.push(output.item() as isize);
    }
    output.layout.shape = dims.clone();
    let count: usize = dims.iter().product();
    let each = kind.each();
    let access = match mode(&output, &output.layout.strides, output.layout.offset, each, Reuse::Forbidden) {
        Mode::Vector if dims.len() > 1 => Mode::Each,
        access => access,
    };
    let width = scope.width(count + 256 * each, [output.span()]);
    let shape = Shape::new(width)
        .count("count", count)
        .divisors("sizes", &dims[1..])
        .steps("steps", [&output.layout.strides[..]]);
    let form = Form { kind, dtype: output.dtype, axes: dims.len(), access, width };
    let kernel = scope.planner.kernel(("random", &form), || form.spell(&shape));
    // In half words for what is made of those, else in whole words.
    let skipped = if each == 8 { random.skip } else { random.skip.div_ceil(2) };
    let mut words = vec![skipped];
    words.extend(random.counter);
    words.extend(random.key);
    if let Distribution::Integers { low, span } = random.distribution {
        words.extend([low as u64, span, if span == 0 { 0 } else { bounded_threshold(span) }]);
    }
    let mut given = vec![output.argument()];
    given.extend(words.into_iter().map(|word| Argument::Bits(word.to_le_bytes().as_slice().into())));
    given.push(shape.argument());
    Ok(launch(kernel, count.div_ceil(256 * each), 256, given))
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    Words,
    Uniform32,
    Uniform64,
    Normal32,
    Normal64,
    Integers,
}

impl Kind {
    fn of(distribution: Distribution, dtype: DType) -> Result<Kind> {
        Ok(match (distribution, dtype) {
            (Distribution::Words, DType::UInt64) => Kind::Words,
            (Distribution::Uniform, DType::Float32) => Kind::Uniform32,
            (Distribution::Uniform, DType::Float64) => Kind::Uniform64,
            (Distribution::Normal, DType::Float32) => Kind::Normal32,
            (Distribution::Normal, DType::Float64) => Kind::Normal64,
            (Distribution::Integers { .. }, _) if dtype.is_integer() || dtype == DType::Bool => Kind::Integers,
            _ => return Err(Error::Unsupported { what: format!("{distribution:?} of {dtype}") }),
        })
    }

    /// Elements that a thread makes.
    const fn each(self) -> usize {
        match self {
            Kind::Uniform32 | Kind::Normal32 => 8,
            _ => 4,
        }
    }
}

/// What the text of the kernel depends on.
#[derive(Hash)]
struct Form {
    kind: Kind,
    dtype: DType,
    axes: usize,
    access: Mode,
    width: Width,
}

/// A device function that writes what a formula gives to `out`.
fn function(name: &str, takes: &[Ty], gives: Ty, formula: impl Fn(&[Ex]) -> Vec<Ex>) -> String {
    let (graph, results) = trace(|| {
        let arguments: Vec<Ex> = takes.iter().enumerate().map(|(index, &ty)| Ex::argument(index, ty)).collect();
        formula(&arguments)
    });
    let spelled = spell(&graph, "  ");
    let given: String =
        takes.iter().enumerate().map(|(index, &ty)| format!("const {} a{index}, ", ty_name(ty))).collect();
    let stores: String =
        results.iter().enumerate().map(|(index, &id)| format!("  out[{index}] = {};\n", spelled.name(id))).collect();
    let gives = ty_name(gives);
    format!("__device__ __forceinline__ void {name}({given}{gives}* out) {{\n{}{stores}}}\n\n", spelled.statements)
}

/// `block_words`: the four words of a try at a block, from the block, the counter, the key and the try.
fn block_words() -> String {
    function("block_words", &[Ty::U64; 8], Ty::U64, |a| {
        let words: Vec<SW64> = a.iter().map(|&word| SW64(word)).collect();
        let first = counter_at([words[1], words[2], words[3], words[4]], words[0]);
        let block = philox4x64(attempt_counter(first, words[7]), [words[5], words[6]]);
        block.iter().map(|word| word.0).collect()
    })
}

impl Form {
    fn spell(&self, shape: &Shape) -> Kernel {
        let integers = if self.kind == Kind::Integers {
            "    const u64 low,\n    const u64 span,\n    const u64 threshold,\n"
        } else {
            ""
        };
        let each = self.kind.each();
        let per_word = each / 4;
        let body = format!(
            "{index}\n{shape}\n{block}{formulas}\
             extern \"C\" __global__ void __launch_bounds__(256) @name(\n    char* out0,\n    const u64 skipped,\n    \
             const u64 counter0,\n    const u64 counter1,\n    const u64 counter2,\n    const u64 counter3,\n    \
             const u64 key0,\n    const u64 key1,\n{integers}    const Shape shape) {{\n  \
             const Index first = (Index(blockIdx.x) * 256 + threadIdx.x) * {each};\n  if (first >= shape.count) return;\n  \
             const int present = shape.count - first < {each} ? int(shape.count - first) : {each};\n  \
             const u64 unit = skipped + first;\n  const u64 word = unit / {per_word};\n  u64 words[8] = {{}};\n  \
             block_words(word / 4, counter0, counter1, counter2, counter3, key0, key1, 0, words);\n  \
             // Elements that do not begin with a block need the next one too; all threads agree on that.\n  \
             const bool cut = unit % {each} != 0;\n  \
             if (cut) {{\n    \
             block_words(word / 4 + 1, counter0, counter1, counter2, counter3, key0, key1, 0, words + 4);\n\
             #pragma unroll\n    for (u32 shift = 1; shift < 4; shift *= 2) {{\n      if ((word & shift) != 0) {{\n\
             #pragma unroll\n        for (u32 i = 0; i + shift < 8; ++i) words[i] = words[i + shift];\n      }}\n    }}\n  }}\n\
             {values}{store}}}\n",
            index = prelude::index(self.width),
            shape = shape.text(),
            block = block_words(),
            formulas = self.formulas(),
            values = self.values(),
            store = self.store(),
        );
        let kind = match self.kind {
            Kind::Words => "words",
            Kind::Uniform32 | Kind::Uniform64 => "uniform",
            Kind::Normal32 | Kind::Normal64 => "normal",
            Kind::Integers => "integers",
        };
        Kernel::new(&format!("random_{kind}"), &format!("random {kind} {}", self.dtype.name()), &body)
    }

    fn formulas(&self) -> String {
        let uniform64 = || {
            function("uniform64", &[Ty::U64], Ty::F64, |a| {
                let value: S64 = uniform64(SW64(a[0]));
                vec![value.0]
            })
        };
        let uniform32 = || {
            function("uniform32", &[Ty::U64], Ty::F32, |a| {
                let values: [S32; 2] = uniform32(SW64(a[0]));
                values.iter().map(|value| value.0).collect()
            })
        };
        match self.kind {
            Kind::Words | Kind::Integers => String::new(),
            Kind::Uniform64 => uniform64(),
            Kind::Uniform32 => uniform32(),
            Kind::Normal64 => {
                uniform64()
                    + &function("normal64", &[Ty::F64; 2], Ty::F64, |a| {
                        normal64(S64(a[0]), S64(a[1])).iter().map(|value| value.0).collect()
                    })
            }
            Kind::Normal32 => {
                uniform32()
                    + &function("normal32", &[Ty::F32; 2], Ty::F32, |a| {
                        normal32(S32(a[0]), S32(a[1])).iter().map(|value| value.0).collect()
                    })
            }
        }
    }

    /// Makes `result` of the words.
    fn values(&self) -> String {
        let ty = memory_type(self.dtype);
        let each = self.kind.each();
        let head = format!("  Pack<{ty}, {each}> result;\n");
        let loop4 = "#pragma unroll\n  for (u32 i = 0; i < 4; ++i)";
        let halves = "  float halves[10];\n#pragma unroll\n  for (u32 i = 0; i < 5; ++i) uniform32(words[i], halves + 2 * i);\n  \
                      if (unit % 2 != 0) {\n#pragma unroll\n    for (u32 i = 0; i < 8; ++i) halves[i] = halves[i + 1];\n  }\n";
        head + &match self.kind {
            Kind::Words => format!("{loop4} result.item[i] = words[i];\n"),
            Kind::Uniform64 => format!("{loop4} uniform64(words[i], result.item + i);\n"),
            Kind::Normal64 => format!(
                "  double units[4];\n{loop4} uniform64(words[i], units + i);\n  \
                 normal64(units[0], units[1], result.item);\n  normal64(units[2], units[3], result.item + 2);\n"
            ),
            Kind::Uniform32 => {
                format!("{halves}#pragma unroll\n  for (u32 i = 0; i < 8; ++i) result.item[i] = halves[i];\n")
            }
            Kind::Normal32 => format!(
                "{halves}#pragma unroll\n  for (u32 i = 0; i < 8; i += 2) normal32(halves[i], halves[i + 1], result.item + i);\n"
            ),
            Kind::Integers => format!(
                "{loop4} {{\n    u64 value = words[i];\n    if (span != 0) {{\n      const u64 index = word + i;\n#pragma unroll 1\n      \
                 for (u64 attempt = 1; value * span < threshold; ++attempt) {{\n        u64 again[4];\n        \
                 block_words(index / 4, counter0, counter1, counter2, counter3, key0, key1, attempt, again);\n        \
                 const u64 lane = index % 4;\n        \
                 value = lane < 2 ? (lane == 0 ? again[0] : again[1]) : (lane == 2 ? again[2] : again[3]);\n      }}\n      \
                 value = __umul64hi(value, span);\n    }}\n    result.item[i] = {ty}(value + low);\n  }}\n"
            ),
        }
    }

    fn store(&self) -> String {
        let each = self.kind.each();
        if self.axes == 1 {
            let step = "shape.steps[0][0]";
            let at = match self.access {
                Mode::Vector => format!("out0 + Step(first) * {}", self.dtype.size()),
                _ => format!("out0 + Step(first) * {step}"),
            };
            return format!("  {}", self.access.store(self.dtype, each, (&at, step), "result", None, "present"));
        }
        let moved = [("at".to_owned(), "shape.steps[0]".to_owned())];
        format!(
            "#pragma unroll\n  for (int j = 0; j < {each}; ++j) {{\n    if (j >= present) break;\n    \
             const Index position = first + j;\n    Step at = 0;\n{}    {}  }}\n",
            shape::walk("    ", "position", self.axes, "shape.sizes", &moved),
            self.access.store_one(self.dtype, "out0 + at", "result.item[j]"),
        )
    }
}
