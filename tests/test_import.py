"""What `import cupric` costs and touches, and the settings in the environment."""

import os
import subprocess
import sys
import textwrap

import numpy as np


def python(code, **settings):
    """Runs code in a fresh process and gives its output."""
    command = [sys.executable, "-c", textwrap.dedent(code)]
    # Bytecode is kept, as it is for whoever installs a package.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | settings
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


def test_import_opens_no_library_of_cuda():
    code = """
        import sys
        import cupric
        maps = open("/proc/self/maps").read()
        print([name for name in ("libcuda.so", "libcudart", "libnvrtc", "libcublas") if name in maps])
        print(sorted({"torch", "scipy", "ml_dtypes", "cupy"} & set(sys.modules)))
    """
    assert python(code).splitlines() == ["[]", "[]"]


def test_import_starts_no_thread_and_takes_no_memory():
    code = """
        import numpy, os
        before = len(os.listdir("/proc/self/task"))
        import cupric
        print(len(os.listdir("/proc/self/task")) - before)
    """
    assert python(code) == "0"


def test_import_costs_little_more_than_numpys():
    code = """
        import time
        start = time.process_time()
        import numpy
        middle = time.process_time()
        import cupric
        print(middle - start, time.process_time() - middle)
    """
    pairs = [[float(part) for part in python(code).split()] for _ in range(7)]
    numpys, ours = (min(times) for times in zip(*pairs, strict=True))
    # 15 ms where importing NumPy takes 75; on a slow or busy machine both take longer.
    assert ours < max(0.015, 0.2 * numpys), f"NumPy {numpys * 1e3:.1f} ms, Cupric {ours * 1e3:.1f} ms more"


def test_the_device_is_chosen_by_the_environment():
    code = "import cupric as cp; print(cp.zeros(1).__dlpack_device__()[0])"
    assert python(code, CUPRIC_DEVICE="cpu") == "1"


def test_version():
    import cupric

    assert isinstance(cupric.__version__, str) and cupric.__version__[0].isdigit()


def test_a_public_name_for_each_export():
    import cupric

    assert set(cupric.__all__) <= set(dir(cupric)) and len(set(cupric.__all__)) == len(cupric.__all__)
    assert not [name for name in cupric.__all__ if name.startswith("_") and name != "__version__"]


def test_every_function_has_a_docstring():
    import cupric

    bare = [
        name
        for name in cupric.__all__
        if callable(getattr(cupric, name)) and not str(getattr(cupric, name).__doc__ or "").strip()
    ]
    assert bare == []
    assert cupric.sin.__doc__ != cupric.add.__doc__ and "sine" in cupric.sin.__doc__.lower()


def test_eager_gives_the_same():
    code = "import cupric as cp; a = cp.arange(5.0); b = a + 1; a[0] = 9; print((a * b).tolist())"
    assert (
        python(code, CUPRIC_EAGER="1") == python(code) == str((np.array([9.0, 1, 2, 3, 4]) * np.arange(1, 6)).tolist())
    )
