"""Makes an ONNX file of MobileNetV2 from the npm package nsfwjs 4.3.0, with Python's own modules alone.

    python3 examples/pretrained.py PACKAGE OUT.onnx

PACKAGE is the unpacked package, whose weights are 8 bits each, in TensorFlow.js's form of a Keras network:
a list of layers, and a row of bytes b that stand for b * scale + min. OUT.onnx has the layers up to
out_relu, and behind them "features", the mean of each channel, for pictures [N][3][height][width] of -1 .. 1
whose sides are multiples of 32. pretrained.sh runs this, and then glcnn import, which puts a head on it.
"""
import array
import base64
import json
import math
import re
import struct
import sys

FOLDER = 'dist/models/mobilenet_v2/'
LAST = 'out_relu'


# ---- The package ----

def read_module(package, name):
    """The value that a module of the package exports, a literal of JavaScript, as Python's."""
    with open(package + '/' + FOLDER + name, encoding='ascii') as file:
        text = file.read()
    text = text[text.rindex('.exports=') + len('.exports='):text.rindex('},{}]},{},[1])')]
    text = re.sub(r'([{,])([A-Za-z_]\w*):', r'\1"\2":', text)
    text = text.replace(':!0', ':true').replace(':!1', ':false')
    return json.loads(re.sub(r'([:\[,-])\.(\d)', r'\g<1>0.\2', text))


def read_weights(manifest, data):
    """{name: (shape, values)} in the order of Keras, where the channels of a result come last."""
    weights, at = {}, 0
    for weight in manifest:
        count = math.prod(weight['shape'])
        scale, least = weight['quantization']['scale'], weight['quantization']['min']
        if weight['quantization']['dtype'] != 'uint8' or at + count > len(data):
            sys.exit('pretrained.py: the weights of %s are not those expected' % weight['name'])
        weights[weight['name']] = (weight['shape'],
                                   array.array('f', (b * scale + least for b in data[at:at + count])))
        at += count
    if at != len(data):
        sys.exit('pretrained.py: %d bytes of weights are left over' % (len(data) - at))
    return weights


# ---- ONNX, a message of Protocol Buffers ----

def number(value):
    """A varint."""
    value, coded = value % (1 << 64), bytearray()
    while value >= 128:
        coded.append(value % 128 + 128)
        value //= 128
    coded.append(value)
    return bytes(coded)


def message(*fields):
    """Of pairs (number, value): an int, a float, text or a message; what is None is left out."""
    coded = bytearray()
    for field, value in fields:
        if value is None:
            continue
        if isinstance(value, int):
            coded += number(8 * field) + number(value)
        elif isinstance(value, float):
            coded += number(8 * field + 5) + struct.pack('<f', value)
        else:
            value = value.encode() if isinstance(value, str) else value
            coded += number(8 * field + 2) + number(len(value)) + value
    return bytes(coded)


def attribute(name, value):
    if isinstance(value, float):
        return message((1, name), (2, value), (20, 1))
    if isinstance(value, int):
        return message((1, name), (3, value), (20, 2))
    return message((1, name), *((8, n) for n in value), (20, 7))


def node(kind, inputs, output, **attributes):
    return message(*((1, name) for name in inputs), (2, output), (3, output), (4, kind),
                   *((5, attribute(*a)) for a in attributes.items()))


def tensor(name, shape, values):
    values = array.array('f', values)
    if sys.byteorder == 'big':
        values.byteswap()
    return message(*((1, side) for side in shape), (2, 1), (8, name), (9, values.tobytes()))


def value_info(name, shape):
    sides = [(1, message((1, side) if isinstance(side, int) else (2, side))) for side in shape]
    return message((1, name), (2, message((1, message((1, 1), (2, message(*sides)))))))


# ---- The network ----

def filters(shape, values, is_depthwise):
    """Keras's [height][width][inputs][outputs] as ONNX's [outputs][inputs of a group][height][width]."""
    pixels = shape[0] * shape[1]
    inputs, outputs = (1, shape[2] * shape[3]) if is_depthwise else shape[2:]
    order = [(p * inputs + i) * outputs + o
             for o in range(outputs) for i in range(inputs) for p in range(pixels)]
    return (outputs, inputs, *shape[:2]), [values[i] for i in order]


def padding(layer, padded):
    """[top, left, bottom, right]: of a layer ZeroPadding2D before it, or of its own word."""
    if padded:
        (top, bottom), (left, right) = padded
        return [top, left, bottom, right]
    side = layer['kernel_size'][0] // 2 if layer['padding'] == 'same' else 0
    if side and layer['strides'] != [1, 1]:
        sys.exit('pretrained.py: %s: padding "same" with a stride depends on the size' % layer['name'])
    return [side] * 4


class Converter:
    def __init__(self, weights):
        self.weights, self.nodes, self.tensors = weights, [], []
        self.results, self.paddings = {}, {}  # of layers, by their names

    def find(self, layer, what):
        """A weight, whatever scope a depthwise one has."""
        return next(value for name, value in self.weights.items()
                    if name.split('/')[0] == layer and name.split('/')[-1] == what)

    def add_tensor(self, name, shape, values):
        self.tensors.append(tensor(name, shape, values))
        return name

    def add_convolution(self, name, layer, source, source_layer, is_depthwise):
        if layer['use_bias'] or layer['dilation_rate'] != [1, 1]:
            sys.exit('pretrained.py: %s: a bias or a dilation is not expected' % name)
        weights = self.find(name, 'depthwise_kernel' if is_depthwise else 'kernel')
        shape, values = filters(*weights, is_depthwise)
        self.nodes.append(node('Conv', [source, self.add_tensor(name + '.weight', shape, values)], name,
                               kernel_shape=shape[2:], strides=layer['strides'],
                               pads=padding(layer, self.paddings.get(source_layer)),
                               group=shape[0] if is_depthwise else 1))

    def add_normalization(self, name, layer, source):
        vectors = [self.add_tensor(name + '.' + what, *self.find(name, what))
                   for what in ('gamma', 'beta', 'moving_mean', 'moving_variance')]
        self.nodes.append(node('BatchNormalization', [source, *vectors], name,
                               epsilon=float(layer['epsilon']), momentum=float(layer['momentum'])))

    def add(self, kind, layer, source_layers):
        name = layer['name']
        sources = [self.results[source] for source in source_layers]
        self.results[name] = name
        if kind == 'InputLayer':
            self.results[name] = 'image'
        elif kind == 'ZeroPadding2D':
            self.paddings[name], self.results[name] = layer['padding'], sources[0]
        elif kind in ('Conv2D', 'DepthwiseConv2D'):
            self.add_convolution(name, layer, sources[0], source_layers[0], kind == 'DepthwiseConv2D')
        elif kind == 'BatchNormalization':
            self.add_normalization(name, layer, sources[0])
        elif kind == 'ReLU' and layer['max_value'] == 6:
            self.nodes.append(node('Clip', [sources[0]], name, min=0.0, max=6.0))
        elif kind == 'Add':
            self.nodes.append(node('Add', sources, name))
        else:
            sys.exit('pretrained.py: a layer %s is not expected (%s)' % (kind, name))

    def model(self):
        channels = self.find('Conv_1', 'kernel')[0][3]
        self.nodes += [node('GlobalAveragePool', [LAST], 'mean'), node('Flatten', ['mean'], 'features')]
        graph = message(*((1, n) for n in self.nodes), (2, 'mobilenet_v2'), *((5, t) for t in self.tensors),
                        (11, value_info('image', ['N', 3, 'height', 'width'])),
                        (12, value_info('features', ['N', channels])))
        return message((1, 8), (2, 'examples/pretrained.py'), (7, graph), (8, message((1, ''), (2, 10))))


def main(package, out):
    network = read_module(package, 'model.min.js')
    weights = read_weights(network['weightsManifest'][0]['weights'],
                           base64.b64decode(read_module(package, 'group1-shard1of1.min.js')))
    converter = Converter(weights)
    for layer in network['modelTopology']['model_config']['config']['layers']:
        converter.add(layer['class_name'], layer['config'],
                      [source[0] for source in (layer['inbound_nodes'] or [[]])[0]])
        if layer['config']['name'] == LAST:
            break
    with open(out, 'wb') as file:
        file.write(converter.model())


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
