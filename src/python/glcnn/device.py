"""Devices, and the lives of what is made on them."""
from __future__ import annotations

import collections
import ctypes
import threading
import weakref
from typing import Any, Callable, Deque, List, NamedTuple, Optional, Tuple

from . import _c
from ._library import Error, c, text, whole


class Device:
    """One OpenGL ES 3.1 context: include/glcnn/device.h.

    device           a node ("/dev/dri/renderD128"), a number of devices(), a kernel driver's name
                     "software" or "default" (EGL's default display); None takes GLCNN_DEVICE,
                     else the first that works
    forbid_software  fail rather than run on a software rasteriser
    log              is called with a LogLevel and a line; it must not call the library

    It belongs to the thread that made it; release and acquire hand it over. Objects made from a
    device keep it: it ends with the last of them. What is no longer referred to is destroyed by the
    next call on the device's thread, whichever thread let it go.
    """

    def __init__(self, device: Optional[str] = None, *, forbid_software: bool = False,
                 debug: bool = False, wait_seconds: int = 0,
                 log: Optional[Callable[[_c.LogLevel, str], Any]] = None):
        said: List[str] = []

        def take(_user: Any, level: int, line: bytes) -> None:
            words = line.decode(errors="replace")
            if level == _c.LogLevel.ERROR:
                said[:] = [words]
            if log:
                log(_c.LogLevel(level), words)

        callback = _c.glcnn_log_callback(take)
        parameters = _c.glcnn_device_parameters(
            device=device.encode() if device is not None else None,
            forbid_software=forbid_software, debug=debug,
            wait_seconds=whole("wait_seconds", wait_seconds), log=callback)
        self.pointer = ctypes.POINTER(_c.glcnn_device)()
        status = c.glcnn_device_create(ctypes.byref(parameters), ctypes.byref(self.pointer))
        if status:
            raise Error(status, said[-1] if said else c.glcnn_status_text(status).decode())
        self._thread: Optional[int] = threading.get_ident()
        self._given_up: Deque[Tuple[Any, Any]] = collections.deque()
        self._end = weakref.finalize(self, _end_device, self.pointer, callback, self._given_up)

    def check(self, status: int) -> None:
        """Raises what a call said that failed."""
        if status:
            raise self.error(status)

    def error(self, status: int = _c.Status.INVALID_ARGUMENT) -> Error:
        """The last failure of the device as an exception."""
        return Error(status, c.glcnn_device_error(self.pointer).decode(errors="replace"))

    def enter(self) -> Any:
        """The device for a call, freed of what was given up since the last one."""
        if self._thread == threading.get_ident():
            while self._given_up:
                destroy, pointer = self._given_up.popleft()
                destroy(ctypes.byref(pointer))
        return self.pointer

    def give_up(self, destroy: Any, pointer: Any, *_keeps: Any) -> None:
        """Has an object destroyed by the next call on the device's thread: Python collects garbage
        on any thread and at any moment, that of a log callback too, where nothing may be called."""
        self._given_up.append((destroy, pointer))

    def release(self) -> None:
        """Gives the device up, for another thread to acquire."""
        self.check(c.glcnn_device_hand_over(self.enter()))
        self._thread = None

    def acquire(self) -> None:
        """Takes a device that its thread has released."""
        self.check(c.glcnn_device_acquire(self.pointer))
        self._thread = threading.get_ident()

    def wait(self) -> None:
        """Waits until the GPU has done all that it was given."""
        self.check(c.glcnn_device_wait(self.enter()))

    @property
    def lost(self) -> bool:
        """Whether the GPU was reset or hung: whatever is done on the device raises an Error of
        Status.DEVICE_LOST from then on, and what it holds cannot be read. A new Device works in the
        same process; what was made on this one has to be created on the new one."""
        return c.glcnn_device_is_lost(self.pointer)

    @property
    def renderer(self) -> str:
        return c.glcnn_device_info(self.enter()).contents.renderer.decode()

    @property
    def software(self) -> bool:
        return c.glcnn_device_info(self.enter()).contents.software

    def __repr__(self) -> str:
        return "<glcnn.Device %s>" % self.renderer


def _end_device(pointer: Any, callback: Any, given_up: Deque[Tuple[Any, Any]]) -> None:
    """`callback` is an argument so that it lives until the library can no longer call it."""
    for destroy, other in given_up:
        destroy(ctypes.byref(other))
    c.glcnn_device_destroy(ctypes.byref(pointer))


class Owned:
    """An object of the library that ends with its Python object. Its device, and the objects that
    it `keeps`, end after it."""

    def __init__(self, device: Device, destroy: Any, pointer: Any, *keeps: Owned):
        self.device, self.pointer = device, pointer
        weakref.finalize(self, device.give_up, destroy, pointer, *keeps)


class Candidate(NamedTuple):
    """A device that could be opened, or why it could not."""
    provider: str
    node: str
    driver: str
    software: bool
    usable: bool
    detail: str


def devices() -> List[Candidate]:
    """Looks at every device, in the order of probing."""
    count = c.glcnn_device_list(None, 0)
    found = (_c.glcnn_device_candidate * count)()
    count = min(count, c.glcnn_device_list(found, count))
    return [Candidate(text(f.provider) or "", text(f.node) or "", text(f.driver) or "",
                      f.software, f.usable, text(f.detail) or "") for f in found[:count]]


_default = threading.local()


def default_device() -> Device:
    """The device that is taken where none is given: one for each thread, opened at first use, and
    again once it was lost."""
    if not hasattr(_default, "device") or _default.device.lost:
        _default.device = Device()
    return _default.device
