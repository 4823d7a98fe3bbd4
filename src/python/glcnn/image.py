"""Images of feature channels, and NumPy arrays."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Optional, Tuple

import numpy

from . import _c
from ._library import c, refuse, whole
from .device import Device, Owned, default_device

_FORMATS: Dict[numpy.dtype[Any], _c.ChannelFormat] = {
    numpy.dtype("float32"): _c.ChannelFormat.FLOAT32,
    numpy.dtype("float16"): _c.ChannelFormat.FLOAT16,
    numpy.dtype("uint8"): _c.ChannelFormat.UNORM8}
_TYPES = {format: kind for kind, format in _FORMATS.items()}
_PLANES = _c.glcnn_image_transfer(layout=_c.DataLayout.CHANNELS_HEIGHT_WIDTH)


def as_images(array: Any) -> numpy.ndarray[Any, Any]:
    """[N][C][H][W] of a type that an image can have: bytes and float16 stay, other numbers become
    float32. [N][H][W] is of one channel."""
    array = numpy.asarray(array)
    if array.dtype not in _FORMATS:
        array = array.astype(numpy.float32)
    if array.ndim == 3:
        array = array[:, None]
    if array.ndim != 4:
        raise refuse("an array of images is [N][C][H][W] or [N][H][W], not of shape %s"
                     % (array.shape,))
    return numpy.ascontiguousarray(array)


class Image(Owned):
    """An image on the device: include/glcnn/image.h. `shape` is (N, C, H, W); `type` float32,
    float16 or uint8, whose bytes b stand for b / 255 and which kernels only read."""

    def __init__(self, shape: Tuple[int, ...], type: Any = numpy.float32,
                 device: Optional[Device] = None):
        device = device or default_device()
        kind = numpy.dtype(type)
        if len(shape) != 4 or kind not in _FORMATS:
            raise refuse("an image is of shape (N, C, H, W) and float32, float16 or uint8, not %s "
                         "of %s" % (shape, kind))
        number, channels, height, width = (whole("the shape", side, 1) for side in shape)
        pointer = ctypes.POINTER(_c.glcnn_image)()
        descriptor = _c.glcnn_image_descriptor(width, height, channels, number, _FORMATS[kind])
        device.check(c.glcnn_image_create(device.enter(), ctypes.byref(descriptor),
                                          ctypes.byref(pointer)))
        super().__init__(device, c.glcnn_image_destroy, pointer)

    @property
    def shape(self) -> Tuple[int, int, int, int]:
        return shape_of(self.pointer)

    def write(self, array: Any) -> None:
        """Takes an array of the image's shape and type; see as_images."""
        array = as_images(array)
        if array.shape != self.shape or array.dtype != type_of(self.pointer):
            raise refuse("the image is %s of %s, the array %s of %s" % (
                self.shape, type_of(self.pointer), array.shape, array.dtype))
        self.device.enter()
        self.device.check(c.glcnn_image_write_bytes(self.pointer, ctypes.byref(_PLANES),
                                                    array.ctypes.data, array.nbytes))

    def read(self) -> numpy.ndarray[Any, Any]:
        return read(self.device, self.pointer)


def image(array: Any, device: Optional[Device] = None) -> Image:
    """An image with the contents of an array."""
    array = as_images(array)
    made = Image(array.shape, array.dtype, device)
    made.write(array)
    return made


def shape_of(pointer: Any) -> Tuple[int, int, int, int]:
    d = c.glcnn_image_get_descriptor(pointer).contents
    return d.number_of_images, d.feature_channels, d.height, d.width


def type_of(pointer: Any) -> numpy.dtype[Any]:
    return _TYPES[c.glcnn_image_get_descriptor(pointer).contents.channel_format]


def read(device: Device, pointer: Any) -> numpy.ndarray[Any, Any]:
    """What an image of the library's holds, once all work that writes it is done."""
    array = numpy.empty(shape_of(pointer), type_of(pointer))
    device.enter()
    device.check(c.glcnn_image_read_bytes(pointer, ctypes.byref(_PLANES), array.ctypes.data,
                                          array.nbytes))
    return array
