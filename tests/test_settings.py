"""What the environment says, and what failures tell of the program."""

import os
import subprocess
import sys
import textwrap

import pytest

import cupric as cp


def run(code, device, **settings):
    environment = {**os.environ, "CUPRIC_DEVICE": device, **settings}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def test_the_settings_can_be_read_and_not_changed(device):
    assert cp.config.device == ("cuda:0" if device == "cuda" else device)
    assert cp.config.debug is False and isinstance(cp.config.eager, bool)
    with pytest.raises(AttributeError, match="CUPRIC_EAGER before the program starts"):
        cp.config.eager = True


@pytest.mark.parametrize(
    "name, text", [("CUPRIC_DEVICE", "gpu0"), ("CUPRIC_DEVICE", "cuda:x"), ("CUPRIC_NUM_THREADS", "-1")]
)
def test_a_setting_that_is_wrong_is_told(name, text, device):
    done = run("import cupric as cp; cp.ones(3)", **{"device": device, name: text})
    assert done.returncode == 1 and f'ValueError: {name} is "{text}"; it must be' in done.stderr


def test_more_threads_than_cores_are_no_harm(device):
    done = run("import cupric as cp; print(float(cp.ones(3_000_000).sum()))", device, CUPRIC_NUM_THREADS="100000")
    assert done.stdout.split() == ["3000000.0"]


def test_a_failure_tells_its_line_when_asked_to(device):
    code = """
        import cupric as cp
        a, bad = cp.arange(5.0), cp.array([1, 9])
        try:
            b = a[bad]
            c = b + 1
            c.get()
        except IndexError as error:
            print(error)
    """
    assert "asked for at <string>:5" in run(code, device, CUPRIC_DEBUG="1").stdout
    assert "asked for" not in run(code, device).stdout
