"""Networks: made of nodes, trained on arrays, kept in files."""
from __future__ import annotations

import ctypes
import math
import os
import warnings
from typing import (Any, Callable, Dict, Iterator, List, Literal, NamedTuple, Optional, Sequence,
                    Tuple, Union)

import numpy

from . import _c, files as _files, onnx as _onnx
from ._library import SIZE_MAX, Error, c, call, library, refuse, whole
from .device import Device, Owned, default_device
from .graph import Arrays, Graph, TrainingGraph
from .image import as_images
from .node import FilterNode, ImageNode, address, get_parameter, pointers
from .optimizer import Optimizer
from .run import run
from .tensor import Tensor

# What changes pictures and features at random, only for training.
_RANDOM = {"dropout", "augment_geometry", "augment_color"}

# Losses whose terms are of a pixel, all its channels together. A cosine distance is of an image;
# all others have a term for each channel of each pixel.
_OF_PIXELS = {_c.LossType.SOFT_MAX_CROSS_ENTROPY, _c.LossType.CATEGORICAL_CROSS_ENTROPY}

Shape = Tuple[int, int, int]
Reduction = Literal["mean", "sum", "none"]


class Score(NamedTuple):
    """Of an epoch of training, or of an evaluation: means over all images."""
    loss: Any                  # a float; of reduction="none" an array, [N][C][H][W]
    accuracy: Optional[float]  # the share of right classes; None where labels are no classes


class Network:
    """A network of nodes, with its inputs and its outputs. glcnn.network makes one in one call; by
    hand it is

        net = glcnn.Network()
        net.output = net.image("image", (1, 28, 28)).fully_connected(output_feature_channels=10)
        net.initialise(seed=1)
    """

    def __init__(self, device: Optional[Device] = None, *, pointer: Any = None):
        self.device = device or default_device()
        if pointer is None:
            pointer = ctypes.POINTER(_c.glcnn_network)()
            self.device.check(c.glcnn_network_create(self.device.enter(), ctypes.byref(pointer)))
        self.handle = Owned(self.device, c.glcnn_network_destroy, pointer)
        self.shapes: Dict[int, Optional[Shape]] = {}  # by address: a node would keep its network
        self.record: Any = None  # of the ONNX file that it was read from
        self.tensors: Dict[int, Tensor] = {}  # its inputs and outputs, by address
        # Of a network with one input, as model files have them: names of what its output tells
        # apart, and by which images, of values in 0 .. 1, are normalised; None: by 0 and 1.
        self.classes: Optional[List[str]] = None
        self.mean: Any = None       # [C], or one number
        self.deviation: Any = None
        self._graphs: Dict[Any, Any] = {}

    @property
    def pointer(self) -> Any:
        return self.handle.pointer

    def check(self) -> None:
        """Raises the failure of the first node that could not be made."""
        self.device.check(c.glcnn_network_status(self.pointer))

    @property
    def frozen(self) -> Dict[str, str]:
        """Initialisers of the ONNX file that it was read from that take part and do not train, each
        with the reason: {"pool.p": "an exponent does not train"}."""
        if not self.record:
            return {}
        known = self.record.contents
        return {row.name.decode(): row.reason.decode()
                for row in known.frozen[:known.frozen_count]}

    # ---- Nodes ----

    def image(self, handle: str, shape: Optional[Shape] = None) -> ImageNode:
        """An input. With its shape, (C, H, W), filters know their channels by themselves."""
        if shape is not None:
            shape = _shape(handle, shape)
        self.device.enter()
        node = ImageNode(self, c.glcnn_image_node_create(self.pointer, handle.encode()))
        self.check()
        self.shapes[address(node.pointer)] = shape
        return node

    @property
    def filters(self) -> List[FilterNode]:
        """In the order of their making."""
        return list(self._all(c.glcnn_network_filter, FilterNode))

    @property
    def images(self) -> List[ImageNode]:
        """Inputs and results, in the order of their making."""
        return list(self._all(c.glcnn_network_image, ImageNode))

    def _all(self, at: Any, kind: Any) -> Iterator[Any]:
        index = 0
        while at(self.pointer, index):
            yield kind(self, at(self.pointer, index))
            index += 1

    def filter(self, label: str) -> FilterNode:
        """The filter of that label."""
        for node in self.filters:
            if node.label == label:
                return node
        raise refuse("there is no filter \"%s\"; there are %s" % (
            label, ", ".join(f.label for f in self.filters)))

    @property
    def outputs(self) -> Dict[str, ImageNode]:
        """What predict gives, by name: the images that graphs export, as files tell, in the order of
        the ONNX file that the network was read from; else the result of the last filter."""
        filters = self.filters
        if not filters:
            raise refuse("the network has no filter yet")
        marked = [f for f in filters if c.glcnn_image_node_export_from_graph(f.result.pointer)]
        names = [t.name for t in self.tensors.values()]
        named = {f.result.handle or f.label: f.result for f in marked or filters[-1:]}
        return dict(sorted(named.items(), key=lambda item: names.index(item[0])
                           if item[0] in names else len(names)))

    @property
    def output(self) -> ImageNode:
        """The only output: what training compares with labels. A network of several outputs is given
        one, net.output = net.outputs["scores"], or any other image."""
        outputs = self.outputs
        if len(outputs) > 1:
            raise refuse("the network has %d outputs, %s; net.output = net.outputs[\"%s\"] selects "
                         "one" % (len(outputs), ", ".join(outputs), next(iter(outputs))))
        return next(iter(outputs.values()))

    @output.setter
    def output(self, node: ImageNode) -> None:
        for other in self.images:
            c.glcnn_image_node_set_export_from_graph(other.pointer, other == node)

    def know(self, record: Any) -> None:
        """Takes what the record of an ONNX file says of inputs and outputs."""
        self.record, known = record, record.contents
        named = {(i.handle, bool(i.filter)): i for i in self.images if i.handle}
        if known.output_count == 1:  # older files do not name it
            name = known.outputs[0].name.decode()
            named.setdefault((name, True), self.filters[-1].result)
        for is_output, images in ((False, known.inputs[:known.input_count]),
                                  (True, known.outputs[:known.output_count])):
            for tensor in map(Tensor, images):
                if (tensor.name, is_output) not in named:
                    raise refuse("the file does not say which image \"%s\" of its ONNX file is; "
                                 "import that file again" % tensor.name)
                self.tensors[address(named[tensor.name, is_output].pointer)] = tensor

    def initialise(self, seed: int = 0) -> None:
        """Draws the weights: glcnn_network_initialise."""
        self.device.enter()
        self.device.check(c.glcnn_network_initialise(self.pointer,
                                                     whole("seed", seed, 0, SIZE_MAX)))

    # ---- Training ----

    def _compared(self, loss: _c.LossType) -> ImageNode:
        """What a loss is of: the output, but for soft-max cross entropy what a soft-max that ends
        the network reads."""
        output = self.output
        if loss != _c.LossType.SOFT_MAX_CROSS_ENTROPY:
            return output
        if output.filter and output.filter.name == "soft_max":
            return output.filter.sources[0]
        if output.tensor and not output.tensor.has_channels():
            raise refuse("axis 1 of output \"%s\" is not its image's channels, which soft-max "
                         "cross entropy needs; end the model with a Softmax, or with a "
                         "convolution or layer after the transposition" % output.tensor.name)
        return output

    def _copy(self, outputs: Sequence[ImageNode],
              left_out: Any = ()) -> Tuple[Network, List[ImageNode]]:
        """A network of the same kernels, as far as the outputs need them, and its outputs: a place
        for a loss and gradients, so that this one stays as it was written."""
        copy = Network(self.device)
        images: Dict[ImageNode, ImageNode] = {}
        filters: Dict[FilterNode, FilterNode] = {}
        needed = _needed(outputs)
        for image in self.images:
            if image not in needed:
                continue
            if not image.filter:
                images[image] = copy.image(image.handle or "")
            elif image.filter.name in left_out:
                images[image] = images[image.filter.sources[0]]
            else:
                images[image] = _copy_filter(image.filter, copy, images, filters)
            if image.stop_gradient:
                images[image].stop_gradient = True
        return copy, [images[output] for output in outputs]

    def _optimizers(self) -> List[Any]:
        found = [c.glcnn_kernel_optimizer(f.kernel) for f in self.filters]
        return [kernel for kernel in found if kernel]

    @property
    def optimizer(self) -> Optional[str]:
        """The kind of the optimizer that trains the weights; None before one was set."""
        for kernel in self._optimizers():
            return c.glcnn_kernel_name(kernel).decode()[len("optimizer_"):]
        return None

    def set_optimizer(self, optimizer: Union[Optimizer, str, None]) -> None:
        """Lets an optimizer train all weights, but those of layers that are frozen. One of the kind
        that did so already goes on from its state, with the new parameters; None leaves it as it
        is, and layers that it does not train yet begin with its parameters."""
        if optimizer is None:
            made = Optimizer(self.optimizer or "adam").make(self.device)
            for kernel in self._optimizers()[:1]:
                _take_parameters(self.device, made.pointer, kernel)
        else:
            named = Optimizer(optimizer) if isinstance(optimizer, str) else optimizer
            made = named.make(self.device)
        descriptor = _c.glcnn_training_descriptor(optimizer=made.pointer)
        for node in self.filters if optimizer else []:
            old = c.glcnn_kernel_optimizer(node.kernel)
            if old and c.glcnn_kernel_name(old) == c.glcnn_kernel_name(made.pointer):
                _take_parameters(self.device, old, made.pointer)
            elif old:
                self.device.check(c.glcnn_kernel_set_training(node.kernel,
                                                              ctypes.byref(descriptor)))
        self.device.check(c.glcnn_network_set_training(self.pointer, ctypes.byref(descriptor)))

    def _graph(self, key: Any, make: Callable[[], Any]) -> Any:
        """A graph that is kept while the network stays as it is."""
        state = (tuple(address(o.pointer) for o in self.outputs.values()), self.optimizer,
                 len(self.filters),
                 tuple(f.training_style for f in self.filters),
                 tuple(i.stop_gradient for i in self.images))
        kept = self._graphs.get(key)
        if not kept or kept[0] != state:
            kept = self._graphs[key] = state, make()
        return kept[1]

    def _training_graph(self, loss: _c.LossType, memory: int,
                        clip_norm: float) -> Tuple[TrainingGraph, FilterNode]:
        copy, [output] = self._copy([self._compared(loss)])
        node = output.loss(copy.image("labels"), loss, _c.ReductionType.SUM)
        return TrainingGraph([node], results=[output], memory=memory, clip_norm=clip_norm), node

    def train(self, images: Arrays, labels: Any, *, epochs: int = 1, batch: int = 32,
              optimizer: Union[Optimizer, str, None] = None,
              loss: _c.LossType = _c.LossType.SOFT_MAX_CROSS_ENTROPY,
              reduction: Reduction = "mean", seed: int = 0,
              memory: int = 0, clip_norm: float = 0,
              progress: Optional[Callable[[int, Score], Any]] = None) -> List[Score]:
        """Trains on the mean loss of batches, in another order each epoch; images that do not fill
        a batch are left out of the epoch. Returns a score for each epoch. Soft-max cross entropy is
        of what a soft-max that ends the network reads.

        images     [N][C][H][W] or [N][H][W]; bytes b stand for b / 255; normalised by the network's
                   mean and deviation. A dictionary of such where the network has several inputs, by
                   their handles
        labels     [N] numbers of classes, or an array of the output's shape, as predict gives it
        optimizer  None goes on with the one that trained before; at first "adam"
        reduction  "mean": of all pixels and channels of a batch's images; of soft-max and
                   categorical cross entropy, whose terms are of a pixel, of all pixels; of cosine
                   distance, whose terms are of an image, of all images. "sum": the mean over images
                   of the sum over an image's pixels and channels; the learning rate that suits it
                   falls as images grow
        memory     bytes of what the graph makes on the GPU; 0: as many as needed
        clip_norm  largest norm of all gradients together; 0: any
        progress   is called with the number of the epoch, from 0, and its score

        A loss that is not finite raises Error with status CHECK_FAILED.
        """
        if reduction == "none":
            raise refuse("training takes one number of a batch: reduction is \"mean\" or \"sum\"")
        whole("epochs", epochs, 1)
        whole("seed", seed, 0, SIZE_MAX)
        data = _Data(self, images, labels)
        batch = min(whole("batch", batch, 1), data.count)
        terms = _terms(loss, reduction, data.goal_shape)
        self.set_optimizer(optimizer)
        graph, node = self._graph(("train", loss, terms, memory, clip_norm),
                                  lambda: self._training_graph(loss, memory, clip_norm))
        node["weight"] = 1 / (batch * terms)
        scores = []
        for epoch in range(epochs):
            order = numpy.random.default_rng((seed, epoch)).permutation(data.count)
            total = _Total()
            for step in range(data.count // batch):
                chosen = order[step * batch:][:batch]
                losses, output = graph.execute({**data.part(chosen), "labels": data.goals(chosen)})
                total.add(losses.sum(dtype=float) * batch, data.right(output, chosen), batch)
                if not math.isfinite(total.loss):
                    raise Error(_c.Status.CHECK_FAILED, "epoch %d, step %d: the loss is %s; %s"
                                % (epoch, step, total.loss, _advice(epoch, step)))
            scores.append(total.score(data))
            if progress:
                progress(epoch, scores[-1])
        return scores

    # ---- Inference ----

    def predict(self, images: Arrays, *, batch: int = 32, memory: int = 0) -> Any:
        """The output for each image: of an ONNX model as its file has the axes, else [N][C] where it
        is of one pixel, otherwise [N][C][H][W]. Of a network of several outputs a dictionary of them
        by their names. What is random in training, dropout and augmentation, is left out. A value
        that is not finite comes back as it is, with a RuntimeWarning that names the first image that
        has one."""
        outputs = self.outputs
        found = self._infer(list(outputs.values()), _Data(self, images), batch, memory)
        for told in filter(None, map(_not_finite, found)):
            warnings.warn(told, RuntimeWarning, stacklevel=2)
        arrays = {name: self._array(node, image)
                  for (name, node), image in zip(outputs.items(), found)}
        return arrays if len(arrays) > 1 else next(iter(arrays.values()))

    def _array(self, node: ImageNode, image: Any) -> Any:
        """What predict gives for an image [N][C][H][W] of a node."""
        if node.tensor:
            return node.tensor.of_image(image)
        return image[:, :, 0, 0] if image.shape[2:] == (1, 1) else image

    def _infer(self, nodes: List[ImageNode], data: _Data, batch: int, memory: int) -> List[Any]:
        """[N][C][H][W] of each node."""
        batch = min(whole("batch", batch, 1), data.count)
        key = "infer", tuple(address(node.pointer) for node in nodes), memory
        graph = self._graph(key, lambda: Graph(self._copy(nodes, _RANDOM)[1], memory=memory))
        parts = []
        for start in range(0, data.count, batch):
            chosen = numpy.arange(start, start + batch).clip(max=data.count - 1)
            parts.append(graph.execute(data.part(chosen)))
        return [numpy.concatenate(arrays)[:data.count] for arrays in zip(*parts)]

    def evaluate(self, images: Arrays, labels: Any, *, batch: int = 32,
                 loss: _c.LossType = _c.LossType.SOFT_MAX_CROSS_ENTROPY,
                 reduction: Reduction = "mean") -> Score:
        """The mean loss of the output against labels, and the share of right classes. With
        reduction="sum" the loss is what train has by that name, with "none" it is an array of the
        loss of each element, [N][C][H][W]. An output that is not finite raises Error with status
        CHECK_FAILED, which names the first such image."""
        data = _Data(self, images, labels)
        terms = _terms(loss, reduction, data.goal_shape)
        [output] = self._infer([self._compared(loss)], data, batch, 0)
        told = _not_finite(output)
        if told:
            raise Error(_c.Status.CHECK_FAILED, told)
        total, each = _Total(), []
        for start in range(0, data.count, batch):
            chosen = numpy.arange(start, min(start + batch, data.count))
            losses = run("loss", {"source_image": output[chosen], "labels": data.goals(chosen)},
                         device=self.device, loss_type=loss,
                         reduction_type="none" if reduction == "none" else "sum")["loss"]
            each.append(losses)
            total.add(losses.sum(dtype=float) / terms, data.right(output[chosen], chosen),
                      len(chosen))
        score = total.score(data)
        return score._replace(loss=numpy.concatenate(each)) if reduction == "none" else score

    # ---- Files ----

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes a model file: nodes, weights, classes, mean and deviation, and where it was read
        from ONNX what save_onnx needs. glcnn.load reads it, and so does the glcnn tool: predict,
        evaluate, export, train --model."""
        _files.save(self, path)

    def save_onnx(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes an ONNX model: the one that the network was read from, with its weights of now,
        else a new one."""
        _onnx.write(self, path)

    def save_checkpoint(self, path: Union[str, os.PathLike[str]],
                        **metadata: str) -> None:
        """Writes weights and what the optimizer keeps as .safetensors, with entries of the
        caller's: include/glcnn/checkpoint.h."""
        entries = (_c.glcnn_checkpoint_entry * len(metadata))(
            *[_c.glcnn_checkpoint_entry(name.encode(), value.encode())
              for name, value in metadata.items()])
        self.device.enter()
        call(library("glcnn_interchange").glcnn_checkpoint_save, self.pointer, os.fsencode(path),
             entries, len(entries))

    def load_checkpoint(self, path: Union[str, os.PathLike[str]]) -> Dict[str, str]:
        """Reads a checkpoint into this network, of the same filters and labels, and gives its
        entries. The optimizer's state is read where set_optimizer was called before."""
        interchange, metadata = library("glcnn_interchange"), _c.glcnn_checkpoint_metadata()
        self.device.enter()
        call(interchange.glcnn_checkpoint_load, self.pointer, os.fsencode(path),
             ctypes.byref(metadata))
        try:
            return {e.name.decode(): e.text.decode() for e in metadata.entries[:metadata.count]}
        finally:
            interchange.glcnn_checkpoint_free_metadata(ctypes.byref(metadata))


def network(shape: Shape, layers: Callable[[ImageNode], ImageNode], *, seed: int = 0,
            device: Optional[Device] = None) -> Network:
    """A network for images of (C, H, W): `layers` takes the input's node and gives the output's.

        net = glcnn.network((1, 28, 28), lambda x: x.fully_connected(output_feature_channels=10))
    """
    made = Network(device)
    made.output = layers(made.image("image", shape))
    made.initialise(seed)
    return made


def load(path: Union[str, os.PathLike[str]], device: Optional[Device] = None) -> Network:
    """The network of a model file: of Network.save, "glcnn train --out" or "glcnn import"."""
    return _files.load(path, Network, device)


def onnx(path: Union[str, os.PathLike[str]], *, width: int = 0, height: int = 0,
         feature_channels: int = 0, without_batch: bool = False, head_classes: int = 0,
         output: Optional[str] = None, external_links: bool = False,
         device: Optional[Device] = None) -> Network:
    """The network of an ONNX model, labels and weights as in the file. Width, height and channels
    are of inputs whose size the file leaves open. `output` ends the network at that value of the
    file. With head_classes a layer of as many scores is added behind its last output, or the mean of
    each channel of that: a backbone that classifies. Images may be given, and outputs come, in the
    file's axes. external_links reads data of the model that lie outside of its folder."""
    return _onnx.read(path, Network, width=width, height=height, feature_channels=feature_channels,
                      without_batch=without_batch, head_classes=head_classes, output=output,
                      external_links=external_links, device=device)


def _needed(outputs: Sequence[ImageNode]) -> Dict[ImageNode, bool]:
    """The images that images depend on, they themselves among them."""
    found: Dict[ImageNode, bool] = {}
    waiting = list(outputs)
    while waiting:
        image = waiting.pop()
        if image not in found:
            found[image] = True
            waiting += image.filter.sources if image.filter else []
    return found


def _copy_filter(node: FilterNode, copy: Network, images: Dict[ImageNode, ImageNode],
                 filters: Dict[FilterNode, FilterNode]) -> ImageNode:
    """The result of a node of another network with the same kernel, label and style."""
    sources = pointers(_c.glcnn_image_node, [images[s] for s in node.sources])
    made = c.glcnn_filter_node_create_with_kernel(copy.pointer, node.kernel, sources, len(sources))
    copy.check()
    filters[node] = FilterNode(copy, made)
    filters[node].label = node.label
    filters[node].training_style = node.training_style
    state = c.glcnn_filter_node_source_state(node.pointer)
    if state:
        source = filters[FilterNode(node.network, c.glcnn_state_node_filter(state))]
        copy.device.check(c.glcnn_filter_node_set_source_state(
            made, c.glcnn_filter_node_result_state(source.pointer)))
    return filters[node].result


def _take_parameters(device: Device, into: Any, of: Any) -> None:
    """All parameters of an optimizer, but the steps that it has made."""
    info = c.glcnn_kernel_info_by_name(c.glcnn_kernel_name(of)).contents
    for parameter in info.parameters[:info.parameter_count]:
        if parameter.name != b"time_step":
            device.check(c.glcnn_kernel_set(
                into, parameter.name, get_parameter(device, of, parameter.name.decode())))


def _terms(loss: _c.LossType, reduction: str, shape: Shape) -> int:
    """By how much the sum over an image is divided."""
    if reduction not in ("mean", "sum", "none"):
        raise refuse("there is no reduction %r; there are \"mean\", \"sum\" and \"none\""
                     % (reduction,))
    channels, height, width = shape
    if reduction != "mean" or loss == _c.LossType.COSINE_DISTANCE:
        return 1
    return height * width * (1 if loss in _OF_PIXELS else channels)


class _Total:
    """Sums over images."""

    def __init__(self) -> None:
        self.loss, self.right, self.count = 0.0, 0, 0

    def add(self, loss: float, right: int, count: int) -> None:
        self.loss, self.right, self.count = self.loss + loss, self.right + right, self.count + count

    def score(self, data: _Data) -> Score:
        accuracy = self.right / self.count if data.classes is not None else None
        return Score(self.loss / self.count, accuracy)


def _shape(handle: str, shape: Any) -> Shape:
    """(C, H, W) of whole numbers."""
    if len(shape) != 3:
        raise refuse("the shape of %s is (C, H, W), not %r" % (handle, shape))
    channels, height, width = (whole("the shape of " + handle, side, 1) for side in shape)
    return channels, height, width


def _not_finite(output: Any) -> str:
    """A message of the images whose output is not finite; "" where there is none."""
    wrong = numpy.flatnonzero(~numpy.isfinite(output).all(axis=(1, 2, 3)))
    if not wrong.size:
        return ""
    more = " (and of %d more)" % (wrong.size - 1) if wrong.size > 1 else ""
    return ("the output of image %d%s is NaN or infinite; either its values are too large for the "
            "network, or the network's weights are damaged" % (wrong[0], more))


def _advice(epoch: int, step: int) -> str:
    """Why a loss may be no number. The first is that of weights which no step has changed."""
    if epoch or step:
        return "a smaller learning rate or clip_norm may help"
    return ("no step of this call had changed the weights yet: those that it began with are "
            "damaged, or the values of an image or of its labels are too large")


class _Data:
    """Images by the handles of a network's inputs, and labels."""

    def __init__(self, network: Network, images: Arrays, labels: Any = None):
        inputs = {i.handle or "": i for i in _needed(list(network.outputs.values()))
                  if not i.filter}
        if not isinstance(images, dict):
            images = {next(iter(inputs)): images}
        if sorted(images) != sorted(inputs):
            raise refuse("the network takes %s, not %s" % (
                ", ".join(sorted(inputs)), ", ".join(sorted(images))))
        self.images = {handle: inputs[handle].as_images(array) for handle, array in images.items()}
        self.mean, self.deviation = network.mean, network.deviation
        self.count = len(next(iter(self.images.values())))
        self.classes: Any = None  # numbers, or else
        self.labels: Any = None   # an image for each
        if labels is not None:
            self._take_labels(network.output, numpy.asarray(labels))
        counts = {handle: len(array) for handle, array in self.images.items()}
        if labels is not None:
            counts["labels"] = len(labels if self.labels is None else self.labels)
        if not self.count or len(set(counts.values())) != 1:
            raise refuse("expected as many of each, and at least one; found %s"
                         % ", ".join("%d %s" % (n, h) for h, n in counts.items()))

    def _take_labels(self, output: ImageNode, labels: Any) -> None:
        if labels.ndim == 1 and labels.dtype.kind in "iu":
            self.classes = labels
            shape = output.shape
            self.channels = shape[0] if shape else int(labels.max(initial=0)) + 1
            wrong = labels[(labels < 0) | (labels >= self.channels)]
            if wrong.size:
                raise refuse("labels are classes from 0 to %d, not %d"
                             % (self.channels - 1, wrong[0]))
        else:
            self.labels = self._goal_images(output, labels)

    @staticmethod
    def _goal_images(output: ImageNode, labels: Any) -> Any:
        """[N][C][H][W] of labels that are no classes: of [N] and [N][C] with one pixel."""
        if labels.ndim > 2 or output.tensor and labels.ndim == len(output.tensor.sizes):
            return output.as_images(labels)
        labels, shape = numpy.atleast_1d(labels), output.shape
        one = (labels.shape[1] if labels.ndim == 2 else 1), 1, 1
        if shape and shape != one:
            pixels = "" if shape[1:] == (1, 1) else " of %dx%d pixels" % (shape[2], shape[1])
            raise refuse("labels are [N]%s of %s and the output has %d channels%s; expected "
                         "classes, whole numbers [N] from 0 to %d, or an array of the output's shape"
                         % ("[%d]" % one[0] if labels.ndim == 2 else "", labels.dtype, shape[0],
                            pixels, shape[0] - 1))
        return as_images(labels.reshape(len(labels), *one))

    def part(self, chosen: Any) -> Dict[str, Any]:
        return {handle: self._normalise(array[chosen]) for handle, array in self.images.items()}

    def _normalise(self, images: Any) -> Any:
        if self.mean is None and self.deviation is None:
            return images
        scale = numpy.float32(1 / 255 if images.dtype == numpy.uint8 else 1)
        mean = numpy.reshape(0 if self.mean is None else self.mean, (-1, 1, 1))
        deviation = numpy.reshape(1 if self.deviation is None else self.deviation, (-1, 1, 1))
        return ((images * scale - mean) / deviation).astype(numpy.float32)

    @property
    def goal_shape(self) -> Shape:
        """(C, H, W) of what goals gives for an image."""
        return (self.channels, 1, 1) if self.labels is None else self.labels.shape[1:]

    def goals(self, chosen: Any) -> Any:
        """[N][C][H][W] for the loss: of classes a 1 in the channel of each."""
        if self.labels is not None:
            return self.labels[chosen]
        goals = numpy.eye(self.channels, dtype=numpy.float32)[self.classes[chosen]]
        return goals[:, :, None, None]

    def right(self, output: Any, chosen: Any) -> int:
        """How many outputs are largest in the channel of their class."""
        if self.classes is None:
            return 0
        return int((output.argmax(1)[:, 0, 0] == self.classes[chosen]).sum())
