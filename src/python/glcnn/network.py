"""Networks: made of nodes, trained on arrays, kept in files."""
from __future__ import annotations

import ctypes
import os
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple, Union

import numpy

from . import _c, files as _files, onnx as _onnx, loop as _loop
from ._library import SIZE_MAX, c, call, library, refuse, whole
from .batches import RANDOM, Batch, Fitting, Shape, is_batches, needed, pair
from .device import Device, Owned, default_device
from .graph import Graph
from .loss import AnyLoss, Recipe, Reduction
from .metrics import History, Metrics, Score, named
from .model import Model, answers, paths_of
from .node import FilterNode, ImageNode, address, get_parameter, pointers, set_parameter
from .optimizer import Optimizer
from .summary import describe, summary
from .tensor import Tensor

_KEPT = 8  # graphs of a network, which an interpreter's loop of functions must not fill memory with


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
        self.fit = "cut"  # how pictures come to the size of its images: Dataset's
        self.resize = 0  # to which pictures' shorter side is scaled: Dataset's; 0: none
        self.task: Optional[str] = None  # that of the tool: "classify", "regress", "segment"
        self.borrowed: Set[int] = set()  # filters by address whose kernels other networks have
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
    def shape(self) -> Optional[Shape]:
        """(C, H, W) of the images that a network of one input takes; None where it is not known."""
        inputs = [node for node in self.images if not node.filter]
        return inputs[0].shape if len(inputs) == 1 else None

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

    @outputs.setter
    def outputs(self, nodes: Dict[str, ImageNode]) -> None:
        for node in self.images:
            c.glcnn_image_node_set_export_from_graph(node.pointer, node in nodes.values())
        for name, node in nodes.items():
            self.device.check(c.glcnn_image_node_set_handle(node.pointer, name.encode()))

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
        """Draws the weights: glcnn_network_initialise. Layers that other networks have keep theirs."""
        kept = [f for f in self.filters if address(f.pointer) in self.borrowed
                and c.glcnn_kernel_has_vector(f.kernel, b"weights")]
        weights = [f.vector("weights") for f in kept]
        self.device.enter()
        self.device.check(c.glcnn_network_initialise(self.pointer,
                                                     whole("seed", seed, 0, SIZE_MAX)))
        for node, values in zip(kept, weights):
            node.set_vector("weights", values)

    # ---- Networks in networks ----

    def __call__(self, x: Union[ImageNode, Dict[str, ImageNode]], *, trains: bool = True) -> Any:
        """The output of this network for an image of another one, whose nodes have the kernels of
        this one's: weights are the same in both, whichever is trained. Of several inputs a
        dictionary is given, of several outputs a dictionary comes back.

            both = glcnn.network((16, 1, 1), lambda noise: judge(painter(noise), trains=False))

        trains  whether training the other network changes the weights
        """
        inputs = Fitting(self).inputs
        given: Dict[str, ImageNode] = x if isinstance(x, dict) else (
            {name: x for name in inputs} if len(inputs) == 1 else {})
        if sorted(given) != sorted(inputs) or not all(
                isinstance(node, ImageNode) for node in given.values()):
            raise refuse("a network is called with an image node for each of %s, and found %s; "
                         "net.predict(images) is for arrays" % (", ".join(inputs), ", ".join(
                             given) if isinstance(x, dict) else type(x).__name__))
        network = list(given.values())[0].network
        images = {inputs[handle]: node for handle, node in given.items()}
        filters = copy_nodes(self, network, images, self.outputs.values(), renames=True)
        for made in filters.values():
            if network is not self:
                network.borrowed.add(address(made.pointer))
            if not trains:
                made.training_style = _c.TrainingStyle.NONE
        found = {name: images[node] for name, node in self.outputs.items()}
        return found if len(found) > 1 else list(found.values())[0]

    def copied(self, outputs: Sequence[ImageNode], left_out: Any = (),
               kernels: Optional[Callable[[FilterNode], Optional[Owned]]] = None
               ) -> Tuple[Network, List[ImageNode]]:
        """A network of the same kernels, or of those that `kernels` gives instead, as far as the outputs
        need them, and its outputs: a place for a loss and gradients, so that this one stays as it was
        written. An output of which only `left_out` filters were is its input times 1."""
        copy = Network(self.device)
        images = {image: copy.image(image.handle or "", self.shapes.get(address(image.pointer)))
                  for image in needed(outputs) if not image.filter}
        for image, made in images.items():
            made.stop_gradient = image.stop_gradient
        copy_nodes(self, copy, images, outputs, left_out, kernels=kernels)
        found = [images[output] for output in outputs]
        return copy, [made if made.filter or not output.filter else made.neuron_linear(1, 0)
                      for made, output in zip(found, outputs)]

    def summary(self, batch: int = 32) -> str:
        """A table of the layers, with the shapes of their results, their parameters and whether they
        train; and the memory that batches of that many images take on the device."""
        return summary(self, whole("batch", batch, 1))

    def __repr__(self) -> str:
        return describe(self)

    # ---- Training ----

    def optimizers(self) -> List[Any]:
        """The library's, of each layer that has one, but of those that another network trains."""
        found = [c.glcnn_kernel_optimizer(f.kernel) for f in self._trained_here()]
        return [kernel for kernel in found if kernel]

    def _trained_here(self) -> List[FilterNode]:
        return [f for f in self.filters if address(f.pointer) not in self.borrowed
                or f.training_style != _c.TrainingStyle.NONE]

    @property
    def optimizer(self) -> Optional[str]:
        """The kind of the optimizer that trains the weights; None before one was set."""
        for kernel in self.optimizers():
            return c.glcnn_kernel_name(kernel).decode()[len("optimizer_"):]
        return None

    def set_optimizer(self, optimizer: Union[Optimizer, str, None]) -> None:
        """Lets an optimizer train all weights, but those of layers that are frozen. One of the kind
        that did so already goes on from its state, with the new parameters; None leaves it as it
        is, and layers that it does not train yet begin with its parameters."""
        if optimizer is None:
            made = Optimizer(self.optimizer or "adam").make(self.device)
            for kernel in self.optimizers()[:1]:
                _take_parameters(self.device, made.pointer, kernel)
        else:
            named = Optimizer(optimizer) if isinstance(optimizer, str) else optimizer
            made = named.make(self.device)
        descriptor = _c.glcnn_training_descriptor(optimizer=made.pointer)
        for node in self._trained_here() if optimizer else []:
            old = c.glcnn_kernel_optimizer(node.kernel)
            if old and c.glcnn_kernel_name(old) == c.glcnn_kernel_name(made.pointer):
                _take_parameters(self.device, old, made.pointer)
            elif old:
                self.device.check(c.glcnn_kernel_set_training(node.kernel,
                                                              ctypes.byref(descriptor)))
        self.device.check(c.glcnn_network_set_training(self.pointer, ctypes.byref(descriptor)))

    def kept_graph(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` makes of graphs, which is kept while the network stays as it is."""
        state = (tuple(address(o.pointer) for o in self.outputs.values()), self.optimizer,
                 len(self.filters),
                 tuple(f.training_style for f in self.filters),
                 tuple(i.stop_gradient for i in self.images))
        kept = self._graphs.pop(key, None)
        if not kept or kept[0] != state:
            kept = state, make()
        self._graphs[key] = kept  # behind all others
        while len(self._graphs) > _KEPT:
            del self._graphs[next(iter(self._graphs))]
        return kept[1]

    def train(self, images: Any, labels: Any = None, *, epochs: int = 1, batch: int = 32,
              steps: Optional[int] = None, optimizer: Union[Optimizer, str, None] = None,
              loss: Optional[AnyLoss] = None, reduction: Optional[Reduction] = None,
              weight_decay: Optional[float] = None,
              schedule: Optional[_loop.Schedule] = None, metrics: Metrics = (),
              validation: Any = None, on_step: Optional[_loop.OnScore] = None,
              on_epoch: Optional[_loop.OnScore] = None, seed: int = 0, memory: int = 0,
              clip_norm: float = 0) -> History:
        """Trains on the mean loss of batches, and returns a Score for each epoch.

            history = net.train(images, labels, epochs=5, optimizer="adam", schedule="cosine",
                                validation=(more, their_labels), metrics=["top_5"])
            history.values("validation_loss")

        images        [N][C][H][W] or [N][H][W]; bytes b stand for b / 255; normalised by the
                      network's mean and deviation. A dictionary of such where the network has
                      several inputs, by their handles. Each epoch is in another order, and images
                      that do not fill a batch are left out of it.
                      Or, without labels, an iterator that gives (images, labels) for each batch, a
                      list or a DataLoader of PyTorch too; a glcnn.Dataset; or the path of a folder,
                      whose validation part, a tenth where it has none, is `validation` then
        labels        [N] numbers of classes, or [N][H][W] of the classes of pixels, 255 for none; or
                      an array of the output's shape, as predict gives it; a dictionary of such by
                      outputs, where there are several
        steps         of iterators: batches of an epoch; None: all that it gives
        optimizer     glcnn.Optimizer or its name; None goes on with the one that trained before; at
                      first "adam"
        loss          a name of glcnn.Loss or such an object; a dictionary of those by outputs; or a
                      function of output nodes and label nodes, called once, that gives an image
                      node, whose mean is made less, or a list of those and of Loss's terms. None:
                      "cross_entropy", and of a glcnn.Dataset of numbers "mse"
        reduction     "mean", the default, or "sum": as glcnn.Loss has them
        weight_decay  w - learning_rate weight_decay w comes before each step, of weights alone, as
                      of the tool's --weight-decay: biases, gamma, beta and slopes do not decay.
                      None: the optimizer's own, which is of all
        schedule      "cosine", or a function of the number of the step, from 0 in this call, that
                      gives by what the optimizer's learning rate is multiplied
        metrics       "accuracy", "top_5" and so on, "mse", "mae", "r2", "miou", "binary_accuracy";
                      functions of outputs and labels of a batch, as predict gives them, whose results
                      are means over its images; and classes whose objects take those of each batch by
                      add(outputs, labels) and have value()
        validation    (images, labels), or what else `evaluate` takes: evaluated after each epoch. Or
                      a function that is called then and gives a Score
        on_step       is called after each step with its number, from 0 in this call, and its Score,
                      without metrics
        on_epoch      is called after each epoch with its number and its Score. Where either returns
                      False, training ends
        memory        bytes of what the graph makes on the GPU; 0: as many as needed
        clip_norm     largest norm of all gradients together; 0: any

        Images and labels that are NaN or infinite are refused before a step takes them, with the
        number of the first. A step whose loss or gradients are not finite raises Error with status
        CHECK_FAILED; where gradients are not, weights and what optimizers keep stay as they were.
        """
        recipe = Recipe(_loop.loss_for(loss, images), reduction)
        if any(one.reduction == "none" for one in recipe.losses):
            raise refuse("training takes one number of a batch: reduction is \"mean\" or \"sum\"")
        whole("epochs", epochs, 1)
        whole("seed", seed, 0, SIZE_MAX)
        whole("batch", batch, 1)
        if labels is None and isinstance(images, (str, os.PathLike)):
            images = _loop.folder(self, images, batch, seed)
            if validation is None and images.counts["validation"]:
                validation = images.part("validation")
        source = _loop.source_of(self, images, labels, batch=batch, steps=steps, seed=seed)
        self.set_optimizer(optimizer)
        for kernel in self.optimizers() if weight_decay is not None else []:
            set_parameter(self.device, kernel, "weight_decay", weight_decay)
            set_parameter(self.device, kernel, "decays_weights_only", True)
        rates = _loop.Rates(self, schedule, source.steps and source.steps * epochs)
        training = _loop.Training(self, source, recipe, metrics=named(metrics), rates=rates,
                                   memory=memory, clip_norm=clip_norm, on_step=on_step)
        validate = validation if validation is None or callable(validation) else (
            lambda: _loop.evaluate(self, validation, None, batch=batch, recipe=recipe,
                                    metrics=training.metrics))
        return _loop.train(training, epochs, validate, on_epoch)

    # ---- Inference ----

    def predict(self, images: Any, *, batch: int = 32, memory: int = 0, stack: bool = False,
                size: Any = None) -> Any:
        """The output for each image: of an ONNX model as its file has the axes, else [N][C] where it
        is of one pixel, otherwise [N][C][H][W]. Of a network of several outputs a dictionary of them
        by their names. What is random in training, dropout and augmentation, is left out. A value
        that is not finite comes back as it is, with a RuntimeWarning that names the first image that
        has one.

        images  arrays as train takes them; or an iterator of batches, of images or of (images,
                labels), and then the outputs of each batch come from a generator as they are made.
                Or the path of a picture, of which the glcnn.Answer is given, that glcnn predict
                prints; of a folder, or a list of paths, a list of those
        stack   of an iterator: one array of all instead
        size    of paths: pictures are brought to it, a number or (H, W), where the network's layers allow
                another than the one that it was made for"""
        paths = paths_of(images)
        if paths:
            return answers(self, images, paths, size)
        if size is not None:
            raise refuse("size is for the paths of pictures; arrays have a size of their own")
        if not is_batches(images):
            return self._predict(Fitting(self).batch(*_loop.given_pair(images, None)), batch,
                                 memory)
        made = self._predictions(images, batch, memory)
        return _stacked(list(made)) if stack else made

    def _predictions(self, items: Any, batch: int, memory: int) -> Iterator[Any]:
        fitting = Fitting(self)
        for item in items:
            yield self._predict(fitting.batch(pair(item)[0]), batch, memory)

    def _predict(self, data: Batch, batch: int, memory: int) -> Any:
        found = self._infer(data, batch, memory)
        for told in filter(None, map(_loop.not_finite, found)):
            warnings.warn(told, RuntimeWarning, stacklevel=3)
        return data.fitting.arrays(found)

    def _infer(self, data: Batch, batch: int, memory: int) -> List[Any]:
        """[N][C][H][W] of each output; behind crops N times their regions."""
        batch = min(whole("batch", batch, 1), data.count)
        outputs = list(self.outputs.values())
        graph = self.kept_graph(("infer", memory), lambda: Graph(
            self.copied(outputs, RANDOM)[1], memory=memory))
        parts = [graph.execute(part.padded(batch).inputs()) for part in data.parts(batch)]
        return [numpy.concatenate(arrays)[:data.count * (len(arrays[0]) // batch)]
                for arrays in zip(*parts)]

    def evaluate(self, images: Any, labels: Any = None, *, batch: int = 32,
                 loss: Optional[AnyLoss] = None, reduction: Optional[Reduction] = None,
                 metrics: Metrics = ()) -> Score:
        """The mean loss of the outputs against labels, the share of right classes, and the metrics:
        of arrays, of (images, labels), of an iterator of those, or of a glcnn.Dataset, of which all
        images are counted, in their order. glcnn.evaluate has the tool's measures. Arguments are
        those of train. With reduction="none" the loss is an array of the loss of each element,
        [N][C][H][W]. An output that is not finite raises Error with status CHECK_FAILED, which names
        the first such image."""
        return _loop.evaluate(self, images, labels, batch=whole("batch", batch, 1),
                               recipe=Recipe(_loop.loss_for(loss, images), reduction), metrics=named(metrics))

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

    def export(self, path: Union[str, os.PathLike[str]], *, boxes: str = "split", batch: int = 0,
               preprocessing: Optional[str] = None) -> str:
        """Writes an ONNX file for other programs, or a path that ends with .tflite as TensorFlow Lite, as glcnn
        export does, and gives what that prints: include/glcnn/export.h. The network has a task, as one of glcnn.tasks or a file of the tool.

        boxes          how a detector's boxes leave: "split", "yolo" or "nms"
        batch          the size of the batch; 0: any, of .tflite 1
        preprocessing  that the file does: None, "unit" or "bytes", "unit-bgr" or "bytes-bgr"
        """
        return Model(self).export(path, boxes=boxes, batch=batch, preprocessing=preprocessing)

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
            interchange.glcnn_checkpoint_metadata_destroy(ctypes.byref(metadata))


def network(shape: Union[Shape, Dict[str, Shape]], layers: Callable[..., Any], *, seed: int = 0,
            device: Optional[Device] = None) -> Network:
    """A network for images of (C, H, W): `layers` takes the input's node and gives the output's.

        net = glcnn.network((1, 28, 28), lambda x: x.fully_connected(output_feature_channels=10))

    Of several inputs `shape` is a dictionary, and `layers` gets their nodes by those names; a
    dictionary that it gives names several outputs.
    """
    made = Network(device)
    if isinstance(shape, dict):
        found = layers(**{handle: made.image(handle, one) for handle, one in shape.items()})
    else:
        found = layers(made.image("image", shape))
    nodes = found if isinstance(found, dict) else {"": found}
    for name, node in nodes.items():
        if not isinstance(node, ImageNode):
            raise refuse("layers gave %s%s; expected the output's node, or a dictionary of those"
                         % (type(node).__name__, " for \"%s\"" % name if name else ""))
    if isinstance(found, dict):
        made.outputs = found
    else:
        made.output = found
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


# ---- Parts of networks ----

def copy_nodes(source: Network, network: Network, images: Dict[ImageNode, ImageNode],
               outputs: Any, left_out: Any = (), renames: bool = False,
               kernels: Optional[Callable[[FilterNode], Optional[Owned]]] = None
               ) -> Dict[FilterNode, FilterNode]:
    """Makes nodes with the kernels of those of `source` in a network, or with those that
    `kernels` gives instead, as far as outputs need them, and gives them by those that they are copies of. `images`
    has the inputs, and gets the results. With `renames` labels that the network has already are
    numbered."""
    filters: Dict[FilterNode, FilterNode] = {}
    taken = {node.label for node in network.filters} if renames else set()
    wanted = needed(outputs)
    for image in source.images:
        if image not in wanted or not image.filter:
            continue
        if image.filter.name in left_out:
            images[image] = images[image.filter.sources[0]]
        else:
            other = kernels(image.filter) if kernels else None
            images[image] = _copy_filter(image.filter, other.pointer if other else
                                         image.filter.kernel, network, images, filters, taken)
        if image.stop_gradient:
            images[image].stop_gradient = True
    return filters


def _copy_filter(node: FilterNode, kernel: Any, copy: Network, images: Dict[ImageNode, ImageNode],
                 filters: Dict[FilterNode, FilterNode], taken: Set[str]) -> ImageNode:
    """The result of a node of another network with the same kernel, label and style."""
    sources = pointers(_c.glcnn_image_node, [images[s] for s in node.sources])
    made = c.glcnn_filter_node_create_with_kernel(copy.pointer, kernel, sources, len(sources))
    copy.check()
    filters[node] = FilterNode(copy, made)
    filters[node].label = _free(node.label, taken)
    filters[node].training_style = node.training_style
    state = c.glcnn_filter_node_source_state(node.pointer)
    if state:
        source = filters[FilterNode(node.network, c.glcnn_state_node_filter(state))]
        copy.device.check(c.glcnn_filter_node_set_source_state(
            made, c.glcnn_filter_node_result_state(source.pointer)))
    return filters[node].result


def _free(label: str, taken: Set[str]) -> str:
    """The label, numbered where it is taken."""
    number, free = 1, label
    while free in taken:
        number, free = number + 1, "%s_%d" % (label, number + 1)
    return free


def _take_parameters(device: Device, into: Any, of: Any) -> None:
    """All parameters of an optimizer, but the steps that it has made."""
    info = c.glcnn_kernel_info_by_name(c.glcnn_kernel_name(of)).contents
    for parameter in info.parameters[:info.parameter_count]:
        if parameter.name != b"time_step":
            device.check(c.glcnn_kernel_set(
                into, parameter.name, get_parameter(device, of, parameter.name.decode())))


def _shape(handle: str, shape: Any) -> Shape:
    """(C, H, W) of whole numbers."""
    if len(shape) != 3:
        raise refuse("the shape of %s is (C, H, W), not %r" % (handle, shape))
    channels, height, width = (whole("the shape of " + handle, side, 1) for side in shape)
    return channels, height, width


def _stacked(parts: List[Any]) -> Any:
    """One array of those of batches, or a dictionary of such."""
    if not parts:
        raise refuse("the iterator of batches gave none to predict")
    if isinstance(parts[0], dict):
        return {name: numpy.concatenate([part[name] for part in parts]) for name in parts[0]}
    return numpy.concatenate(parts)
