#!/usr/bin/python3
"""Writes options.npz: PyTorch's training with options of glcnn train, for test_options.c.

Run from this folder; needs python3-torch and python3-numpy (1.13 and 1.24 made the file that is
here). Twenty steps of the network `small` on pictures of 12x12, batches of 4, in double precision,
gradient descent with momentum, and an option each. Weights, pixels and the choice of batches are
those of make_nets.py, whose head says what is kept: OPTION in place of NET, without momentum.
"""
import math

import numpy as np
import torch
import torch.nn.functional as F

from make_nets import (BATCH, CANDIDATES, CLASSES, MOMENTUM, RATE, STEPS, Net, off, splitmix)

SIDE, MIX_SEED = 12, 5
OPTIONS = {
    "weight-decay": {"weight_decay": 4.0},
    "nesterov": {"nesterov": True},
    "ema": {"ema": 0.8},
    "label-smoothing": {"label_smoothing": 0.3},
    "class-weights": {"label_smoothing": 0.1,
                      "class_weights": [0.25, 2, 1, 0.5, 3, 1.5, 0.75, 1, 4, 0.125]},
    "mixup": {"mixup": 0.4, "label_smoothing": 0.1},
    "cutmix": {"cutmix": 1.5},
    "mixup-or-cutmix": {"mixup": 0.4, "cutmix": 1.5},
    "accumulate": {"accumulate": 3, "weight_decay": 4.0, "ema": 0.8, "mixup": 0.4},
}


# ---- Pictures and network ----

def batch(number):
    """make_nets.batch of smaller pictures."""
    drawn = splitmix(number << 32, BATCH * (SIDE * SIDE + 1)).reshape(BATCH, -1)
    label = (drawn[:, 0] % np.uint64(CLASSES)).astype(np.int64)
    pattern = np.stack([splitmix(1 + c, SIDE * SIDE) for c in label]) >> np.uint64(57)
    x = (pattern + (drawn[:, 1:] >> np.uint64(57))).astype(float) / 256
    return torch.tensor(x).reshape(BATCH, 1, SIDE, SIDE), torch.tensor(label)


def small(net, x):
    x = net.pool_max(net.normalised(x, 3, 1, 16))
    x = net.pool_max(net.normalised(x, 3, 16, 32))
    return net.connect(x, 3, 32, CLASSES)


# ---- Mixing: src/task/mix.h ----

class Random:
    """Draws of a picture: from seed, epoch and its number."""

    def __init__(self, seed, epoch, picture):
        self.state = seed
        self.state = self.bits() ^ epoch
        self.state = self.bits() ^ picture
        self.state = self.bits()

    def bits(self):
        found = int(splitmix(self.state, 1)[0])
        self.state = (self.state + 0x9e3779b97f4a7c15) % 2 ** 64
        return found

    def uniform(self):
        return ((self.bits() >> 11) + 0.5) / 2 ** 53

    def normal(self):
        radius = math.sqrt(-2 * math.log(self.uniform()))
        return radius * math.cos(2 * math.pi * self.uniform())

    def gamma(self, shape):
        """Marsaglia and Tsang's."""
        if shape < 1:
            above = self.gamma(shape + 1)
            return above * self.uniform() ** (1 / shape)
        d = shape - 1 / 3
        while True:
            x = self.normal()
            v = (1 + x / math.sqrt(9 * d)) ** 3
            if v > 0 and math.log(self.uniform()) < x * x / 2 + d - d * v + d * math.log(v):
                return d * v

    def beta(self, shape):
        x = self.gamma(shape)
        return x / (x + self.gamma(shape))

    def range(self, part):
        length, place = int(SIDE * part), int(SIDE * self.uniform())
        return slice(max(place - length // 2, 0), min(place - length // 2 + length, SIDE))


def mask_of(option, epoch, picture):
    """What of each pixel is the other's."""
    random, mask = Random(MIX_SEED, epoch, picture), torch.zeros(SIDE, SIDE, dtype=torch.float64)
    second = random.uniform() < 0.5
    if "cutmix" not in option or ("mixup" in option and not second):
        return mask + random.beta(option["mixup"])
    side = math.sqrt(random.beta(option["cutmix"]))
    columns = random.range(side)
    mask[random.range(side), columns] = 1
    return mask


def mixed(option, number):
    """The batch and its targets."""
    x, label = batch(number)
    target = F.one_hot(label, CLASSES).double()
    if "mixup" not in option and "cutmix" not in option:
        return x, target
    mask = torch.stack([mask_of(option, number % 7, number * BATCH + n) for n in range(BATCH)])
    share = mask.mean((1, 2))[:, None]
    return (x + mask[:, None] * (x.flip(0) - x), target + share * (target.flip(0) - target))


# ---- Options ----

class Run:
    """A training with one option."""

    def __init__(self, option, dtype):
        self.option, self.net, self.optimizer = option, Net(small, dtype), None
        self.averages = {}

    def loss(self, number):
        x, target = mixed(self.option, number)
        self.net.counts.clear()
        self.net.margin = np.inf
        scores = small(self.net, x.to(self.net.dtype)).flatten(1)
        weights = self.option.get("class_weights", [1] * CLASSES)
        return F.cross_entropy(scores, target.to(self.net.dtype), torch.tensor(weights, dtype=self.net.dtype),
                               label_smoothing=self.option.get("label_smoothing", 0),
                               reduction="sum") / BATCH

    def clearest(self, step):
        """Batches of the step."""
        batches = self.option.get("accumulate", 1)
        return [self.clearest_of(step * batches + i) for i in range(batches)]

    def clearest_of(self, place):
        with torch.no_grad():
            found = []
            for number in range(place * CANDIDATES, (place + 1) * CANDIDATES):
                self.loss(number)
                found.append((self.net.margin, number))
        return max(found)[1]

    def decay(self):
        """As AdamW does, of weights and nothing else."""
        kept = 1 - RATE * self.option.get("weight_decay", 0)
        with torch.no_grad():
            for (_, name), value in self.net.parameters.items():
                value *= kept if name == "weights" else 1

    def step(self, numbers):
        """The loss of its batches, and the least margin."""
        total, margin = 0, np.inf
        for number in numbers:
            loss = self.loss(number) / len(numbers)
            self.net.average()
            loss.backward()
            total, margin = total + loss.item(), min(margin, self.net.margin)
        if not self.optimizer:
            self.optimizer = torch.optim.SGD(list(self.net.parameters.values()), RATE, MOMENTUM,
                                             nesterov=self.option.get("nesterov", False))
        self.decay()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.average()
        return total, margin

    def values(self):
        found = {f"{label}.{name}": v.detach() for (label, name), v in self.net.parameters.items()}
        for label, (mean, variance) in self.net.running.items():
            found[f"{label}.mean"], found[f"{label}.variance"] = mean, variance
        return found

    def average(self):
        """As AveragedModel does with buffers, and this decay."""
        decay = self.option.get("ema", 0)
        for name, value in self.values().items():
            before = self.averages.get(name, value)
            self.averages[name] = decay * before + (1 - decay) * value


def train(option, dtype, numbers=None):
    run, losses, chosen, margin = Run(option, dtype), [], [], np.inf
    for step in range(STEPS):
        chosen.append(run.clearest(step) if numbers is None else numbers[step])
        loss, least = run.step(chosen[-1])
        losses.append(loss)
        margin = min(margin, least)
    arrays = dict(run.averages, loss=losses)
    return {name: np.asarray(a, np.float64) for name, a in arrays.items()}, chosen, margin


def main():
    kept = {}
    for name, option in OPTIONS.items():
        arrays, numbers, margin = train(option, torch.float64)
        single, _, _ = train(option, torch.float32, numbers)
        first = [batches[:1] for batches in numbers]
        print(f"{name}: distance {margin:.2g}, float32 off by", *off(single, arrays),
              "without the option by", *off(train({}, torch.float64, first)[0], arrays))
        arrays["batches"] = np.concatenate(numbers)
        kept.update({f"{name}.{n}": a.astype(np.float32) for n, a in arrays.items()})
    np.savez_compressed("options.npz", **kept)


if __name__ == "__main__":
    main()
