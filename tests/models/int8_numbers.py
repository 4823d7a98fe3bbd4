"""Computes all scales, zero points and whole numbers of int8 models once more, with NumPy: int8_numbers.py FOLDER, of
NAME.float.onnx, NAME.int8.onnx and NAME.ranges that tests/onnx/test_onnx_int8.c leaves there."""
import glob
import sys

import numpy as np
import onnx
from onnx import numpy_helper

MOVES = ('MaxPool', 'AveragePool', 'Resize', 'Reshape', 'Flatten', 'Transpose', 'Squeeze', 'Unsqueeze', 'Slice',
         'Split', 'Pad', 'Expand', 'Identity', 'DepthToSpace', 'SpaceToDepth', 'Concat')


def attribute(node, name, otherwise):
    for a in node.attribute:
        if a.name == name:
            return onnx.helper.get_attribute_value(a)
    return otherwise


def tensors_of(graph):
    return {t.name: numpy_helper.to_array(t) for t in graph.initializer}


def folded_layers(graph):
    """Weights and biases of each layer by its name, with the normalisation behind it."""
    tensors = tensors_of(graph)
    makers = {o: n for n in graph.node for o in n.output}
    readers = {}
    for n in graph.node:
        for i in n.input:
            readers[i] = readers.get(i, 0) + 1
    layers = {}
    for n in graph.node:
        if n.op_type in ('Conv', 'ConvTranspose'):
            w = tensors[n.input[1]]
            b = tensors[n.input[2]] if len(n.input) > 2 else None
            layers[n.name] = [n, w, b]
        if n.op_type == 'BatchNormalization':
            gamma, beta, mean, variance = (tensors[i].astype(np.float64) for i in n.input[1:5])
            wide = gamma / np.sqrt(variance + np.float64(np.float32(attribute(n, 'epsilon', 1e-5))))
            scale, shift = wide.astype(np.float32), (beta - mean * wide).astype(np.float32)
            maker = makers.get(n.input[0])
            if maker is not None and maker.name in layers and readers[n.input[0]] == 1:
                layer = layers[maker.name]
                assert attribute(maker, 'group', 1) == 1 or maker.op_type == 'Conv'
                shape = (-1, 1, 1, 1) if maker.op_type == 'Conv' else (1, -1, 1, 1)
                b = np.zeros_like(scale) if layer[2] is None else layer[2]
                layer[1], layer[2] = layer[1] * scale.reshape(shape), b * scale + shift
            else:
                layers[n.name] = [n, scale.reshape(-1, 1, 1, 1), shift]
    return layers


def scale_of(least, most):
    least, most = min(float(least), 0.0), max(float(most), 0.0)
    scale = np.float32((most - least) / 255) if most > least else np.float32(1)
    return scale, int(np.rint(-128 - least / float(scale)))


def check(found, expected, what):
    assert np.array_equal(found, expected), f'{what}: found {found}, expected {expected}'


def check_values(name, graph, ranges):
    """Each value between its QuantizeLinear and DequantizeLinear; those that share a scale by the graph."""
    tensors = tensors_of(graph)
    makers = {o: n for n in graph.node for o in n.output}
    values = {}  # the value behind DequantizeLinear: its name, scale and zero point
    for n in graph.node:
        if n.op_type != 'DequantizeLinear' or n.input[0] in tensors:
            continue
        q = makers[n.input[0]]
        assert q.op_type == 'QuantizeLinear' and list(q.input[1:]) == list(n.input[1:])
        inputs = [i.name for i in graph.input]
        own = q.input[0] if q.input[0] in inputs else n.output[0]
        values[n.output[0]] = (own, tensors[n.input[1]], tensors[n.input[2]])
        assert tensors[n.input[2]].dtype == np.int8 and tensors[n.input[1]].dtype == np.float32
    group = {v: v for v in values}

    def root(v):
        while group[v] != v:
            v = group[v]
        return v

    behind = {q.input[0]: o for o, n in makers.items() if n.op_type == 'DequantizeLinear'
              for q in [makers.get(n.input[0])] if q is not None}
    for n in graph.node:
        if n.op_type in MOVES and n.output[0] in behind:
            sources = n.input if n.op_type == 'Concat' else n.input[:1]
            for i in sources:
                group[root(i)] = root(behind[n.output[0]])
    hulls = {}
    for v, (own, _, _) in values.items():
        maker = makers[makers[makers[v].input[0]].input[0]] if own == v else None
        least, most = ranges[own]
        if maker is not None and maker.op_type == 'Sigmoid':
            least, most = 0, np.float32(255 / 256)
        a, b = hulls.get(root(v), (0, 0))
        hulls[root(v)] = (min(a, least), max(b, most))
    for v, (own, scale, zero) in values.items():
        expected = scale_of(*hulls[root(v)])
        check(scale, expected[0], f'{name}: scale of {own}')
        check(zero, expected[1], f'{name}: zero point of {own}')
    return len(values), {v: s for v, (_, s, _) in values.items()}


def check_layers(name, graph, layers, scales):
    tensors = tensors_of(graph)
    makers = {o: n for n in graph.node for o in n.output}
    count = 0
    for n in graph.node:
        if n.op_type not in ('Conv', 'ConvTranspose'):
            continue
        _, w, b = layers[n.name]
        weights = makers[n.input[1]]
        axis = 0 if n.op_type == 'Conv' else 1
        assert attribute(weights, 'axis', 1) == axis
        largest = np.abs(w).max(axis=tuple(i for i in range(4) if i != axis)).astype(np.float64)
        scale = np.where(largest > 0, largest, 1.0) / 127
        scale = scale.astype(np.float32)
        shape = tuple(-1 if i == axis else 1 for i in range(4))
        whole = np.rint(w.astype(np.float64) / scale.astype(np.float64).reshape(shape)).clip(-127, 127)
        check(tensors[weights.input[1]], scale, f'{name}: scales of weights of {n.name}')
        check(tensors[weights.input[0]], whole.astype(np.int8), f'{name}: weights of {n.name}')
        check(tensors[weights.input[2]], np.zeros(len(scale), np.int8), f'{name}: zero points of {n.name}')
        if b is not None:
            biases = makers[n.input[2]]
            both = (scale.astype(np.float64) * float(scales[n.input[0]])).astype(np.float32)
            check(tensors[biases.input[1]], both, f'{name}: scales of biases of {n.name}')
            check(tensors[biases.input[0]], np.rint(b.astype(np.float64) / both).astype(np.int32),
                  f'{name}: biases of {n.name}')
        count += 1
    return count


def main(folder):
    for path in sorted(glob.glob(folder + '/*.int8.onnx')):
        stem = path[:-len('.int8.onnx')]
        whole, real = onnx.load(path), onnx.load(stem + '.float.onnx')
        onnx.checker.check_model(whole, full_check=True)
        onnx.shape_inference.infer_shapes(whole, strict_mode=True)
        rows = [line.rstrip('\n').split('\t') for line in open(stem + '.ranges')]
        ranges = {r[0]: (np.float32(r[1]), np.float32(r[2])) for r in rows}
        values, scales = check_values(stem, whole.graph, ranges)
        layers = check_layers(stem, whole.graph, folded_layers(real.graph), scales)
        assert values > 0 and layers > 0
        print(f'{stem.split("/")[-1]}: {values} values and {layers} layers are as computed')


main(sys.argv[1])
