"""What networks are for: each task has a head, a loss, measures, and answers that people read.

    data = glcnn.Dataset("fields", targets="masks", size=64)
    net = glcnn.tasks.segment.network(data, layers, seed=1)
    glcnn.tasks.segment.train(net, data, epochs=5, validation=data.part("validation"))
    masks = glcnn.tasks.segment.predict(net, images)

`layers` is a backbone: a function of the input's node that gives features, an image node or a list of
them, the finest first. The networks are the tool's: what net.save writes is read by glcnn evaluate,
predict and train --model, and the other way round. glcnn.tasks.anomaly finds pictures that differ from
normal ones, and has a bank in place of a head.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy

from . import _c, anomaly, detection
from ._library import refuse
from .batches import is_batches
from .dataset import DataBatch, Dataset
from .device import Device
from .loss import AnyLoss, Loss, Term
from .measures import DetectionScore
from .metrics import History, Metrics, Score
from .network import Network
from .node import ImageNode

Layers = Callable[[ImageNode], Union[ImageNode, Sequence[ImageNode]]]

__all__ = ["Classify", "Detect", "Regress", "Segment", "Task", "anomaly", "classify", "detect",
           "regress", "segment"]


class Task:
    """What is alike for all tasks."""

    name = ""     # the tool's
    targets = ""  # those of the glcnn.Dataset that it learns from
    loss: AnyLoss = "cross_entropy"
    metrics: Metrics = ()

    def network(self, data: Dataset, layers: Layers, *, seed: int = 0,
                device: Optional[Device] = None) -> Network:
        """A network for the dataset's images and classes: the backbone, and the task's head on it."""
        self._check(data)
        made = Network(device)
        found = layers(made.image("image", data.shape))
        features = [found] if isinstance(found, ImageNode) else list(found)
        for node in features:
            if not isinstance(node, ImageNode):
                raise refuse("layers gave %s; expected an image node, or a list of them, the finest "
                             "first" % type(node).__name__)
        made.output = self._head(features, data)
        made.classes, made.task, made.fit = data.classes, self.name, data.fit
        made.initialise(seed)
        return made

    def train(self, network: Network, data: Dataset, *, validation: Optional[Dataset] = None,
              **options: Any) -> History:
        """net.train with the task's loss and measures; `options` are what else that takes."""
        self._check(data, network)
        own: Dict[str, Any] = {"loss": self.loss, "metrics": self.metrics}
        if validation is not None:
            own["validation"] = lambda: self.evaluate(network, validation)
        history = network.train(self._batches(data), **{**own, **options})
        network.classes, network.task, network.fit = data.classes, self.name, data.fit
        return history

    def evaluate(self, network: Network, data: Dataset) -> Score:
        """The mean loss, and the task's measures, on a part of a dataset."""
        self._check(data, network)
        return network.evaluate(self._batches(data.ordered()), loss=self.loss, metrics=self.metrics)

    def predict(self, network: Network, images: Any, *, batch: int = 32) -> Any:
        """An answer for each image, of arrays or of an iterator of batches."""
        made = network.predict(images, batch=batch)
        return self._answers(network, made) if not is_batches(images) else _joined(
            [self._answers(network, part) for part in made])

    def __repr__(self) -> str:
        return "<glcnn.tasks.%s>" % self.name

    # ---- Of each task ----

    def _head(self, features: List[ImageNode], data: Dataset) -> ImageNode:
        raise NotImplementedError

    def _answers(self, network: Network, outputs: Any) -> Any:
        raise NotImplementedError

    def _batches(self, data: Dataset) -> Any:
        return data

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


def _joined(parts: List[Any]) -> Any:
    """Answers of all batches."""
    if parts and isinstance(parts[0], list):
        return [one for part in parts for one in part]
    return numpy.concatenate(parts)


def _size(node: ImageNode) -> Tuple[int, int, int]:
    shape = node.shape
    if not shape:
        raise refuse("the size of the features is not known")
    return shape


def _of_picture(features: List[ImageNode], outputs: int) -> ImageNode:
    """Numbers for a picture: a layer on the means of the last features."""
    x = features[-1]
    if _size(x)[1:] != (1, 1):
        x = x.reduce_row_mean().reduce_column_mean()
    return x.fully_connected(output_feature_channels=outputs)


class Classify(Task):
    """A class for each picture. `predict` gives probabilities, [N][classes]."""

    name, targets = "classify", "classes"

    def _head(self, features: List[ImageNode], data: Dataset) -> ImageNode:
        return _of_picture(features, len(data.classes))

    def _answers(self, network: Network, outputs: Any) -> Any:
        powers = numpy.exp(outputs - outputs.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)


class Regress(Task):
    """Real numbers for each picture. What is learned is in units of the numbers' deviations over the
    training part, by a scale and a shift that end the network and do not train; so is the loss.
    `predict` gives numbers, [N][K]; "r2" is the measure."""

    name, targets, metrics = "regress", "numbers", ("r2", "mae")

    def __init__(self) -> None:
        self.loss = self._loss

    def _head(self, features: List[ImageNode], data: Dataset) -> ImageNode:
        labels = data.part("training").labels
        means, deviations = labels.mean(0), labels.std(0)
        deviations = numpy.where(deviations > 0, deviations, 1)
        x = _of_picture(features, len(means))
        x = x.neuron_scale(slopes=deviations).set(label="units_scale")
        y = x.neuron_shift(slopes=means).set(label="units_shift")
        for node in x, y:
            if node.filter:
                node.filter.training_style = _c.TrainingStyle.NONE
        return y

    def _loss(self, output: ImageNode, labels: ImageNode) -> Term:
        shift = output.filter
        scale = shift.sources[0].filter if shift else None
        if not shift or not scale or shift.label != "units_shift":
            raise refuse("the network does not end with the units of its numbers: make it by "
                         "glcnn.tasks.regress.network")
        means, deviations = shift.vector("neuron_data"), scale.vector("neuron_data")
        wanted = labels.neuron_scale(slopes=1 / deviations).neuron_shift(slopes=-means / deviations)
        wanted.stop_gradient = True
        return Loss("mse")(scale.sources[0], wanted)

    def _answers(self, network: Network, outputs: Any) -> Any:
        return outputs


class Segment(Task):
    """A class for each pixel: the features are joined from the coarsest to the finest (Ronneberger et
    al. 2015). `predict` gives the class of each pixel, [N][H][W], bytes; "miou" is the measure."""

    name, targets, metrics = "segment", "masks", ("miou",)

    def _head(self, features: List[ImageNode], data: Dataset) -> ImageNode:
        x = features[-1]
        for finer in reversed(features[:-1]):
            channels, height, width = _size(finer)
            x = x.resize_linear(resized_width=width, resized_height=height).concatenation(finer)
            x = x.convolution(kernel_width=3, kernel_height=3,
                              output_feature_channels=max(channels, 16))
            x = detection.normalise(x)
        x = x.convolution(kernel_width=1, kernel_height=1,
                          output_feature_channels=len(data.classes))
        _, height, width = data.shape
        return x if _size(x)[1:] == (height, width) else x.resize_linear(
            resized_width=width, resized_height=height)

    def _answers(self, network: Network, outputs: Any) -> Any:
        return outputs.argmax(1).astype(numpy.uint8)


class _Encoded:
    """Batches of a dataset of boxes, as the loss takes them."""

    def __init__(self, data: Dataset, layout: detection.Layout):
        self.data, self.layout = data, layout
        # Of the batch that was given last, and where its pictures lie in their images.
        self.boxes: List[Any] = []
        self.shown: List[Any] = []

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Any:
        return map(self._encoded, self.data)

    def batches(self, epoch: int) -> Any:
        return map(self._encoded, self.data.batches(epoch))

    def _encoded(self, batch: DataBatch) -> Tuple[Any, Any]:
        self.boxes = batch.labels
        self.shown = [self.data._shown(int(i)) for i in self.data._indices]
        return batch.images, self.layout.encode(batch.labels)


class Detect(Task):
    """Boxes around objects, by a head without anchors (Tian et al. 2019) on grids of strides 8, 16 and
    32: one for pictures of up to 96 pixels, two up to 192, else three. The loss is cross entropy of the
    classes, and CIoU of the boxes. `predict` gives of each image [K][6]: left, top, right and bottom in
    shares of the image, as a dataset has them, the class and its probability, the likeliest first;
    "map_50" and "map_50_95" are the measures, NaN where there is no object."""

    name, targets = "detect", "boxes"

    def __init__(self) -> None:
        self.loss = self._loss

    def _head(self, features: List[ImageNode], data: Dataset) -> ImageNode:
        return detection.head(detection.Layout(data.shape, len(data.classes)), features)

    def _layout(self, network: Network) -> detection.Layout:
        [shape] = [i.shape for i in network.images if not i.filter]
        if not shape or not network.classes:
            raise refuse("the network's size and classes are not known: make it by "
                         "glcnn.tasks.detect.network")
        return detection.Layout(shape, len(network.classes))

    def _loss(self, output: ImageNode, labels: ImageNode) -> List[Term]:
        [shape] = [i.shape for i in output.network.images
                   if not i.filter and i.handle != labels.handle]
        return detection.losses(detection.Layout(shape or (0, 0, 0), _size(output)[0] - 4),
                                output.network, labels)

    def _batches(self, data: Dataset) -> _Encoded:
        return _Encoded(data, detection.Layout(data.shape, len(data.classes)))

    def evaluate(self, network: Network, data: Dataset) -> Score:
        """The loss, and the precision of boxes of a probability of 0.01 and more."""
        self._check(data, network)
        encoded, layout = _Encoded(data.ordered(), self._layout(network)), self._layout(network)
        precision = DetectionScore(layout.classes)

        class Seen:
            def add(self, outputs: Any, _labels: Any) -> None:
                found = layout.decode(outputs, 0.01)
                precision.add([detection.cut(boxes, shown) for boxes, shown in
                               zip(found, encoded.shown)], encoded.boxes)

            def value(self) -> float:
                return 0.0

        score = network.evaluate(encoded, loss=self.loss, metrics=[Seen])
        return score._replace(metrics={"map_50": precision.at_50,
                                       "map_50_95": precision.at_all})

    def predict(self, network: Network, images: Any, *, batch: int = 32,
                confidence: float = detection.CONFIDENCE, overlap: float = detection.OVERLAP,
                most: int = detection.MOST, across_classes: bool = False) -> Any:
        """Boxes of a probability of `confidence` and more, at most `most` of an image; of two of a class,
        or with `across_classes` of any, that share more than `overlap` of their union the likelier. As
        glcnn predict --confidence --overlap --most --across-classes."""
        made, layout = network.predict(images, batch=batch), self._layout(network)
        parts = made if is_batches(images) else [made]
        return [boxes for part in parts
                for boxes in layout.decode(part, confidence, overlap, most, across_classes)]

    def _answers(self, network: Network, outputs: Any) -> List[Any]:
        return self._layout(network).decode(outputs, detection.CONFIDENCE)


classify, regress, segment, detect = Classify(), Regress(), Segment(), Detect()
