"""Compares what ONNX Runtime's int8 kernels make of models with what the device does: int8_answers.py FOLDER, of
NAME.small.onnx, NAME.small.out.json of onnxruntime.js and NAME.small.answers of tests/onnx/test_onnx_int8.c. Numbers lie
on the grid of the output's scale: most are the same or next to each other, as roundings between layers may fall
to the other side."""
import glob
import json
import sys

import numpy as np
import onnx
from onnx import numpy_helper


def output_scale(path):
    graph = onnx.load(path).graph
    tensors = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    last = [n for n in graph.node if n.op_type == 'DequantizeLinear' and n.input[0] not in tensors][-1]
    return float(tensors[last.input[1]])


def main(folder):
    paths = sorted(glob.glob(folder + '/*.small.onnx'))
    assert paths
    for path in paths:
        stem = path[:-len('.onnx')]
        found = json.load(open(stem + '.out.json'))
        assert 'error' not in found, found
        tensor = next(iter(found.values()))
        theirs = np.array(tensor['data'], np.float64)
        ours = np.loadtxt(stem + '.answers')
        assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
        steps = np.abs(ours - theirs) / output_scale(path)
        share = np.mean(steps < 1.01)
        print(f'{stem.split("/")[-1]}: {share:.2%} within a step, the farthest {steps.max():.0f}')
        assert share >= 0.85 and steps.max() < 4


main(sys.argv[1])
