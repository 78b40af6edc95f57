"""Which device the tests run on, and how much of each sweep."""

import importlib.util
import os

import pytest

import support


def pytest_addoption(parser):
    group = parser.getgroup("cupric")
    group.addoption(
        "--device", choices=["cpu", "sim", "cuda"], default="cpu", help="the device that arrays are made on"
    )
    group.addoption("--full", action="store_true", help="every dtype, where a sweep else takes one of each class")
    group.addoption("--programs", type=int, default=300, help="how many random programs are run")
    group.addoption("--program-digests", metavar="FILE", help="write a digest of each random program's results")


def pytest_configure(config):
    # Before anything imports cupric: settings are read once.
    os.environ["CUPRIC_DEVICE"] = config.getoption("--device")


def pytest_report_header(config):
    import numpy

    return f"device {config.getoption('--device')}, NumPy {numpy.__version__}"


def missing(device):
    """Why nothing can run on a device, or None."""
    if importlib.util.find_spec("cupric") is None:
        return "cupric is not installed"
    import cupric as cp

    if device == "cuda" and not cp.cuda.is_available():
        return "there is no GPU here"
    try:
        cp.zeros(1).get()
    except Exception as error:
        return f"device {device!r} cannot be used: {error}"
    return None


def pytest_collection_modifyitems(config, items):
    reason = missing(config.getoption("--device"))
    if reason == "cupric is not installed" or config.getoption("--device") == "cpu":
        return  # These are failures, not reasons to skip.
    if reason:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_generate_tests(metafunc):
    sweep = getattr(metafunc.function, "sweep", None)
    if sweep is not None:
        dtypes = support.chosen(sweep.dtypes, metafunc.config.getoption("--full"))
        metafunc.parametrize("dtype", dtypes, ids=support.name_of)


@pytest.fixture(scope="session")
def device(request):
    """The name of the device under test."""
    return request.config.getoption("--device")


@pytest.fixture(scope="session")
def full(request):
    """Whether every dtype is wanted."""
    return request.config.getoption("--full")


@pytest.fixture(params=["deferred", "queued", "eager"])
def running(request):
    """Runs a test with work as usual, with the smallest work waiting in the queue too, and with each operation at its call."""
    from cupric import _core

    before = _core.set_running(request.param)
    yield request.param
    _core.set_running(before)


@pytest.fixture(autouse=True)
def same_stream_and_pool():
    """Leaves the current stream and allocator as they were."""
    yield
    import cupric as cp

    cp.cuda.Stream.null.use()
