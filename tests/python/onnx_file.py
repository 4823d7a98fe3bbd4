"""ONNX files, written by hand: protobuf's fields are numbers of onnx.proto."""
import struct

import numpy


def _varint(number):
    number &= (1 << 64) - 1
    made = b""
    while number > 127:
        made += bytes([number & 127 | 128])
        number >>= 7
    return made + bytes([number])


def _field(number, value):
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _message(*fields):
    """Of pairs (number, value); a list is a field that is repeated."""
    return b"".join(_field(number, one) for number, value in fields
                    for one in (value if isinstance(value, list) else [value]))


class Tensor:
    """An attribute that is a tensor."""

    def __init__(self, array):
        self.array = array


def _attribute(name, value):
    if isinstance(value, Tensor):
        return _message((1, name), (5, tensor("", value.array)), (20, 4))
    if isinstance(value, int):
        return _message((1, name), (3, value), (20, 2))
    if isinstance(value, float):
        return _message((1, name), (2, value), (20, 1))
    if isinstance(value, str):
        return _message((1, name), (4, value), (20, 3))
    if value and isinstance(value[0], float):
        return _message((1, name), (7, list(value)), (20, 6))
    return _message((1, name), (8, list(value)), (20, 7))


def node(kind, inputs, outputs, name="", **attributes):
    return _message((1, inputs), (2, outputs), (3, name), (4, kind),
                    (5, [_attribute(*item) for item in attributes.items()]))


def tensor(name, array):
    array = numpy.asarray(array)
    kind, stored = {"i": (7, numpy.int64), "b": (9, numpy.bool_)}.get(array.dtype.kind, (1, numpy.float32))
    data = array.astype(stored).tobytes()
    return _message((1, list(array.shape)), (2, kind), (8, name), (9, data))


def value(name, dims):
    """An input or output; a text is the name of a size that is open."""
    shape = _message((1, [_message((2, d) if isinstance(d, str) else (1, d)) for d in dims]))
    return _message((1, name), (2, _message((1, _message((1, 1), (2, shape))))))


def write(path, inputs, outputs, nodes, tensors=(), opset=13):
    """Inputs and outputs as {name: dimensions}, tensors as {name: array}."""
    graph = _message((1, list(nodes)), (2, "graph"),
                     (5, [tensor(*item) for item in dict(tensors).items()]),
                     (11, [value(*item) for item in inputs.items()]),
                     (12, [value(*item) for item in outputs.items()]))
    with open(path, "wb") as file:
        file.write(_message((1, 7), (7, graph), (8, _message((1, ""), (2, opset)))))
