"""Optimizers: include/glcnn/kernels/optimizer.h."""
from __future__ import annotations

import ctypes
from typing import Any

from . import _c
from ._library import c, refuse
from .device import Device, Owned
from .node import set_parameter

_KINDS = {"adam": "adam", "sgd": "stochastic_gradient_descent", "rmsprop": "rms_prop",
          "stochastic_gradient_descent": "stochastic_gradient_descent", "rms_prop": "rms_prop"}


class Optimizer:
    """How weights follow their gradients.

        glcnn.Optimizer("adam", learning_rate=0.001, weight_decay=0.01)

    kind        "adam", "rms_prop" or "stochastic_gradient_descent"; "rmsprop" and "sgd" for short
    parameters  those of `glcnn kernels optimizer_KIND`: learning_rate, weight_decay (decoupled, as of
                AdamW), momentum_scale, beta1 and so on
    """

    def __init__(self, kind: str, **parameters: Any):
        self.kind, self.parameters = kind, parameters

    def make(self, device: Device) -> Owned:
        """The kernel; refuses what is no optimizer, no parameter or out of range."""
        if self.kind not in _KINDS:
            raise refuse("there is no optimizer %r; there are %s" % (self.kind, ", ".join(_KINDS)))
        wanted = "optimizer_" + _KINDS[self.kind]
        info = c.glcnn_kernel_info_by_name(wanted.encode()).contents
        known = [p.name.decode() for p in info.parameters[:info.parameter_count]]
        for parameter in self.parameters:
            if parameter not in known:
                raise refuse("%s has no parameter %r; it has %s"
                             % (wanted, parameter, ", ".join(known)))
        pointer = ctypes.POINTER(_c.glcnn_kernel)()
        device.check(c.glcnn_kernel_create(device.enter(), wanted.encode(),
                                           ctypes.byref(pointer)))
        kernel = Owned(device, c.glcnn_kernel_destroy, pointer)
        for name, value in self.parameters.items():
            set_parameter(device, kernel.pointer, name, value)
        return kernel

    def __repr__(self) -> str:
        return "glcnn.Optimizer(%s)" % ", ".join(
            [repr(self.kind)] + ["%s=%r" % p for p in self.parameters.items()])
