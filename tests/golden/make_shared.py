#!/usr/bin/python3
"""Writes shared.npz: PyTorch's training of a Siamese network with three losses, for
test_shared_kernels.c.

Run from this folder; needs python3-torch and python3-numpy. Twenty steps in double precision, by
gradient descent with momentum, the same with gradients clipped by their norm, and Adam; weights and batches come from splitmix64, as
those of make_nets.py do, so only results are kept:

  OPTIMIZER.losses          [20][3], each loss of each step without its weight
  OPTIMIZER.LAYER.VECTOR    after the last step, in the library's layout. Of `norm` also the running
                            mean and variance

Two towers of the same layers, conv, tanh, norm and embed, embed two images; the first loss is the
squared error of the difference of the two, the others the cross entropy of each through the same
layer `head`. Nothing in it has a kink. Prints how far PyTorch's own float32 is off.
"""
import numpy as np
import torch
import torch.nn.functional as F

from make_nets import EPSILON, RUNNING, Weights, off, splitmix

STEPS, BATCH, CHANNELS, SIDE, FEATURES, CLASSES, SEED = 20, 6, 2, 5, 4, 3, 5
LOSS_WEIGHTS = torch.tensor([0.25, 1, 0.5])
DESCENT = lambda p: torch.optim.SGD(p, 1 / 256, momentum=0.9)
OPTIMIZERS = {"descent": (DESCENT, float("inf")), "clipped": (DESCENT, 4),
              "adam": (lambda p: torch.optim.Adam(p, 1 / 128), float("inf"))}


def batch(number, dtype):
    """Two images, the difference wanted and the class, for each of the batch."""
    pixels = CHANNELS * SIDE * SIDE
    drawn = splitmix(number << 32, BATCH * (2 * pixels + FEATURES + 1)).reshape(BATCH, -1)
    label = torch.tensor((drawn[:, -1] % np.uint64(CLASSES)).astype(np.int64))
    values = torch.tensor((drawn[:, :-1] >> np.uint64(57)).astype(float) / 64 - 1, dtype=dtype)
    images = values[:, :2 * pixels].reshape(BATCH, 2, CHANNELS, SIDE, SIDE)
    return images[:, 0], images[:, 1], values[:, 2 * pixels:], label


class Net:
    def __init__(self, dtype):
        weights = Weights(SEED)
        self.parameters = {}
        for layer, *shape in (("conv", FEATURES, 3, 3, CHANNELS),
                              ("embed", FEATURES, SIDE, SIDE, FEATURES),
                              ("head", CLASSES, 1, 1, FEATURES)):
            self.parameters[layer, "weights"] = weights.draw(*shape)
            self.parameters[layer, "biases"] = np.zeros(shape[0])
        self.parameters["norm", "gamma"] = np.ones(FEATURES)
        self.parameters["norm", "beta"] = np.zeros(FEATURES)
        self.parameters = {name: torch.tensor(value, dtype=dtype, requires_grad=True)
                           for name, value in self.parameters.items()}
        self.mean, self.variance = torch.zeros(FEATURES, dtype=dtype), torch.ones(FEATURES,
                                                                                  dtype=dtype)

    def weighted(self, layer, x, padding=0):
        w, b = self.parameters[layer, "weights"], self.parameters[layer, "biases"]
        return F.conv2d(x, w.permute(0, 3, 1, 2), b, padding=padding)

    def tower(self, x):
        x = F.batch_norm(torch.tanh(self.weighted("conv", x, 1)), self.mean, self.variance,
                         self.parameters["norm", "gamma"], self.parameters["norm", "beta"], True,
                         RUNNING, EPSILON)
        return self.weighted("embed", x)

    def losses(self, left, right, difference, label):
        a, b = self.tower(left), self.tower(right)
        return torch.stack(
            [F.mse_loss((a - b).flatten(1), difference, reduction="sum")] +
            [F.cross_entropy(self.weighted("head", x).flatten(1), label, reduction="sum")
             for x in (a, b)])


def train(make_optimizer, norm, dtype):
    net = Net(dtype)
    optimizer = make_optimizer(list(net.parameters.values()))
    arrays = {"losses": []}
    for step in range(STEPS):
        optimizer.zero_grad()
        losses = net.losses(*batch(step, dtype))
        (losses * LOSS_WEIGHTS.to(dtype)).sum().backward()
        torch.nn.utils.clip_grad_norm_(net.parameters.values(), norm)
        optimizer.step()
        arrays["losses"].append(losses.detach().numpy())
    for (layer, name), value in net.parameters.items():
        arrays[f"{layer}.{name}"] = value.detach()
    arrays["norm.mean"], arrays["norm.variance"] = net.mean, net.variance
    return {name: np.asarray(a, np.float64) for name, a in arrays.items()}


def main():
    kept = {}
    for name, settings in OPTIMIZERS.items():
        arrays = train(*settings, torch.float64)
        print(name, "float32 off by", *off(train(*settings, torch.float32), arrays),
              "losses", arrays["losses"][[0, -1]].round(3).tolist())
        kept.update({f"{name}.{n}": a.astype(np.float32) for n, a in arrays.items()})
    np.savez_compressed("shared.npz", **kept)


main()
