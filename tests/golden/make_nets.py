#!/usr/bin/python3
"""Writes nets.npz: PyTorch's training of the networks of src/task/nets.c, for test_nets.c.

Run from this folder; needs python3-torch and python3-numpy (1.13 and 1.24 made the file that is
here). Twenty steps of a batch of 4 in double precision, gradient descent with momentum; weights and
pixels come from splitmix64, which C has too (src/base/random.h), so only results are kept:

  NET.batches                   the number of each step's batch
  NET.loss                      the loss of each step
  NET.LABEL.VECTOR              after the last step; LABEL is the node's. Of batch normalisation
                                also the running mean and variance
  NET.LABEL.momentum_of_VECTOR  the sum of 0.9^(19 - n) times the gradient of step n, 0 .. 19

Weights are in the library's layout, [Co][kH][kW][Ci / groups].

A gradient jumps where a maximum changes places or a ReLU changes sides, and float32 turns what is
closer than its rounding. So each step takes the batch, out of CANDIDATES, that keeps furthest from
that; what is left, and how far PyTorch's own float32 is off, is printed. Prints one line a network.
"""
import collections
import math

import numpy as np
import torch
import torch.nn.functional as F

STEPS, BATCH, CLASSES, SIDE = 20, 4, 10, 28
RATE, MOMENTUM, EPSILON, RUNNING = 1 / 2048, 0.9, float(np.float32(1e-5)), 0.1
SEED, CANDIDATES = 1, 48
GOLDEN = 0x9e3779b97f4a7c15


# ---- Numbers ----

def splitmix(seed, count):
    """The first numbers of random_next from a seed."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
    return z ^ (z >> np.uint64(31))


class Weights:
    """random_weights, layer after layer."""

    def __init__(self, seed):
        self.seed = seed

    def draw(self, *shape):
        u = splitmix(self.seed, math.prod(shape)) >> np.uint64(40)
        self.seed = (self.seed + math.prod(shape) * GOLDEN) % 2 ** 64
        bound = np.sqrt(np.float32(6) / np.float32(math.prod(shape[1:])))
        values = bound * (2 * u.astype(np.float32) / np.float32(2 ** 24) - np.float32(1))
        return values.reshape(shape)


def batch(number):
    """A pattern of the class under noise of the same size, in multiples of 1/256."""
    drawn = splitmix(number << 32, BATCH * (SIDE * SIDE + 1)).reshape(BATCH, -1)
    label = (drawn[:, 0] % np.uint64(CLASSES)).astype(np.int64)
    pattern = np.stack([splitmix(1 + c, SIDE * SIDE) for c in label]) >> np.uint64(57)
    x = (pattern + (drawn[:, 1:] >> np.uint64(57))).astype(float) / 256
    return torch.tensor(x).reshape(BATCH, 1, SIDE, SIDE), torch.tensor(label)


# ---- Windows (spec 6) ----

def padded(x, size, stride, same):
    """x as windows of the padding policy 'same' or 'valid' see it: what lies outside is zero, what
    no window reaches is gone. Uneven amounts have the larger part at the top and the left."""
    amounts = []
    for n in (x.shape[3], x.shape[2]):
        result = (n + (0 if same else 1 - size) + stride - 1) // stride
        extra = (result - 1) * stride + size - n
        before = int((extra + 1) / 2)
        amounts += [before, extra - before]
    return F.pad(x, amounts)


# ---- Layers ----

class Net:
    """A network in one state: its parameters, and of the last run the distance to a kink."""

    def __init__(self, build, dtype):
        self.build, self.dtype = build, dtype
        self.parameters, self.statistics, self.running = {}, {}, {}
        self.margin = math.inf
        self.weights, self.counts = Weights(SEED), collections.Counter()

    def run(self, x, label):
        self.counts.clear()
        self.margin = math.inf
        return F.cross_entropy(self.build(self, x.to(self.dtype)).flatten(1), label)

    def label(self, kernel):
        self.counts[kernel] += 1
        return f"{kernel}_{self.counts[kernel] - 1}"

    def parameter(self, label, name, make):
        if (label, name) not in self.parameters:
            self.parameters[label, name] = torch.tensor(make(), dtype=self.dtype,
                                                        requires_grad=True)
        return self.parameters[label, name]

    def weighted(self, kernel, x, size, inputs, outputs, stride, groups, same):
        label = self.label(kernel)
        w = self.parameter(label, "weights",
                           lambda: self.weights.draw(outputs, size, size, inputs // groups))
        b = self.parameter(label, "biases", lambda: np.zeros(outputs))
        return F.conv2d(padded(x, size, stride, same), w.permute(0, 3, 1, 2), b, stride,
                        groups=groups)

    def convolve(self, x, size, inputs, outputs, stride=1, groups=1, same=True):
        return self.weighted("convolution", x, size, inputs, outputs, stride, groups, same)

    def connect(self, x, size, inputs, outputs):
        return self.weighted("fully_connected", x, size, inputs, outputs, 1, 1, False)

    def normalise(self, x):
        label, channels = self.label("batch_normalization"), x.shape[1]
        gamma = self.parameter(label, "gamma", lambda: np.ones(channels))
        beta = self.parameter(label, "beta", lambda: np.zeros(channels))
        self.statistics[label] = x.detach().mean((0, 2, 3)), x.detach().var((0, 2, 3))
        return F.batch_norm(x, None, None, gamma, beta, True, eps=EPSILON)

    def rectify(self, x):
        self.margin = min(self.margin, x.detach().abs().min().item())
        return F.relu(x)

    def normalised(self, *convolution, relu=True, **more):
        x = self.normalise(self.convolve(*convolution, **more))
        return self.rectify(x) if relu else x

    def pool_max(self, x):
        """Of what comes from a ReLU: equal zeros have equal gradients, none."""
        n, c, h, w = x.shape
        windows = x.detach().reshape(n, c, h // 2, 2, w // 2, 2).transpose(3, 4).flatten(4)
        top = windows.topk(2).values
        apart = torch.where(top[..., 0] > 0, top[..., 0] - top[..., 1], math.inf)
        self.margin = min(self.margin, apart.min().item())
        return F.max_pool2d(x, 2)

    def average(self):
        """Takes the last run's statistics into the running ones."""
        for label, after in self.statistics.items():
            before = self.running.get(label, (torch.zeros_like(after[0]),
                                              torch.ones_like(after[1])))
            self.running[label] = [(1 - RUNNING) * b + RUNNING * a for b, a in zip(before, after)]


# ---- Networks: src/task/nets.c, node by node ----

def lenet(net, x):
    x = F.avg_pool2d(net.rectify(net.convolve(x, 5, 1, 6)), 2)
    x = F.avg_pool2d(net.rectify(net.convolve(x, 5, 6, 16, same=False)), 2)
    x = net.rectify(net.connect(x, 5, 16, 120))
    x = net.rectify(net.connect(x, 1, 120, 84))
    return net.connect(x, 1, 84, CLASSES)


def small(net, x):
    x = net.pool_max(net.normalised(x, 3, 1, 16))
    x = net.pool_max(net.normalised(x, 3, 16, 32))
    return net.connect(x, 7, 32, CLASSES)


def residual(net, source, inputs, outputs, stride):
    x = net.normalised(source, 3, inputs, outputs, stride)
    x = net.normalised(x, 3, outputs, outputs, relu=False)
    if inputs != outputs or stride != 1:
        source = net.normalised(source, 1, inputs, outputs, stride, relu=False)
    return net.rectify(x + source)


def resnet8(net, x):
    x = net.normalised(x, 3, 1, 16)
    x = residual(net, x, 16, 16, 1)
    x = residual(net, x, 16, 32, 2)
    x = residual(net, x, 32, 64, 2)
    return net.connect(F.avg_pool2d(x, 7), 1, 64, CLASSES)


def separable(net, x, inputs, outputs, stride):
    x = net.normalised(x, 3, inputs, inputs, stride, groups=inputs)
    return net.normalised(x, 1, inputs, outputs)


def mobilenet_tiny(net, x):
    x = net.normalised(x, 3, 1, 16, 2)
    x = separable(net, x, 16, 32, 1)
    x = separable(net, x, 32, 64, 2)
    x = separable(net, x, 64, 64, 1)
    return net.connect(F.avg_pool2d(x, 7), 1, 64, CLASSES)


# ---- Training ----

def candidates(step):
    return range(step * CANDIDATES, (step + 1) * CANDIDATES)


def clearest(net, step):
    """The number of the batch that is furthest from a kink, and how far."""
    best = 0, -1
    for number in candidates(step):
        with torch.no_grad():
            net.run(*batch(number))
        best = max(best, (number, net.margin), key=lambda b: b[1])
    return best


def train(build, dtype, numbers=None):
    """The arrays that are kept, and the smallest distance; `numbers` are chosen where None."""
    net = Net(build, dtype)
    momentum, arrays, chosen, margin = {}, {"loss": []}, [], math.inf
    for step in range(STEPS):
        number = clearest(net, step)[0] if numbers is None else numbers[step]
        chosen.append(number)
        loss = net.run(*batch(number))
        margin = min(margin, net.margin)
        net.average()
        gradients = torch.autograd.grad(loss, list(net.parameters.values()))
        with torch.no_grad():
            for (key, value), g in zip(net.parameters.items(), gradients):
                momentum[key] = MOMENTUM * momentum.get(key, 0) + g
                value -= RATE * momentum[key]
        arrays["loss"].append(loss.item())
    for (label, name), value in net.parameters.items():
        arrays[f"{label}.{name}"] = value.detach()
        arrays[f"{label}.momentum_of_{name}"] = momentum[label, name]
    for label, (mean, variance) in net.running.items():
        arrays[f"{label}.mean"], arrays[f"{label}.variance"] = mean, variance
    return {name: np.asarray(a, np.float64) for name, a in arrays.items()}, chosen, margin


def off(found, wanted):
    """The largest error, as test_nets.c reckons it, and of which array."""
    return max((np.abs(found[n] - wanted[n]).max() / max(1, np.linalg.norm(wanted[n])), n)
               for n in wanted)


def main():
    kept = {}
    for name, build in (("lenet", lenet), ("small", small), ("resnet8", resnet8),
                        ("mobilenet-tiny", mobilenet_tiny)):
        arrays, numbers, margin = train(build, torch.float64)
        single, _, _ = train(build, torch.float32, numbers)
        print(f"{name}: distance {margin:.2g}, float32 off by", *off(single, arrays),
              "loss", arrays["loss"].round(3))
        arrays["batches"] = np.array(numbers)
        kept.update({f"{name}.{n}": a.astype(np.float32) for n, a in arrays.items()})
    np.savez_compressed("nets.npz", **kept)


if __name__ == "__main__":
    main()
