"""Model files, those of the glcnn tool: checkpoints that hold their network, and what its images and
classes are."""
from __future__ import annotations

import ctypes
import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

import numpy

from . import _c
from ._library import Error, c, call, library, refuse
from .device import Device, default_device
from .node import address
from .record import record_of, record_parts

if TYPE_CHECKING:
    from .network import Network

Path = Union[str, "os.PathLike[str]"]

# include/model_files.md has the keys.
VERSION, _MODEL = "1", "model."
NETWORK, ONNX, RECORD = "glcnn.network", "glcnn.onnx", "glcnn.onnx.record"


# ---- Writing ----

def _description(network: Network) -> bytes:
    interchange = library("glcnn_interchange")
    data, size = ctypes.POINTER(ctypes.c_uint8)(), ctypes.c_size_t()
    call(interchange.glcnn_network_serialize, network.pointer, False, ctypes.byref(data),
         ctypes.byref(size))
    try:
        return ctypes.string_at(data, size.value)
    finally:
        interchange.glcnn_serialize_destroy(data)


def _list(values: Any, channels: int, neutral: float) -> str:
    numbers = numpy.broadcast_to(neutral if values is None else values, channels)
    few = numbers[:1] if (numbers == numbers[0]).all() else numbers  # one stands for all channels
    return ",".join("%.9g" % value for value in few)


def _title(path: Path) -> str:
    """What the network is called: a path is any bytes, and what a file has is UTF-8."""
    return os.path.basename(os.fsencode(path)).split(b".")[0].decode(errors="backslashreplace")


def _entries(network: Network, path: Path) -> Dict[str, str]:
    """What the tool wants to know of a network with one input, whose shape is known."""
    inputs = [image for image in network.images if not image.filter]
    shape, results = inputs[0].shape, [node.shape for node in network.outputs.values()]
    if len(inputs) != 1 or not shape or not all(results):
        return {}
    classes = network.classes
    if classes is None:
        result = results[0] or (0, 0, 0)
        classifies = len(results) == 1 and (result[1:] == (1, 1) or network.task == "segment")
        classes = [str(k) for k in range(result[0])] if classifies else []
    channels, height, width = shape
    model = {"net": _title(path), "classes": json.dumps(classes), "task": network.task or "classify",
             "fit": network.fit, "width": str(width), "height": str(height),
             "channels": str(channels), "resize": str(network.resize),
             "mean": _list(network.mean, channels, 0),
             "deviation": _list(network.deviation, channels, 1)}
    return {"glcnn.version": VERSION, **{_MODEL + name: text for name, text in model.items()}}


def _fill(network: Network) -> None:
    """Normalisations that have met no image get their neutral vectors, whose length is known here."""
    for node in network.filters:
        if not node.name.startswith(("batch_norm", "instance_norm")):
            continue
        shape = node.sources[0].shape
        for vector, neutral in ("gamma", 1), ("beta", 0), ("mean", 0), ("variance", 1):
            takes = node.name.startswith("batch_norm") or vector in ("gamma", "beta")
            if shape and takes and not c.glcnn_kernel_has_vector(node.kernel, vector.encode()):
                node.set_vector(vector, numpy.full(shape[0], neutral))


def _with_units(network: Network) -> Network:
    """What the tool expects of a network that was trained on numbers: a scale and a shift, both fixed,
    behind the layer that makes them. Here they are 1 and 0."""
    last = network.output.filter
    if not last or last.name == "neuron" and last["neuron_type"] == _c.NeuronType.SHIFT:
        return network
    copy, [output] = network.copied([network.output])
    channels = (network.output.shape or (1, 1, 1))[0]
    output = output.neuron_scale(slopes=numpy.ones(channels)).set(label="units_scale")
    copy.output = output.neuron_shift(slopes=numpy.zeros(channels)).set(label="units_shift")
    for node in copy.filters[-2:]:
        node.training_style = _c.TrainingStyle.NONE
    return copy


def save_with(network: Network, path: Path, entries: Dict[str, str]) -> None:
    """Writes a model file with these entries."""
    parts: List[Tuple[str, bytes]] = [(NETWORK, _description(network))]
    if network.record:
        skeleton, text = record_parts(network.record)
        parts += [(ONNX, skeleton), (RECORD, text)]
    rows = (_c.glcnn_checkpoint_entry * len(entries))(
        *[_c.glcnn_checkpoint_entry(name.encode(), text.encode())
          for name, text in entries.items()])
    bytes_rows = (_c.glcnn_checkpoint_bytes * len(parts))()
    for row, (name, data) in zip(bytes_rows, parts):
        row.name, row.size = name.encode(), len(data)
        row.bytes = (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
    call(library("glcnn_interchange").glcnn_checkpoint_save_with_bytes, network.pointer,
         os.fsencode(path), rows, len(rows), bytes_rows, len(bytes_rows))


def save(network: Network, path: Path) -> None:
    network.device.enter()
    _fill(network)
    entries = _entries(network, path)
    if entries.get(_MODEL + "task") == "regress" and not network.record:
        network = _with_units(network)
    save_with(network, path, entries)


# ---- Reading ----

def _read_bytes(path: Path, name: str) -> Optional[bytes]:
    data, size = ctypes.POINTER(ctypes.c_uint8)(), ctypes.c_size_t()
    call(library("glcnn_interchange").glcnn_checkpoint_read_bytes, os.fsencode(path), name.encode(),
         ctypes.byref(data), ctypes.byref(size))
    if not data:
        return None
    try:
        return ctypes.string_at(data, size.value)
    finally:
        ctypes.CDLL(None).free(data)


def _make(data: bytes, network: Any, device: Device) -> Network:
    pointer = ctypes.POINTER(_c.glcnn_network)()
    buffer = (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
    call(library("glcnn_interchange").glcnn_network_deserialize, device.enter(), buffer, len(data),
         ctypes.byref(pointer))
    made: Network = network(device, pointer=pointer)
    return made


def _numbers(text: str, neutral: float, channels: int) -> Any:
    """[C], or None where they change nothing."""
    values = numpy.array([float(word) for word in text.split(",")], numpy.float32)
    return None if (values == neutral).all() else numpy.broadcast_to(values, channels)


def _take_entries(network: Network, every: Dict[str, str]) -> None:
    if int(every.get("glcnn.version", VERSION)) > int(VERSION):
        raise ValueError("it is of version %s, and this package reads versions up to %s"
                         % (every["glcnn.version"], VERSION))
    # Files of before there were versions have the same names without a group.
    entries = {name[len(_MODEL):]: text for name, text in every.items() if name.startswith(_MODEL)}
    entries = entries if "glcnn.version" in every else every
    inputs = [image for image in network.images if not image.filter]
    if "channels" not in entries or len(inputs) != 1:
        return
    shape = tuple(int(entries[name]) for name in ("channels", "height", "width"))
    network.shapes[address(inputs[0].pointer)] = (shape[0], shape[1], shape[2])
    network.classes = json.loads(entries.get("classes", "null"))
    network.task = entries.get("task")
    network.resize = int(entries.get("resize", "0"))
    network.fit = entries.get("fit", "cut")
    network.mean = _numbers(entries.get("mean", "0"), 0, shape[0])
    network.deviation = _numbers(entries.get("deviation", "1"), 1, shape[0])


def load(path: Path, network: Any, device: Optional[Device]) -> Network:
    """A Network, made by `network`, of a file."""
    device = device or default_device()
    device.enter()
    description = _read_bytes(path, NETWORK)
    if not description:
        raise refuse("%s: a checkpoint without a network; make one of the same layers and read it "
                     "by load_checkpoint" % os.fspath(path))
    made = _make(description, network, device)
    entries = made.load_checkpoint(path)
    skeleton, record = _read_bytes(path, ONNX), _read_bytes(path, RECORD)
    try:
        _take_entries(made, entries)
        if skeleton and record:
            made.know(record_of(skeleton, record))
    except (KeyError, TypeError, ValueError) as error:
        raise Error(_c.Status.MALFORMED_DATA, "%s: its record of images or of its ONNX file "
                    "cannot be read: %s" % (os.fspath(path), error)) from None
    return made
