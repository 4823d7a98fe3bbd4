#!/usr/bin/env python3
"""A classifier of an ONNX file trained by the glcnn tool, against PyTorch; for tests/onnx/test_real_model.sh.

  model_steps.py pictures FOLDER          writes the pictures, parts train and val, both the same
  model_steps.py compare MODEL.onnx FOLDER LOG.csv TUNED.onnx PREDICTED.json

LOG.csv is of `glcnn train --train all --batch 8 --schedule constant --optimizer sgd` on FOLDER,
an epoch a step, TUNED.onnx what `glcnn export` made of its result, and PREDICTED.json what `glcnn
predict --json` says of FOLDER/train.npz by it. Compared with gradient descent in double precision
of the loss's mean over the batch, normalisations by the batch, are

  losses         of each step
  parameters     weights, biases, gamma, beta, and the running statistics, which training moves
                 too: relative to max(1, largest |expected|)
  changes        how far each of them went: relative to the farthest that one of its numbers went,
                 which tells a wrong gradient from one that is small
  probabilities  the tool's and those that PyTorch gets of TUNED.onnx

and every other constant has to be as it was. Needs python3-onnx, python3-torch, python3-numpy.
"""
import csv
import json
import pathlib
import sys

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import helper, numpy_helper

WIDTH, HEIGHT, BATCH = 96, 48, 8
RATE, MOMENTUM, RUNNING = 0.0003, 0.9, 0.1
REST = 1e-6  # what rounding may move
BOUNDS = {"losses": 1e-4, "parameters": 1e-4, "changes": 1e-2, "probabilities": 1e-5}


# ---- Pictures ----

def pictures():
    """Bars across or along under noise, bytes [N][C][H][W], and which it was. The last two are the
    first two again and say the opposite, so that the loss stays large and every step counts."""
    random = np.random.RandomState(1)
    labels = np.arange(BATCH) % 2
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    bars = np.stack([((x if label else y) // (3 + n) % 2) * 100 for n, label in enumerate(labels)])
    noise = random.randint(0, 156, (BATCH, 3, HEIGHT, WIDTH))
    images = (bars[:, None] + noise).astype(np.uint8)
    images[-2:] = images[:2]
    labels[-2:] = 1 - labels[:2]
    return images, labels


def write_pictures(folder):
    images, labels = pictures()
    for part in ("train", "val"):
        np.savez(pathlib.Path(folder) / f"{part}.npz", images=images, labels=labels)


# ---- The file in PyTorch ----

def conv(a, x, weights, biases=None):
    top, left, bottom, right = a["pads"]
    return F.conv2d(F.pad(x, (left, right, top, bottom)), weights, biases, a["strides"], 0,
                    a["dilations"], a["group"])


def part(a, x):
    for axis, start, end in zip(a["axes"], a["starts"], a["ends"]):
        x = x[(slice(None),) * axis + (slice(start, end),)]
    return x


OPERATORS = {
    "Add": lambda a, x, y: x + y,
    "Cast": lambda a, x: x.to({6: torch.int32, 7: torch.int64}[a["to"]]),
    "Clip": lambda a, x: x.clamp(a["min"], a["max"]),
    "Concat": lambda a, *x: torch.cat(x, a["axis"]),
    "Conv": conv,
    "Div": lambda a, x, y: x / y,
    "GlobalAveragePool": lambda a, x: x.mean((2, 3), keepdim=True),
    "HardSigmoid": lambda a, x: (a["alpha"] * x + a["beta"]).clamp(0, 1),
    "MatMul": lambda a, x, y: x @ y,
    "MaxPool": lambda a, x: F.max_pool2d(x, a["kernel_shape"], a["strides"], a["pads"][:2]),
    "Mul": lambda a, x, y: x * y,
    "Relu": lambda a, x: F.relu(x),
    "Reshape": lambda a, x, shape: x.reshape(shape.tolist()),
    "Shape": lambda a, x: torch.tensor(x.shape),
    "Slice": part,
    "Softmax": lambda a, x: x.softmax(a["axis"]),
}


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def constants(model):
    """By name, as they are in the file."""
    found = {tensor.name: tensor for tensor in model.graph.initializer}
    found.update({node.output[0]: attributes(node)["value"] for node in model.graph.node
                  if node.op_type == "Constant"})
    return {name: numpy_helper.to_array(tensor) for name, tensor in found.items()}


def doubles(arrays):
    return {name: torch.tensor(array, dtype=torch.float64 if array.dtype == np.float32 else None)
            for name, array in arrays.items()}


def scores(model, values, images, training):
    """What the last node, a soft-max, reads. Training moves the running statistics in `values`."""
    values = {**values, model.graph.input[0].name: images}
    nodes = [node for node in model.graph.node if node.op_type != "Constant"]
    assert nodes[-1].op_type == "Softmax"
    for node in nodes[:-1]:
        a, x = attributes(node), [values[name] for name in node.input]
        if node.op_type == "BatchNormalization":
            y = F.batch_norm(x[0], x[3], x[4], x[1], x[2], training, RUNNING, a["epsilon"])
        else:
            y = OPERATORS[node.op_type](a, *x)
        values[node.output[0]] = y
    return values[nodes[-1].input[0]]


def statistics(model):
    """Names of running means and variances."""
    return {name for node in model.graph.node if node.op_type == "BatchNormalization"
            for name in node.input[3:5]}


def train(model, images, labels, steps):
    """Losses, and all constants after the last step. What trains is an array: numbers that stand
    alone, the 3 and 6 of a hard swish, are no weights."""
    values, kept = doubles(constants(model)), statistics(model)
    trained = [v.requires_grad_() for name, v in values.items()
               if v.dtype == torch.float64 and v.dim() > 0 and name not in kept]
    optimizer = torch.optim.SGD(trained, RATE, MOMENTUM)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(scores(model, values, images, True), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: value.detach().numpy() for name, value in values.items()}


# ---- Comparing ----

def farthest(errors):
    """The largest of errors by name, and whose it is."""
    assert errors and not any(np.isnan(error) for error in errors.values())
    name = max(errors, key=errors.get)
    return errors[name], name


def compare_parameters(before, expected, found):
    """Their largest errors, and how many vectors went anywhere: those before a normalisation that
    takes their shift away have no gradient, but for rounding."""
    errors, changes = {}, {}
    for name, start in before.items():
        if start.dtype != np.float32 or start.ndim == 0:
            assert np.array_equal(start, found[name]), f"{name} has changed"
            continue
        off = np.abs(expected[name] - found[name]).max()
        moved = np.abs(expected[name] - start).max()
        errors[name] = off / max(1, np.abs(expected[name]).max())
        if moved > REST:
            changes[name] = off / moved
    assert found.keys() == before.keys(), f"new or lost: {found.keys() ^ before.keys()}"
    return {"parameters": farthest(errors), "changes": farthest(changes)}, len(changes)


def compare(path, folder, log, tuned_path, predicted):
    model, tuned = onnx.load(path), onnx.load(tuned_path)
    with np.load(pathlib.Path(folder) / "train.npz") as data:
        images, labels = torch.tensor(data["images"]).double(), torch.tensor(data["labels"]).long()
    images = (images / 255 - 0.5) / 0.5
    with open(log) as file:
        found = [float(row["loss"]) for row in csv.DictReader(file)]
    losses, expected = train(model, images, labels, len(found))
    worst, count = compare_parameters(constants(model), expected, constants(tuned))
    worst["losses"] = farthest({f"step {n}": abs(a - b)
                                for n, (a, b) in enumerate(zip(losses, found))})
    with open(predicted) as file:
        said = [list(image["probabilities"].values()) for image in json.load(file)]
    made = scores(tuned, doubles(constants(tuned)), images, False).softmax(1).numpy()
    worst["probabilities"] = farthest({f"image {n}": error for n, error in
                                       enumerate(np.abs(made - np.array(said)).max(1))})
    print(f"{len(found)} steps, losses {losses[0]:.4f} to {losses[-1]:.4f}, {count} vectors moved")
    for what, (error, where) in worst.items():
        print(f"{what}: at most {error:.1e} of {BOUNDS[what]:.0e}, {where}")
    return all(worst[what][0] <= bound for what, bound in BOUNDS.items())


if __name__ == "__main__":
    if sys.argv[1] == "pictures":
        write_pictures(*sys.argv[2:])
    else:
        sys.exit(not compare(*sys.argv[2:]))
