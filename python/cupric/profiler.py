"""Measuring how long a function takes, on the host and on the device."""

import math
import time

import numpy as np

from cupric import cuda

__all__ = ["benchmark"]


class _PerfCaseResult:
    """The times of a benchmark, in seconds."""

    def __init__(self, name, times, devices):
        self.name = name
        self._times = times
        self._devices = devices

    @property
    def cpu_times(self):
        """The times on the host, one a call."""
        return self._times[0]

    @property
    def gpu_times(self):
        """The times on the devices, one row a device."""
        return self._times[1:]

    @staticmethod
    def _line(name, times):
        micros = times * 1e6
        text = f"    {name}: {micros.mean():9.3f} us"
        if len(micros) > 1:
            text += f"   +/- {micros.std():6.3f} (min: {micros.min():9.3f} / max: {micros.max():9.3f}) us"
        return text

    def to_str(self, show_gpu=False):
        """The times as text."""
        lines = [f"{self.name:<20s}:", self._line("CPU", self.cpu_times)]
        if show_gpu:
            for device, times in zip(self._devices, self.gpu_times, strict=True):
                lines.append(self._line(f"GPU-{device}", times))
        return " ".join(line if place == 0 else line.rstrip() for place, line in enumerate(lines))

    def __str__(self):
        return self.to_str(show_gpu=True)

    __repr__ = __str__


def benchmark(
    func, args=(), kwargs=None, n_repeat=10000, *, name=None, n_warmup=10, max_duration=math.inf, devices=None,
):  # fmt: skip
    """Calls a function many times and takes the times.

    Parameters
    ----------
    func : function
    args : tuple
    kwargs : dict, optional
    n_repeat : int
        How often it is called.
    name : str, optional
        What the result is called.
    n_warmup : int
        How often it is called before.
    max_duration : float
        Seconds after which no further call is begun.
    devices : tuple of ints, optional
        The current device by default.

    Examples
    --------
    >>> import cupric as cp
    >>> from cupric.profiler import benchmark
    >>> benchmark(cp.zeros, (100,), n_repeat=3).cpu_times.shape
    (3,)
    """
    if not callable(func):
        raise ValueError("`func` should be a callable object.")
    if not isinstance(args, tuple):
        raise ValueError("`args` should be of tuple type.")
    kwargs = {} if kwargs is None else kwargs
    devices = (cuda.get_device_id(),) if devices is None else tuple(devices)
    for _ in range(n_warmup):
        func(*args, **kwargs)
    times, spent = [], 0.0
    for device in devices:
        cuda.Device(device).synchronize()
    while len(times) < n_repeat and spent < max_duration:
        begun = time.perf_counter()
        times.append(_once(func, args, kwargs, devices))
        spent += time.perf_counter() - begun
    name = getattr(func, "__name__", str(func)) if name is None else name
    return _PerfCaseResult(name, np.array(times, np.float64).reshape(-1, 1 + len(devices)).T, devices)


def _once(func, args, kwargs, devices):
    starts, ends = [], []
    for device in devices:
        with cuda.Device(device):
            starts.append(cuda.Event())
            starts[-1].record()
    begun = time.perf_counter()
    func(*args, **kwargs)
    host = time.perf_counter() - begun
    for device in devices:
        with cuda.Device(device):
            ends.append(cuda.Event())
            ends[-1].record()
    for end in ends:
        end.synchronize()
    on_devices = [cuda.get_elapsed_time(start, end) * 1e-3 for start, end in zip(starts, ends, strict=True)]
    return [host, *on_devices]
