"""Streams and events."""

import threading

from cupric import _core

__all__ = ["Event", "ExternalStream", "Graph", "Stream", "get_current_stream", "get_elapsed_time", "is_ptds_enabled"]


class _Entered(threading.local):
    """The streams that this thread's with-blocks go back to, and the objects of those in use."""

    def __init__(self):
        self.before = []


_entered = _Entered()


class _Base:
    """What streams have in common, whoever made them."""

    priority = 0

    @property
    def ptr(self):
        """The driver's handle; from now on the stream's work is launched at its call."""
        return self._handle.expose()

    @property
    def done(self):
        """Whether all work of the stream is done."""
        return self._handle.done()

    @property
    def device_id(self):
        """The number of its device."""
        return self._handle.device.ordinal

    @property
    def is_non_blocking(self):
        """Whether it runs beside the null stream."""
        return self._handle.non_blocking

    def __eq__(self, other):
        return self._handle.same(other._handle) if isinstance(other, _Base) else NotImplemented

    def __hash__(self):
        return hash(self.device_id)

    def __enter__(self):
        _entered.before.append(self._handle.use())
        return self

    def __exit__(self, *_):
        _entered.before.pop().use()

    def use(self):
        """Sends the thread's work to this stream."""
        self._handle.use()
        return self

    def synchronize(self):
        """Waits until all work of the stream is done."""
        self._handle.synchronize()

    def record(self, event=None):
        """Marks the point that the stream's work has come to; gives the event."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event):
        """Makes what is given to the stream from now on wait for an event."""
        self._handle.wait_event(event._of(self._handle.device))

    def begin_capture(self, mode=None):
        """Begins to record what the stream is asked for, instead of doing it.

        All work asked for before is waited for. Until `end_capture` nothing can be looked at or waited for on this stream, and
        what is computed on it has no values yet.

        Parameters
        ----------
        mode : int, optional
            Which other calls the recording forbids: none of Cupric's, so the number is not looked at.

        Raises
        ------
        RuntimeError
            For the null stream, and for a stream that is being recorded already.

        Examples
        --------
        >>> import cupric as cp
        >>> a, stream = cp.arange(4), cp.cuda.Stream()
        >>> with stream:
        ...     stream.begin_capture()
        ...     a += 1
        ...     graph = stream.end_capture()
        >>> graph.launch()
        >>> graph.launch()
        >>> a
        array([2, 3, 4, 5])
        """
        self._handle.begin_capture()

    def end_capture(self):
        """Ends the recording; gives it as a `Graph`."""
        return Graph._over(self._handle.end_capture())

    def is_capturing(self):
        """Whether the stream is being recorded."""
        return self._handle.is_capturing()

    def launch_host_func(self, callback, arg):
        """Calls a function once the stream's work so far is done; waits for it."""
        self.synchronize()
        callback(arg)

    def add_callback(self, callback, arg):
        """Calls a function once the stream's work so far is done; waits for it."""
        self.synchronize()
        callback(self, 0, arg)


class Stream(_Base):
    """An ordered sequence of work on a device.

    Parameters
    ----------
    null : bool
        The device's null stream instead of a new one.
    non_blocking : bool
        Whether it runs beside the null stream.
    ptds : bool
        The per-thread default stream, which here is the null stream.
    priority : int, optional
        A lower number goes first.

    Examples
    --------
    >>> import cupric as cp
    >>> with cp.cuda.Stream() as stream:
    ...     a = cp.arange(3) * 2
    >>> stream.synchronize()
    """

    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None):
        if null and ptds:
            raise ValueError("null and ptds cannot both be set")
        device = _core.device()
        self.null = null
        self.priority = int(priority or 0)
        self._handle = device.null_stream() if null or ptds else _core.Stream(device, bool(non_blocking), self.priority)

    @staticmethod
    def from_external(obj):
        """A stream of another library: an object with the method `__cuda_stream__`, which gives a version and the handle."""
        version, ptr = obj.__cuda_stream__()
        if version != 0:
            raise NotImplementedError(f"version {version} of the stream protocol is not known")
        return ExternalStream(ptr)

    def __cuda_stream__(self):
        return 0, self.ptr

    def __repr__(self):
        return f"<Stream {'null' if self._handle.is_null else hex(id(self))} (device {self.device_id})>"


class ExternalStream(_Base):
    """A stream that somebody else made and keeps alive.

    Parameters
    ----------
    ptr : int
        The driver's handle.
    device_id : int, optional
    """

    def __init__(self, ptr, device_id=-1):
        device = _core.device() if device_id is None or device_id < 0 else _core.device(device_id)
        self._handle = _core.Stream.external(device, int(ptr))

    def __repr__(self):
        return f"<ExternalStream (device {self.device_id})>"


class _Null(_Base):
    """The null stream of the thread's current device, whichever that is."""

    null = True

    @property
    def _handle(self):
        return _core.device().null_stream()

    def __repr__(self):
        return "<Stream null>"


Stream.null = _Null()
Stream.ptds = Stream.null


class Graph:
    """Work of a stream, recorded by `Stream.begin_capture` and launched as often as wanted.

    It keeps all arrays that it works on. Each launch reads what they hold then, and writes its results into the arrays that the
    recorded calls gave.
    """

    @classmethod
    def _over(cls, handle):
        made = cls.__new__(cls)
        made._handle = handle
        return made

    @property
    def graph(self):
        """The driver's handle; 0 on the CPU device."""
        return self._handle.handle

    def launch(self, stream=None):
        """Does the recorded work on a stream, by default the current one."""
        self._handle.launch((get_current_stream() if stream is None else stream)._handle)

    def upload(self, stream=None):
        """Loads the work onto the device ahead of its first launch."""
        self._handle.upload((get_current_stream() if stream is None else stream)._handle)


def get_current_stream(device_id=-1):
    """The stream that the thread's work goes to."""
    device = _core.device() if device_id is None or device_id < 0 else _core.device(device_id)
    made = Stream.__new__(Stream)
    made._handle = device.current_stream()
    made.null = made._handle.is_null
    return made


def is_ptds_enabled():
    """Whether the per-thread default stream is the default: it is not."""
    return False


class Event:
    """A point in a stream's work.

    Parameters
    ----------
    block : bool
        Whether a waiting thread sleeps.
    disable_timing : bool
    interprocess : bool
        Not supported.
    """

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        if interprocess:
            raise NotImplementedError("events of several processes are not supported")
        self._timing, self._block = not disable_timing, bool(block)
        self._handle = None

    def _of(self, device):
        if self._handle is None:
            self._handle = _core.Event(device, self._timing, self._block)
        return self._handle

    @property
    def ptr(self):
        """The driver's handle."""
        return self._of(_core.device()).ptr

    @property
    def done(self):
        """Whether the point is passed."""
        return self._of(_core.device()).done()

    def record(self, stream=None):
        """Marks the point that a stream's work has come to."""
        stream = get_current_stream() if stream is None else stream
        self._of(stream._handle.device).record(stream._handle)

    def synchronize(self):
        """Waits until the point is passed."""
        self._of(_core.device()).synchronize()


def get_elapsed_time(start_event, end_event):
    """Milliseconds between two events."""
    device = _core.device()
    return start_event._of(device).elapsed_until(end_event._of(device))
