#!/usr/bin/python3
"""Writes learned_image.npz: PyTorch's training of a small network with a learned position and a class
token, for test_learned_image.c.

Run from this folder; needs python3-torch and python3-numpy (1.13 and 1.24 made the file that is here).
Twenty steps in double precision of one batch, by gradient descent with momentum and by Adam:

  x, labels                 the batch: N,C,H,W, and a number for each class
  LAYER.VECTOR              what training begins with, in the library's layout
  OPTIMIZER.losses          [20], the sum over the batch
  OPTIMIZER.LAYER.VECTOR    after the last step

The network adds `position` behind a convolution, and once more behind the rectifier: one vector, two
uses. Its pixels become a column of tokens, below the class token. The batch is, of SEEDS, the one that
keeps furthest from the rectifier's kink; what is left, and how far PyTorch's own float32 is off, is
printed.
"""
import numpy as np
import torch
import torch.nn.functional as F

STEPS, BATCH, CHANNELS, HEIGHT, WIDTH, FEATURES, CLASSES, SEEDS = 20, 5, 3, 4, 5, 6, 3, 40
OPTIMIZERS = {"descent": lambda p: torch.optim.SGD(p, 1 / 64, momentum=0.9),
              "adam": lambda p: torch.optim.Adam(p, 1 / 128)}


def begin(seed):
    """Multiples of 1/64, which every format has."""
    draw = np.random.RandomState(seed)
    noise = lambda scale, *shape: np.round(draw.uniform(-scale, scale, shape) * 64) / 64
    return {"x": noise(1, BATCH, CHANNELS, HEIGHT, WIDTH),
            "labels": np.eye(CLASSES)[draw.randint(CLASSES, size=BATCH)],
            "convolution.weights": noise(0.5, FEATURES, 3, 3, CHANNELS),
            "convolution.biases": noise(0.5, FEATURES),
            "position.values": noise(1, HEIGHT, WIDTH, FEATURES),
            "token.values": noise(1, 1, 1, FEATURES),
            "head.weights": noise(0.25, CLASSES, 1 + HEIGHT * WIDTH, 1, FEATURES),
            "head.biases": noise(0.25, CLASSES)}


def run(start, make_optimizer, dtype):
    """What is learned, and the least distance of all steps from the kink."""
    p = {name: torch.tensor(a, dtype=dtype) for name, a in start.items()}
    x, labels = p.pop("x"), p.pop("labels")
    for value in p.values():
        value.requires_grad_()
    optimizer, losses, margin = make_optimizer(list(p.values())), [], np.inf
    for _ in range(STEPS):
        position = p["position.values"].permute(2, 0, 1)
        y = F.conv2d(x, p["convolution.weights"].permute(0, 3, 1, 2), p["convolution.biases"],
                     padding=1) + position
        margin = min(margin, y.abs().min().item())
        y = F.relu(y) + position
        token = p["token.values"].permute(2, 0, 1).expand(BATCH, -1, -1, -1)
        y = torch.cat([token, y.reshape(BATCH, FEATURES, HEIGHT * WIDTH, 1)], 2)
        y = F.conv2d(y, p["head.weights"].permute(0, 3, 1, 2), p["head.biases"]).flatten(1)
        loss = -(labels * F.log_softmax(y, 1)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": np.array(losses), **{n: v.detach().numpy() for n, v in p.items()}}, margin


def least_margin(seed):
    return min(run(begin(seed), make, torch.float64)[1] for make in OPTIMIZERS.values())


seed = max(range(SEEDS), key=least_margin)
start = begin(seed)
kept = dict(start)
for name, make in OPTIMIZERS.items():
    arrays, margin = run(start, make, torch.float64)
    single = run(start, make, torch.float32)[0]
    print(name, "seed", seed, "margin", margin, "float32 off by",
          max(np.abs(single[n] - a).max() for n, a in arrays.items()),
          "losses", arrays["losses"][[0, -1]].round(3).tolist())
    kept.update({f"{name}.{n}": a for n, a in arrays.items()})
np.savez_compressed("learned_image.npz", **{n: a.astype(np.float32) for n, a in kept.items()})
