"""One kernel on NumPy arrays: include/glcnn/run.h."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Optional

import numpy

from . import _c
from ._library import c, call, refuse
from .device import Device, default_device


def setting(name: str, value: Any) -> str:
    """"NAME=VALUE", as glcnn_setting_parse reads it."""
    if isinstance(value, (bool, numpy.bool_)):
        return "%s=%s" % (name, "true" if value else "false")
    if isinstance(value, int):  # of enumerations the number
        return "%s=%d" % (name, value)
    return "%s=%s" % (name, value if isinstance(value, str) else repr(float(value)))


def _settings(kernel: str, values: Dict[str, Any]) -> Any:
    parsed = (_c.glcnn_setting * len(values))()
    for row, (name, value) in zip(parsed, values.items()):
        call(c.glcnn_setting_parse, kernel.encode(), setting(name, value).encode(),
             ctypes.byref(row))
    return parsed


def _arrays(given: Dict[str, Any], kept: List[Any]) -> Any:
    """The inputs for the library; what their data lies in goes to `kept`."""
    rows = (_c.glcnn_array * len(given))()
    for row, (name, value) in zip(rows, given.items()):
        array = numpy.ascontiguousarray(value, numpy.float32)
        if array.ndim > _c.MAX_RANK:
            raise refuse("%s: an array has at most %d dimensions, not %d"
                         % (name, _c.MAX_RANK, array.ndim))
        kept.append(array)
        row.name, row.rank = name.encode(), array.ndim
        row.shape[:array.ndim] = array.shape
        row.data = array.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    return rows


def run(kernel: str, inputs: Dict[str, Any], *,
        format: _c.ChannelFormat = _c.ChannelFormat.FLOAT32, reference: bool = False,
        device: Optional[Device] = None, **settings: Any) -> Dict[str, numpy.ndarray[Any, Any]]:
    """Runs a kernel by its name; inputs and outputs are by theirs, and of float32.

    format     that of images on the device, FLOAT32 or FLOAT16
    reference  computes in double precision on the CPU, and needs no device
    settings   parameters of `glcnn kernels NAME`, and padding="valid", destination_width=3 ...
    """
    kept: List[Any] = []
    rows, parsed = _arrays(inputs, kept), _settings(kernel, settings)
    if not reference:
        device = device or default_device()
    outputs, count = ctypes.POINTER(_c.glcnn_array)(), ctypes.c_size_t()
    options = _c.glcnn_run_options(format=format, reference=reference)
    call(c.glcnn_run, device.enter() if device else None, kernel.encode(), parsed, len(parsed),
         rows, len(rows), ctypes.byref(options), ctypes.byref(outputs), ctypes.byref(count))
    try:
        return {o.name.decode(): _copy(o) for o in outputs[:count.value]}
    finally:
        c.glcnn_run_destroy(outputs)


def _copy(array: Any) -> numpy.ndarray[Any, Any]:
    shape = tuple(array.shape[:array.rank])
    if 0 in shape:
        return numpy.empty(shape, numpy.float32)
    return numpy.ctypeslib.as_array(array.data, shape).copy()
