#!/usr/bin/env python3
"""Writes small classifiers as ONNX files and what PyTorch makes of them, for tests/onnx/test_import.sh.

usage: make.py FOLDER   with python3-onnx, python3-torch and python3-numpy

  classifier.onnx    8x8 grey pictures, 5 classes: Conv, BatchNormalization, Relu, Conv, Relu,
                     GlobalAveragePool, Flatten, Dropout, Gemm, Softmax
  plain.onnx         the same without Dropout and Softmax
  two.onnx           the same as the first with a second result
  train.csv          40 pictures, their classes in front
  probabilities.txt  of each class, a line for each picture, by the first
  losses.txt         of 20 steps of gradient descent, momentum 0.9, rate 0.05, on all pictures at
                     once, by the second
"""
import random
import sys

import numpy
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper, save

SHAPES = [("stem.weight", (8, 1, 3, 3)), ("norm.gamma", (8,)), ("norm.beta", (8,)),
          ("norm.mean", (8,)), ("norm.variance", (8,)), ("body.weight", (16, 8, 3, 3)),
          ("body.bias", (16,)), ("head.weight", (5, 16)), ("head.bias", (5,))]


def weights():
    random.seed(1)
    made = {}
    for name, shape in SHAPES:
        low, high = (0.5, 1.5) if name in ("norm.gamma", "norm.variance") else (-0.5, 0.5)
        count = int(numpy.prod(shape))
        made[name] = numpy.array([random.uniform(low, high) for _ in range(count)],
                                 dtype=numpy.float32).reshape(shape)
    return made


def write(path, results, plain):
    initializers = [numpy_helper.from_array(array, name) for name, array in weights().items()]
    nodes = [
        helper.make_node("Conv", ["image", "stem.weight"], ["a"], name="stem", kernel_shape=[3, 3],
                         pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization",
                         ["a", "norm.gamma", "norm.beta", "norm.mean", "norm.variance"], ["b"],
                         name="norm"),
        helper.make_node("Relu", ["b"], ["c"], name="relu_1"),
        helper.make_node("Conv", ["c", "body.weight", "body.bias"], ["d"], name="body",
                         kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["d"], ["e"], name="relu_2"),
        helper.make_node("GlobalAveragePool", ["e"], ["f"], name="pool"),
        helper.make_node("Flatten", ["f"], ["g"], name="flatten")]
    if not plain:
        nodes.append(helper.make_node("Dropout", ["g"], ["h"], name="drop"))
    nodes.append(helper.make_node("Gemm", ["g" if plain else "h", "head.weight", "head.bias"],
                                  ["scores"], name="head", transB=1))
    if not plain:
        nodes.append(helper.make_node("Softmax", ["scores"], ["probabilities"], name="soft_max",
                                      axis=1))
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])
    shapes = {"scores": ["batch", 5], "probabilities": ["batch", 5], "e": ["batch", 16, 4, 4]}
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes[name])
               for name in results]
    graph = helper.make_graph(nodes, "classifier", [image], outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    save(model, path)


def forward(w, x, training):
    x = F.conv2d(x, w["stem.weight"], padding=1)
    x = F.batch_norm(x, w["norm.mean"], w["norm.variance"], w["norm.gamma"], w["norm.beta"],
                     training=training, momentum=0.1, eps=1e-5)
    x = F.relu(F.conv2d(F.relu(x), w["body.weight"], w["body.bias"], stride=2, padding=1))
    return F.linear(x.mean((2, 3)), w["head.weight"], w["head.bias"])


def pictures():
    random.seed(2)
    return [(n % 5, [int(40 * (n % 5) + 60 * random.random()) for _ in range(64)])
            for n in range(40)]


folder = sys.argv[1]
write(folder + "/classifier.onnx", ["probabilities"], False)
write(folder + "/plain.onnx", ["scores"], True)
write(folder + "/two.onnx", ["probabilities", "e"], False)
data = pictures()
with open(folder + "/train.csv", "w") as file:
    for label, pixels in data:
        file.write(",".join(str(v) for v in [label] + pixels) + "\n")
x = torch.tensor([pixels for _, pixels in data], dtype=torch.float32).reshape(40, 1, 8, 8) / 255
labels = torch.tensor([label for label, _ in data])
w = {name: torch.from_numpy(array) for name, array in weights().items()}
with open(folder + "/probabilities.txt", "w") as file:
    for row in F.softmax(forward(w, x, False), 1):
        file.write(" ".join("%.7g" % v for v in row.tolist()) + "\n")
trained = [w[name] for name, _ in SHAPES if name not in ("norm.mean", "norm.variance")]
for tensor in trained:
    tensor.requires_grad_()
optimizer = torch.optim.SGD(trained, lr=0.05, momentum=0.9)
with open(folder + "/losses.txt", "w") as file:
    for _ in range(20):
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(w, x, True), labels)
        file.write("%.7g\n" % loss.item())
        loss.backward()
        optimizer.step()
