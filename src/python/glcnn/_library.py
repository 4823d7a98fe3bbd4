"""The libraries: where they are, and what a call that fails raises."""
from __future__ import annotations

import ctypes
import ctypes.util
import enum
import operator
import os
import sys
from typing import Any, Dict, Optional

from . import _c


class Error(Exception):
    """What the library refused or could not do: `status`, and the message that says why."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = _c.Status(status)


def refuse(message: str) -> Error:
    """The exception of an argument that the package itself refuses."""
    return Error(_c.Status.INVALID_ARGUMENT, message)


def whole(name: str, value: Any, low: int = 0, high: int = 2 ** 32 - 1) -> int:
    """The argument of that name as an int; ctypes would let one wrap that does not fit."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise refuse("%s is %r; it must be a whole number in %d .. %d" % (name, value, low, high))
    return number


_WHOLE = {ctypes.c_int8, ctypes.c_int16, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint8,
          ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t}


def fitting(name: str, value: Any, kind: Any) -> Any:
    """The value for a parameter of the library's of that type: whole, where that is an integer; of an
    array as many as are given, and zeros behind them."""
    if hasattr(kind, "_length_"):
        values = list(value) if hasattr(value, "__iter__") else [value]
        if len(values) > kind._length_:
            raise refuse("%s has %d elements; at most %d are taken"
                         % (name, len(values), kind._length_))
        return kind(*[fitting(name, one, kind._type_) for one in values])
    if kind not in _WHOLE or isinstance(value, enum.IntFlag) or value is None:
        return value
    bits = 8 * ctypes.sizeof(kind)
    if kind(-1).value < 0:
        return whole(name, value, -2 ** (bits - 1), 2 ** (bits - 1) - 1)
    return whole(name, value, 0, 2 ** bits - 1)


SIZE_MAX = 2 ** 64 - 1  # of bytes and seeds


SOVERSION = ("%d" if _c.VERSION_MAJOR else "%d.%d") % (
    (_c.VERSION_MAJOR, _c.VERSION_MINOR)[:1 if _c.VERSION_MAJOR else 2])


def _file(name: str) -> str:
    """GLCNN_LIBRARY names libglcnn.so, or the folder that has it; the others lie beside it. Without
    it they are those beside the virtual environment, as in build where that is build/python, or else
    the loader knows."""
    chosen = os.environ.get("GLCNN_LIBRARY", "")
    if chosen and name == "glcnn" and not os.path.isdir(chosen):
        return chosen
    file = "lib%s.so.%s" % (name, SOVERSION)
    if not chosen and sys.prefix != sys.base_prefix:
        beside = os.path.dirname(os.path.abspath(sys.prefix))
        chosen = beside if os.path.exists(os.path.join(beside, file)) else ""
    if not chosen:
        return file
    return os.path.join(chosen if os.path.isdir(chosen) else os.path.dirname(chosen), file)


def _load(name: str) -> ctypes.CDLL:
    if not _c.FUNCTIONS[name]:
        raise ImportError("this package was generated from headers without lib%s" % name)
    try:
        # The other libraries find the symbols of the first one by its soname.
        loaded = ctypes.CDLL(_file(name), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise ImportError("lib%s cannot be loaded: %s. Install it, or name its folder in the "
                          "environment's GLCNN_LIBRARY" % (name, error)) from None
    for function, (result, arguments) in _c.FUNCTIONS[name].items():
        try:
            found = getattr(loaded, function)
        except AttributeError:
            raise ImportError("%s has no %s: it is not the library that this package was made for"
                              % (_file(name), function)) from None
        found.restype, found.argtypes = result, arguments
    return loaded


_libraries: Dict[str, ctypes.CDLL] = {}
_NEEDS = {"glcnn_train": ("glcnn_data", "glcnn_interchange", "glcnn_onnx")}


def library(name: str) -> ctypes.CDLL:
    """libglcnn_interchange and the like, loaded when they are first needed."""
    if name not in _libraries:
        for other in _NEEDS.get(name, ()):
            library(other)
        _libraries[name] = _load(name)
    return _libraries[name]


c = library("glcnn")


def version() -> str:
    """"0.2.0" of the library in use."""
    return c.glcnn_version().decode()


def text(name: Optional[bytes]) -> Optional[str]:
    return None if name is None else name.decode()


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last argument is `error`; raises what it says there."""
    message = ctypes.create_string_buffer(_c.ERROR_LENGTH)
    status = function(*arguments, message)
    if status:
        said = message.value.decode(errors="replace")
        raise Error(status, said or c.glcnn_status_text(status).decode())
