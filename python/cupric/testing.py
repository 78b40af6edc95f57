"""Comparisons for tests: arrays on the device and on the host alike."""

import numpy as np

from cupric._creation import asnumpy

__all__ = [
    "assert_allclose", "assert_array_almost_equal", "assert_array_equal", "assert_array_less", "assert_array_list_equal",
]  # fmt: skip


def assert_allclose(actual, desired, rtol=1e-7, atol=0, err_msg="", verbose=True):
    """Raises unless all elements are close."""
    np.testing.assert_allclose(
        asnumpy(actual), asnumpy(desired), rtol=rtol, atol=atol, err_msg=err_msg, verbose=verbose
    )


def assert_array_equal(x, y, err_msg="", verbose=True, strict=False):
    """Raises unless all elements are equal."""
    np.testing.assert_array_equal(asnumpy(x), asnumpy(y), err_msg=err_msg, verbose=verbose, strict=strict)


def assert_array_almost_equal(x, y, decimal=6, err_msg="", verbose=True):
    """Raises unless all elements are equal to a number of decimals."""
    np.testing.assert_array_almost_equal(asnumpy(x), asnumpy(y), decimal=decimal, err_msg=err_msg, verbose=verbose)


def assert_array_less(x, y, err_msg="", verbose=True):
    """Raises unless all elements of `x` are smaller."""
    np.testing.assert_array_less(asnumpy(x), asnumpy(y), err_msg=err_msg, verbose=verbose)


def assert_array_list_equal(xlist, ylist, err_msg="", verbose=True):
    """Raises unless two lists hold equal arrays."""
    if len(xlist) != len(ylist):
        raise AssertionError(f"List size is different: {len(xlist)} and {len(ylist)}")
    for x, y in zip(xlist, ylist, strict=True):
        assert_array_equal(x, y, err_msg, verbose)
