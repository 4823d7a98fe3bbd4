#!/usr/bin/env python3
"""The training steps of glcnn bench in PyTorch, as a report of the same form.

usage: torch_twin.py [--shape TEXT] >torch.json
       glcnn bench --json --shape 'step of' >glcnn.json
       glcnn bench --compare torch.json glcnn.json

Rows are named as "glcnn bench --list" names them. Each is measured in both layouts, and the shorter
time counts. On a GPU ten steps are captured in a CUDA graph, and its replay is timed by events of the
device, without TF32. On a CPU they are timed one by one.
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


class Report:
    """Rows, each with the better of its layouts."""

    def __init__(self, shape):
        self.shape, self.rows = shape, {}

    def wants(self, name):
        return self.shape in name

    def measure(self, name, shape, layout, call):
        times = sorted(samples_of(call))
        middle = statistics.median(times)
        row = {'name': name, 'shape': shape, 'layout': layout, 'milliseconds': 1e3 * middle,
               'spread': (times[-3] - times[2]) / middle}
        if name not in self.rows or row['milliseconds'] < self.rows[name]['milliseconds']:
            self.rows[name] = row


# ---- The networks of glcnn train -----------------------------------------------------------

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
    'resnet10': lambda: nn.Sequential(
        *normalised(1, 32), Residual(32, 32, 1), Residual(32, 64, 2), Residual(64, 128, 2),
        Residual(128, 256, 2), nn.AvgPool2d(4), nn.Flatten(), nn.Linear(256, 10)),
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


def steps(report, layout, batches):
    for net in NETS:
        for batch in batches:
            name = f'step of {net}, batch {batch}'
            if report.wants(name):
                report.measure(name, [batch, 1, 28, 28], layout, step_of(net, batch, layout))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--shape', default='', help='only the rows with this in their name')
    report = Report(parser.parse_args().shape)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    if GPU:
        torch.cuda.set_stream(torch.cuda.Stream())  # the default one cannot be captured
    for layout in LAYOUTS:
        steps(report, layout, (64, 512, 4096) if GPU else (64,))
    name = torch.cuda.get_device_name() if GPU else f'CPU, {torch.get_num_threads()} threads'
    json.dump({'version': 'PyTorch ' + torch.__version__, 'device': {'renderer': name},
               'format': 'float32', 'rows': list(report.rows.values())}, sys.stdout, indent=1)
    print()


if __name__ == '__main__':
    main()
