"""Writes an ONNX model of QuantizeLinear and DequantizeLinear, an input of it, and what it computes.

usage: quantised.py FOLDER

FOLDER gets quantised.onnx, quantised.in0, whole numbers as int32 in N,H,W,C, and quantised.expected, float32. Arithmetic is in
double precision on what the whole numbers stand for, rounded where the model rounds.
"""
import os
import struct
import sys

import numpy as np

random = np.random.default_rng(5)

# ---- ONNX's messages ----


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while True:
        byte, value = value & 127, value >> 7
        out += bytes([byte | (128 if value else 0)])
        if not value:
            return out


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}


def tensor(name, values):
    return b"".join(field(1, int(d)) for d in values.shape) + field(2, TYPES[str(values.dtype)]) + field(8, name) + \
        field(9, values.tobytes())


def attribute(name, value):
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    if isinstance(value, list):
        return field(1, name) + b"".join(field(8, v) for v in value) + field(20, 7)
    return field(1, name) + field(4, value) + field(20, 3)


def port(name, shape):
    sizes = b"".join(field(1, field(1, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, sizes)))


class Model:
    """Nodes and initialisers, and beside each value what it is."""

    def __init__(self):
        self.nodes, self.initialisers, self.values = [], [], {}

    def constant(self, name, values):
        self.initialisers.append(tensor(name, values))
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, output) + field(4, op) +
                          b"".join(field(5, attribute(k, v)) for k, v in attributes.items()))
        return output

    def pair(self, name, values, scale, zero, kind="int8"):
        """Quantised and back; the values that are left."""
        numbers = [self.constant(name + ".scale", np.array(scale, np.float32)),
                   self.constant(name + ".zero", np.array(zero, kind))]
        self.node("QuantizeLinear", [name] + numbers, name + ".q")
        self.node("DequantizeLinear", [name + ".q"] + numbers, name + ".r")
        bounds = (-128, 127) if kind == "int8" else (0, 255)
        whole = np.clip(np.rint(values / np.float64(np.float32(scale))) + zero, *bounds)
        self.values[name + ".r"] = (whole - zero) * np.float64(np.float32(scale))
        return name + ".r"

    def weights(self, name, shape, source_scale):
        """Of a scale for each output, and biases of the products' scales."""
        scales = random.uniform(0.002, 0.01, shape[0]).astype(np.float32)
        whole = random.integers(-127, 128, shape).astype(np.int8)
        biases = random.integers(-300, 300, shape[0]).astype(np.int32)
        wide = (scales * np.float32(source_scale)).astype(np.float32)
        self.node("DequantizeLinear", [self.constant(name + ".w", whole), self.constant(name + ".s", scales),
                                       self.constant(name + ".z", np.zeros(shape[0], np.int8))], name + ".weights", axis=0)
        self.node("DequantizeLinear", [self.constant(name + ".b", biases), self.constant(name + ".bs", wide),
                                       self.constant(name + ".bz", np.zeros(shape[0], np.int32))], name + ".biases", axis=0)
        return (whole * scales.astype(np.float64).reshape([-1] + [1] * (len(shape) - 1)),
                biases * wide.astype(np.float64))

    def convolve(self, name, source, shape, scale, group=1, stride=1, pad=1):
        w, b = self.weights(name, shape, scale)
        self.node("Conv", [source, name + ".weights", name + ".biases"], name, kernel_shape=list(shape[2:]), group=group,
                  strides=[stride, stride], pads=[pad, pad, pad, pad])
        x = np.pad(self.values[source], ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        rows = (x.shape[2] - shape[2]) // stride + 1
        y = np.zeros((1, shape[0], rows, rows))
        for o in range(shape[0]):
            first = o // (shape[0] // group) * shape[1]
            for i in range(shape[2]):
                for k in range(shape[3]):
                    part = x[0, first:first + shape[1], i:i + stride * rows:stride, k:k + stride * rows:stride]
                    y[0, o] += np.einsum("chw,c->hw", part, w[o, :, i, k])
            y[0, o] += b[o]
        self.values[name] = y
        return y

    def write(self, path, source, result):
        graph = b"".join(field(1, n) for n in self.nodes) + field(2, "quantised") + \
            b"".join(field(5, t) for t in self.initialisers) + field(11, port(*source)) + field(12, port(*result))
        with open(path, "wb") as file:
            file.write(field(1, 7) + field(7, graph) + field(8, field(1, "") + field(2, 14)))


def main(folder):
    m = Model()
    image = random.normal(0, 0.5, (1, 3, 16, 16))
    x = m.pair("image", image, 0.02, 3)
    given = np.rint(m.values[x] / np.float64(np.float32(0.02))) + 3
    y = m.convolve("first", x, (8, 3, 3, 3), 0.02, stride=2)
    m.node("Relu", ["first"], "rectified")
    a = m.pair("rectified", np.maximum(y, 0), 0.03, -128)
    y = m.convolve("deep", a, (8, 1, 3, 3), 0.03, group=8)
    m.constant("zero", np.array(0, np.float32))
    m.constant("six", np.array(6, np.float32))
    m.node("Clip", ["deep", "zero", "six"], "clipped")
    b = m.pair("clipped", np.clip(y, 0, 6), 6 / 255, 0, "uint8")
    y = m.convolve("point", b, (8, 8, 1, 1), 6 / 255, pad=0)
    c = m.pair("point", y, 0.05, 4)
    m.node("Add", [c, a], "sum")
    d = m.pair("sum", m.values[c] + m.values[a], 0.06, -10)
    m.node("MaxPool", [d], "most", kernel_shape=[2, 2], strides=[2, 2])
    v = m.values[d].reshape(1, 8, 4, 2, 4, 2).max((3, 5))
    e = m.pair("most", v, 0.06, -10)
    m.node("Concat", [e, e], "twice", axis=1)
    f = m.pair("twice", np.concatenate([m.values[e]] * 2, 1), 0.06, -10)
    m.node("GlobalAveragePool", [f], "mean")
    g = m.pair("mean", m.values[f].mean((2, 3), keepdims=True), 0.04, -20)
    y = m.convolve("scores", g, (5, 16, 1, 1), 0.04, pad=0)
    h = m.pair("scores", y, 0.05, 0)
    m.node("Flatten", [h], "flat")
    m.write(os.path.join(folder, "quantised.onnx"), ("image", (1, 3, 16, 16)), ("flat", (1, 5)))
    given.transpose(0, 2, 3, 1).astype(np.int32).tofile(os.path.join(folder, "quantised.in0"))
    np.rint(m.values[h] / 0.05).astype(np.float32).tofile(os.path.join(folder, "quantised.expected"))


main(*sys.argv[1:])
