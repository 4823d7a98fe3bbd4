#!/usr/bin/python3
"""Random configurations of every operation that PyTorch has, on the device against autograd.

  tests/golden/differential.py [--library build/libglcnn.so] [--seed S] [--count N] [--only INDEX]

Run by hand; needs python3-torch. Everything is one process, by glcnn_run of include/glcnn/run.h.
Configuration INDEX depends on the seed and INDEX alone, and --only repeats it, in words. Numbers
keep their distance from where a gradient jumps: maxima have no ties, and nothing is near a kink.
Prints for each operation how many configurations it had, the largest error of any array relative to
max(1, largest |expected|), and where, and which kernels none of them ran; the status is 1 if one is
above 1e-4 or could not be run.
"""
import argparse
import collections
import ctypes
import pathlib
import random
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

import torch_operations as ops
from torch_operations import draw

BOUND = 1e-4
DEVICE_LASTS = 200  # configurations; a device keeps every program that it compiled


# ---- The library ----

class Array(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("rank", ctypes.c_uint32),
                ("shape", ctypes.c_uint32 * 8), ("data", ctypes.POINTER(ctypes.c_float))]


class Setting(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_double), ("whole", ctypes.c_uint64)]


def array_in(name, value):
    value = np.ascontiguousarray(value)
    made = Array(name.encode(), value.ndim, (ctypes.c_uint32 * 8)(*value.shape),
                 value.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
    made.owner = value
    return made


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        for name in ("glcnn_device_destroy", "glcnn_run_destroy"):
            getattr(self.c, name).restype = None
        self.c.glcnn_kernel_count.restype = ctypes.c_size_t
        self.c.glcnn_kernel_info_at.restype = ctypes.POINTER(ctypes.c_char_p)  # its first member
        self.device, self.error = ctypes.c_void_p(), ctypes.create_string_buffer(512)
        self.ran = set()
        self.open()

    def kernels(self):
        return [self.c.glcnn_kernel_info_at(ctypes.c_size_t(i))[0].decode()
                for i in range(self.c.glcnn_kernel_count())]

    def open(self):
        self.c.glcnn_device_destroy(ctypes.byref(self.device))
        if self.c.glcnn_device_create(None, ctypes.byref(self.device)) != 0:
            sys.exit("there is no device: glcnn info tells why")

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.error.value.decode())

    def run(self, case):
        """Outputs by name."""
        kernel, words = case.kernel.encode(), ops.words_of(case)
        settings, inputs = (Setting * len(words))(), ops.arrays_of(case)[0]
        for word, setting in zip(words, settings):
            self.check(self.c.glcnn_setting_parse(kernel, word.encode(), ctypes.byref(setting),
                                                  self.error))
        owned = [array_in(*item) for item in inputs.items()]
        given, found, count = (Array * len(owned))(*owned), ctypes.POINTER(Array)(), \
            ctypes.c_size_t()
        self.check(self.c.glcnn_run(self.device, kernel, settings, ctypes.c_size_t(len(words)),
                                    given, ctypes.c_size_t(len(owned)), None, ctypes.byref(found),
                                    ctypes.byref(count), self.error))
        outputs = {}
        for a in found[:count.value]:
            shape = tuple(a.shape[:a.rank])
            values = np.ctypeslib.as_array(a.data, (int(np.prod(shape)),))
            outputs[a.name.decode()] = values.copy().reshape(shape)
        self.c.glcnn_run_destroy(found)
        self.ran.add(case.kernel)
        return outputs


# ---- What to draw from ----

def exact(x):
    """x as float32 holds it, to be differentiated by."""
    return x.detach().float().double().requires_grad_()


def spaced(*shape, low=-2.0, high=2.0):
    """Numbers no two of which are the same."""
    count = int(np.prod(shape))
    steps = (torch.randperm(count).double() + 0.5) / count
    return exact((low + (high - low) * steps).reshape(shape))


def away(x, *kinks, gap=0.05):
    x = x.detach()
    for kink in kinks:
        near = (x - kink).abs() < gap
        x = torch.where(near, torch.where(x >= kink, kink + gap, kink - gap), x)
    return exact(x)


def shape_of(r, low=1, high=13, cap=4000, channels=37):
    """Images, channels, rows and columns; low may be a number for each of the last two."""
    low_y, low_x = low if isinstance(low, tuple) else (low, low)
    while True:
        shape = (r.randint(1, 9), r.randint(1, channels), r.randint(low_y, max(low_y, high)),
                 r.randint(low_x, max(low_x, high)))
        if np.prod(shape) <= cap:
            return shape


def pair(r, low, high):
    return r.randint(low, high), r.randint(low, high)


def real(r, low, high):
    """A number of float32."""
    return float(np.float32(r.uniform(low, high)))


def window(r, largest=5, dilations=3):
    """Kernel, stride, padding, dilation, and the smallest image that gives a result."""
    kernel, stride, dilation = pair(r, 1, largest), pair(r, 1, 4), pair(r, 1, dilations)
    dilated = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    padding = tuple(r.randint(0, k - 1) for k in dilated)
    return kernel, stride, padding, dilation, tuple(max(1, k - 2 * p)
                                                    for k, p in zip(dilated, padding))


def grouping(r):
    """Channels in, channels out, groups."""
    groups = r.choice((1, 1, 1, 2, 3, 4, 7, 12))
    if r.random() < 0.15:
        groups = r.randint(1, 37)  # depth-wise
        return groups, groups * r.randint(1, max(1, 37 // groups)), groups
    most = 37 // groups
    return groups * r.randint(1, most), groups * r.randint(1, most), groups


# ---- Configurations: functions of a random.Random ----

def pooling(name):
    def make(r):
        dilated = name == "dilated_pooling_max"
        kernel, stride, padding, dilation, low = window(r, dilations=3 if dilated else 1)
        inside = tuple(min(p, k // 2) for p, k in zip(padding, kernel))
        way = r.random()
        if dilated and way < 0.3:
            low = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation))
            return ops.dilated_pooling_max(spaced(*shape_of(r, low)), kernel, stride, dilation)
        if name == "pooling_average" and way < 0.6:
            return ops.pooling_average(draw(*shape_of(r, kernel)), kernel, stride, inside,
                                       r.random() < 0.5, r.random() < 0.5)
        if name == "pooling_max" and way < 0.5:
            return ops.pooling_max(spaced(*shape_of(r, kernel)), kernel, stride, inside,
                                   r.random() < 0.5)
        if name == "pooling_l2_norm" and way < 0.3:
            return ops.pooling_l2_norm(away(draw(*shape_of(r, kernel)), 0), kernel, stride)
        clamp = name != "pooling_average" and r.random() < 0.5
        return ops.pooling_with_edges(name, away(spaced(*shape_of(r, low)), 0, gap=1e-3), kernel,
                                      stride, padding, dilation, clamp)
    return make


def convolution(r):
    kernel, stride, padding, dilation, low = window(r)
    inputs, outputs, groups = grouping(r)
    n, _, h, w = shape_of(r, low, 11, channels=inputs)
    return ops.convolution(draw(n, inputs, h, w), draw(outputs, inputs // groups, *kernel),
                           draw(outputs), stride, padding, dilation, groups, r.random() < 0.3)


def convolution_with_neuron(r):
    n, c, h, w = shape_of(r, cap=2000)
    outputs = r.randint(1, 37)
    neuron_type, numbers, *_ = neuron_numbers(r, smooth=True)
    return ops.convolution_with_neuron(draw(n, c, h, w), draw(outputs, c, *pair(r, 1, 4)),
                                       draw(outputs), neuron_type, *numbers)


def sub_pixel_convolution(r):
    n, c, h, w = shape_of(r, high=8, cap=1000)
    factor = r.randint(1, 4)
    outputs = factor * factor * r.randint(1, max(1, 37 // (factor * factor)))
    return ops.sub_pixel_convolution(draw(n, c, h, w), draw(outputs, c, *pair(r, 1, 4)),
                                     draw(outputs), factor)


def fully_connected(r):
    n, c, h, w = shape_of(r, high=7)
    outputs = r.randint(1, 37)
    return ops.fully_connected(draw(n, c, h, w), draw(outputs, c, h, w), draw(outputs))


def convolution_transpose(r):
    while True:
        kernel, stride, padding, dilation, _ = window(r, 5, 2)
        inputs, outputs, groups = grouping(r)
        n, _, h, w = shape_of(r, high=6, cap=1200, channels=inputs)
        more = tuple(r.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation))
        size = [(e - 1) * s - 2 * p + (k - 1) * d + 1 + o for e, s, p, k, d, o in
                zip((h, w), stride, padding, kernel, dilation, more)]
        if min(size) >= 1:
            return ops.convolution_transpose(
                draw(n, inputs, h, w), draw(outputs, inputs // groups, *kernel), draw(outputs),
                stride, padding, more, dilation, groups)


def several_samples(r, images):
    while True:
        n, c, h, w = shape_of(r)
        if (n if images else 1) * h * w >= 4:
            return n, c, h, w


def normalization_operands(shape, r):
    low = r.choice((-1, 2))  # a mean far from 0, or not
    return spaced(*shape, low=low, high=low + 2), draw(shape[1], low=0.5, high=2), draw(shape[1])


def batch_normalization(r):
    shape, fixed = several_samples(r, True), r.random() < 0.3
    epsilon = r.choice((1e-3, 1e-2, 0.5))
    neuron_type, numbers, *_ = neuron_numbers(r, smooth=True)
    if r.random() < 0.4:
        neuron_type, numbers = "relu", (real(r, 0, 0.5),)
    while True:
        x, gamma, beta = normalization_operands(shape, r)
        mean, variance = draw(shape[1]).detach(), draw(shape[1], low=0.5, high=2).detach()
        before = F.batch_norm(x, mean.clone(), variance.clone(), gamma, beta, not fixed, 0.1,
                              epsilon)
        if before.abs().min() > 1e-5:  # where ReLU is not smooth
            return ops.batch_normalization(x, gamma, beta, mean, variance, fixed, epsilon,
                                           neuron_type, *numbers)


def running_statistics(r):
    shape = several_samples(r, True)
    x = normalization_operands(shape, r)[0].detach()
    return ops.running_statistics(x, draw(shape[1]).detach(),
                                  draw(shape[1], low=0.5, high=2).detach(), real(r, 0.01, 1))


def instance_normalization(r):
    operands = normalization_operands(several_samples(r, False), r)
    return ops.instance_normalization(*operands, r.choice((1e-3, 1e-2, 0.5)))


def cross_channel_normalization(r):
    return ops.cross_channel_normalization(draw(*shape_of(r), low=-3, high=3), r.randint(1, 9),
                                           real(r, 0, 2), real(r, 0.25, 2), real(r, 0.5, 2))


def spatial_normalization(r):
    return ops.spatial_normalization(draw(*shape_of(r), low=-2, high=2), pair(r, 1, 6),
                                     r.random() < 0.5, real(r, 0, 2), real(r, 0.25, 2),
                                     real(r, 0.5, 2))


def local_contrast_normalization(r):
    return ops.local_contrast_normalization(
        draw(*shape_of(r), low=-2, high=2), pair(r, 1, 6), r.random() < 0.5, real(r, 0, 2),
        real(r, 0.25, 1), real(r, 0.1, 1), real(r, 0, 1), real(r, -1, 1), real(r, 0.5, 2))


def neuron_numbers(r, smooth=False):
    """A type, its numbers, the range it is for, and its kinks. Smooth ones take every number."""
    a, b = real(r, 0.25, 1.5), real(r, 0.25, 1.5)
    table = [("none", (), -3, 3), ("linear", (a, -b), -3, 3), ("sigmoid", (), -9, 9),
             ("tanh", (a, b), -4, 4), ("soft_plus", (a, b), -9, 9), ("soft_sign", (), -4, 4),
             ("elu", (1.0,), -4, 4), ("gelu", (), -6, 6), ("swish", (a,), -6, 6),
             ("gelu_tanh", (), -6, 6), ("mish", (), -6, 6), ("erf", (), -3, 3)]
    if not smooth:
        table += [("relu", (r.choice((0.0, a)),), -3, 3, 0), ("absolute", (), -3, 3, 0),
                  ("hard_sigmoid", (a, 0.5), -3, 3, -0.5 / a, 0.5 / a),
                  ("clip", (-a, b), -3, 3, -a, b), ("celu", (a,), -4, 4, 0),
                  ("selu", (a, b), -4, 4, 0), ("thresholded_relu", (a,), -3, 3, a),
                  ("hard_swish", (a, 0.5), -3, 3, -0.5 / a, 0.5 / a),
                  *((kind, (), -3, 3, *range(-3, 4)) for kind in ("floor", "ceiling", "sign")),
                  ("round", (), -2, 2, -1.5, -0.5, 0.5, 1.5),
                  ("relun", (a / 4, 2 * b), -3, 5, 0, 2 * b), ("elu", (a,), -4, 4, 0),
                  ("power", (a, 3 * a + b, r.choice((-1.0, 0.5, 2.0, 2.5, 3.0))), -3, 3),
                  ("power", (1.0, 0.0, r.choice((2.0, 3.0))), -3, 3),
                  ("exponential", (a, b, r.choice((-1.0, 2.0, 0.5))), -2, 2),
                  ("logarithm", (a, 3 * a + b, r.choice((-1.0, 2.0, 10.0))), -3, 3)]
    neuron_type, numbers, low, high, *kinks = r.choice(table)
    return neuron_type, numbers, low, high, kinks


def neuron(r):
    if r.random() < 0.15:
        x = draw(*shape_of(r), low=-3, high=3)
        return ops.prelu(away(x, 0), draw(x.shape[1]))
    neuron_type, numbers, low, high, kinks = neuron_numbers(r)
    return ops.neuron(away(draw(*shape_of(r), low=low, high=high), *kinks), neuron_type, *numbers)


def soft_max(kernel):
    return lambda r: ops.soft_max(kernel, draw(*shape_of(r), low=-20, high=20))


def bounds_of(r, values):
    """Two bounds that lie in gaps between the values. Of a minimum many values are equal: one
    operand that away() put to the edge of its gap."""
    values = values.detach().unique()
    chosen = []
    for part in (r.uniform(0, 0.4), r.uniform(0.6, 1)):
        near = values[int(part * (len(values) - 1)):][:20]
        widest = int((near[1:] - near[:-1]).argmax()) if len(near) > 1 else -1
        gap = near[widest:widest + 2] if widest >= 0 else near[-1] + 0.5
        chosen.append(float(gap.mean()))
    return tuple(np.float32(bound).item() for bound in sorted(chosen))


def arithmetic(kernel):
    def make(r):
        shape = shape_of(r)
        operands = [list(shape), list(shape)]
        for axis in (1, 2, 3):
            if r.random() < 0.4:
                r.choice(operands)[axis] = 1
        power = kernel == "power"
        x = draw(*operands[0], low=0.3 if power else -2, high=2)
        y = away(draw(*operands[1], low=-2, high=2), 0, gap=0.3)
        numbers = real(r, 0.5 if power else -2, 2), r.choice((-1, 1)) * real(r, 0.5, 2), real(r, -1, 1)
        bounds = None if r.random() < 0.5 else \
            bounds_of(r, ops.arithmetic_result(kernel, x, y, *numbers))
        return ops.arithmetic(kernel, x, y, *numbers, bounds)
    return make


def dropout(r):
    strides = (1, 1, 1) if r.random() < 0.5 else tuple(r.randint(0, 1) for _ in range(3))
    return ops.dropout(draw(*shape_of(r)), real(r, 0.05, 0.95), r.getrandbits(r.choice((8, 50))),
                       strides)


def upsampling(mode):
    def make(r):
        x, factors = draw(*shape_of(r, high=8, cap=800)), pair(r, 1, 5)
        return ops.upsampling(x, mode, factors, None if mode == "nearest" else r.random() < 0.5)
    return make


def slice_(r):
    shape = shape_of(r)
    channel = 4 * r.randint(0, (shape[1] - 1) // 4)
    row, column = (r.randint(0, extent - 1) for extent in shape[2:])
    return ops.slice_(draw(*shape), row, column, channel, r.randint(1, shape[2] - row),
                      r.randint(1, shape[3] - column), r.randint(1, shape[1] - channel))


def concatenation(r):
    n, c, h, w = shape_of(r, cap=1500)
    return ops.concatenation([draw(n, channels, h, w) for channels in
                              [c] + [r.randint(1, 12) for _ in range(r.randint(0, 2))]])


def reshape(r):
    shape = shape_of(r)
    count = int(np.prod(shape[1:]))
    channels = r.choice([d for d in range(1, min(count, 60) + 1) if count % d == 0])
    height = r.choice([d for d in range(1, 61) if count // channels % d == 0])
    if r.random() < 0.4:
        return ops.reshape_channels_first(draw(*shape), channels, height,
                                          count // channels // height)
    return ops.reshape(draw(*shape), channels, height, count // channels // height)


def pad(r):
    shape = shape_of(r, high=12)
    mode = r.choice(("constant", "constant", "reflect", "replicate"))
    channels = (r.randint(1 - shape[1], 5), r.randint(0, 5)) if mode == "constant" else (0, 0)
    most = [extent - 1 if mode == "reflect" else 5 for extent in (shape[3], shape[2])]
    sides = [r.randint(0, limit) for limit in most for _ in range(2)]
    if mode == "constant" and shape[3] > 1:
        sides[0] = r.randint(1 - shape[3], 5)
    return ops.pad(draw(*shape), (*sides, *channels), mode, real(r, -1, 1))


def strided_slice(r):
    shape = shape_of(r)
    axes = []
    for extent in shape[1:]:
        start, step = r.randint(0, extent - 1), r.choice((-3, -2, -1, 1, 1, 1, 2, 3))
        way = extent - 1 - start if step > 0 else start
        axes.append((start, step, r.randint(1, way // abs(step) + 1)))
    return ops.strided_slice(draw(*shape), *axes)


def axis_concatenation(r):
    shape, axis = shape_of(r, cap=1500), r.choice(list(ops.AXIS_NAMES))
    other = list(shape)
    other[ops.AXIS_NAMES[axis]] = r.randint(1, 9)
    return ops.axis_concatenation(draw(*shape), draw(*other), axis)


def matrix_multiplication(r):
    n, c, h, w = shape_of(r, cap=1500)
    return ops.matrix_multiplication(draw(n, c, h, w), draw(n, c, w, r.randint(1, 9)))


def resize(mode):
    def make(r):
        x, (height, width) = draw(*shape_of(r, high=9, cap=900)), pair(r, 1, 16)
        position = r.choice(("half_pixel",
                             "asymmetric" if mode == "nearest" else "align_corners"))
        return ops.resize(x, mode, height, width, position)
    return make


def frame(kind):
    def make(r):
        low, high = pair(r, 1, 5), pair(r, 1, 3)
        crop, size = [a * b for a, b in zip(low, high)], low
        if r.random() < 0.4:
            crop, size = size, [2 * side + r.randint(0, 5) for side in size]
        x, y = r.randint(0, 4), r.randint(0, 4)
        width = x + crop[1] + r.randint(0, 4)
        shape = r.randint(1, 2), y + crop[0] + r.randint(0, 3), width + width % 2
        mean = [real(r, 0, 1) for _ in range(3)]
        deviation = [real(r, 0.5, 2) for _ in range(3)]
        return ops.frame(kind, shape, (x, y, crop[1], crop[0]), tuple(size),
                         r.choice(("bt601", "bt709")), r.choice(("full", "limited")),
                         r.random() < 0.5, mean, deviation)
    return make


def transpose(r):
    return ops.transpose(draw(*shape_of(r)), r.choice(("cwh", "hcw", "hwc", "wch", "whc")))


def depth_to_space(r):
    block = r.randint(1, 3)
    shape = (r.randint(1, 3), block**2 * r.randint(1, 6), r.randint(1, 5), r.randint(1, 5))
    return ops.depth_to_space(draw(*shape), block, r.choice(("dcr", "crd")))


def space_to_depth(r):
    block = r.randint(1, 3)
    shape = (r.randint(1, 3), r.randint(1, 9), block * r.randint(1, 5), block * r.randint(1, 5))
    return ops.space_to_depth(draw(*shape), block, r.choice(("dcr", "crd")))


def channel_shuffle(r):
    groups = r.randint(1, 6)
    shape = (r.randint(1, 3), groups * r.randint(1, 6), r.randint(1, 6), r.randint(1, 6))
    return ops.channel_shuffle(draw(*shape), groups)


def reduction(axis):
    def make(r):
        shape = shape_of(r)
        kind = r.choice([k for k in ops.REDUCTIONS
                         if axis == "feature_channels" or not k.startswith("argument")])
        row, column = (r.randint(0, extent - 1) for extent in shape[2:])
        clip = None if r.random() < 0.5 else (row, column, r.randint(1, shape[2] - row),
                                              r.randint(1, shape[3] - column))
        weight = real(r, 0.5, 2) if (axis, kind) == ("feature_channels", "sum") else None
        return ops.reduce_(axis, kind, spaced(*shape), clip, weight)
    return make


def reduction_with_weights(r):
    x = draw(*shape_of(r))
    kind, non_zero = r.choice((("sum", False), ("sum", True), ("mean", False)))
    return ops.reduce_with_weights(kind, x, torch.randint(3, x.shape).double() / 2, non_zero)


def loss(r):
    loss_type = r.choice(list(ops.LOSSES) + ["cosine_distance"])
    shape = shape_of(r, high=8)
    if loss_type == "cosine_distance":
        return ops.cosine_distance(draw(*shape), draw(*shape).detach(), real(r, 0.5, 2))
    t = ops.labels_for(loss_type, shape)
    if loss_type == "soft_max_cross_entropy" and r.random() < 0.3:
        t = draw(*shape, low=0, high=1).detach()
    low, high = {"categorical_cross_entropy": (0.1, 0.9), "log": (0.1, 0.9),
                 "kullback_leibler_divergence": (-3, 0)}.get(loss_type, (-3, 3))
    y = away(draw(*shape, low=low, high=high), *((-1, 1) if loss_type == "hinge" else ()))
    if loss_type == "mean_absolute_error":
        y = exact(t + away(y, 0))
    numbers = {"huber": {"delta": real(r, 0.25, 2)},
               "log": {"epsilon": r.choice((0.0, 1e-7, 0.125))}}.get(loss_type, {})
    if loss_type.endswith(("x_cross_entropy", "d_cross_entropy")) and r.random() < 0.4:
        numbers["smoothing"] = real(r, 0.05, 0.5)
    w = None
    if r.random() < 0.5:
        w = torch.randint(3, shape).double() / 2
        w[:, 0, 0, 0] = 1
    return ops.loss(loss_type, y, t, r.choice(("none", "sum", "mean", "sum_by_non_zero_weights")),
                    w, r.choice((1.0, real(r, 0.25, 2))), **numbers)


def gradient_preparation(r):
    """What comes before PyTorch's step, as a function and as settings."""
    low, high, rescale = real(r, -1, -0.2), real(r, 0.2, 1), real(r, 0.5, 2)
    clips, scale = r.random() < 0.5, real(r, 0.01, 0.5) if r.random() < 0.3 else 0

    def prepare(g, w):
        return (torch.clamp(g, low, high) if clips else g) * rescale + scale * torch.sign(w)
    settings = {"gradient_rescale": rescale}
    if clips:
        settings.update(apply_gradient_clipping="true", gradient_clip_min=low,
                        gradient_clip_max=high)
    if scale:
        settings.update(regularization_type="l1", regularization_scale=scale)
    return {"prepare": prepare, **settings}, scale


def optimizer(kind):
    def make(r):
        more, l1 = gradient_preparation(r)
        decay = 0 if l1 or r.random() < 0.5 else real(r, 0.01, 0.5)
        steps, lr = r.randint(1, 4), real(r, 1e-3, 0.2)
        shape = tuple(r.randint(1, 9) for _ in range(r.randint(1, 4)))
        if kind == "adam":
            numbers = real(r, 0.5, 0.99), real(r, 0.8, 0.999), 10 ** r.uniform(-6, -2)
        elif kind == "rms_prop":
            numbers = real(r, 0.5, 0.99), 10 ** r.uniform(-6, -2)
        else:
            momentum = r.choice((0, real(r, 0.5, 0.95)))
            numbers = momentum, bool(momentum) and r.random() < 0.5
        return getattr(ops, kind)(lr, *numbers, decay, steps, shape, **more)
    return make


OPERATIONS = [
    *[("convolution", convolution)] * 4, *[("neuron", neuron)] * 3, *[("loss", loss)] * 4,
    *((name, pooling(name)) for name in ops.POOLS for _ in range(2)),
    ("convolution_with_neuron", convolution_with_neuron),
    ("sub_pixel_convolution", sub_pixel_convolution), ("fully_connected", fully_connected),
    ("convolution_transpose", convolution_transpose),
    ("convolution_transpose", convolution_transpose),
    ("batch_normalization", batch_normalization), ("batch_normalization", batch_normalization),
    ("running_statistics", running_statistics), ("instance_normalization", instance_normalization),
    ("cross_channel_normalization", cross_channel_normalization),
    ("spatial_normalization", spatial_normalization),
    ("local_contrast_normalization", local_contrast_normalization),
    ("soft_max", soft_max("soft_max")), ("log_soft_max", soft_max("log_soft_max")),
    *((kernel, arithmetic(kernel)) for kernel in ops.ARITHMETIC), ("dropout", dropout),
    *((kernel, arithmetic(kernel)) for kernel in ops.MORE_ARITHMETIC),
    ("upsampling_nearest", upsampling("nearest")), ("upsampling_bilinear", upsampling("bilinear")),
    ("slice", slice_), ("concatenation", concatenation), ("reshape", reshape),
    ("pad", pad), ("strided_slice", strided_slice), ("transpose", transpose),
    ("depth_to_space", depth_to_space), ("space_to_depth", space_to_depth),
    ("channel_shuffle", channel_shuffle), ("resize_nearest", resize("nearest")),
    ("resize_linear", resize("linear")), ("axis_concatenation", axis_concatenation),
    ("matrix_multiplication", matrix_multiplication),
    *((f"frame_{kind}", frame(kind)) for kind in ("rgb", "yuyv", "nv12")),
    *((f"reduce_{axis}", reduction(axis)) for axis in ops.AXES),
    ("reduce_feature_channels", reduction("feature_channels")),
    ("reduce_with_weights", reduction_with_weights),
    *((f"optimizer {kind}", optimizer(kind)) for kind in ("gradient_descent", "rms_prop", "adam"))]


# ---- Running them ----

def configuration(seed, index):
    """Its operation's name and its cases."""
    torch.manual_seed(seed * 1000003 + index)
    name, make = OPERATIONS[index % len(OPERATIONS)]
    return name, make(random.Random(f"{seed} {index}"))


def error_of(found, wanted):
    if found is None or found.size != wanted.size or not np.isfinite(wanted).all():
        return float("inf")
    norm = max(1.0, float(np.abs(wanted).max()))
    error = float(np.abs(found.ravel().astype(np.float64) - wanted.ravel()).max()) / norm
    return error if error == error else float("inf")


def describe(case):
    shapes = ", ".join(f"{name} {'x'.join(map(str, value.shape))}"
                       for name, value in case.inputs.items())
    return f"{case.kernel}: {shapes}; {' '.join(ops.words_of(case))}"


Error = collections.namedtuple("Error", "size where")


def largest_error(library, cases, index, verbose):
    worst = Error(0.0, "")
    for case in cases:
        if verbose:
            print(describe(case))
        try:
            found = library.run(case)
        except RuntimeError as refusal:
            print(f"{index}: {describe(case)}\n    {refusal}")
            return Error(float("inf"), f"{index}: {case.kernel} could not be run")
        for name, wanted in ops.arrays_of(case)[1].items():
            error = error_of(found.get(name), wanted)
            if verbose:
                print(f"    {name} {'x'.join(map(str, wanted.shape))}: {error:.3g}")
            worst = max(worst, Error(error, f"{index}: {case.kernel} {name}"))
    return worst


def run_all(library, seed, indices, verbose):
    """Errors by the operation's name; those above the bound are printed as they come."""
    errors = collections.defaultdict(list)
    for done, index in enumerate(indices):
        if done % DEVICE_LASTS == DEVICE_LASTS - 1:
            library.open()
        name, cases = configuration(seed, index)
        error = largest_error(library, cases, index, verbose)
        errors[name].append(error)
        if error.size > BOUND:
            print(f"{name}: {error.size:.3g} at {error.where}", flush=True)
    return errors


def print_table(errors):
    print(f"{'operation':<30}{'configurations':>15}{'largest error':>15}  where")
    for name in sorted(errors):
        worst = max(errors[name])
        print(f"{name:<30}{len(errors[name]):>15}{worst.size:>15.2e}  {worst.where}")
    everything = [error for list_ in errors.values() for error in list_]
    print(f"{'all':<30}{len(everything):>15}{max(everything).size:>15.2e}")
    return max(everything).size


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", default=str(root / "build/libglcnn.so"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2500)
    parser.add_argument("--only", type=int, help="one configuration, with all its settings")
    options = parser.parse_args()
    torch.set_num_threads(1)
    indices = range(options.count) if options.only is None else [options.only]
    start = time.monotonic()
    library = Library(options.library)
    errors = run_all(library, options.seed, indices, options.only is not None)
    worst = print_table(errors)
    if options.only is None:
        print("not run:", ", ".join(sorted(set(library.kernels()) - library.ran)) or "none")
    print(f"seed {options.seed}, {time.monotonic() - start:.0f} s")
    return worst > BOUND


if __name__ == "__main__":
    sys.exit(main())
