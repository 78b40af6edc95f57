"""Random programs give the same bits deferred, eager, a second time, and as NumPy."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cupric as cp
import programs
from cupric import _core

BATCH = 50


@pytest.fixture(scope="module")
def count(request):
    return request.config.getoption("--programs")


@pytest.fixture(scope="module")
def deferred(request, count):
    """Each program's results and digest, with all that can wait in the queue waiting there."""
    made = [programs.Program(seed) for seed in range(count)]
    before = _core.set_running("queued")
    given = [programs.results(program, cp) for program in made]
    _core.set_running(before)
    digests = [programs.digest(arrays) for arrays in given]
    path = request.config.getoption("--program-digests")
    if path:
        Path(path).write_text("".join(f"{line}\n" for line in digests))
    return list(zip(made, given, digests, strict=True))


def compare(program, got, want):
    """Checks one program's results against NumPy's."""
    for name, theirs in want.items():
        ours, note = got[name], f"program {program.seed}, {name}"
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), (
            f"{note}: {ours.dtype} {ours.shape}, not {theirs.dtype} {theirs.shape}"
        )
        if program.exact(name):
            same = (ours == theirs) | ((ours != ours) & (theirs != theirs))
            assert same.all(), f"{note}: {ours[~same][:3]} instead of {theirs[~same][:3]}"
        else:
            assert_near(ours, theirs, tolerance(program), note)


def tolerance(program):
    """What rounding may come to, by the shortest floating-point type that can occur."""
    short = any(f"'{dtype}'" in line for line in program.lines for dtype in ("f2", "i1", "u1", "?"))
    return (8 * np.finfo(np.float16).eps) if short else (4000 * np.finfo(np.float32).eps)


def assert_near(ours, theirs, bound, note):
    part = np.zeros(0, theirs.dtype).real.dtype
    finite = np.isfinite(theirs)
    assert (np.isfinite(ours) == finite).all() or part == np.float16, f"{note}: infinities or NaNs in other places"
    scale = max(1.0, float(np.abs(theirs[finite]).max(initial=0)))
    both = finite & np.isfinite(ours)
    with np.errstate(all="ignore"):
        error = np.abs(ours[both].astype("c16") - theirs[both].astype("c16")).max(initial=0)
    assert error <= bound * scale, f"{note}: off by {error}, largest {scale}"


def test_as_numpy(deferred):
    failed = []
    for program, got, _ in deferred:
        try:
            compare(program, got, programs.results(program, np))
        except AssertionError as error:
            failed.append((program, error))
    if failed:
        program, error = failed[0]
        raise AssertionError(f"{len(failed)} of {len(deferred)} programs differ; {error}\n" + "\n".join(program.lines))


def test_a_second_time_as_usual(deferred):
    for program, _, digest in deferred:
        assert programs.digest(programs.results(program, cp)) == digest, "\n".join(program.lines)


def test_eager(deferred, count, tmp_path, device):
    file = tmp_path / "digests"
    command = [sys.executable, Path(programs.__file__), "--count", str(count), "--digests", file]
    subprocess.run(command, check=True, env={**os.environ, "CUPRIC_EAGER": "1", "CUPRIC_DEVICE": device})
    for (program, _, digest), eager in zip(deferred, file.read_text().split(), strict=True):
        assert digest == eager, f"program {program.seed}\n" + "\n".join(program.lines)


def test_all_statements_queued_before_the_first_look(count):
    """Several programs side by side, so that their operations share queues."""
    before = _core.set_running("queued")
    for first in range(0, min(count, 4 * BATCH), BATCH):
        batch = [programs.Program(seed) for seed in range(first, first + BATCH)]
        spaces = [programs.namespace(cp) for _ in batch]
        for step in range(max(len(program.lines) for program in batch)):
            for program, space in zip(batch, spaces, strict=True):
                if step < len(program.lines):
                    programs.run(program.lines[step], space)
        for program, space in zip(batch, spaces, strict=True):
            got = {name: space[name].get() for name in program.values}
            assert programs.digest(got) == programs.digest(programs.results(program, cp)), "\n".join(program.lines)
    _core.set_running(before)
