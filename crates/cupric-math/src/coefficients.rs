//! Constants and near-minimax polynomials, lowest power first; written by `scripts/coefficients.py`.

#![expect(clippy::approx_constant, reason = "written by a script that knows more digits")]

/// The constants of one width of number.
pub(crate) struct Constants {
    /// Bits of a number.
    pub bits: u32,
    /// Stored bits of the significand.
    pub mantissa: u32,
    /// Added to an exponent where it is stored.
    pub bias: i64,
    /// Added and subtracted, it rounds to an integer, which then stands in the low bits.
    pub magic: f64,
    /// Below this, exp is zero.
    pub exp_low: f64,
    /// Above this, exp, sinh and cosh are infinite; up to it, a quarter of exp is finite.
    pub exp_high: f64,
    /// Below this, expm1 is -1.
    pub expm1_low: f64,
    /// Above this, tanh is 1.
    pub tanh_high: f64,
    /// Below this, sinh, tanh and expm1 equal their argument.
    pub tiny: f64,
    /// The smallest normal number.
    pub normal: f64,
    /// Up to this, three words of pi/2 suffice to reduce an argument.
    pub trig_limit: f64,
    /// Above this, the length of a vector may be infinite.
    pub sqrt_large: f64,
    /// Up to this, exp is finite.
    pub exp_plain: f64,
    /// Squares of numbers between this and its inverse neither overflow nor lose bits.
    pub far: f64,
    /// ln 2 in three words, the first short enough that its product with an exponent is exact.
    pub ln2: [f64; 3],
    /// The same for log10 2.
    pub log10_2: [f64; 3],
    /// 1 / ln 2 in two words.
    pub log2_e: [f64; 2],
    /// 1 / ln 10 in two words.
    pub log10_e: [f64; 2],
    /// pi / 2 in three words.
    pub half_pi: [f64; 3],
    /// 2/3 in two words.
    pub two_thirds: [f64; 2],
    /// `(e^r - 1 - r) / r^2` for `|r| <= ln 2 / 2`.
    pub exp: &'static [f64],
    /// `(2^r - 1) / r` for `|r| <= 1/2`.
    pub exp2: &'static [f64],
    /// `(log(1 + f) - f + f^2/2) / f^3` for `1 + f` between the square roots of 1/2 and 2 (float32 only).
    pub log: &'static [f64],
    /// `(2 atanh(s) - 2 s - 2/3 s^3) / s^5` in `s^2`, for the same range and `s = f / (2 + f)`.
    pub atanh: &'static [f64],
    /// `(sin(r) - r) / r^3` in `r^2`, for `|r|` up to a little over pi/4.
    pub sin: &'static [f64],
    /// `(cos(r) - 1 + r^2/2) / r^4` in `r^2`, for the same range.
    pub cos: &'static [f64],
    /// `(atan(t) - t) / t^3` in `t^2`, for `|t| <= 1`.
    pub atan: &'static [f64],
}

pub(crate) const F32: Constants = Constants {
    bits: 32,
    mantissa: 23,
    bias: 127,
    magic: 12582912.0,
    exp_low: -104.0,
    exp_high: 89.5,
    expm1_low: -20.0,
    tanh_high: 10.0,
    tiny: 1.4901161193847656e-08,
    normal: 1.1754943508222875e-38,
    trig_limit: 131072.0,
    sqrt_large: 4.253529586511731e+37,
    exp_plain: 88.0,
    far: 1125899906842624.0,
    ln2: [0.693115234375, 3.194618329871446e-05, 1.6465949697480609e-12],
    log10_2: [0.301025390625, 4.605039066518657e-06, -8.532344481556459e-14],
    log2_e: [1.4426950216293335, 1.925963033500011e-08],
    log10_e: [0.4342944920063019, -1.0103049952192578e-08],
    half_pi: [1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15],
    two_thirds: [0.6666666865348816, -1.9868215517249155e-08],
    exp: &[
        0.5,
        0.1666666716337204,
        0.041666507720947266,
        0.008333181031048298,
        0.0013930926797911525,
        0.0001996867504203692,
    ],
    exp2: &[
        0.6931471824645996,
        0.24022650718688965,
        0.05550404638051987,
        0.009618083015084267,
        0.0013338547432795167,
        0.00015453880769200623,
        1.413843438058393e-05,
    ],
    log: &[
        0.3333333134651184,
        -0.24999989569187164,
        0.20000694692134857,
        -0.16668447852134705,
        0.14250192046165466,
        -0.12411662936210632,
        0.11660100519657135,
        -0.11567661166191101,
        0.07149326801300049,
    ],
    atanh: &[0.4000000059604645, 0.28571343421936035, 0.22217561304569244, 0.18872255086898804],
    sin: &[-0.1666666716337204, 0.008333392441272736, -0.00019858466112054884, 2.8843796826549806e-06],
    cos: &[0.0416666679084301, -0.0013889039400964975, 2.4846824089763686e-05, -3.1323068583333225e-07],
    atan: &[
        -0.3333333432674408,
        0.20000086724758148,
        -0.14287935197353363,
        0.1113717257976532,
        -0.09259024262428284,
        0.08342865109443665,
        -0.08225853741168976,
        0.08125447481870651,
        -0.06789129972457886,
        0.04073824733495712,
        -0.014892630279064178,
        0.002449602819979191,
    ],
};

pub(crate) const F64: Constants = Constants {
    bits: 64,
    mantissa: 52,
    bias: 1023,
    magic: 6755399441055744.0,
    exp_low: -746.0,
    exp_high: 710.5,
    expm1_low: -40.0,
    tanh_high: 20.0,
    tiny: 2.7755575615628914e-17,
    normal: 2.2250738585072014e-308,
    trig_limit: 536870912.0,
    sqrt_large: 2.247116418577895e+307,
    exp_plain: 709.0,
    far: 2.9073548971824276e+135,
    ln2: [0.6931471805592082, 7.371002565167799e-13, 1.94704509238075e-31],
    log10_2: [0.30102999566361177, 3.694239077158931e-13, -2.496038254576343e-29],
    log2_e: [1.4426950408889634, 2.0355273740931033e-17],
    log10_e: [0.4342944819032518, 1.098319650216765e-17],
    half_pi: [1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33],
    two_thirds: [0.6666666666666666, 3.700743415417188e-17],
    exp: &[
        0.5,
        0.1666666666666667,
        0.04166666666666667,
        0.008333333333325829,
        0.0013888888888882096,
        0.00019841269875747644,
        2.4801587330297917e-05,
        2.7557254326444697e-06,
        2.755726853649328e-07,
        2.5105636594959317e-08,
        2.091653325463922e-09,
    ],
    exp2: &[
        0.6931471805599453,
        0.24022650695910072,
        0.05550410866482347,
        0.00961812910762795,
        0.0013333558145993498,
        0.00015403530394337086,
        1.5252734219089124e-05,
        1.321548603729723e-06,
        1.0177906105728658e-07,
        7.055177323562605e-09,
        4.4777733385801807e-10,
        2.5350782312863926e-11,
    ],
    log: &[],
    atanh: &[
        0.4,
        0.28571428571426327,
        0.2222222222276777,
        0.18181818156005974,
        0.15384609820459738,
        0.13334145603271558,
        0.11721126268258807,
        0.11588618175975327,
    ],
    sin: &[
        -0.16666666666666666,
        0.008333333333332936,
        -0.00019841269840781744,
        2.7557318966278825e-06,
        -2.505204182622892e-08,
        1.6050663297933053e-10,
        -7.216964676275794e-13,
    ],
    cos: &[
        0.041666666666666664,
        -0.00138888888888879,
        2.4801587300380422e-05,
        -2.7557318591875105e-07,
        2.087659581227368e-09,
        -1.1450946340540674e-11,
        3.8303055137698874e-14,
    ],
    atan: &[
        -0.3333333333333333,
        0.19999999999999368,
        -0.14285714285649662,
        0.11111111107980667,
        -0.09090909003290945,
        0.07692306108435944,
        -0.06666646822083021,
        0.05882172097378342,
        -0.0526191701308372,
        0.04755326977830294,
        -0.043203556476658786,
        0.03908215251224042,
        -0.034552419815374553,
        0.028972852431546032,
        -0.022137096644485814,
        0.01470323001500459,
        -0.008039695981054376,
        0.0033687455993114354,
        -0.0009499691325976731,
        0.00011219562682314095,
        3.061811314535253e-05,
        -1.4755694973535373e-05,
        1.9045026827148542e-06,
    ],
};

/// 2/pi in binary, after two words of zeros.
pub(crate) static TWO_OVER_PI: [u32; 42] = [
    0x00000000, 0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
    0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b,
    0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea,
    0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
];
