#!/usr/bin/python3
"""Writes the vectors that test_golden.c runs: results of PyTorch, where it and MPS agree.

Run from this folder; needs python3-torch and python3-numpy (1.13 and 1.24 made the files that are
here). Everything is computed in double precision, from drawn numbers that float32 holds exactly;
torch_operations.py has the operations, this file the shapes.

cases.txt has a line a case:  KERNEL INDEX BOUND INPUT,... OUTPUT,... SETTING...
Its arrays are INDEX.NAME in KERNEL.npz, in the layout of glcnn_run; one that goes in and comes out
is INDEX.NAME.after where it comes out. An element passes within BOUND * max(1, largest |expected|).
training.npz is described further down. To add a case, edit this file and torch_operations.py alone.
"""
import collections
import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F

import torch_operations as ops
from torch_operations import draw

torch.manual_seed(1)

BOUND = 1e-5

lines = []
archives = collections.defaultdict(dict)


def keep(cases):
    for case in cases:
        index = sum(line.split()[0] == case.kernel for line in lines)
        inputs, outputs = ops.arrays_of(case)
        for name, array in inputs.items():
            archives[case.kernel][f"{index}.{name}"] = array
        for name, array in outputs.items():
            after = ".after" if name in inputs else ""
            archives[case.kernel][f"{index}.{name}{after}"] = array
        lines.append(" ".join([case.kernel, str(index), f"{BOUND:g}", ",".join(inputs),
                               ",".join(outputs)] + ops.words_of(case)))


# ---- Pooling ----

#        N  C  H   W    kernel  stride  padding
POOLS = [((1, 1, 5, 7), (2, 2), (2, 2), (0, 0)),
         ((2, 3, 6, 5), (3, 3), (1, 1), (1, 1)),
         ((1, 5, 9, 8), (3, 2), (2, 3), (1, 0)),
         ((3, 6, 7, 7), (4, 5), (2, 1), (2, 2)),
         ((2, 9, 8, 6), (1, 3), (4, 2), (0, 1))]


def poolings():
    for (shape, kernel, stride, padding), ceil in zip(POOLS, itertools.cycle((True, False))):
        for counted in (True, False):
            keep(ops.pooling_average(draw(*shape), kernel, stride, padding, ceil, counted))
        keep(ops.pooling_max(draw(*shape), kernel, stride, padding, ceil))
    for shape, kernel, stride, _ in POOLS:
        keep(ops.pooling_l2_norm(draw(*shape), kernel, stride))
    for (shape, kernel, stride, _), dilation in zip(
            POOLS, ((3, 2), (2, 2), (1, 3), (1, 1), (5, 2))):
        keep(ops.dilated_pooling_max(draw(*shape), kernel, stride, dilation))


# ---- Convolution ----

#                N  Ci H  W    Co  kernel stride  padding dilation groups
CONVOLUTIONS = [((1, 1, 5, 5), 1, (3, 3), (1, 1), (1, 1), (1, 1), 1),
                ((2, 3, 6, 7), 5, (3, 3), (1, 1), (0, 0), (1, 1), 1),
                ((1, 2, 7, 8), 4, (2, 4), (1, 2), (1, 2), (1, 1), 1),
                ((3, 4, 9, 6), 7, (5, 1), (2, 3), (2, 0), (1, 1), 1),
                ((1, 5, 8, 9), 3, (3, 2), (1, 1), (2, 1), (2, 3), 1),
                ((2, 6, 7, 7), 8, (3, 3), (2, 2), (3, 2), (2, 1), 1),
                ((2, 6, 5, 6), 9, (3, 3), (1, 1), (1, 1), (1, 1), 3),
                ((1, 8, 6, 5), 4, (2, 2), (2, 2), (0, 0), (1, 1), 2),
                ((2, 5, 6, 6), 5, (3, 3), (1, 2), (1, 1), (1, 1), 5),
                ((1, 3, 7, 5), 9, (3, 4), (1, 1), (1, 2), (2, 1), 3),
                ((3, 9, 4, 3), 2, (1, 1), (1, 1), (0, 0), (1, 1), 1),
                ((1, 7, 5, 4), 6, (4, 3), (3, 4), (3, 2), (1, 1), 1)]


def convolutions():
    for clamp in (False, True):
        for shape, outputs, kernel, stride, padding, dilation, groups in CONVOLUTIONS:
            if clamp and padding == (0, 0):
                continue
            x = draw(*shape)
            w = draw(outputs, shape[1] // groups, *kernel)
            b = draw(outputs)
            keep(ops.convolution(x, w, b, stride, padding, dilation, groups, clamp))
    x, w, b = draw(2, 3, 6, 5), draw(6, 3, 3, 3), draw(6)
    keep(ops.convolution_with_neuron(x, w, b, "relu", 0.125))
    for n, c, h, w, k in ((1, 1, 1, 1, 1), (3, 5, 2, 3, 10), (2, 9, 4, 4, 3), (5, 2, 7, 1, 6)):
        x, weights, b = draw(n, c, h, w), draw(k, c, h, w), draw(k)
        keep(ops.fully_connected(x, weights, b))


#               N  Ci H  W    Co  kernel stride  padding output padding, dilation, groups
TRANSPOSES = [((1, 1, 3, 4), 1, (3, 3), (2, 2), (0, 0), (0, 0), (1, 1), 1),
              ((2, 3, 4, 3), 5, (4, 3), (2, 3), (1, 1), (1, 0), (1, 1), 1),
              ((1, 6, 3, 5), 4, (2, 4), (1, 2), (0, 1), (0, 1), (2, 1), 2),
              ((2, 5, 3, 3), 5, (3, 2), (3, 1), (2, 0), (0, 0), (1, 2), 5),
              ((3, 4, 4, 2), 9, (1, 5), (2, 2), (0, 2), (1, 1), (1, 1), 1)]


def transposes():
    for shape, outputs, kernel, stride, padding, more, dilation, groups in TRANSPOSES:
        x, w, b = draw(*shape), draw(outputs, shape[1] // groups, *kernel), draw(outputs)
        keep(ops.convolution_transpose(x, w, b, stride, padding, more, dilation, groups))


# ---- Normalisation ----

NEURONS = [("none",), ("relu", 0.25), ("sigmoid",)]


def normalised(shape):
    """Operands. A mean far from 0 shows a variance computed as E[x^2] - E[x]^2."""
    return draw(*shape, low=2, high=4), draw(shape[1], low=0.5, high=2), draw(shape[1])


def normalisations():
    shapes = ((1, 1, 5, 4), (3, 2, 4, 3), (2, 5, 3, 7), (3, 8, 5, 2), (2, 9, 6, 6))
    for (shape, neuron), fixed in itertools.product(zip(shapes, itertools.cycle(NEURONS)),
                                                    (False, True)):
        x, gamma, beta = normalised(shape)
        mean, variance = draw(shape[1]).detach(), draw(shape[1], low=0.5, high=2).detach()
        keep(ops.batch_normalization(x, gamma, beta, mean, variance, fixed, 1e-3, *neuron))


#          N  C  H  W    kernel
WINDOWS = [((1, 1, 4, 5), (3, 3)), ((2, 3, 5, 4), (2, 2)), ((1, 6, 3, 6), (5, 3)),
           ((2, 9, 2, 3), (1, 4))]


def normalisations_by_image():
    for shape in ((1, 1, 5, 4), (3, 2, 4, 3), (2, 5, 3, 7), (1, 9, 6, 1)):
        x, gamma, beta = normalised(shape)
        keep(ops.instance_normalization(x, gamma, beta, 1e-3))
    for shape, size, *numbers in (
            ((1, 1, 3, 3), 5, 1.0, 5.0, 1.0), ((2, 7, 2, 3), 3, 0.5, 0.75, 2.0),
            ((1, 9, 3, 2), 4, 2.0, 0.5, 1.0), ((2, 37, 1, 2), 5, 1e-4, 0.75, 1.0)):
        keep(ops.cross_channel_normalization(draw(*shape, low=-3, high=3), size, *numbers))
    for (shape, kernel), clamp in itertools.product(WINDOWS, (False, True)):
        x, numbers = draw(*shape, low=-2, high=2), (1.5, 0.75, 1.25)
        keep(ops.spatial_normalization(x, kernel, clamp, *numbers))
        x, numbers = draw(*shape, low=-2, high=2), (1.5, 0.75, 0.25, 0.875, 0.5, 1.25)
        keep(ops.local_contrast_normalization(x, kernel, clamp, *numbers))


# ---- Element by element ----

def neurons():
    slopes = draw(6)

    def neuron(shape, *type_and_numbers, low=-3.0, high=3.0):
        keep(ops.neuron(draw(*shape, low=low, high=high), *type_and_numbers))

    neuron((1, 3, 4, 5), "none")
    neuron((1, 5, 3, 3), "relu", 0)
    neuron((2, 2, 3, 5), "relu", 0.125)
    neuron((1, 1, 5, 5), "linear", 1.5, -0.25)
    neuron((3, 4, 2, 3), "sigmoid", low=-9, high=9)
    neuron((1, 6, 4, 4), "hard_sigmoid", 1 / 6, 0.5, low=-5, high=5)
    neuron((1, 7, 3, 4), "hard_sigmoid", 0.25, 0.5)
    neuron((1, 2, 5, 3), "tanh", 1, 1)
    neuron((2, 3, 3, 3), "tanh", 1.75, 0.5)
    neuron((1, 9, 2, 3), "absolute")
    neuron((1, 4, 4, 3), "soft_plus", 1, 1, low=-15, high=15)
    neuron((1, 5, 3, 2), "soft_plus", 0.25, 4)
    neuron((2, 8, 3, 1), "soft_sign")
    neuron((1, 3, 5, 5), "elu", 1)
    neuron((1, 2, 4, 5), "elu", 1.5)
    keep(ops.prelu(draw(2, 6, 3, 2, low=-3, high=3), slopes))
    neuron((1, 5, 4, 4), "relun", 0, 6, low=-2, high=8)
    neuron((1, 3, 4, 4), "power", 0.5, 2, 2.5)
    neuron((1, 3, 4, 4), "exponential", 0.5, 1, -1)
    neuron((1, 3, 4, 4), "exponential", 1, 0, 2)
    neuron((1, 3, 4, 4), "logarithm", 0.5, 2, -1)


# Called last, so that what is drawn before stays as it is.
def smooth_rectifiers():
    for shape, *type_and_numbers in (((1, 6, 4, 5), "gelu"), ((1, 5, 4, 4), "swish", 1),
                                     ((2, 3, 3, 4), "swish", -1.75)):
        keep(ops.neuron(draw(*shape, low=-6, high=6), *type_and_numbers))
    x, w, b = draw(2, 3, 5, 4), draw(5, 3, 3, 3), draw(5)
    keep(ops.convolution_with_neuron(x, w, b, "gelu"))


def soft_maxes():
    for shape in ((1, 1, 2, 2), (3, 3, 2, 1), (1, 5, 4, 3), (2, 8, 3, 3), (3, 9, 2, 2),
                  (2, 37, 1, 1)):
        for kernel in ("soft_max", "log_soft_max"):
            keep(ops.soft_max(kernel, draw(*shape, low=-20, high=20)))


#           primary      secondary
OPERANDS = [((1, 1, 3, 4), (1, 1, 3, 4)),
            ((2, 5, 3, 2), (2, 5, 1, 1)),
            ((2, 1, 4, 1), (2, 6, 1, 5)),
            ((3, 9, 2, 3), (3, 1, 2, 3))]


def arithmetics():
    for kernel, (first, second) in itertools.product(ops.ARITHMETIC, OPERANDS):
        for numbers in ((), (1.5, -0.75, 0.25, (-0.5, 1.0))):
            keep(ops.arithmetic(kernel, draw(*first), draw(*second, low=0.5, high=2), *numbers))


def arithmetics_of_models():
    for kernel, (first, second) in itertools.product(ops.MORE_ARITHMETIC, OPERANDS):
        low = 0.25 if kernel == "power" else -1.0
        for numbers in ((), (1.5, -0.75, 0.25, (-0.5, 1.0))):
            keep(ops.arithmetic(kernel, draw(*first, low=low), draw(*second), *numbers))


def dropouts():
    for shape, keep_probability, seed, strides in (
            ((1, 1, 3, 5), 0.5, 0, (1, 1, 1)), ((3, 5, 4, 3), 0.75, 7, (1, 1, 1)),
            ((2, 9, 3, 2), 0.25, 2**40 + 5, (0, 0, 1)), ((2, 6, 4, 5), 0.5, 3, (1, 0, 0))):
        keep(ops.dropout(draw(*shape), keep_probability, seed, strides))


# ---- Shapes and reductions ----

def shapes():
    for shape, factors in (((1, 1, 3, 4), (2, 2)), ((2, 5, 2, 3), (3, 1)), ((3, 8, 1, 2), (2, 5))):
        keep(ops.upsampling(draw(*shape), "nearest", factors))
        for align in (False, True):
            keep(ops.upsampling(draw(*shape), "bilinear", factors, align))
    for shape, *part in (((1, 3, 4, 5), 1, 2, 0, 3, 2, 3), ((2, 10, 3, 4), 0, 1, 4, 2, 3, 5),
                         ((3, 37, 2, 2), 1, 0, 8, 1, 2, 29)):
        keep(ops.slice_(draw(*shape), *part))
    for n, h, w, *channels in ((1, 2, 3, 4, 4), (2, 3, 2, 23, 5), (3, 1, 4, 1, 2, 3)):
        keep(ops.concatenation([draw(n, c, h, w) for c in channels]))
    for shape, *to in (((1, 1, 4, 6), 6, 2, 2), ((2, 6, 2, 5), 4, 5, 3), ((3, 9, 2, 2), 36, 1, 1)):
        keep(ops.reshape(draw(*shape), *to))


def neurons_of_models():
    for shape, *type_and_numbers in (
            ((1, 5, 4, 4), "clip", -2, 3.5), ((2, 3, 4, 5), "hard_swish", 0.125, 0.5),
            ((1, 6, 4, 4), "gelu_tanh"), ((1, 7, 3, 4), "mish"), ((2, 2, 4, 4), "selu", 1.5, 1.25),
            ((1, 3, 5, 4), "celu", 0.75), ((1, 9, 2, 4), "thresholded_relu", 1.5),
            ((2, 3, 4, 3), "erf"), ((1, 2, 4, 4), "floor"), ((1, 3, 4, 4), "ceiling"),
            ((1, 4, 4, 4), "round"), ((1, 5, 3, 4), "sign")):
        keep(ops.neuron(draw(*shape, low=-6, high=6), *type_and_numbers))


def fake_quantizations():
    for shape, *numbers in (((2, 5, 4, 4), 0.125, -128, 127), ((1, 6, 5, 3), 0.25, -7, 9), ((2, 3, 4, 5), 0.75, 0, 4)):
        keep(ops.neuron(draw(*shape, low=-4, high=4), "fake_quantization", *numbers))


def parts():
    for shape, sides, *rest in (
            ((2, 3, 4, 3), (1, 2, 0, 3, 0, 0), "constant", 0.75), ((1, 6, 3, 4), (0, 1, 0, 0, 3, 2)),
            ((2, 9, 4, 4), (-1, 2, -1, 0, -4, 1)), ((2, 5, 4, 3), (2, 1, 3, 0, 0, 0), "reflect"),
            ((1, 6, 3, 2), (3, 4, 1, 2, 0, 0), "replicate")):
        keep(ops.pad(draw(*shape), sides, *rest))
    for shape, *axes in (((2, 5, 6, 5), (1, 1, 3), (1, 2, 3), (4, -2, 3)),
                         ((1, 9, 3, 4), (8, -3, 3), (0, 1, 3), (1, 1, 2)),
                         ((2, 11, 2, 5), (4, 1, 6), (1, -1, 2), (0, 3, 2))):
        keep(ops.strided_slice(draw(*shape), *axes))


def rearrangements():
    for order in ("cwh", "hcw", "hwc", "wch", "whc"):
        keep(ops.transpose(draw(2, 5, 3, 4), order))
    for order in ("dcr", "crd"):
        keep(ops.depth_to_space(draw(2, 12, 2, 3), 2, order))
        keep(ops.space_to_depth(draw(1, 3, 6, 4), 2, order))
    keep(ops.depth_to_space(draw(1, 16, 2, 3), 2, "dcr"))
    keep(ops.space_to_depth(draw(1, 4, 6, 3), 3, "dcr"))
    keep(ops.channel_shuffle(draw(1, 12, 2, 3), 3))
    keep(ops.channel_shuffle(draw(2, 10, 3, 2), 5))
    keep(ops.reshape_channels_first(draw(2, 5, 4, 3), 10, 2, 3))
    keep(ops.reshape_channels_first(draw(2, 3, 4, 5), 1, 6, 10))


def views():
    def windows(x):
        return x.reshape(-1, 5, 2, 2, 3, 2).permute(0, 2, 4, 3, 5, 1)

    def heads(x):
        return x.reshape(-1, 7, 3, 2, 4).permute(0, 2, 3, 1, 4)

    def repeated(x):
        return x.reshape(-1, 6, 1, 4, 3).expand(-1, -1, 5, -1, -1).permute(0, 3, 2, 4, 1)

    def repeated_twice(x):
        return x.permute(0, 2, 3, 1)[:, None, :, None].expand(-1, 7, -1, 10, -1, -1)

    def spread(x):
        return x.expand(-1, -1, 4, 9)

    def some(x):
        return x[:, ::2, ::3, ::2]

    for view, shape, result in ((windows, (2, 5, 4, 6), (6, 4, 5)), (heads, (1, 7, 1, 24), (6, 7, 4)),
                                (repeated, (2, 6, 4, 3), (4, 5, 18)),
                                (repeated_twice, (1, 3, 2, 4), (70, 8, 3)),
                                (spread, (2, 9, 1, 1), (9, 4, 9)), (some, (2, 7, 6, 5), (4, 2, 3))):
        keep(ops.strided_view(draw(*shape), view, result))


def tables():
    torch.manual_seed(37)
    for shape, result in (((1, 3, 1, 49), (3, 16, 16)), ((2, 5, 4, 3), (7, 3, 6)), ((3, 2, 1, 5), (9, 1, 70))):
        count = shape[1] * shape[2] * shape[3]
        index = torch.randint(count, (result[0] * result[1] * result[2],))
        keep(ops.gather(draw(*shape), index, result))


def resizes():
    for shape, height, width in (((1, 3, 4, 5), 7, 3), ((2, 5, 3, 6), 5, 13), ((1, 4, 7, 2), 2, 1)):
        for position in ("half_pixel", "asymmetric"):
            keep(ops.resize(draw(*shape), "nearest", height, width, position))
        for position in ("half_pixel", "align_corners"):
            keep(ops.resize(draw(*shape), "linear", height, width, position))
    keep(ops.resize_by(draw(2, 3, 5, 4), 0.6, 1.75))


def crops():
    torch.manual_seed(41)
    for shape, regions, height, width in (((2, 3, 7, 9), 4, 5, 6), ((1, 5, 6, 4), 3, 1, 8),
                                          ((3, 2, 1, 5), 2, 4, 1)):
        for edge in ("zero", "clamp"):
            keep(ops.crop_and_resize(draw(*shape), draw(regions, 4).detach(), height, width, edge))
            places = draw(shape[0], 4, 2, regions).detach()
            keep(ops.crop_and_resize_regions(draw(*shape), places, height, width, edge))


def pairs():
    for x, y, axis in (((2, 3, 2, 4), (2, 5, 2, 4), "channels"),
                       ((1, 4, 3, 2), (1, 9, 3, 2), "channels"),
                       ((2, 5, 3, 4), (2, 5, 1, 4), "rows"), ((1, 6, 2, 3), (1, 6, 2, 5), "columns")):
        keep(ops.axis_concatenation(draw(*x), draw(*y), axis))
    for n, c, h, k, w in ((1, 3, 2, 5, 4), (2, 6, 4, 1, 3), (2, 1, 3, 9, 2)):
        keep(ops.matrix_multiplication(draw(n, c, h, k), draw(n, c, k, w)))


def frames():
    mean, deviation = (0.5, 0.25, 0.375), (0.25, 0.5, 2.0)
    for kind in ("rgb", "yuyv", "nv12"):
        for shape, crop, size, matrix, range_, swapped in (
                ((1, 4, 6), (0, 0, 6, 4), (4, 6), "bt601", "limited", False),
                ((2, 5, 8), (0, 0, 8, 5), (5, 8), "bt709", "full", True),
                ((1, 9, 14), (1, 2, 12, 6), (2, 4), "bt601", "full", True),
                ((2, 7, 10), (3, 1, 5, 4), (9, 11), "bt709", "limited", False)):
            keep(ops.frame(kind, shape, crop, size, matrix, range_, swapped, mean, deviation))


def reductions():
    for axis, kind in itertools.product(ops.AXES, ops.REDUCTIONS):
        if kind.startswith("argument") and axis != "feature_channels":
            continue
        for shape, clip in (((2, 5, 3, 4), None), ((1, 9, 5, 6), (1, 2, 3, 3))):
            scale = {"weight": 0.75} if (axis, kind) == ("feature_channels", "sum") else {}
            keep(ops.reduce_(axis, kind, draw(*shape), clip, **scale))
    for kind, non_zero in (("sum", False), ("sum", True), ("mean", False)):
        w = torch.randint(3, (2, 7, 3, 2)).double() / 2
        keep(ops.reduce_with_weights(kind, draw(2, 7, 3, 2), w, non_zero))


def extremes():
    for axis, kind in itertools.product(ops.AXES, ("min", "max")):
        for shape, clip in (((2, 5, 3, 4), None), ((1, 9, 5, 6), (1, 2, 3, 3))):
            keep(ops.reduce_extreme(axis, kind, draw(*shape), clip))
        equal = (draw(2, 6, 7, 5).detach() * 2).round().requires_grad_()
        keep(ops.reduce_extreme(axis, kind, equal))


# ---- Loss ----

def losses():
    numbers = {"huber": {"delta": 0.25}, "log": {"epsilon": 0.0}}
    mps = [name for name in ops.LOSSES if name != "quality_focal"]
    for loss_type, shape in zip(mps, itertools.cycle(
            ((2, 3, 3, 2), (1, 5, 2, 4), (3, 10, 1, 1), (2, 6, 3, 3)))):
        t = ops.labels_for(loss_type, shape)
        y = draw(*shape, low=0.1, high=0.9)
        w = torch.randint(3, shape).double() / 2
        more = numbers.get(loss_type, {})
        for reduction in ("none", "sum", "mean"):
            keep(ops.loss(loss_type, y, t, reduction, **more))
        keep(ops.loss(loss_type, y, t, "sum", w, 0.5, **more))
    y, t = draw(2, 6, 3, 2), draw(2, 6, 3, 2).detach()
    keep(ops.cosine_distance(y, t))
    y = draw(5, 7, 1, 1, low=-4, high=4)
    t = F.one_hot(torch.randint(7, (5,)), 7).reshape(5, 7, 1, 1)
    keep(ops.loss("soft_max_cross_entropy", y, t, "mean", smoothing=0.25))


def losses_with_weights():
    """Of the numbers of labels that count; of smoothed labels; of a logarithm kept from 0."""
    for loss_type, more in (("soft_max_cross_entropy", {"smoothing": 0.125}),
                            ("sigmoid_cross_entropy", {"smoothing": 0.25}),
                            ("log", {"epsilon": 0.125}), ("huber", {"delta": 2.0})):
        t = ops.labels_for(loss_type, (2, 6, 2, 3))
        y, w = draw(2, 6, 2, 3, low=0.1, high=0.9), torch.randint(3, (2, 6, 2, 3)).double() / 2
        keep(ops.loss(loss_type, y, t, "sum_by_non_zero_weights", w, 1.5, **more))


def detectors():
    """Two anchor boxes fit a square label equally well."""
    anchors = torch.tensor([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [0.5, 0.75]])
    types = ("mean_absolute_error", "mean_squared_error", "hinge", "sigmoid_cross_entropy")
    scales = (1.0, 2.0, 0.5, 3.0, 4.0)
    for boxes, (n, k, h, w), reduction, more in (
            (3, (2, 2, 5, 4), "sum", {}),
            (1, (2, 1, 6, 7), "none", {"rescore": False}),
            (4, (1, 7, 6, 5), "mean", {"smoothing": 0.125}),
            (2, (2, 3, 6, 5), "sum", {"types": types, "scales": scales}),
            (4, (1, 3, 9, 10), "none", {"presence": 0.375, "absence": 0.125})):
        t = ops.detector_labels(n, boxes, k, h, w)
        keep(ops.yolo_loss(draw(*t.shape), t, anchors[:boxes], reduction, **more))
    t = ops.detector_labels(2, 2, 4, 5, 5)
    weights = torch.randint(3, t.shape).double() / 2
    keep(ops.yolo_loss(draw(*t.shape), t, anchors[:2], "sum_by_non_zero_weights", weights))


def qualities():
    for shape in ((2, 5, 3, 4), (1, 3, 6, 2)):
        t = ops.labels_for("quality_focal", shape)
        y, w = draw(*shape, low=-4, high=4), torch.randint(3, shape).double() / 2
        for reduction in ("none", "mean"):
            keep(ops.loss("quality_focal", y, t, reduction))
        keep(ops.loss("quality_focal", y, t, "sum", w, 1.5))


def boxes():
    """Some distances are equal, which the derivative tells; some places have no weight."""
    for n, h, w in (2, 5, 7), (1, 3, 4):
        t = draw(n, 4, h, w, low=0.05, high=8).detach()
        y = torch.where(torch.rand(t.shape) < 0.125, t, draw(n, 4, h, w, low=0.05, high=8).detach())
        weights = torch.randint(3, (n, 1, h, w)).double() / 2
        for reduction in ("none", "mean"):
            keep(ops.box_loss(y.clone().requires_grad_(), t, reduction))
        for reduction in ("sum", "sum_by_non_zero_weights"):
            keep(ops.box_loss(y.clone().requires_grad_(), t, reduction, weights, 1.5))
        keep(ops.box_iou(y, t))


# ---- What is like an operation above ----

def sub_pixels():
    for (n, c, h, w), outputs, kernel, factor in (((2, 3, 4, 5), 8, (3, 3), 2),
                                                  ((1, 5, 2, 3), 27, (2, 1), 3)):
        keep(ops.sub_pixel_convolution(draw(n, c, h, w), draw(outputs, c, *kernel),
                                       draw(outputs), factor))


def running():
    for shape, momentum in (((3, 5, 2, 4), 0.1), ((1, 9, 3, 1), 0.75)):
        keep(ops.running_statistics(draw(*shape, low=2, high=4).detach(), draw(shape[1]).detach(),
                                    draw(shape[1], low=0.5, high=2).detach(), momentum))


# ---- Optimizers ----

def optimizers():
    lr, decay, shape = 0.125, 0.25, (3, 5)
    keep(ops.gradient_descent(lr, 0, False, 0, 1, shape))
    keep(ops.gradient_descent(lr, 0.875, False, 0, 4, shape))
    keep(ops.gradient_descent(lr, 0.875, True, decay, 4, shape))
    keep(ops.rms_prop(lr, 0.75, 1e-4, 0, 4, shape))
    keep(ops.adam(lr, 0.875, 0.984375, 1e-4, decay, 4, shape))


# ---- Training: twenty steps of a network, for test_training.c ----
#
# Numbers come from a hash of integers that C computes too, so only results are kept: training.npz
# has the loss of each step, and the value after the last step (LAYER.NAME) and the gradient in it
# (LAYER.gradient_for_NAME) of every parameter, weights in the library's layout [Co][kH][kW][Ci].

# A gradient jumps where a maximum changes places or a ReLU changes sides, and float32 turns what is
# closer than its rounding: PyTorch's own float32 is 1e-3 off then. The last batch is one out of
# many in which nothing is close.

STEPS, BATCH, CLASSES, SIDE = 20, 64, 10, 28
BATCHES, MARGIN = list(range(STEPS - 1)) + [151], 1.4e-5


def mix(i):
    """The 32-bit finaliser of MurmurHash3."""
    i = np.asarray(i).astype(np.uint32)
    i = (i ^ (i >> np.uint32(16))) * np.uint32(0x85ebca6b)
    i = (i ^ (i >> np.uint32(13))) * np.uint32(0xc2b2ae35)
    return i ^ (i >> np.uint32(16))


def training_batch(number):
    """A pattern of the class under noise of the same size, in multiples of 1/256."""
    image = np.arange(number * BATCH, (number + 1) * BATCH)
    label, pixel = mix(image + 7) % CLASSES, np.arange(SIDE * SIDE)
    pattern = mix(label[:, None] * SIDE * SIDE + pixel + 1000003) & 127
    noise = mix(image[:, None] * SIDE * SIDE + pixel + 2000003) & 127
    x = (pattern + noise) / 256.0
    return torch.tensor(x).reshape(BATCH, 1, SIDE, SIDE), torch.tensor(label.astype(np.int64))


def initial(layer, bound, *shape):
    """Weights in -bound .. bound, which is a power of 2; made in the library's layout."""
    u = mix(np.arange(math.prod(shape)) + layer * 100003) >> np.uint32(8)
    return torch.tensor(bound * (u / 2.0 ** 23 - 1)).reshape(shape)


def margin(x):
    """How far the inputs of ReLU and max pool 2 are from another gradient."""
    n, c, h, w = x.shape
    windows = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(3, 4).flatten(4)
    top = windows.topk(2).values
    return torch.minimum(top[..., 0].abs(), torch.where(top[..., 0] > 0, top[..., 0] - top[..., 1],
                                                        math.inf)).min().item()


def training():
    parameters, margins = {}, []
    for layer, bound, *shape in ((0, 0.5, 16, 3, 3, 1), (3, 0.125, 32, 3, 3, 16),
                                 (7, 0.0625, 10, 7, 7, 32)):
        parameters[layer, "weights"] = initial(layer, bound, *shape).permute(0, 3, 1, 2)
        parameters[layer, "biases"] = torch.zeros(shape[0])
    for layer, channels in ((1, 16), (4, 32)):
        parameters[layer, "gamma"], parameters[layer, "beta"] = torch.ones(channels), \
            torch.zeros(channels)
    p = {key: value.clone().requires_grad_() for key, value in parameters.items()}

    def block(x, first):
        x = F.conv2d(x, p[first, "weights"], p[first, "biases"], padding=1)
        x = F.batch_norm(x, None, None, p[first + 1, "gamma"], p[first + 1, "beta"], True,
                         eps=1e-5)
        margins.append(margin(x.detach()))
        return F.max_pool2d(F.relu(x), 2)

    optimizer = torch.optim.SGD(p.values(), 1 / 4096, 0.9)
    losses_seen = []
    for number in BATCHES:
        x, label = training_batch(number)
        x = block(block(x, 0), 3).flatten(1)
        loss = F.cross_entropy(F.linear(x, p[7, "weights"].flatten(1), p[7, "biases"]), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses_seen.append(loss.detach())
    assert min(margins[-2:]) > MARGIN
    arrays = archives["training"]
    arrays["loss"] = torch.stack(losses_seen).numpy().astype(np.float32)
    for (layer, name), value in p.items():
        for kind, t in (("", value.detach()), ("gradient_for_", value.grad)):
            t = t.permute(0, 2, 3, 1) if name == "weights" else t
            arrays[f"{layer}.{kind}{name}"] = t.numpy().astype(np.float32)


poolings()
convolutions()
normalisations()
neurons()
soft_maxes()
losses()
optimizers()
transposes()
normalisations_by_image()
arithmetics()
dropouts()
shapes()
reductions()
losses_with_weights()
sub_pixels()
running()
training()
smooth_rectifiers()
parts()
neurons_of_models()
rearrangements()
resizes()
pairs()
arithmetics_of_models()
frames()
drawn = torch.get_rng_state()
views()
torch.set_rng_state(drawn)  # each was added by itself
extremes()
tables()
crops()
detectors()
qualities()
boxes()
fake_quantizations()
for kernel, arrays in archives.items():
    np.savez_compressed(f"{kernel}.npz", **arrays)
with open("cases.txt", "w") as file:
    file.write("\n".join(lines) + "\n")
