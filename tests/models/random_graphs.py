"""Random ONNX graphs, whose results glcnn and ONNX Runtime compare.

    random_graphs.py make FOLDER [--first 0] [--count 2000]     writes SEED.onnx and SEED.in.json
    node onnxruntime.js FOLDER                                  writes SEED.out.json
    random_graphs.py compare FOLDER                             says what is right, wrong, refused
    random_graphs.py show --first SEED                          prints a graph

A graph has 2 to 8 random nodes, and the few that these need; it follows from its seed. Each is valid for
its opset, 7 to 25, and no image of a batch depends on another. Inputs and constants are multiples of 1/8,
so that operators that jump, comparisons and ArgMax, have operands that are exact, and sizes are small.
"""
import argparse
import json
import math
import os
import sys
import warnings

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import onnx_file  # noqa: E402

TOLERANCE = 1e-5  # of the largest value of the output
MOST = 4000       # numbers of a value
RANK = 6          # axes of a value


class NotHere(Exception):
    """The operator has no form for this value or opset."""


def need(condition):
    if not condition:
        raise NotHere


class Value:
    """A value of the graph. Axis `batch` is `images` times `extra`, the images the slower."""

    def __init__(self, name, shape, batch=0, extra=1, exact=False, bound=2.0):
        self.name, self.shape, self.batch, self.extra = name, tuple(shape), batch, extra
        self.exact, self.bound = exact and bound < 1e4, bound

    @property
    def rank(self):
        return len(self.shape)

    @property
    def free(self):
        """The axes that are not that of the batch."""
        return [i for i in range(self.rank) if i != self.batch]


class Graph:
    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.opset = self.int(7, 25)
        self.images = self.int(1, 3)
        self.open = self.chance(0.5)  # the file leaves the size of the batch open
        self.nodes, self.tensors, self.inputs, self.data = [], {}, {}, {}
        self.values, self.used, self.texts = [], set(), []
        self.input([self.int(1, 9), *(self.int(1, 12) for _ in range(self.pick([0, 1, 2, 2, 2, 2, 3])))])

    # ---- Chance ----

    def int(self, least, most):
        return int(self.random.integers(least, most + 1))

    def chance(self, share):
        return bool(self.random.random() < share)

    def pick(self, items):
        need(items)
        return items[self.int(0, len(items) - 1)]

    def some(self, items, least=1):
        """Some of the items, in any order."""
        need(len(items) >= least)
        order = self.random.permutation(len(items))
        return [items[i] for i in order[:self.int(least, len(items))]]

    def axis(self, axis, rank, since=11):
        """A number of that axis, from the end where the opset has that."""
        return axis - rank if self.opset >= since and self.chance(0.4) else axis

    # ---- Parts of the graph ----

    def numbers(self, shape, least=-16, most=16):
        return (self.random.integers(least, most + 1, shape) / 8).astype(numpy.float32)

    def input(self, shape):
        value = Value("x%d" % len(self.inputs), [self.images, *shape], exact=True)
        self.inputs[value.name] = ["N" if self.open else self.images, *shape]
        self.data[value.name] = self.numbers(value.shape)
        self.values.append(value)
        return value

    def constant(self, array):
        """The name of an initialiser, or of what a node Constant holds."""
        name = "c%d" % (len(self.tensors) + len(self.nodes))
        if self.chance(0.2):
            self.nodes.append(onnx_file.node("Constant", [], [name],
                                             value=onnx_file.Tensor(numpy.asarray(array))))
        else:
            self.tensors[name] = numpy.asarray(array)
        return name

    def wholes(self, numbers):
        return self.constant(numpy.array(numbers, dtype=numpy.int64))

    def spread(self, shape, **range_):
        """A constant of float numbers."""
        return self.constant(self.numbers(shape, **range_))

    def node(self, kind, inputs, outputs=1, **attributes):
        """Names of outputs; inputs are values or names."""
        self.used.update(i.name for i in inputs if isinstance(i, Value))
        made = ["v%d_%d" % (len(self.nodes), i) for i in range(outputs)]
        names = [i.name if isinstance(i, Value) else i for i in inputs]
        self.texts.append("%s = %s(%s) %s" % (", ".join(made), kind, ", ".join(names), attributes or ""))
        self.nodes.append(onnx_file.node(kind, names, made, "n%d" % len(self.nodes), **attributes))
        return made

    def give(self, name, shape, like, batch=None, extra=None, exact=False, bound=None):
        """A new value; what is not said is as that of `like`."""
        need(math.prod(shape) <= MOST and len(shape) <= RANK and min(shape, default=1) > 0)
        value = Value(name, shape, like.batch if batch is None else batch,
                      like.extra if extra is None else extra, exact,
                      like.bound if bound is None else bound)
        need(value.bound < 1e6)
        self.values.append(value)
        return value

    def make(self, kind, inputs, shape, like, batch=None, extra=None, exact=False, bound=None,
             **attributes):
        """A node of one output."""
        return self.give(self.node(kind, inputs, **attributes)[0], shape, like, batch, extra, exact, bound)

    def axes(self, kind, inputs, axes, shape, like, since, **rest):
        """A node whose axes are an attribute, from opset `since` on an input."""
        axes = [self.axis(a, like.rank) for a in axes]
        if self.opset >= since:
            return self.make(kind, [*inputs, self.wholes(axes)], shape, like, **rest)
        return self.make(kind, inputs, shape, like, axes=axes, **rest)

    def positive(self, x):
        """At least 0.5 everywhere."""
        y = self.make("Abs", [x], x.shape, x, exact=x.exact)
        return self.make("Add", [y, self.spread((), least=4, most=4)], x.shape, x, exact=x.exact,
                         bound=x.bound + 0.5)

    def broadcast_shape(self, x):
        """A shape that broadcasts with that of x, and that of both; the batch has one number of it."""
        shape = [1 if i == x.batch or self.chance(0.4) else n for i, n in enumerate(x.shape)]
        for i in x.free:
            if x.shape[i] == 1 and self.chance(0.3):
                shape[i] = self.int(1, 4)
        if self.chance(0.4):
            while shape and self.chance(0.7) and (shape[0] == 1 or shape[0] == x.shape[-len(shape)]):
                shape.pop(0)
        if self.chance(0.07) and len(shape) == x.rank:
            shape.insert(0, self.int(1, 2))
        return tuple(shape)

    def operand(self, x, **range_):
        """A constant or an image that x is broadcast with: (what a node reads, shape, exact, bound)."""
        images = [v for v in self.values if v is not x and self.fits(x, v)]
        if images and self.chance(0.4):
            y = self.pick(images)
            return y, y.shape, y.exact, y.bound
        if self.chance(0.1) and x.batch == 0 and x.extra == 1 and len(self.inputs) < 3:
            y = self.input([1 if self.chance(0.4) else n for n in x.shape[1:]])
            return y, y.shape, True, y.bound
        shape = self.broadcast_shape(x)
        return self.spread(shape, **range_), shape, True, 2.0

    def fits(self, x, y):
        """Can both be broadcast, their batches along one axis?"""
        try:
            shape = numpy.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            return False
        return (math.prod(shape) <= MOST and x.rank - x.batch == y.rank - y.batch and x.extra == y.extra)

    def joined(self, x, *shapes):
        """What x is broadcast with, and the axis of its batch."""
        try:
            shape = numpy.broadcast_shapes(x.shape, *shapes)
        except ValueError:
            raise NotHere from None
        return shape, x.batch + len(shape) - x.rank


# ---- Operators -------------------------------------------------------------------------------------

OPERATORS = []


def operator(weight=1, since=7):
    def add(function):
        OPERATORS.extend([(function, since)] * weight)
        return function
    return add


@operator(8)
def arithmetic(g, x):
    kind = g.pick(["Add", "Sub", "Mul", "Div", "Min", "Max"])
    if kind == "Div":
        shape = g.broadcast_shape(x)
        y = g.constant(g.numbers(shape, 4, 16) * g.random.choice([-1, 1], shape).astype(numpy.float32))
        full, batch = g.joined(x, shape)
        return g.make(kind, [x, y], full, x, batch, bound=2 * x.bound)
    y, shape, exact, bound = g.operand(x)
    need(g.opset >= 8 or kind not in ("Min", "Max") or shape == x.shape)
    full, batch = g.joined(x, shape)
    inputs = [x, y] if g.chance(0.6) else [y, x]
    bound = x.bound * bound if kind == "Mul" else x.bound + bound
    return g.make(kind, inputs, full, x, batch, exact=exact and x.exact and kind != "Mul", bound=bound)


@operator()
def divide(g, x):
    other = g.pick([v for v in g.values if g.fits(x, v)])
    shape, batch = g.joined(x, other.shape)
    y = g.positive(other)
    g.make("Div", [x, y], shape, x, batch, bound=2 * x.bound)


@operator()
def divide_constant(g, x):
    y, shape = g.positive(x), g.broadcast_shape(x)
    full, batch = g.joined(x, shape)
    g.make("Div", [g.spread(shape), y], full, x, batch, bound=4)


@operator(1, 8)
def sum_of_several(g, x):
    kind = g.pick(["Sum", "Mean", "Max", "Min"])
    others = [g.operand(x) for _ in range(g.int(1, 2))]
    shape, batch = g.joined(x, *(o[1] for o in others))
    g.make(kind, [x, *(o[0] for o in others)], shape, x, batch,
           exact=x.exact and kind != "Mean" and all(o[2] for o in others),
           bound=x.bound + sum(o[3] for o in others))


@operator()
def power(g, x):
    exponent = g.pick([2.0, 3.0, 0.5, 1.5, -1.0])
    y = x if exponent in (2, 3) else g.positive(x)
    need(y.bound < 20)
    g.make("Pow", [y, g.constant(numpy.full(g.pick([(), (1,)]), exponent, numpy.float32))], x.shape, x,
           bound=max(y.bound ** exponent, 2))


def condition(g, x):
    """The name of truths of x, and their shape; the same for each image where they are constant."""
    if g.chance(0.25):
        shape = g.broadcast_shape(x)
        return g.constant(g.random.random(shape) < 0.5), shape
    need(x.exact)
    kinds = ["Greater", "Less"] + ["Equal"] * (g.opset >= 11) + ["GreaterOrEqual", "LessOrEqual"] * (
        g.opset >= 12)
    y, shape, exact, _ = g.operand(x)
    need(exact)
    name = g.node(g.pick(kinds), [x, y] if g.chance(0.6) else [y, x])[0]
    shape = g.joined(x, shape)[0]
    if g.chance(0.2):
        name = g.node("Not", [name])[0]
    if g.chance(0.2):
        other = g.constant(g.random.random(shape[-1:]) < 0.5)
        name = g.node(g.pick(["And", "Or", "Xor"]), [name, other])[0]
    return name, shape


@operator(2)
def comparison(g, x):
    name, shape = condition(g, x)
    need(name not in g.tensors and name[0] != "c")
    g.make("Cast", [name], shape, x, x.batch + len(shape) - x.rank, exact=True, bound=1, to=1)


@operator(3, 9)
def where(g, x):
    name, truths = condition(g, x)
    y, shape, exact, bound = g.operand(x)
    full, batch = g.joined(x, truths, shape)
    g.make("Where", [name, x, y] if g.chance(0.6) else [name, y, x], full, x, batch,
           exact=exact and x.exact, bound=max(x.bound, bound))


UNARY = {"Relu": 7, "LeakyRelu": 7, "Sigmoid": 7, "Tanh": 7, "Elu": 7, "Softplus": 7, "Softsign": 7,
         "HardSigmoid": 7, "Abs": 7, "Neg": 7, "Selu": 7, "Celu": 12, "HardSwish": 14, "Mish": 18,
         "ThresholdedRelu": 10, "Erf": 9, "Gelu": 20, "Identity": 7, "Dropout": 7}
NUMBERS = {"LeakyRelu": ["alpha"], "Elu": ["alpha"], "HardSigmoid": ["alpha", "beta"], "Celu": ["alpha"],
           "ThresholdedRelu": ["alpha"], "Selu": ["alpha", "gamma"]}
EXACT = ["Relu", "Abs", "Neg", "Identity", "Dropout"]


@operator(6)
def activation(g, x):
    kind = g.pick([k for k, since in UNARY.items() if g.opset >= since])
    need(kind != "ThresholdedRelu" or x.exact)
    numbers = {n: g.int(1, 12) / 8 for n in NUMBERS.get(kind, []) if g.chance(0.6)}
    if kind == "Gelu" and g.chance(0.5):
        numbers = {"approximate": "tanh"}
    g.make(kind, [x], x.shape, x, exact=x.exact and kind in EXACT, bound=2 * x.bound + 1, **numbers)


@operator()
def steps(g, x):
    need(x.exact)
    kind = g.pick(["Floor", "Ceil"] + ["Sign"] * (g.opset >= 9) + ["Round"] * (g.opset >= 11))
    g.make(kind, [x], x.shape, x, exact=True, bound=x.bound + 1)


@operator()
def of_positive(g, x):
    kind = g.pick(["Log", "Sqrt", "Reciprocal", "Exp"])
    need(kind != "Exp" or x.bound < 4)
    g.make(kind, [x if kind == "Exp" else g.positive(x)], x.shape, x,
           bound=55 if kind == "Exp" else max(2, x.bound + 1))


@operator(2)
def clip(g, x):
    least, most = sorted([g.int(-12, 12) / 8, g.int(-12, 12) / 8])
    sides = g.pick([(True, True), (True, False), (False, True)])
    if g.opset >= 11:
        ends = [g.constant(numpy.float32(n)) if side else "" for n, side in zip((least, most), sides)]
        return g.make("Clip", [x, *ends[:2 if sides[1] else 1]], x.shape, x, exact=x.exact)
    ends = {n: v for n, v, side in zip(("min", "max"), (least, most), sides) if side}
    return g.make("Clip", [x], x.shape, x, exact=x.exact, **ends)


@operator()
def prelu(g, x):
    shape = [n if i and g.chance(0.5) else 1 for i, n in enumerate(x.shape)]
    shape = [1 if i == x.batch else n for i, n in enumerate(shape)]
    while shape and shape[0] == 1 and g.chance(0.6):
        shape.pop(0)
    g.make("PRelu", [x, g.spread(shape)], x.shape, x, bound=2 * x.bound)


# ---- Windows ----

def window(g, x):
    """Kernel, strides, dilations and pads of a window."""
    need(x.rank in (3, 4) and x.batch == 0)
    plane = x.rank - 2
    kernel, stride = [[g.int(1, n) for _ in range(plane)] for n in (4, 3)]
    dilation = [g.int(1, 2) if g.chance(0.3) else 1 for _ in range(plane)]
    pads = [g.int(0, k - 1) if k > 1 and g.chance(0.5) else 0 for k in kernel * 2]
    return kernel, stride, dilation, pads


def window_sizes(x, kernel, stride, dilation, pads, ceil=False):
    sizes = []
    for i, n in enumerate(x.shape[2:]):
        span = n + pads[i] + pads[i + len(kernel)] - (dilation[i] * (kernel[i] - 1) + 1)
        need(span >= 0)
        size = (span + (stride[i] - 1 if ceil else 0)) // stride[i] + 1
        sizes.append(size - (ceil and (size - 1) * stride[i] >= n + pads[i]))
    return sizes


def same(g, x, kernel, stride):
    need(all(k >= s for k, s in zip(kernel, stride)))
    return g.pick(["SAME_UPPER", "SAME_LOWER"]), [-(-n // s) for n, s in zip(x.shape[2:], stride)]


@operator(5)
def convolution(g, x):
    kernel, stride, dilation, pads = window(g, x)
    channels = x.shape[1]
    group = g.pick([d for d in range(1, channels + 1) if channels % d == 0]) if g.chance(0.4) else 1
    outputs = group * g.int(1, max(9 // group, 1))
    attributes = {"strides": stride, "group": group}
    if g.chance(0.15):
        attributes["auto_pad"], sizes = same(g, x, kernel, stride)
    else:
        attributes.update(pads=pads, dilations=dilation)
        sizes = window_sizes(x, kernel, stride, dilation, pads)
    if g.chance(0.7):
        attributes["kernel_shape"] = kernel
    need(g.images * x.extra * outputs * math.prod(sizes) <= MOST)
    inputs = [x, g.spread([outputs, channels // group, *kernel])]
    inputs += [g.spread([outputs])] if g.chance(0.6) else []
    g.make("Conv", inputs, [x.shape[0], outputs, *sizes], x,
           bound=x.bound * channels // group * math.prod(kernel) + 2, **attributes)


@operator(2)
def convolution_transpose(g, x):
    kernel, stride, dilation, pads = window(g, x)
    channels = x.shape[1]
    group = g.pick([d for d in range(1, channels + 1) if channels % d == 0]) if g.chance(0.3) else 1
    outputs = g.int(1, max(9 // group, 1))
    half = len(kernel)
    extra = [g.int(0, s - 1) if g.chance(0.3) else 0 for s in stride]
    sizes = [s * (n - 1) + e + d * (k - 1) + 1 - pads[i] - pads[i + half] for i, (n, k, s, d, e) in
             enumerate(zip(x.shape[2:], kernel, stride, dilation, extra))]
    need(min(sizes) > 0 and g.images * x.extra * outputs * group * math.prod(sizes) <= MOST)
    inputs = [x, g.spread([channels, outputs, *kernel])]
    inputs += [g.spread([outputs * group])] if g.chance(0.6) else []
    g.make("ConvTranspose", inputs, [x.shape[0], outputs * group, *sizes], x, strides=stride,
           dilations=dilation, pads=pads, output_padding=extra, group=group,
           bound=x.bound * channels * math.prod(kernel) + 2)


@operator(4)
def pool(g, x):
    kernel, stride, dilation, pads = window(g, x)
    kind = g.pick(["MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool"])
    attributes = {"kernel_shape": kernel, "strides": stride}
    if g.opset < {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[kind]:
        dilation = [1] * len(kernel)
    elif kind != "AveragePool":
        attributes["dilations"] = dilation
    else:
        dilation = [1] * len(kernel)
    ceil = g.chance(0.4) and g.opset >= {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}[kind]
    if ceil:
        attributes["ceil_mode"] = 1
    if kind == "AveragePool" and g.chance(0.4):
        attributes["count_include_pad"] = 1
    if kind == "LpPool":
        attributes["p"] = g.int(1, 2)
    if g.chance(0.15) and not ceil and max(dilation) == 1:
        attributes["auto_pad"], sizes = same(g, x, kernel, stride)
    else:
        attributes["pads"] = pads
        sizes = window_sizes(x, kernel, stride, dilation, pads, ceil)
    g.make(kind, [x], [*x.shape[:2], *sizes], x, exact=x.exact and kind == "MaxPool",
           bound=x.bound * (16 if kind == "LpPool" else 1), **attributes)


@operator()
def pool_global(g, x):
    need(x.rank in (3, 4) and x.batch == 0)
    kind = g.pick(["GlobalAveragePool", "GlobalMaxPool"] + ["GlobalLpPool"] * (g.opset < 22))
    g.make(kind, [x], [*x.shape[:2], *[1] * (x.rank - 2)], x, exact=x.exact and kind == "GlobalMaxPool",
           bound=x.bound * (12 if kind == "GlobalLpPool" else 1))


@operator(3)
def resize(g, x):
    need(x.rank == 4 and x.batch == 0)
    mode = g.pick(["nearest", "linear"])
    scales = [g.pick([2.0, 3.0, 2.0, 0.5, 1.5, 1.0]) for _ in range(2)]
    sizes = [int(math.floor(n * s)) for n, s in zip(x.shape[2:], scales)]
    need(min(sizes) > 0 and x.shape[0] * x.shape[1] * math.prod(sizes) <= MOST)
    shape, exact = [*x.shape[:2], *sizes], x.exact and mode == "nearest"
    numbers = numpy.array([1, 1, *scales], numpy.float32)
    if g.opset < 10:
        need(min(scales) >= 1)
        if g.opset >= 9:
            return g.make("Upsample", [x, g.constant(numbers)], shape, x, exact=exact, mode=mode)
        return g.make("Upsample", [x], shape, x, exact=exact, mode=mode,
                      scales=[float(n) for n in numbers])
    if g.opset == 10:
        return g.make("Resize", [x, g.constant(numbers)], shape, x, exact=exact, mode=mode)
    attributes = {"mode": mode, "coordinate_transformation_mode": g.pick(
        ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])}
    if mode == "nearest":
        attributes["nearest_mode"] = g.pick(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    first = 0
    if g.opset >= 18 and g.chance(0.4):
        attributes["axes"], first = [2, 3], 2
    none = g.constant(numpy.zeros(0, numpy.float32)) if g.opset < 13 or g.chance(0.2) else ""
    roi = none
    if g.chance(0.3) and not (g.open and not first):
        return g.make("Resize", [x, roi, none, g.wholes(shape[first:])], shape, x, exact=exact, **attributes)
    return g.make("Resize", [x, roi, g.constant(numbers[first:])], shape, x, exact=exact, **attributes)


@operator(2, 11)
def resize_products(g, x):
    """What no kernel has: cubic, and linear of other axes than rows and columns."""
    need(x.batch == 0 and x.rank >= 3)
    is_cubic = x.rank == 4 and g.chance(0.7)
    axes = [2, 3] if is_cubic else g.some(x.free)[:3]
    # ONNX Runtime resizes two axes, the last or the channels' neighbours, or three of five linearly.
    need(is_cubic or (x.rank == 5 and all(a >= 2 for a in axes)))
    scales = [g.pick([2.0, 3.0, 0.5, 1.5, 1.0, 0.75]) if i in axes else 1.0 for i in range(x.rank)]
    shape = [int(math.floor(n * s)) for n, s in zip(x.shape, scales)]
    need(min(shape) > 0)
    positions = ["half_pixel", "asymmetric", "pytorch_half_pixel"]
    if all(n * s == int(n * s) for n, s in zip(x.shape, scales)):
        positions.append("align_corners")
    attributes = {"mode": "cubic" if is_cubic else "linear",
                  "coordinate_transformation_mode": g.pick(positions)}
    if is_cubic and g.chance(0.5):
        attributes["cubic_coeff_a"] = g.pick([-0.5, -0.625])
    if is_cubic and g.chance(0.4):
        attributes["exclude_outside"] = 1
    none = g.constant(numpy.zeros(0, numpy.float32)) if g.opset < 13 else ""
    if g.chance(0.3) and not g.open:
        return g.make("Resize", [x, none, none, g.wholes(shape)], shape, x, bound=4 * x.bound, **attributes)
    return g.make("Resize", [x, none, g.constant(numpy.array(scales, numpy.float32))], shape, x,
                  bound=4 * x.bound, **attributes)


@operator(2, 11)
def cumulative_sum(g, x):
    need(x.free)
    axis = g.pick(x.free)
    attributes = {n: 1 for n in ("exclusive", "reverse") if g.chance(0.4)}
    g.make("CumSum", [x, g.constant(numpy.array(g.axis(axis, x.rank), numpy.int64))], x.shape, x,
           bound=x.bound * x.shape[axis], **attributes)


# ---- Normalisation ----

@operator(2)
def normalization_batch(g, x):
    need(x.rank >= 2 and x.batch == 0)
    size = (x.shape[1],)
    vectors = [g.spread(size), g.spread(size), g.spread(size), g.spread(size, least=4)]
    rest = {"epsilon": 1e-3} if g.chance(0.5) else {}
    g.make("BatchNormalization", [x, *vectors], x.shape, x, bound=3 * x.bound + 8, **rest)


@operator()
def normalization_instance(g, x):
    need(x.rank >= 3 and x.batch == 0 and math.prod(x.shape[2:]) > 3)
    size = (x.shape[1],)
    g.make("InstanceNormalization", [x, g.spread(size), g.spread(size)], x.shape, x, bound=8,
           epsilon=0.125)


@operator(2, 17)
def normalization_layer(g, x):
    axis = g.int(x.batch + 1, x.rank)
    need(axis < x.rank and math.prod(x.shape[axis:]) > 2)
    size = x.shape[axis:]
    g.make("LayerNormalization", [x, g.spread(size)] + [g.spread(size)] * g.int(0, 1), x.shape, x,
           bound=8, axis=g.axis(axis, x.rank), epsilon=0.125)


@operator(1, 21)
def normalization_group(g, x):
    need(x.rank >= 3 and x.batch == 0)
    channels = x.shape[1]
    groups = g.pick([d for d in range(1, channels + 1) if channels % d == 0])
    need(math.prod(x.shape[1:]) // groups > 2)
    g.make("GroupNormalization", [x, g.spread((channels,)), g.spread((channels,))], x.shape, x, bound=8,
           num_groups=groups, epsilon=0.125)


@operator()
def normalization_response(g, x):
    need(x.rank == 4 and x.batch == 0)
    g.make("LRN", [x], x.shape, x, size=g.pick([1, 3, 5]), alpha=0.25, beta=0.75, bias=1.0)


@operator(3)
def soft_max(g, x):
    kind = g.pick(["Softmax", "Softmax", "LogSoftmax"])
    axis = g.pick(x.free)
    need(g.opset >= 13 or x.batch < axis)
    rest = {"axis": g.axis(axis, x.rank)}
    if axis == (x.rank - 1 if g.opset >= 13 else 1) and g.chance(0.5):
        rest = {}
    g.make(kind, [x], x.shape, x, bound=2 * x.bound + 10 if kind[0] == "L" else 1, **rest)


# ---- Sums along axes ----

REDUCTIONS = ["Sum", "Mean", "Mean", "Max", "Min", "L1", "L2", "SumSquare", "LogSum", "LogSumExp", "Prod"]


def reduced(x, axes, keep):
    shape = [1 if i in axes else n for i, n in enumerate(x.shape) if keep or i not in axes]
    return shape, x.batch if keep else x.batch - sum(a < x.batch for a in axes)


@operator(5)
def reduction(g, x):
    kind = g.pick(REDUCTIONS)
    axes, keep = g.some(x.free), g.chance(0.5)
    count = math.prod(x.shape[i] for i in axes)
    need(kind != "Prod" or (count <= 4 and x.bound < 16))
    need(kind != "LogSumExp" or x.bound < 20)
    if kind == "LogSum":
        x = g.positive(x)
    shape, batch = reduced(x, axes, keep)
    bound = {"Max": 1, "Min": 1, "Mean": 1, "SumSquare": count * x.bound}.get(kind, count) * x.bound + 5
    if kind == "Prod":
        bound = x.bound ** count
    rest = {} if keep and g.chance(0.5) else {"keepdims": int(keep)}
    g.axes("Reduce" + kind, [x], axes, shape, x, 13 if kind == "Sum" else 18, batch=batch,
           exact=x.exact and kind in ("Max", "Min"), bound=bound, **rest)


@operator()
def argument(g, x):
    need(x.exact)
    axis, keep = g.pick(x.free), g.chance(0.5)
    need(x.shape[axis] > 1)
    shape, batch = reduced(x, [axis], keep)
    name = g.node(g.pick(["ArgMax", "ArgMin"]), [x], axis=g.axis(axis, x.rank), keepdims=int(keep))[0]
    g.make("Cast", [name], shape, x, batch, exact=True, bound=12, to=1)


# ---- Shapes ----

@operator(5)
def transpose(g, x):
    order = [int(i) for i in g.random.permutation(x.rank)]
    if g.chance(0.6):
        order.remove(x.batch)
        order.insert(x.batch, x.batch)
    g.make("Transpose", [x], [x.shape[i] for i in order], x, order.index(x.batch), exact=x.exact,
           perm=order)


def factors(g, count, most=3):
    """Sizes whose product is that."""
    sizes = []
    while count > 1 and len(sizes) < most - 1 and g.chance(0.7):
        size = g.pick([d for d in range(1, count + 1) if count % d == 0])
        sizes.append(size)
        count //= size
    return sizes + [count] if count > 1 or g.chance(0.3) else sizes


def reshape_target(g, x, shape, batch):
    """The shape's text in the file: 0 and -1 where they may be, the batch by one of them if it is open."""
    target = list(shape)
    same_place = batch < x.rank and x.shape[batch] == shape[batch]
    guess = batch if g.open and not (same_place and x.batch == batch and g.chance(0.5)) else -1
    if guess < 0 and g.chance(0.5):
        guess = g.pick([i for i in range(len(shape)) if i != batch or not g.open] or [-1])
    for i, n in enumerate(shape):
        if (i == batch and g.open) or (i < x.rank and x.shape[i] == n and g.chance(0.3)):
            target[i] = 0
    if guess >= 0:
        target[guess] = -1
    return target


@operator(6)
def reshape(g, x):
    before, behind = math.prod(x.shape[:x.batch]), math.prod(x.shape[x.batch + 1:])
    extra, head, tail = x.extra, factors(g, before), factors(g, behind, 4)
    if extra > 1 and g.chance(0.7):
        tail, extra = [extra, *tail], 1
    elif tail and g.chance(0.12):
        extra *= tail.pop(0)
    shape, batch = [*head, g.images * extra, *tail], len(head)
    need(not g.open or extra == x.extra or 0 not in reshape_target(g, x, shape, batch)[batch:batch + 1])
    target = reshape_target(g, x, shape, batch)
    if g.open and extra != x.extra:
        target = [-1 if i == batch else n for i, n in enumerate(shape)]
    name = g.wholes(target)
    if target[0] in (0, g.images) and batch == 0 and x.batch == 0 and extra == x.extra and g.chance(0.3):
        name = computed_shape(g, x, target)
    g.make("Reshape", [x, name], shape, x, batch, extra, exact=x.exact)


def computed_shape(g, x, target):
    """The size of the batch by Shape and Gather, as exporters write it."""
    sizes = g.node("Shape", [x])[0]
    first = g.node("Gather", [sizes, g.wholes([0])], axis=0)[0]
    rest = [n if n else x.shape[i + 1] for i, n in enumerate(target[1:])]
    return g.node("Concat", [first, g.wholes(rest)], axis=0)[0]


@operator()
def flatten(g, x):
    need(x.batch == 0)
    axis = g.pick([1, 1, 1, g.int(1, x.rank)])
    extra = x.extra * math.prod(x.shape[1:axis])
    rest = {} if axis == 1 and g.chance(0.5) else {"axis": g.axis(axis, x.rank) if axis < x.rank else axis}
    g.make("Flatten", [x], [g.images * extra, math.prod(x.shape[axis:])], x, 0, extra, exact=x.exact,
           **rest)


@operator(2)
def squeeze(g, x):
    ones = [i for i in x.free if x.shape[i] == 1]
    axes = sorted(g.some(ones))
    shape, batch = reduced(x, axes, False)
    g.axes("Squeeze", [x], axes, shape, x, 13, batch=batch, exact=x.exact)


@operator(2)
def unsqueeze(g, x):
    rank = x.rank + g.int(1, 2)
    axes = sorted(int(i) for i in g.random.permutation(rank)[:rank - x.rank])
    shape, at = [], iter(x.shape)
    kept = [i for i in range(rank) if i not in axes]
    shape = [1 if i in axes else next(at) for i in range(rank)]
    shown = [g.axis(a, rank) for a in axes]
    if g.opset >= 13:
        return g.make("Unsqueeze", [x, g.wholes(shown)], shape, x, kept[x.batch], exact=x.exact)
    return g.make("Unsqueeze", [x], shape, x, kept[x.batch], exact=x.exact, axes=shown)


@operator(3)
def concatenation(g, x):
    axis = g.pick(x.free)
    def alike(v):
        return v.rank == x.rank and v.batch == x.batch and v.extra == x.extra and all(
            a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)) if i != axis)
    parts = [g.pick([v for v in g.values if alike(v)]) for _ in range(g.int(1, 2))]
    inputs, size = [x, *parts], x.shape[axis] + sum(p.shape[axis] for p in parts)
    if g.images == 1 and not g.open and x.extra == 1 and g.chance(0.5):
        shape = [g.int(1, 3) if i == axis else n for i, n in enumerate(x.shape)]
        inputs.append(g.spread(shape))
        size += shape[axis]
    order = [int(i) for i in g.random.permutation(len(inputs))]
    g.make("Concat", [inputs[i] for i in order], [size if i == axis else n for i, n in enumerate(x.shape)], x,
           exact=all(p.exact for p in [x, *parts]), bound=max(p.bound for p in [x, *parts]),
           axis=g.axis(axis, x.rank))


@operator(2)
def split(g, x):
    axis = g.pick([i for i in x.free if x.shape[i] > 1] or x.free)
    size, count = x.shape[axis], g.int(2, 3)
    need(size >= count)
    cuts = sorted(int(i) + 1 for i in g.random.permutation(size - 1)[:count - 1])
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, size])]
    rest, inputs = {"axis": g.axis(axis, x.rank)}, [x]
    if size % count == 0 and g.chance(0.5):
        sizes = [size // count] * count
        rest.update({"num_outputs": count} if g.opset >= 18 else {})
    elif g.opset >= 13:
        inputs.append(g.wholes(sizes))
    else:
        rest["split"] = sizes
    names = g.node("Split", inputs, count, **rest)
    for name, n in zip(names, sizes):
        g.give(name, [n if i == axis else m for i, m in enumerate(x.shape)], x, exact=x.exact)


@operator(4)
def slice_(g, x):
    axes = g.some(x.free)
    starts, ends, steps, shape = [], [], [], list(x.shape)
    for axis in axes:
        size = x.shape[axis]
        step = g.pick([1, 1, 2, 3, -1, -2]) if g.opset >= 10 else 1
        first = g.int(0, size - 1)
        last = g.int(first + 1, size) if step > 0 else g.int(-1, first - 1)
        shape[axis] = len(range(first, last, step))
        far = 2 ** 63 - 1 if g.opset >= 10 and g.chance(0.5) else size + 3
        if step > 0 and last == size and g.chance(0.5):
            last = far
        elif last == -1:
            last = -far
        elif g.chance(0.3) and last < size:
            last -= size
        starts.append(first - size if g.chance(0.3) else first)
        ends.append(last)
        steps.append(step)
    if g.opset < 10:
        return g.make("Slice", [x], shape, x, exact=x.exact, starts=starts, ends=ends, axes=axes)
    inputs = [x, g.wholes(starts), g.wholes(ends), g.wholes([g.axis(a, x.rank) for a in axes])]
    if any(s != 1 for s in steps) or g.chance(0.3):
        inputs.append(g.wholes(steps))
    return g.make("Slice", inputs, shape, x, exact=x.exact)


@operator(2)
def gather(g, x):
    axis = g.pick(x.free)
    indices = g.pick([(), (1,), (g.int(1, 5),), (g.int(1, 3), g.int(1, 3))])
    numbers = g.random.integers(-x.shape[axis] if g.opset >= 11 else 0, x.shape[axis], indices)
    shape = [*x.shape[:axis], *indices, *x.shape[axis + 1:]]
    batch = x.batch + (len(indices) - 1 if axis < x.batch else 0)
    g.make("Gather", [x, g.wholes(numbers)], shape, x, batch, exact=x.exact,
           **({} if axis == 0 and g.chance(0.5) else {"axis": g.axis(axis, x.rank)}))


@operator(3)
def pad(g, x):
    mode = g.pick(["constant", "constant", "reflect", "edge"])
    axes = g.some(x.free)
    begin, end = [0] * x.rank, [0] * x.rank
    for i in axes:
        most = 3 if mode != "reflect" else min(x.shape[i] - 1, 3)
        begin[i], end[i] = g.int(0, most), g.int(0, most)
    if mode == "constant" and g.chance(0.15) and x.shape[axes[0]] > 1:
        begin[axes[0]] = -1
    shape = [n + a + b for n, a, b in zip(x.shape, begin, end)]
    value = g.int(-8, 8) / 8
    rest = {} if mode == "constant" and g.chance(0.5) else {"mode": mode}
    if g.opset < 11:
        rest.update({"value": value} if mode == "constant" else {})
        return g.make("Pad", [x], shape, x, exact=x.exact, pads=begin + end, **rest)
    inputs = [x]
    if g.opset >= 18 and g.chance(0.4):
        inputs += [g.wholes([begin[i] for i in axes] + [end[i] for i in axes]),
                   g.constant(numpy.float32(value)), g.wholes([g.axis(a, x.rank) for a in axes])]
    else:
        inputs += [g.wholes(begin + end)]
        inputs += [g.constant(numpy.float32(value))] if g.chance(0.5) else []
    return g.make("Pad", inputs, shape, x, exact=x.exact, **rest)


@operator(2, 8)
def expand(g, x):
    shape = [g.int(1, 4) if n == 1 and i != x.batch else n for i, n in enumerate(x.shape)]
    asked = [1 if i == x.batch or g.chance(0.4) and shape[i] == n else shape[i]
             for i, n in enumerate(x.shape)]
    if g.chance(0.2):
        shape, asked = [2, *shape], [2, *asked]
    g.make("Expand", [x, g.wholes(asked)], shape, x, x.batch + len(shape) - x.rank, exact=x.exact)


@operator()
def tile(g, x):
    times = [1 if i == x.batch else g.pick([1, 1, 2, 3]) for i in range(x.rank)]
    g.make("Tile", [x, g.wholes(times)], [n * t for n, t in zip(x.shape, times)], x, exact=x.exact)


@operator()
def blocks(g, x):
    need(x.rank == 4 and x.batch == 0)
    n, c, h, w = x.shape
    size = g.int(2, 3)
    if c % (size * size) == 0:
        rest = {"mode": g.pick(["DCR", "CRD"])} if g.opset >= 11 and g.chance(0.7) else {}
        return g.make("DepthToSpace", [x], [n, c // size ** 2, h * size, w * size], x, exact=x.exact,
                      blocksize=size, **rest)
    need(h % size == 0 and w % size == 0)
    return g.make("SpaceToDepth", [x], [n, c * size ** 2, h // size, w // size], x, exact=x.exact,
                  blocksize=size)


# ---- Products ----

@operator(4)
def matmul(g, x):
    need(x.rank >= 2)
    side = g.pick(["right", "right", "vector", "left", "itself"])
    inner, outer = x.shape[-1], g.int(1, 7)
    if side in ("right", "vector"):
        need(x.batch < x.rank - 1)
        if side == "vector":
            shape, full = (inner,), x.shape[:-1]
        else:
            lead = [n if i != x.batch and g.chance(0.2) else 1 for i, n in enumerate(x.shape[:-2])]
            shape = (*lead[g.int(0, len(lead)):], inner, outer)
            full = (*x.shape[:-1], outer)
        need(side != "vector" or len(full) > 0)
        return g.make("MatMul", [x, g.spread(shape)], full, x, bound=2 * inner * x.bound)
    need(x.batch < x.rank - 2)
    if side == "left":
        return g.make("MatMul", [g.spread((outer, x.shape[-2])), x], (*x.shape[:-2], outer, inner), x,
                      bound=2 * x.shape[-2] * x.bound)
    order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    y = g.make("Transpose", [x], [x.shape[i] for i in order], x, exact=x.exact, perm=order)
    inputs, size = ([x, y], x.shape[-2]) if g.chance(0.5) else ([y, x], inner)
    return g.make("MatMul", inputs, (*x.shape[:-2], size, size), x, bound=x.bound ** 2 * 12)


@operator(3)
def gemm(g, x):
    need(x.rank == 2)
    inner, outer = x.shape[1 - x.batch], g.int(1, 9)
    rest = {n: g.int(1, 12) / 8 for n in ("alpha", "beta") if g.chance(0.3)}
    rest.update({"transA": 1} if x.batch else {})
    shape = (inner, outer)
    if g.chance(0.5):
        rest["transB"], shape = 1, (outer, inner)
    inputs = [x, g.spread(shape)]
    if g.opset < 11 or g.chance(0.7):
        inputs.append(g.spread(g.pick([(outer,), (1, outer), (1,), (1, 1), ()])))
    g.make("Gemm", inputs, (x.shape[x.batch], outer), x, 0, bound=3 * inner * x.bound + 2, **rest)


EQUATIONS = {2: [("ab,bc->ac", "c"), ("ab,cb->ac", "c"), ("ab,b->ab", "c"), ("ab,b->a", "c")],
             3: [("abc,cd->abd", "c"), ("abc,bd->adc", "c"), ("abc,adc->abd", "x"), ("abc,abd->acd", "x"),
                 ("abc,abc->ab", "x"), ("abc,bc->a", "c")],
             4: [("abcd,be->aecd", "c"), ("abcd,abed->abce", "x"), ("abcd,abce->abde", "x"),
                 ("abcd,bed->abce", "c"), ("abcd,abcd->acd", "x"), ("abcd,de->abce", "c"),
                 ("abcd,aecd->abe", "x"), ("abcd,cb->acbd", "c")]}


@operator(2, 12)
def einsum(g, x):
    need(x.rank in EQUATIONS and x.batch == 0)
    equation, other = g.pick(EQUATIONS[x.rank])
    (first, second), result = equation.split("->")[0].split(","), equation.split("->")[1]
    sizes = dict(zip(first, x.shape))
    for letter in second:
        sizes.setdefault(letter, g.int(1, 5))
    shape = [sizes[s] for s in second]
    if other == "x":
        found = [v for v in g.values if v.batch == 0 and v.extra == x.extra and v.rank == len(second) and all(
            n == sizes[s] for s, n in zip(second, v.shape) if s in first)]
        y = g.pick(found or [x])
        need(found)
        sizes.update(zip(second, y.shape))
        bound = y.bound
    else:
        y, bound = g.spread(shape), 2
    summed = math.prod(n for s, n in sizes.items() if s not in result)
    if g.chance(0.3):
        equation = equation.replace(",", ", ").replace("->", " -> ")
    g.make("Einsum", [x, y], [sizes[s] for s in result], x, bound=x.bound * bound * summed,
           equation=equation)


# ---- Graphs ----------------------------------------------------------------------------------------

def saved(g):
    return (len(g.nodes), dict(g.tensors), dict(g.inputs), dict(g.data), list(g.values), set(g.used),
            list(g.texts))


def restored(g, state):
    del g.nodes[state[0]:]
    _, g.tensors, g.inputs, g.data, g.values, g.used, g.texts = state


def graph(seed):
    g = Graph(seed)
    usable = [f for f, since in OPERATORS if g.opset >= since]
    left = g.int(2, 8)
    while left:
        state, function = saved(g), g.pick(usable)
        x = g.values[-1] if g.chance(0.7) else g.pick(g.values)
        try:
            function(g, x)
            left -= 1
        except NotHere:
            restored(g, state)
    return g


def finish(g):
    """What no node reads is an output."""
    return {v.name: v.shape for v in g.values if v.name not in g.used and v.name not in g.inputs}


def written(folder, seed):
    g = graph(seed)
    outputs = {name: ["d%d" % i for i in range(len(shape))] if g.open else list(shape)
               for name, shape in finish(g).items()}
    onnx_file.write(os.path.join(folder, "%d.onnx" % seed), {n: s for n, s in g.inputs.items() if n in g.used},
                    outputs, g.nodes, g.tensors, g.opset)
    with open(os.path.join(folder, "%d.in.json" % seed), "w", encoding="utf-8") as file:
        json.dump({name: {"dims": array.shape, "data": [float(n) for n in array.ravel()]}
                   for name, array in g.data.items() if name in g.used}, file)


def show(seed):
    g = graph(seed)
    print("opset %d, %d images%s" % (g.opset, g.images, " of an open batch" if g.open else ""))
    for value in g.values:
        print(" ", value.name, value.shape, "batch: axis", value.batch)
    for name, array in g.tensors.items():
        print(" ", name, array.shape, array.tolist() if array.size < 9 else "")
    print("\n".join(g.texts))


def arrays(path):
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    return found["error"] if "error" in found else {
        name: numpy.array(row["data"], numpy.float32).reshape(row["dims"]) for name, row in found.items()}


def difference(got, wanted):
    """What is wrong with an output; None: nothing."""
    if got.shape != wanted.shape:
        return "shape %s for %s" % (got.shape, wanted.shape)
    worst = numpy.abs(got - wanted).max(initial=0)
    if not worst <= TOLERANCE * max(numpy.abs(wanted).max(initial=0), 1):
        return "%.3g of %.3g" % (worst, numpy.abs(wanted).max(initial=0))
    return None


def compared(folder, seed):
    """A word, and what there is to say."""
    import glcnn
    path = os.path.join(folder, "%d." % seed)
    wanted = arrays(path + "out.json")
    if isinstance(wanted, str):
        return "invalid", wanted
    given = arrays(path + "in.json")
    try:
        network = glcnn.onnx(path + "onnx")
    except glcnn.Error as error:
        return "refused", str(error)
    try:
        got = network.predict(given if len(given) > 1 else next(iter(given.values())))
    except (glcnn.Error, ValueError) as error:
        return "failed", str(error)
    got = got if isinstance(got, dict) else {next(iter(wanted)): got}
    for name in wanted:
        said = difference(numpy.asarray(got[name]), wanted[name])
        if said:
            return "wrong", "%s: %s" % (name, said)
    return "right", ""


def compare(folder, seeds):
    warnings.simplefilter("ignore")
    counts = {}
    for seed in seeds:
        word, said = compared(folder, seed)
        counts[word] = counts.get(word, 0) + 1
        if word != "right":
            print(seed, word, said, flush=True)
    print(", ".join("%d %s" % (n, word) for word, n in sorted(counts.items())))
    return 1 if set(counts) & {"wrong", "failed", "invalid"} else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["make", "compare", "show"])
    parser.add_argument("folder", nargs="?", default="build/random_graphs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=2000, help="how many")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.count)
    if given.what == "compare":
        return compare(given.folder, seeds)
    if given.what == "show":
        return show(given.first)
    os.makedirs(given.folder, exist_ok=True)
    for seed in seeds:
        written(given.folder, seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
