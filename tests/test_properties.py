"""Properties over generated shapes, views and index expressions: whatever NumPy gives, Cupric gives."""

import numpy as np
import pytest

import cupric as cp
from support import answer_of, assert_same

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")
arrays = pytest.importorskip("hypothesis.extra.numpy")

often = hypothesis.settings(max_examples=150, deadline=None, derandomize=True)
SHAPES = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


def numbered(xp, shape, dtype="i8"):
    return xp.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


def both(body):
    """Runs a body with both libraries and compares."""
    assert_same(answer_of(body, cp), answer_of(body, np))


@st.composite
def indexed(draw, basic):
    shape = draw(arrays.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5))
    if basic:
        return shape, draw(arrays.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    mixed = [
        draw(st.one_of(axis_index(length), st.slices(length))) for length in shape[: draw(st.integers(1, len(shape)))]
    ]
    return shape, tuple(mixed)


def axis_index(length):
    return st.lists(st.integers(-length, length - 1), min_size=2, max_size=2).map(np.array)


@often
@hypothesis.given(indexed(basic=True))
def test_basic_indices(given):
    shape, index = given

    def body(xp):
        a = numbered(xp, shape)
        picked = a[index] + 0
        a[index] = -1
        return picked, a

    both(body)


@often
@hypothesis.given(indexed(basic=False))
def test_index_arrays_and_slices(given):
    shape, index = given

    def body(xp):
        a = numbered(xp, shape)
        picked = a[index] + 0
        a[index] = picked * 2 + 1
        a[index] += 1
        return picked, a

    both(body)


@often
@hypothesis.given(arrays.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, min_side=0, max_side=4), st.data())
def test_broadcasting_views_of_all_strides(shapes, data):
    steps = data.draw(st.lists(st.sampled_from([1, -1]), min_size=4, max_size=4))

    def body(xp):
        one, other = (
            numbered(xp, shape)[tuple(slice(None, None, step) for step in steps[: len(shape)])]
            for shape in shapes.input_shapes
        )
        return one + other * 2, (one - other).sum(), xp.where(one > other, one, other)

    both(body)


@often
@hypothesis.given(SHAPES, st.data())
def test_reductions_over_any_axes(shape, data):
    axes = (
        data.draw(st.lists(st.integers(0, max(0, len(shape) - 1)), unique=True, max_size=len(shape))) if shape else []
    )
    order = data.draw(st.permutations(range(len(shape))))
    keepdims = data.draw(st.booleans())

    def body(xp):
        a = xp.transpose(numbered(xp, shape), order)
        return [getattr(a, name)(axis=tuple(axes), keepdims=keepdims) for name in ("sum", "prod", "any", "all")]

    both(body)


@often
@hypothesis.given(SHAPES, st.data())
def test_reshaping_transposed_views(shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    divisor = data.draw(st.sampled_from([1, 2, 3, 5]))

    def body(xp):
        a = xp.transpose(numbered(xp, shape), order)
        return a.reshape(-1), a.reshape(divisor, -1), a.ravel(order="F")

    both(body)


@often
@hypothesis.given(st.integers(1, 30), st.data())
def test_assignment_between_overlapping_slices(length, data):
    slices = [data.draw(st.slices(length)) for _ in range(2)]

    def body(xp):
        a = numbered(xp, (length,))
        source = a[slices[1]]
        count = min(len(range(*slices[0].indices(length))), len(range(*slices[1].indices(length))))
        a[slices[0]][:count] = source[:count]
        a[slices[0]][:count] += source[:count]
        return a

    both(body)


@often
@hypothesis.given(
    arrays.arrays(st.sampled_from(["f4", "f8", "i4", "u1"]), arrays.array_shapes(max_dims=3, min_side=0, max_side=9)),
    st.data(),
)
def test_sorting_any_values(values, data):
    axis = data.draw(st.integers(0, values.ndim - 1))
    values = values + 0  # no negative zeros: they tie with positive ones
    both(lambda xp: (xp.sort(xp.array(values), axis=axis), xp.argsort(xp.array(values), axis=axis, kind="stable")))
