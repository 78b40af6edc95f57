//! Streams against literals made with NumPy 2.4, and the transforms against the standard library.

use cupric_math::random::*;
use cupric_math::seed::SeedSequence;

const START: [u64; 4] = [0; 4];

fn word(key: [u64; 2], index: u64) -> u64 {
    philox4x64(counter_at(START, index / 4), key)[(index % 4) as usize]
}

#[test]
fn seeds_give_the_keys_of_numpy() {
    let key = |seed| SeedSequence::from_integer(seed).philox_key();
    assert_eq!(key(5), [0xaf4c069d0100b467, 0x3df59fb9887ebd60]);
    assert_eq!(key(0), [0xdb2cd7e7b0f478be, 0xabf4641a2c71ba49]);
    assert_eq!(key((1 << 40) + 7), [0x0d8672e10e3d1a15, 0x9aef4ada4ecfa161]);
}

#[test]
fn seed_sequences_generate_the_states_of_numpy() {
    let expected = [16823399, 2940995229, 2290007392, 1039507385, 1236621906, 1471659462, 2525499814, 662767037];
    assert_eq!(SeedSequence::from_integer(5).generate_state(8), expected);
    let large = SeedSequence::from_integer((1 << 100) + 3);
    assert_eq!(large.generate_state(4), [158848245, 3120580700, 2515510378, 3450932861]);
    let spawned = SeedSequence::new(&[5], &[1, 2]);
    assert_eq!(spawned.generate_state(4), [3969332537, 197540207, 1228251532, 78520211]);
    let long = SeedSequence::new(&[1, 2, 3, 4, 5, 6], &[]).generate_state(2);
    assert_eq!(u64::from(long[0]) | u64::from(long[1]) << 32, 16991237094181161505);
}

#[test]
fn words_come_in_the_order_of_numpy() {
    let key = SeedSequence::from_integer(5).philox_key();
    let expected = [
        0xdb8a4d5edd3ecd25,
        0xecd2d645266ca8cb,
        0x6bdf0392cf928043,
        0x2bba74199c501b76,
        0x895eaa150ce5c147,
        0x91d7b03335f8f68f,
        0x4679755822d53d6a,
        0xcc32e2959a483b75,
        0xe1d63396a6672c0c,
    ];
    for (index, expected) in expected.into_iter().enumerate() {
        assert_eq!(word(key, index as u64), expected);
    }
}

#[test]
fn uniform_numbers_are_those_of_numpy() {
    let key = SeedSequence::from_integer(5).philox_key();
    let expected = [
        0.8575790745355746,
        0.9250921171973682,
        0.4213716729569317,
        0.17081380486735076,
        0.5366007138626605,
        0.5696973919893684,
    ];
    for (index, expected) in expected.into_iter().enumerate() {
        assert_eq!(uniform64(word(key, index as u64)), expected);
    }
    let halves = [0.8642395f32, 0.85757905, 0.15009546, 0.9250921, 0.81082916, 0.42137164];
    for (index, pair) in halves.chunks(2).enumerate() {
        assert_eq!(uniform32(word(key, index as u64)), pair);
    }
}

#[test]
fn counters_carry_through_all_words() {
    let full = u64::MAX;
    assert_eq!(counter_at([full, 0, 0, 0], 0), [0, 1, 0, 0]);
    assert_eq!(counter_at([full, full, full, 4], 0), [0, 0, 0, 5]);
    assert_eq!(counter_at([3, full, 0, 0], full), [3, 0, 1, 0]);
    assert_eq!(counter_at([3, 2, 1, 0], 6), [10, 2, 1, 0]);
}

#[test]
fn normals_follow_box_and_muller() {
    let key = [1, 2];
    let (mut sum, mut squares, mut fourths, count) = (0.0, 0.0, 0.0, 40_000);
    for index in 0..count {
        let (u, v) = (uniform64(word(key, 2 * index)), uniform64(word(key, 2 * index + 1)));
        let (radius, angle) = ((-2.0 * (1.0 - u).ln()).sqrt(), v * std::f64::consts::TAU);
        let [a, b] = normal64(u, v);
        assert!((a - radius * angle.cos()).abs() < 1e-14 && (b - radius * angle.sin()).abs() < 1e-14);
        let (u, v) = (u as f32 * 0.999, v as f32 * 0.999);
        let (radius, angle) = ((-2.0 * (1.0 - f64::from(u)).ln()).sqrt(), f64::from(v) * std::f64::consts::TAU);
        let [c, d] = normal32(u, v);
        assert!(
            (f64::from(c) - radius * angle.cos()).abs() < 2e-6 && (f64::from(d) - radius * angle.sin()).abs() < 2e-6
        );
        sum += a + b;
        squares += a * a + b * b;
        fourths += a.powi(4) + b.powi(4);
    }
    let n = 2.0 * count as f64;
    assert!((sum / n).abs() < 0.02 && (squares / n - 1.0).abs() < 0.03 && (fourths / n - 3.0).abs() < 0.15);
}

#[test]
fn the_ends_of_the_unit_interval_are_finite() {
    for u in [0.0, 0.5, 1.0 - 0.5f64.powi(53)] {
        assert!(normal64(u, u).iter().all(|x| x.is_finite()) && exponential64(u).is_sign_positive());
    }
    for u in [0.0f32, 0.5, 1.0 - 0.5f32.powi(24)] {
        assert!(normal32(u, u).iter().all(|x| x.is_finite()) && exponential32(u).is_sign_positive());
    }
}

#[test]
fn bounded_integers_are_even_and_retry_on_their_own_counters() {
    let key = SeedSequence::from_integer(7).philox_key();
    let mut counts = [0; 6];
    (0..60_000).for_each(|index| counts[bounded(key, START, index, 6) as usize] += 1);
    assert!(counts.iter().all(|&count: &i32| (count - 10_000).abs() < 500), "{counts:?}");
    let range = (1 << 63) + 1;
    let retried =
        (0..1000).find(|&index| !bounded_attempt(word(key, index), range, bounded_threshold(range)).1).unwrap();
    let counter = attempt_counter(counter_at(START, retried / 4), 1);
    let (value, used) =
        bounded_attempt(philox4x64(counter, key)[(retried % 4) as usize], range, bounded_threshold(range));
    assert!(!used || bounded(key, START, retried, range) == value);
    assert!((0..1000).all(|index| bounded(key, START, index, range) < range));
}
