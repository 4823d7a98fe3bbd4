"""Optimizers: include/glcnn/kernels/optimizer.h."""
from __future__ import annotations

import ctypes
from typing import Any

from . import _c
from ._library import c
from .device import Device, Owned
from .node import set_parameter


class Optimizer:
    """How weights follow their gradients.

        glcnn.Optimizer("adam", learning_rate=0.001, weight_decay=0.01)

    kind        "adam", "rms_prop" or "stochastic_gradient_descent"
    parameters  those of `glcnn kernels optimizer_KIND`
    """

    def __init__(self, kind: str, **parameters: Any):
        self.kind, self.parameters = kind, parameters

    def make(self, device: Device) -> Owned:
        """The kernel; refuses what is no optimizer, no parameter or out of range."""
        pointer = ctypes.POINTER(_c.glcnn_kernel)()
        device.check(c.glcnn_kernel_create(device.enter(), ("optimizer_" + self.kind).encode(),
                                           ctypes.byref(pointer)))
        kernel = Owned(device, c.glcnn_kernel_destroy, pointer)
        for name, value in self.parameters.items():
            set_parameter(device, kernel.pointer, name, value)
        return kernel

    def __repr__(self) -> str:
        return "glcnn.Optimizer(%s)" % ", ".join(
            [repr(self.kind)] + ["%s=%r" % p for p in self.parameters.items()])
