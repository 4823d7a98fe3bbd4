"""What networks are for: each task has a head, a loss, measures, and answers that people read, all of
them the library's: glcnn/task.h.

    data = glcnn.Dataset("fields", targets="masks", size=64)
    net = glcnn.tasks.segment.network(data, layers, seed=1)
    glcnn.tasks.segment.train(net, data, epochs=5)
    masks = glcnn.tasks.segment.predict(net, images)

`layers` is a backbone: a function of the input's node that gives features, an image node or a list of
them, the finest first. The networks are the tool's: what net.save writes is read by glcnn evaluate,
predict and train --model, and the other way round. glcnn.tasks.anomaly finds pictures that differ from
normal ones, and has a bank in place of a head.
"""
from __future__ import annotations

import ctypes
import os
import tempfile
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

import numpy

from . import _c, anomaly
from ._library import library, refuse
from .batches import is_batches
from .dataset import Dataset
from .device import Device
from .metrics import History, Score
from .model import Answer, Model
from .network import Network
from .node import ImageNode
from .optimizer import Optimizer
from .trainer import Event, score_of, train as _train

Layers = Callable[[ImageNode], Union[ImageNode, Sequence[ImageNode]]]

__all__ = ["Task", "anomaly", "classify", "detect", "keypoints", "regress", "segment"]


class Task:
    """One of the library's tasks. `targets` are those of the glcnn.Dataset that it learns from."""

    def __init__(self, name: str, targets: str, answer: Callable[[Answer], Any]):
        self.name, self.targets, self._answer = name, targets, answer

    def network(self, data: Dataset, layers: Layers, *, seed: int = 0,
                device: Optional[Device] = None) -> Network:
        """A network for the dataset's images and classes: the backbone, and the task's head on it."""
        self._check(data)
        made = Network(device)
        found = layers(made.image("image", data.shape))
        features = [found] if isinstance(found, ImageNode) else list(found)
        for node in features:
            if not isinstance(node, ImageNode) or not node.shape:
                raise refuse("layers gave %s; expected an image node of a known size, or a list of "
                             "them, the finest first" % type(node).__name__)
        made.output = ImageNode(made, self._head(made, features, data))
        made.classes, made.task = data.classes, self.name
        made.fit, made.resize = data.fit, data.resize
        made.initialise(seed)
        return made

    def _head(self, made: Network, features: List[Any], data: Dataset) -> Any:
        channels, height, width = data.shape
        names = [name.encode() for name in data.classes]
        rows = (_c.glcnn_feature * len(features))(*[
            _c.glcnn_feature(node.pointer, *node.shape[::-1]) for node in features])
        wanted = _c.glcnn_model_parameters(
            task=self.name.encode(), width=width, height=height, channels=channels,
            class_names=(ctypes.c_char_p * len(names))(*names), class_count=len(names))
        message = ctypes.create_string_buffer(_c.ERROR_LENGTH)
        made.device.enter()
        head = library("glcnn_train").glcnn_task_add_head(made.pointer, ctypes.byref(wanted), rows,
                                                          len(rows), message)
        made.check()
        if not head:
            raise refuse(message.value.decode(errors="replace"))
        return head

    def train(self, network: Network, data: Dataset, *, validation: Optional[Dataset] = None,
              optimizer: Union[Optimizer, str, None] = None, progress: bool = False,
              on_epoch: Optional[Callable[[int, Score], Any]] = None, **settings: Any) -> History:
        """Trains a network on the training part of a dataset, by glcnn.train, whose settings are taken
        here too, and leaves in it the weights of the epoch whose validation was best. Where on_epoch
        returns False training ends. `validation` is the dataset's own part, which is there. What an
        Optimizer does not say has the default of glcnn train."""
        self._check(data, network)
        if validation is not None and not (validation.of_same(data)
                                           and validation.name.startswith("val")):
            raise refuse("validation is the validation part of the dataset: data.part(\"validation\")")

        def take(event: Event) -> Any:
            if on_epoch and event.kind == _c.TrainEventKind.EPOCH:
                return on_epoch(event.epoch - 1, score_of(event))
            return None

        trained = _train(data, model=network, device=network.device, progress=progress, on_event=take,
                         task=self.name, **{"batch": data.batch, "seed": data.seed,
                                            **_optimizer_settings(optimizer), **settings})
        with tempfile.TemporaryDirectory(prefix="glcnn-") as folder:
            path = os.path.join(folder, "weights.safetensors")
            trained.network.save_checkpoint(path)
            network.load_checkpoint(path)
        network.classes, network.task = data.classes, self.name
        return trained.history

    def evaluate(self, network: Network, data: Dataset) -> Score:
        """The mean loss, and the task's measures, on a part of a dataset: those of glcnn evaluate."""
        self._check(data, network)
        found = Model(network).evaluate(data)
        numbers = {name.lower(): numpy.nan if value is None else value
                   for name, value in found.measures.items()
                   if value is None or isinstance(value, (int, float))}
        for name in "loss", "images", "trained_on":
            numbers.pop(name, None)
        return Score(found.loss, numbers.pop("accuracy", None), numbers)

    def predict(self, network: Network, images: Any, *, confidence: float = 0.3,
                overlap: float = 0.6, most: int = 300, across_classes: bool = False) -> Any:
        """An answer for each image, of arrays or of an iterator of batches: of classify probabilities
        [N][C], of regress numbers [N][K], of segment the class of each pixel [N][H][W], bytes; of
        keypoints [N][points][3], x and y in shares of the image and a confidence; of detect of each
        image [K][6], left, top, right and bottom in shares of it, the class and its probability, the
        likeliest first: those of a probability of `confidence` and more, at most `most` of an image;
        of two of a class, or with `across_classes` of any, that share more than `overlap` of their
        union the likelier."""
        limits = _c.glcnn_detection_limits(confidence, overlap, most, across_classes)
        model = Model(network)
        parts = [batch[0] if isinstance(batch, tuple) else batch for batch in images] if (
            is_batches(images)) else [images]
        found = [self._answer(one) for part in parts for one in model.predict(
            data=Dataset.of(part), limits=limits if self.name == "detect" else None)]
        return found if self.name == "detect" else numpy.array(found)

    def __repr__(self) -> str:
        return "<glcnn.tasks.%s>" % self.name

    def _check(self, data: Dataset, network: Optional[Network] = None) -> None:
        if data.targets != self.targets:
            raise refuse("%r learns from a dataset whose targets are %r, not %r"
                         % (self, self.targets, data.targets))
        if network and network.task not in (None, self.name):
            raise refuse("the network is for the task %s, not %s" % (network.task, self.name))
        if network and network.classes and network.classes != data.classes:
            raise refuse("the network's %s are %s, those of the data %s; glcnn.Dataset(path, classes="
                         "net.classes) numbers them as the network does" % (
                             self.targets, ", ".join(network.classes[:8]),
                             ", ".join(data.classes[:8])))


def _optimizer_settings(optimizer: Union[Optimizer, str, None]) -> Dict[str, Any]:
    """The library's settings of what the optimizer says."""
    if not isinstance(optimizer, Optimizer):
        return {} if optimizer is None else {"optimizer": optimizer}
    names = {"learning_rate": "lr", "weight_decay": "weight_decay"}
    for name in optimizer.parameters:
        if name not in names:
            raise refuse("training for a task has the optimizer's learning_rate and weight_decay, not "
                         "%s; net.train takes all" % name)
    return {"optimizer": optimizer.kind, **{names[name]: value
                                            for name, value in optimizer.parameters.items()}}


def _shares(rows: Any, answer: Answer, columns: Sequence[int]) -> Any:
    """Rows whose first numbers are x and y in pixels, in shares of the image."""
    rows = rows.astype(numpy.float32)
    for column in columns:
        rows[:, column] /= answer.size[1 - column % 2]
    return rows


classify = Task("classify", "classes", lambda one: one.values)
regress = Task("regress", "numbers", lambda one: one.values)
segment = Task("segment", "masks", lambda one: one.mask)
detect = Task("detect", "boxes", lambda one: _shares(one.boxes, one, range(4)))
keypoints = Task("keypoints", "numbers", lambda one: _shares(one.points, one, range(2)))
