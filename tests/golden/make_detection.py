#!/usr/bin/python3
"""Writes detection.npz: PyTorch's losses of a detector, for test_detection_loss.c.

Run from this folder; needs python3-torch and python3-numpy (1.13 and 1.24 made the file that is here).
In double precision, of a batch of a grid, N,C,H,W:

  predicted, expected       distances of boxes around locations to the left, top, right and bottom
  logits, labels            a channel for each class; labels sum to 1 where there is an object
  label_weights, box_weights
  ciou                      of all locations, after Zheng et al. 2020, alpha detached
  boxes, predicted.gradient the sum of box_weights (1 - CIoU), by image, and its derivative
  scores, logits.gradient   the sum of label_weights times the binary cross entropy with logits
"""
import math

import numpy as np
import torch
import torch.nn.functional as F

SHAPE = (2, 5, 7)
CLASSES = 3


def corners(distances):
    left, top, right, bottom = distances.unbind(1)
    return -left, -top, right, bottom


def ciou(p, g):
    px0, py0, px1, py1 = corners(p)
    gx0, gy0, gx1, gy1 = corners(g)
    inside = ((torch.minimum(px1, gx1) - torch.maximum(px0, gx0)).clamp(min=0)
              * (torch.minimum(py1, gy1) - torch.maximum(py0, gy0)).clamp(min=0))
    iou = inside / ((px1 - px0) * (py1 - py0) + (gx1 - gx0) * (gy1 - gy0) - inside)
    apart = ((px0 + px1 - gx0 - gx1) ** 2 + (py0 + py1 - gy0 - gy1) ** 2) / 4
    diagonal = ((torch.maximum(px1, gx1) - torch.minimum(px0, gx0)) ** 2
                + (torch.maximum(py1, gy1) - torch.minimum(py0, gy0)) ** 2)
    v = 4 / math.pi ** 2 * (torch.atan((gx1 - gx0) / (gy1 - gy0))
                            - torch.atan((px1 - px0) / (py1 - py0))) ** 2
    alpha = (v / (1 - iou + v)).detach()
    return iou - apart / diagonal - alpha * v


def main():
    draw = np.random.RandomState(5)
    n, h, w = SHAPE
    one_hot = np.zeros((n, CLASSES, h, w))
    for i, y, x in np.ndindex(n, h, w):
        if draw.rand() < 0.6:
            one_hot[i, draw.randint(CLASSES), y, x] = 1
    kept = {"predicted": np.exp(draw.uniform(-3, 2, (n, 4, h, w))),
            "expected": np.exp(draw.uniform(-3, 2, (n, 4, h, w))),
            "logits": draw.uniform(-6, 6, (n, CLASSES, h, w)),
            "labels": one_hot,
            "label_weights": draw.uniform(0, 1, (n, CLASSES, h, w)),
            "box_weights": one_hot.sum(1, keepdims=True) * draw.uniform(0.1, 1, (n, 1, h, w))}
    kept = {name: a.astype(np.float32) for name, a in kept.items()}
    t = {name: torch.tensor(a, dtype=torch.float64) for name, a in kept.items()}
    t["predicted"].requires_grad_()
    t["logits"].requires_grad_()
    overlap = ciou(t["predicted"], t["expected"])
    boxes = (t["box_weights"][:, 0] * (1 - overlap)).sum((1, 2))
    scores = F.binary_cross_entropy_with_logits(t["logits"], t["labels"], t["label_weights"],
                                                reduction="none").sum((1, 2, 3))
    (boxes.sum() + scores.sum()).backward()
    kept.update({"ciou": overlap.detach()[:, None].numpy(), "boxes": boxes.detach().numpy(),
                 "scores": scores.detach().numpy(),
                 "predicted.gradient": t["predicted"].grad.numpy(),
                 "logits.gradient": t["logits"].grad.numpy()})
    np.savez_compressed("detection.npz", **{name: a.astype(np.float32) for name, a in kept.items()})


if __name__ == "__main__":
    main()
