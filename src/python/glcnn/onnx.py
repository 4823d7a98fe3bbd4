"""ONNX models: include/glcnn/onnx.h, where libglcnn_onnx is installed."""
from __future__ import annotations

import ctypes
import os
import weakref
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _c
from ._library import c, call, library, whole
from .device import Device, default_device
from .node import address

if TYPE_CHECKING:
    from .network import Network

Path = Union[str, "os.PathLike[str]"]


def read(path: Path, network: Any, *, width: int = 0, height: int = 0, feature_channels: int = 0,
         without_batch: bool = False, head_classes: int = 0, output: Optional[str] = None,
         external_links: bool = False, device: Optional[Device] = None) -> Network:
    """A Network, made by `network`, of the nodes and weights of a file."""
    found, device = library("glcnn_onnx"), device or default_device()
    options = _c.glcnn_onnx_options(
        width=whole("width", width), height=whole("height", height),
        feature_channels=whole("feature_channels", feature_channels), without_batch=without_batch,
        head_classes=whole("head_classes", head_classes),
        output=output.encode() if output else None, external_links=external_links)
    pointer = ctypes.POINTER(_c.glcnn_network)()
    record = ctypes.POINTER(_c.glcnn_onnx_record)()
    call(found.glcnn_onnx_load, device.enter(), os.fsencode(path), ctypes.byref(options),
         ctypes.byref(pointer), ctypes.byref(record))
    made = network(device, pointer=pointer)
    weakref.finalize(made, found.glcnn_onnx_record_destroy, ctypes.byref(record))
    made.know(record)
    known = record.contents
    for image in known.inputs[:known.input_count]:
        made.shapes[address(image.node)] = image.feature_channels, image.height, image.width
    for image in known.outputs[:known.output_count]:
        c.glcnn_image_node_set_export_from_graph(image.node, True)
    return made


def write(network: Network, path: Path) -> None:
    """The model that was read, with the weights of now; of another network a new one."""
    found = library("glcnn_onnx")
    nodes = [(i, i.shape) for i in network.images if not i.filter and not network.record]
    known = [(node, shape) for node, shape in nodes if shape]
    inputs = (_c.glcnn_onnx_image * len(known))()
    for row, (node, shape) in zip(inputs, known):
        row.node = node.pointer
        row.feature_channels, row.height, row.width = shape
    data, size = ctypes.POINTER(ctypes.c_uint8)(), ctypes.c_size_t()
    network.device.enter()
    call(found.glcnn_onnx_write, network.pointer, network.record, inputs, len(inputs),
         ctypes.byref(data), ctypes.byref(size))
    try:
        call(c.glcnn_file_save, os.fsencode(path), data, size)
    finally:
        found.glcnn_onnx_destroy(data)
