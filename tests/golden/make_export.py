#!/usr/bin/env python3
"""Writes a classifier as PyTorch exports it, for tests/onnx/test_round.sh.

usage: make_export.py FILE.onnx   with python3-torch

16x16 pictures of three channels, 4 classes, a batch of any size: convolutions without biases before
normalisations that keep different shares of a batch, a branch that is added, one that is weighed by
channels, pooling, dropout, and a layer of scores. Opset 14; normalisations are not folded."""
import sys

import torch
from torch import nn


class Block(nn.Module):
    """A residual block whose channels are weighed by what they hold on average."""

    def __init__(self, inputs, outputs, stride, momentum):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs, momentum=momentum)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, groups=outputs)
        self.weigh = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(outputs, 4, 1), nn.SiLU(),
                                   nn.Conv2d(4, outputs, 1), nn.Hardsigmoid())
        self.short = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        y = torch.relu(self.norm1(self.conv1(x)))
        y = self.conv2(y)
        return nn.functional.hardswish(y * self.weigh(y) + self.short(x))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8, momentum=0.25), nn.ReLU6(),
            nn.MaxPool2d(3, 2, 1), Block(8, 12, 1, 0.1), Block(12, 16, 2, 0.02))
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(16 * 4 * 4, 4))

    def forward(self, x):
        return self.head(self.features(x))


torch.manual_seed(3)
model = Classifier().eval()
torch.onnx.export(model, torch.zeros(1, 3, 16, 16), sys.argv[1], opset_version=14,
                  training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
                  input_names=["image"], output_names=["scores"],
                  dynamic_axes={"image": {0: "batch"}, "scores": {0: "batch"}})
