"""Graphs: networks compiled, and executed on arrays. include/glcnn/graph.h."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy

from . import _c
from ._library import SIZE_MAX, c, refuse, whole
from .device import Owned
from .image import Image, read
from .node import FilterNode, ImageNode, pointers
from .optimizer import Optimizer

Arrays = Union[Any, Dict[str, Any]]  # of the only input, or of each by its handle

_NO_HANDLER = _c.glcnn_graph_handler(0)


def _descriptor(results: Sequence[ImageNode], format: _c.ChannelFormat, memory: int,
                clip_norm: float) -> Any:
    return _c.glcnn_graph_descriptor(
        results=pointers(_c.glcnn_image_node, results), result_count=len(results), format=format,
        memory_budget=whole("memory", memory, 0, SIZE_MAX), gradient_clip_norm=clip_norm)


class Graph(Owned):
    """What computes images of a network. A size of batch is compiled at its first execution.

    results    image nodes; an array of each comes back, in their order
    format     of intermediate images
    memory     bytes of what it makes on the GPU; 0: as many as needed. Where a batch needs more, images
               are computed again, or it is run in parts
    """

    def __init__(self, results: Sequence[ImageNode], *,
                 format: _c.ChannelFormat = _c.ChannelFormat.NONE, memory: int = 0):
        if not results:
            raise refuse("a graph needs a result")
        descriptor = _descriptor(results, format, memory, 0)
        self._make(results[0].network, results, lambda graph: c.glcnn_graph_create(
            results[0].network.pointer, ctypes.byref(descriptor), graph))

    def _make(self, network: Any, results: Sequence[ImageNode], create: Any) -> None:
        device, pointer = network.device, ctypes.POINTER(_c.glcnn_graph)()
        device.enter()
        device.check(create(ctypes.byref(pointer)))
        super().__init__(device, c.glcnn_graph_destroy, pointer, network.handle)
        self.network, self.results = network, list(results)
        self._images: Dict[Any, Image] = {}

    @property
    def sources(self) -> List[ImageNode]:
        """The inputs that it takes."""
        count = c.glcnn_graph_source_count(self.pointer)
        return [ImageNode(self.network, c.glcnn_graph_source(self.pointer, i))
                for i in range(count)]

    def _write(self, index: int, array: Any) -> Image:
        """The source with the array in it; of each size and type one is kept."""
        array = self.sources[index].as_images(array)
        key = index, array.shape, array.dtype
        if key not in self._images:
            self._images[key] = Image(array.shape, array.dtype, self.device)
        self._images[key].write(array)
        return self._images[key]

    def execute(self, arrays: Arrays) -> List[numpy.ndarray[Any, Any]]:
        """Runs on arrays [N][C][H][W] and waits for the results, which are such arrays too, but
        outputs of an ONNX model, which have the axes of its file."""
        sources = self.sources
        given = arrays if isinstance(arrays, dict) else {sources[0].handle or "": arrays}
        wanted = [s.handle or "" for s in sources]
        if len(given) != len(sources) or any(h not in given for h in wanted):
            raise refuse("the graph takes %s, not %s" % (
                ", ".join(map(str, wanted)), ", ".join(map(str, given))))
        images = [self._write(i, given[h]) for i, h in enumerate(wanted)]
        rows = pointers(_c.glcnn_image, images)
        self.device.enter()
        self.device.check(c.glcnn_graph_execute(self.pointer, rows, _NO_HANDLER, None))
        self.device.check(c.glcnn_graph_wait(self.pointer))
        return self.read()

    def read(self) -> List[numpy.ndarray[Any, Any]]:
        """The results of the last execution."""
        found = [read(self.device, c.glcnn_graph_image(self.pointer, r.pointer))
                 for r in self.results]
        return [r.tensor.of_image(array) if r.tensor else array
                for r, array in zip(self.results, found)]


class TrainingGraph(Graph):
    """A graph of a loss, each of whose executions is a step of training: training.h. The losses'
    values come back first, then `results`. A step whose gradients are not finite changes no weights,
    and raises Error with status INVALID_STATE.

    optimizer  None: layers train by the optimizers that they have (Network.optimizer)
    clip_norm  largest norm of all gradients together; 0: any
    """

    def __init__(self, losses: Sequence[FilterNode], optimizer: Optional[Optimizer] = None, *,
                 results: Sequence[ImageNode] = (),
                 format: _c.ChannelFormat = _c.ChannelFormat.NONE, memory: int = 0,
                 clip_norm: float = 0):
        if not losses:
            raise refuse("a training graph needs a loss")
        network = losses[0].network
        kernel = optimizer.make(network.device) if optimizer else None
        descriptor = _descriptor(results, format, memory, clip_norm)
        # By 1, which changes no bit of a finite step: of others the library leaves the weights alone.
        descriptor.loss_scale.scale = descriptor.loss_scale.largest = 1
        rows = pointers(_c.glcnn_filter_node, losses)
        self._make(network, [loss.loss for loss in losses] + list(results),
                   lambda graph: c.glcnn_training_graph_create_with_losses(
                       rows, len(rows), kernel and kernel.pointer, ctypes.byref(descriptor),
                       graph))
