"""What a network is, in words and in numbers."""
from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, List, NamedTuple, Optional, Sequence, Set

from . import _c
from ._library import c
from .batches import RANDOM, needed
from .device import Owned
from .graph import Graph, TrainingGraph
from .node import FilterNode, ImageNode, address, size_text
from .optimizer import Optimizer

if TYPE_CHECKING:
    from .network import Network

# What training.h says that trains, and what a normalisation keeps beside it.
_LEARNED = "weights", "biases", "gamma", "beta", "neuron_data", "values"
_KEPT = "mean", "variance"


class Row(NamedTuple):
    label: str
    kernel: str
    shape: str
    parameters: int
    trains: str  # "yes", "frozen", or "" where there is nothing to train


def _length(node: FilterNode, vector: str) -> int:
    """Numbers of a vector, 0 where the filter has none. A normalisation that has met no image does
    not know them yet."""
    length = int(c.glcnn_kernel_vector_length(node.kernel, vector.encode()))
    if not length and "normalization" in node.name and vector in ("gamma", "beta", *_KEPT):
        shape = node.sources[0].shape
        takes = node.name.startswith("batch") or vector not in _KEPT
        length = shape[0] if shape and takes and _has(node, vector) else 0
    return length


def _has(node: FilterNode, vector: str) -> bool:
    info = c.glcnn_kernel_info_by_name(node.name.encode()).contents
    return vector.encode() in [a.name for a in info.arguments[:info.argument_count]]


def parameters_of(node: FilterNode) -> int:
    return sum(_length(node, vector) for vector in _LEARNED)


def _reached(outputs: Sequence[ImageNode]) -> Set[ImageNode]:
    """The images that a gradient of the outputs comes to."""
    found: Set[ImageNode] = set()
    waiting = list(outputs)
    while waiting:
        image = waiting.pop()
        if image not in found and not image.stop_gradient:
            found.add(image)
            waiting += image.filter.sources if image.filter else []
    return found


def rows(network: Network) -> List[Row]:
    """One for each filter that the outputs need; a kernel of several is counted at the first."""
    outputs = list(network.outputs.values())
    wanted, reached = needed(outputs), _reached(outputs)
    counted: Set[int] = set()
    made = []
    for node in network.filters:
        if node.result not in wanted:
            continue
        shared = address(node.kernel) in counted
        counted.add(address(node.kernel))
        count = 0 if shared else parameters_of(node)
        trains = (node.training_style != _c.TrainingStyle.NONE and node.result in reached)
        made.append(Row(node.label, node.name, size_text(node.result), count,
                        "shared" if shared and parameters_of(node) else
                        ("yes" if trains else "frozen") if count else ""))
    return made


# ---- Memory ----

def _memory(graph: Graph, batch: int) -> int:
    """Bytes of what a graph makes for such batches; -1 where an input has no shape."""
    shapes = [source.shape for source in graph.sources]
    if not all(shapes):
        return -1
    descriptors = (_c.glcnn_image_descriptor * len(shapes))()
    for row, shape in zip(descriptors, shapes):
        row.feature_channels, row.height, row.width = shape or (0, 0, 0)
        row.number_of_images, row.channel_format = batch, _c.ChannelFormat.FLOAT32
    plan = _c.glcnn_memory_plan()
    graph.device.check(c.glcnn_graph_memory(graph.pointer, descriptors, ctypes.byref(plan)))
    return int(plan.planned)


def _unit(size: int) -> str:
    if size < 0:
        return "unknown"
    power = min(int(math.log2(max(size, 1))) // 10, 3)
    return "%.3g %s" % (size / 1024 ** power, ("B", "KiB", "MiB", "GiB")[power])


# ---- Text ----

def describe(network: Network) -> str:
    if not network.filters:
        return "<glcnn.Network without a filter>"
    inputs = [i for i in needed(network.outputs.values()) if not i.filter]
    found = rows(network)
    return "<glcnn.Network %s -> %s: %d layers, %d parameters>" % (
        ", ".join("%s %s" % (i.handle, size_text(i)) for i in inputs),
        ", ".join("%s %s" % (name, size_text(node))
                  for name, node in network.outputs.items()),
        len(found), sum(row.parameters for row in found))


_HEAD = "layer", "kernel", "result", "parameters", "trains"


def summary(network: Network, batch: int) -> str:
    found = rows(network)
    total = sum(row.parameters for row in found)
    training = sum(row.parameters for row in found if row.trains == "yes")
    lines = [_HEAD] + [(r.label, r.kernel, r.shape, str(r.parameters or ""), r.trains)
                       for r in found]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEAD))]
    return "\n".join([describe(network)] + [_line(line, widths) for line in lines] + [
        "%d parameters, %s, of which %d train" % (total, _unit(4 * total), training),
        "batches of %d: %s to predict, %s to train, beside inputs and parameters" % (
            batch, _unit(_predicting(network, batch)), _unit(_training(network, batch)))])


def _line(words: Sequence[str], widths: Sequence[int]) -> str:
    label, kernel, shape, count, trains = (
        word.rjust(width) if column == "parameters" else word.ljust(width)
        for word, width, column in zip(words, widths, _HEAD))
    return "  ".join((label, kernel, shape, count, trains)).rstrip()


def _predicting(network: Network, batch: int) -> int:
    return _memory(Graph(network.copied(list(network.outputs.values()), RANDOM)[1]), batch)


def _training(network: Network, batch: int) -> int:
    """With a mean square for the loss, and copies of kernels that no optimizer trains yet, which a
    training graph would give one."""
    copy, outputs = network.copied(list(network.outputs.values()), kernels=_copy_of)
    if not all(output.shape for output in outputs):
        return -1
    losses = [output.loss(copy.image("labels %d" % i, output.shape),
                          _c.LossType.MEAN_SQUARED_ERROR, _c.ReductionType.SUM)
              for i, output in enumerate(outputs)]
    if not any(row.trains == "yes" for row in rows(network)):
        return 0
    return _memory(TrainingGraph(losses, Optimizer("adam")), batch)


def _copy_of(node: FilterNode) -> Optional[Owned]:
    if c.glcnn_kernel_optimizer(node.kernel):
        return None
    device, pointer = node.network.device, ctypes.POINTER(_c.glcnn_kernel)()
    device.check(c.glcnn_kernel_copy(node.kernel, device.enter(), ctypes.byref(pointer)))
    return Owned(device, c.glcnn_kernel_destroy, pointer)
