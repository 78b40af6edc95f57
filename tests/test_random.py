"""Random numbers: NumPy's Philox numbers, seeds, shapes, ranges, moments."""

import numpy as np
import pytest

import cupric as cp


def numpys(seed):
    return np.random.Generator(np.random.Philox(seed))


@pytest.mark.parametrize("seed", [0, 5, 2**32, 2**100 + 7, [1, 2, 3]], ids=str)
def test_uniform_numbers_are_numpys(seed):
    ours, theirs = cp.random.default_rng(seed), numpys(seed)
    for count in (1000, 7, 1, 100_003, 0, 3):
        assert (ours.random(count).get() == theirs.random(count)).all()


def test_shapes_do_not_change_the_numbers():
    flat = cp.random.default_rng(1).random(24).get()
    assert (cp.random.default_rng(1).random((2, 3, 4)).get() == flat.reshape(2, 3, 4)).all()
    parts = cp.random.default_rng(1)
    assert (np.concatenate([parts.random(n).get() for n in (1, 2, 3, 5, 13)]) == flat).all()


def test_seeds():
    one, same, other = (cp.random.default_rng(seed).random(100).get() for seed in (3, 3, 4))
    assert (one == same).all() and (one != other).any()
    assert (cp.random.default_rng().random(9).get() != cp.random.default_rng().random(9).get()).any()


def test_the_old_interface():
    cp.random.seed(3)
    first = [cp.random.rand(10), cp.random.randn(10), cp.random.random(5), cp.random.randint(0, 9, 10)]
    cp.random.seed(3)
    second = [cp.random.rand(10), cp.random.randn(10), cp.random.random(5), cp.random.randint(0, 9, 10)]
    assert all((one == other).all() for one, other in zip(first, second, strict=True))
    assert cp.random.rand(2, 3).shape == (2, 3) and cp.random.rand(2, dtype="f4").dtype == np.float32
    assert cp.random.rand().shape == () and cp.random.randn(3, 2).shape == (3, 2)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_uniform_range_and_moments(dtype):
    values = cp.random.default_rng(2).random(500_000, dtype=dtype).get()
    assert values.dtype == dtype and values.min() >= 0 and values.max() < 1
    assert abs(values.mean(dtype="f8") - 0.5) < 2e-3 and abs(values.var(dtype="f8") - 1 / 12) < 1e-3


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_normal_moments(dtype):
    values = cp.random.default_rng(1).standard_normal(1_000_000, dtype=dtype).get().astype("f8")
    assert np.isfinite(values).all()
    assert abs(values.mean()) < 5e-3 and abs(values.std() - 1) < 5e-3
    assert abs((values**3).mean()) < 0.02 and abs((values**4).mean() - 3) < 0.05 and np.abs(values).max() > 4.3


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers(dtype):
    info = np.iinfo(dtype)
    generator = cp.random.default_rng(4)
    values = generator.integers(3, 9, 10_000, dtype=dtype).get()
    assert values.dtype == dtype and set(values.tolist()) == set(range(3, 9))
    counts = np.bincount(values.astype("i8"))[3:]
    assert (abs(counts - 10_000 / 6) < 200).all()
    whole = generator.integers(info.min, info.max, 1000, dtype=dtype, endpoint=True).get().astype("f8")
    assert whole.min() < info.min * 0.9 + info.max * 0.1 and whole.max() > info.max * 0.9 + info.min * 0.1


def test_integers_arguments():
    generator = cp.random.default_rng(0)
    assert generator.integers(5, size=3).dtype == np.int64
    assert (generator.integers(1, size=100) == 0).all()
    for bad in (
        lambda: generator.integers(5, 5),
        lambda: generator.integers(5, 2),
        lambda: generator.integers(0, 300, 3, dtype="u1"),
    ):
        with pytest.raises(ValueError):
            bad()


def test_uniform_and_normal_with_parameters():
    generator = cp.random.default_rng(9)
    values = generator.uniform(-2, 3, 100_000).get()
    assert values.min() >= -2 and values.max() < 3 and abs(values.mean() - 0.5) < 0.02
    values = generator.normal(10, 0.5, 100_000).get()
    assert abs(values.mean() - 10) < 0.02 and abs(values.std() - 0.5) < 0.02


def test_bad_dtype():
    with pytest.raises(TypeError):
        cp.random.default_rng(0).random(3, dtype="i4")


def test_no_two_streams_overlap_in_their_first_numbers():
    blocks = [cp.random.default_rng(seed).random(1000).get() for seed in range(20)]
    assert len(np.unique(np.concatenate(blocks))) == 20_000


def test_choice_of_permutation():
    order = cp.random.default_rng(0).permutation(1000).get()
    assert sorted(order.tolist()) == list(range(1000)) and order.tolist() != list(range(1000))


def test_integers_between_arrays():
    generator = cp.random.default_rng(1)
    drawn = generator.integers([[0], [3]], [5, 100, 2**63 - 1], size=(2, 3)).get()
    assert (drawn >= [[0], [3]]).all() and (drawn < [5, 100, 2**63 - 1]).all()
    assert (np.bincount(generator.integers(cp.zeros(30000, int), 3).get()) > 9500).all()
    assert generator.integers([0], [2**63 + 1], size=3, dtype="u8").dtype == np.uint64
    assert generator.integers(-(2**63), [2**63 - 1] * 4, endpoint=True).shape == (4,)
    assert (cp.random.randint([1, 5], [2, 6]).get() == [1, 5]).all()
    for low, high, error in (([5], 5, ValueError), (0, [300], ValueError), ([1.5], 3, TypeError)):
        with pytest.raises(error):
            generator.integers(low, high, dtype="u1")


@pytest.mark.parametrize("seed", ["a", b"a", 1.5, {}, object(), [1.5], 1j])
def test_seeds_are_integers(seed):
    with pytest.raises(TypeError):
        cp.random.default_rng(seed)


@pytest.mark.parametrize("seed", [[[1, 2], [3]], np.array([[1, 2], [3, 4]]), (1, 2), range(3), [2**64], []], ids=str)
def test_nested_seeds_are_numpys(seed):
    try:
        theirs = np.random.Generator(np.random.Philox(seed)).random(5)
    except TypeError as error:
        pytest.skip(f"this NumPy refuses it: {error}")
    assert (cp.random.default_rng(seed).random(5).get() == theirs).all()


def test_shuffling():
    generator = cp.random.default_rng(3)
    cards = list("abcdefghij")
    generator.shuffle(cards)
    assert sorted(cards) == list("abcdefghij") and cards != sorted(cards)
    for bad in (cp.array(3), (1, 2), "abc"):
        with pytest.raises(TypeError):
            generator.shuffle(bad)
    with pytest.raises(ValueError):
        generator.random(out=5)
