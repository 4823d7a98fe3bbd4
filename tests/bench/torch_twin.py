#!/usr/bin/env python3
"""The rows of glcnn bench in PyTorch, as a report of the same form.

usage: torch_twin.py [--shape TEXT] [--float16] [--scale N] >torch.json

Rows are named as "glcnn bench --list" names them. Each is measured in both layouts, and the better
time counts. On a GPU ten calls are captured in a CUDA graph and its replay is timed, device time
alone, without TF32; steps of networks too. Calls read the same tensors, and the result of one takes
the memory of the one before: so do ten calls in a commit of glcnn bench. On a CPU they are timed one
by one. --scale divides the images of a shape, as glcnn bench does by 32 on small devices. join.py
makes one table of both.
"""
import argparse
import json
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

GPU = torch.cuda.is_available()
DEVICE = 'cuda' if GPU else 'cpu'
LAYOUTS = {'nchw': torch.contiguous_format, 'nhwc': torch.channels_last}
SAMPLES, CALLS = 9, 10


def seconds_of(call, count):
    """Mean seconds of `count` calls."""
    if GPU:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(count):
            call()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / 1e3 / count
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count


def captured(call):
    """A CUDA graph of CALLS calls, after what libraries do at first. A gradient runs in the stream
    that its forward pass ran in, which so must be the one that is captured."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
        for _ in range(CALLS):
            call()
    return graph


def samples_of(call):
    if not GPU:
        seconds_of(call, 1)
        return [seconds_of(call, 1) for _ in range(SAMPLES)]
    graph = captured(call)
    begin = time.time()
    while time.time() - begin < 0.1:  # clocks rise from idle
        graph.replay()
        torch.cuda.synchronize()
    return [seconds_of(graph.replay, 2) / CALLS for _ in range(SAMPLES)]


# ---- Kernels: name, shape, function of one image, or of two ---------------------------------------

LARGE, HALF = (64, 64, 112, 112), (64, 64, 56, 56)


def contrast(v):
    mean = F.avg_pool2d(v, 5, 1, 2)
    return (v - mean) * (1e-3 + F.avg_pool2d(v * v, 5, 1, 2) - mean * mean) ** -0.5


def batch_norm(v):
    ones, zeros = v.new_ones(v.shape[1], dtype=torch.float), v.new_zeros(v.shape[1], dtype=torch.float)
    return F.batch_norm(v, None, None, ones, zeros, True)


UNARY = [
    ('max pooling 2x2 s2', LARGE, lambda v: F.max_pool2d(v, 2, 2)),
    ('max pooling 3x3 s2', LARGE, lambda v: F.max_pool2d(v, 3, 2, 1)),
    ('average pooling 2x2 s2', LARGE, lambda v: F.avg_pool2d(v, 2, 2)),
    ('average pooling 3x3 s2', LARGE, lambda v: F.avg_pool2d(v, 3, 2, 1)),
    ('L2 pooling 2x2 s2', LARGE, lambda v: F.lp_pool2d(v, 2.0, 2, 2)),
    ('L2 pooling 3x3 s2', LARGE, lambda v: F.lp_pool2d(v, 2.0, 3, 2)),
    ('dilated max pooling 3x3 d2', LARGE, lambda v: F.max_pool2d(v, 3, 1, 1, 2)),
    ('max pooling 13x13', HALF, lambda v: F.max_pool2d(v, 13, 1, 6)),
    ('average pooling 13x13', HALF, lambda v: F.avg_pool2d(v, 13, 1, 6)),
    ('L2 pooling 13x13', HALF, lambda v: F.lp_pool2d(v, 2.0, 13, 1)),
    ('global average pooling', HALF, lambda v: F.avg_pool2d(v, 56)),
    ('relu', LARGE, F.relu),
    ('sigmoid', LARGE, torch.sigmoid),
    ('dropout', LARGE, lambda v: F.dropout(v, 0.5)),
    ('soft-max', LARGE, lambda v: F.softmax(v, 1)),
    ('log-soft-max', LARGE, lambda v: F.log_softmax(v, 1)),
    ('batch norm', LARGE, batch_norm),
    ('instance norm', LARGE, F.instance_norm),
    ('LRN 5', LARGE, lambda v: F.local_response_norm(v, 5)),
    ('spatial norm 5x5', LARGE, lambda v: v * (1 + 1e-4 * F.avg_pool2d(v * v, 5, 1, 2)) ** -0.75),
    ('local contrast 5x5', LARGE, contrast),
    ('bilinear upsampling 2x', HALF, lambda v: F.interpolate(v, scale_factor=2, mode='bilinear')),
    ('nearest upsampling 2x', HALF, lambda v: F.interpolate(v, scale_factor=2)),
    ('row sum', LARGE, lambda v: v.sum(3)),
    ('row mean', LARGE, lambda v: v.mean(3)),
    ('column sum', LARGE, lambda v: v.sum(2)),
    ('column mean', LARGE, lambda v: v.mean(2)),
    ('channel sum', LARGE, lambda v: v.sum(1)),
    ('channel mean', LARGE, lambda v: v.mean(1)),
]
BINARY = [('add', torch.add), ('subtract', torch.sub), ('multiply', torch.mul),
          ('divide', torch.div)]
ALONE = [
    ('copy', LARGE, torch.clone),
    ('channel maximum', LARGE, lambda v: v.amax(1)),
    ('channel argument of the maximum', LARGE, lambda v: v.argmax(1)),
    ('row maximum', LARGE, lambda v: v.amax(3)),
    ('column maximum', LARGE, lambda v: v.amax(2)),
]
# name, input and output channels, window, stride, source's side, groups
CONVOLUTIONS = [
    ('convolution 64-64 3x3 56', 64, 64, 3, 1, 56, 1),
    ('convolution 64-128 3x3 s2 56', 64, 128, 3, 2, 56, 1),
    ('convolution 256-256 3x3 14', 256, 256, 3, 1, 14, 1),
    ('convolution 64-256 1x1 56', 64, 256, 1, 1, 56, 1),
    ('convolution 256-64 1x1 56', 256, 64, 1, 1, 56, 1),
    ('convolution 512-512 3x3 7', 512, 512, 3, 1, 7, 1),
    ('convolution depth-wise 64 3x3 112', 64, 64, 3, 1, 112, 64),
    ('convolution 3-64 7x7 s2 224', 3, 64, 7, 2, 224, 1),
    ('convolution 3-64 3x3 112', 3, 64, 3, 1, 112, 1),
]


class Report:
    """Rows, each with the better of its layouts."""

    def __init__(self, options):
        self.options, self.rows = options, {}
        self.dtype = torch.float16 if options.float16 else torch.float32

    def images(self, count):
        return max(1, count // self.options.scale)

    def tensor(self, shape, layout, low=-1.0):
        values = torch.rand(self.images(shape[0]), *shape[1:], device=DEVICE) * 2 + low
        return values.to(self.dtype).contiguous(memory_format=LAYOUTS[layout])

    def wants(self, name):
        return not self.options.shape or self.options.shape in name

    def measure(self, name, shape, layout, call):
        if not self.wants(name):
            return
        try:
            times = sorted(samples_of(call))
        except Exception as failure:  # an operation that this build has not
            print(f'{name}, {layout}: {failure}', file=sys.stderr)
            return
        middle = statistics.median(times)
        row = {'name': name, 'shape': [self.images(shape[0]), *shape[1:]], 'layout': layout,
               'milliseconds': 1e3 * middle, 'spread': (times[-3] - times[2]) / middle}
        if name not in self.rows or row['milliseconds'] < self.rows[name]['milliseconds']:
            self.rows[name] = row


def unary(report, layout):
    for name, shape, function in UNARY:
        if not report.wants(name + ', forward') and not report.wants(name + ', gradient'):
            continue
        source = report.tensor(shape, layout)
        with torch.no_grad():
            report.measure(name + ', forward', shape, layout, lambda: function(source))
        leaf = source.clone(memory_format=torch.preserve_format).requires_grad_(True)
        result = function(leaf)
        gradient = torch.randn_like(result)
        report.measure(name + ', gradient', shape, layout,
                       lambda: torch.autograd.grad(result, leaf, gradient, retain_graph=True))


@torch.no_grad()
def others(report, layout):
    for name, shape, function in ALONE:
        if report.wants(name):
            source = report.tensor(shape, layout)
            report.measure(name, shape, layout, lambda: function(source))
    for name, function in BINARY:
        if report.wants(name + ', forward'):
            a, b = report.tensor(LARGE, layout), report.tensor(LARGE, layout, 0.5)
            report.measure(name + ', forward', LARGE, layout, lambda: function(a, b))


@torch.no_grad()
def convolutions(report, layout):
    for name, inputs, outputs, size, stride, side, groups in CONVOLUTIONS:
        if not any(report.wants(f'{name}, {part}') for part in ('forward', 'data', 'weights')):
            continue
        shape = (64, inputs, side, side)
        source = report.tensor(shape, layout)
        weights = torch.randn(outputs, inputs // groups, size, size, device=DEVICE)
        weights = weights.to(report.dtype).contiguous(memory_format=LAYOUTS[layout])
        gradient = torch.randn_like(F.conv2d(source, weights, None, stride, size // 2, 1, groups))

        def backward(mask):
            return torch.ops.aten.convolution_backward(
                gradient, source, weights, None, [stride] * 2, [size // 2] * 2, [1, 1], False,
                [0, 0], groups, mask)

        report.measure(name + ', forward', shape, layout,
                       lambda: F.conv2d(source, weights, None, stride, size // 2, 1, groups))
        report.measure(name + ', data', shape, layout, lambda: backward([True, False, False]))
        report.measure(name + ', weights', shape, layout, lambda: backward([False, True, False]))


@torch.no_grad()
def connected(report):
    name, shape = 'fully connected 4096-4096', (64, 4096, 1, 1)
    if not any(report.wants(f'{name}, {part}') for part in ('forward', 'data', 'weights')):
        return
    x, g = (report.tensor(shape, 'nchw').flatten(1) for _ in range(2))
    w = torch.randn(4096, 4096, device=DEVICE, dtype=report.dtype)
    report.measure(name + ', forward', shape, 'nchw', lambda: F.linear(x, w))
    report.measure(name + ', data', shape, 'nchw', lambda: g @ w)
    report.measure(name + ', weights', shape, 'nchw', lambda: g.t() @ x)


# ---- Steps: the networks of glcnn train -----------------------------------------------------------

def normalised(inputs, outputs, size=3, stride=1, groups=1, relu=True):
    layers = [nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups),
              nn.BatchNorm2d(outputs)]
    return layers + [nn.ReLU()] if relu else layers


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.layers = nn.Sequential(*normalised(inputs, outputs, 3, stride),
                                    *normalised(outputs, outputs, relu=False))
        same = inputs == outputs and stride == 1
        self.beside = nn.Identity() if same else nn.Sequential(
            *normalised(inputs, outputs, 1, stride, relu=False))

    def forward(self, x):
        return F.relu(self.layers(x) + self.beside(x))


def separable(inputs, outputs, stride):
    return normalised(inputs, inputs, 3, stride, inputs) + normalised(inputs, outputs, 1)


NETS = {
    'lenet': lambda: nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
        nn.AvgPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84),
        nn.ReLU(), nn.Linear(84, 10)),
    'small': lambda: nn.Sequential(
        *normalised(1, 16), nn.MaxPool2d(2), *normalised(16, 32), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(1568, 10)),
    'resnet8': lambda: nn.Sequential(
        *normalised(1, 16), Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2),
        nn.AvgPool2d(7), nn.Flatten(), nn.Linear(64, 10)),
    'mobilenet-tiny': lambda: nn.Sequential(
        *normalised(1, 16, 3, 2), *separable(16, 32, 1), *separable(32, 64, 2),
        *separable(64, 64, 1), nn.AvgPool2d(7), nn.Flatten(), nn.Linear(64, 10)),
}


def step_of(net, batch, layout):
    model = NETS[net]().to(DEVICE).to(memory_format=LAYOUTS[layout])
    images = torch.rand(batch, 1, 28, 28, device=DEVICE).contiguous(memory_format=LAYOUTS[layout])
    labels = torch.randint(0, 10, (batch,), device=DEVICE)
    fused = {'fused': True} if GPU else {}
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9, **fused)

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step


def steps(report, layout):
    scale, report.options.scale = report.options.scale, 1  # a batch is a batch
    for net in NETS:
        for batch in (64, 512, 4096) if scale == 1 else (64,):
            name = f'step of {net}, batch {batch}'
            if report.wants(name):
                report.measure(name, (batch, 1, 28, 28), layout, step_of(net, batch, layout))
    report.options.scale = scale


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--shape', default='', help='rows that have this in their name')
    parser.add_argument('--float16', action='store_true')
    parser.add_argument('--scale', type=int, default=1, help='divides the images of shapes')
    report = Report(parser.parse_args())
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    if GPU:
        torch.cuda.set_stream(torch.cuda.Stream())  # the default one cannot be captured
    for layout in LAYOUTS:
        unary(report, layout)
        others(report, layout)
        convolutions(report, layout)
        steps(report, layout)
    connected(report)
    name = torch.cuda.get_device_name() if GPU else f'CPU, {torch.get_num_threads()} threads'
    json.dump({'version': 'PyTorch ' + torch.__version__, 'device': {'renderer': name},
               'format': 'float16' if report.options.float16 else 'float32',
               'rows': list(report.rows.values())}, sys.stdout, indent=1)
    print()


if __name__ == '__main__':
    main()
