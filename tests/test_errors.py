"""Mistakes raise what NumPy raises, in words that help, and leave everything usable."""

import numpy as np
import pytest

import cupric as cp
from support import same_as_numpy

MISTAKES = [
    "a + xp.ones((2, 4))", "a @ a", "a[5]", "a[0, 0, 0]", "a.reshape(5, 5)", "a.sum(axis=3)", "xp.concatenate([a, xp.ones((2, 3))])",
    "a.astype('no_such_dtype')", "bool(a)", "xp.arange(3) & 1.5", "a.transpose(0, 0)", "xp.broadcast_to(a, (5, 5))", "a << 1", "~a", "-xp.array([True])",
    "xp.array([True]) - xp.array([True])", "xp.stack([a, a.T])", "xp.add(a)", "xp.add(a, a, a, a)", "xp.add(a, a, out=3)",
    "xp.add(a, 1, casting='never')", "xp.add(a, 1, dtype='M8')", "xp.sort(a, axis=2)", "a.argmax(axis=7)", "xp.zeros(()).max(axis=1)", "xp.max(xp.zeros(0))",
    "xp.argmin(xp.zeros((0, 3)), axis=0)", "xp.arange()", "xp.linspace(0, 1, 2.5)", "a.view('i3')", "a[:, :3].view('c16')", "a.squeeze(0)",
    "xp.sum(a, bad_keyword=1)", "xp.add(a, 1, bad_keyword=1)", "a.no_such_method()", "xp.ones(3).dot(xp.ones(4))", "xp.power(xp.array([2]), -1)",
    "xp.array([2]) ** -1", "xp.floor_divide(1j * a, 2)", "xp.maximum(a, 'x')", "xp.add(a, None)", "xp.add(a, object())", "xp.take(a, [99])",
    "xp.expand_dims(a, 9)", "xp.moveaxis(a, 0, 5)", "xp.add(xp.ones(3, 'u1'), 300)", "xp.add(xp.ones(3, 'u1'), -1)", "xp.cumsum(a, axis=4)", "float(a)",
    "a.__iadd__(xp.ones(7))", "xp.bitwise_and(a, a)", "xp.left_shift(a, 1)", "xp.where(a, a)", "xp.matmul(a, 3)", "xp.split(xp.arange(5), 2)",
    "xp.random.default_rng(-1)", "xp.sin('x')", "xp.isnan('x')", "a[xp.ones((9, 9), bool)]", "a[[0.5]]",
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_raise_what_numpy_raises(mistake):
    raised = []
    for xp in (np, cp):
        space = {"xp": xp, "a": xp.ones((3, 4))}
        try:
            result = eval(mistake, space)
            raised.append(None if xp is np else result.get() and None)
        except Exception as error:
            raised.append(error)
    theirs, ours = raised
    assert theirs is not None, "NumPy accepts this"
    assert ours is not None, f"NumPy raises {theirs!r}"
    nearest = next(
        kind for kind in type(theirs).__mro__ if kind.__module__ == "builtins" or kind is np.exceptions.AxisError
    )
    assert isinstance(ours, nearest), f"{ours!r} instead of {theirs!r}"
    assert str(ours), "an error says something"
    assert float((cp.ones((3, 4)) + 1).sum()) == 24


WORDS = [
    ("a + xp.ones((2, 4))", ["(3,4)", "(2,4)"]), ("a.reshape(5, 5)", ["12", "(5,5)"]), ("a.sum(axis=3)", ["3", "2"]), ("a[5]", ["5", "3"]),
    ("a @ a", ["4", "3"]), ("a << 1", ["left_shift"]), ("xp.no_such_function", ["no_such_function"]), ("a.no_such_method", ["no_such_method"]),
    ("xp.max(xp.zeros(0))", ["maximum", "identity"]),
]  # fmt: skip


@pytest.mark.parametrize("mistake,words", WORDS, ids=[mistake for mistake, _ in WORDS])
def test_messages_say_what_was_given(mistake, words):
    with pytest.raises(Exception) as raised:
        eval(mistake, {"xp": cp, "a": cp.ones((3, 4))})
    text = str(raised.value).replace(", ", ",")
    assert all(word in text for word in words), text


def test_axis_errors_are_numpys():
    with pytest.raises(np.exceptions.AxisError) as raised:
        cp.ones((3, 4)).sum(axis=3)
    assert raised.value.axis == 3 and raised.value.ndim == 2


@same_as_numpy()
def test_out_of_range_python_integers_compare(xp):
    a = xp.array([1, 2**64 - 1], "u8")
    b = xp.array([5], "i8")
    return a == (2**64 - 1), b < 2**64, b > -(2**70), xp.array([1], "u1") == 300, xp.array([1], "i1") != 1000


def test_a_hundred_failures_leave_no_trace():
    a = cp.arange(10)
    for _ in range(100):
        for bad in (
            lambda: a[99],
            lambda: a + cp.ones(3),
            lambda: a.reshape(7),
            lambda: a.sum(axis=2),
            lambda: a & 1.5,
        ):
            with pytest.raises((IndexError, ValueError, TypeError)):
                bad()
    assert int((a * 2).sum()) == 90


def test_the_failed_array_raises_at_each_look():
    a = cp.arange(5)
    try:
        failed = a[cp.array([1, 99])]
    except IndexError:
        return  # Found at the call.
    for _ in range(2):
        with pytest.raises(IndexError):
            failed.get()
    with pytest.raises(IndexError):
        (failed + 1).get()
    assert int(a.sum()) == 10


def test_warnings_are_not_raised_for_infinities():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf((cp.ones(1) / 0).get()).all() and np.isnan(cp.sqrt(cp.array([-1.0])).get()).all()
