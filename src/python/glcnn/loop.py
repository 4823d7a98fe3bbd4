"""The training loop, and evaluation: what Network.train and Network.evaluate do."""
from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

import numpy

from . import _c
from ._library import Error, c, refuse, whole
from .batches import RANDOM, Arrayed, Batch, Fitting, Iterated, is_batches
from .dataset import Dataset
from .graph import Graph, TrainingGraph
from .loss import AnyLoss, Recipe, Term
from .metrics import History, Metric, Score, Total
from .node import get_parameter

if TYPE_CHECKING:
    from .network import Network

Schedule = Union[str, Callable[[int], float]]
OnScore = Callable[[int, Score], Any]


class LossGraph:
    """A graph of the terms of a loss and of a network's outputs, on a copy of its nodes."""

    def __init__(self, network: Network, recipe: Recipe, batch: Batch,
                 make: Callable[[List[Term], List[Any]], Graph], left_out: Any = ()):
        _check_axes(network, recipe)
        names = list(network.outputs)
        copy, outputs = network.copied(list(network.outputs.values()), left_out)
        labels = {h: copy.image(h, shape) for h, shape in batch.goal_shapes().items()}
        self.terms = recipe.terms(dict(zip(names, outputs)), labels)
        self.graph = make(self.terms, outputs)
        self.sources = [source.handle or "" for source in self.graph.sources]

    def execute(self, batch: Batch, images: int) -> Tuple[List[Any], List[Any]]:
        """The terms' losses, each divided by `images`, and the outputs: [N][C][H][W]."""
        arrays = {**batch.inputs(), **batch.goal_images()}
        for term in self.terms:
            term.set_weight(images, batch.goal_shapes())
        found = self.graph.execute({h: arrays[h] for h in self.sources if h in arrays})
        return found[:len(self.terms)], found[len(self.terms):]

    def step(self, batch: Batch) -> Tuple[List[Any], List[Any], bool]:
        """The same of a training graph, and whether the step changed the weights: not where its
        gradients were not finite."""
        try:
            return (*self.execute(batch, batch.count), True)
        except Error as error:
            if error.status != _c.Status.INVALID_STATE:
                raise
            found = self.graph.read()
            return found[:len(self.terms)], found[len(self.terms):], False


def _check_axes(network: Network, recipe: Recipe) -> None:
    """Soft-max cross entropy goes over the channels of the image, whatever the file's axes."""
    outputs = network.outputs
    for name, loss in (recipe.each or dict.fromkeys(outputs, recipe.one)).items():
        node = outputs.get(name) if recipe.each or len(outputs) == 1 else None
        if not loss or loss.type != _c.LossType.SOFT_MAX_CROSS_ENTROPY or not node:
            continue
        ends = node.filter and node.filter.name == "soft_max"
        if not ends and node.tensor and not node.tensor.has_channels():
            raise refuse("axis 1 of output \"%s\" is not its image's channels, which soft-max "
                         "cross entropy needs; end the model with a Softmax, or with a "
                         "convolution or layer after the transposition" % node.tensor.name)


# ---- Learning rates ----

def _cosine(step: int, steps: int) -> float:
    """What is left of the learning rate, as the tool's --schedule cosine has it without a warm-up."""
    return (1 + math.cos(math.pi * step / steps)) / 2


class Rates:
    """The learning rates of a network's layers, which follow a schedule and come back at its end."""

    def __init__(self, network: Network, schedule: Optional[Schedule], steps: Optional[int]):
        if schedule is not None and schedule != "cosine" and not callable(schedule):
            raise refuse("there is no schedule %r; there are \"cosine\", and functions of the number "
                         "of the step" % (schedule,))
        if schedule == "cosine" and steps is None:
            raise refuse("the schedule \"cosine\" needs the number of steps, which this iterator of "
                         "batches does not tell; give steps=, the batches of an epoch")
        self.schedule, self.steps, self.device = schedule, steps, network.device
        self.first = [(kernel, get_parameter(self.device, kernel, "learning_rate"))
                      for kernel in network.optimizers()]
        self.now = self.first[0][1] if self.first else 0.0

    def begin(self, step: int) -> None:
        """Sets them for the step of that number."""
        if self.schedule is None:
            return
        factor = (_cosine(step, self.steps or 1) if self.schedule == "cosine"
                  else self.schedule(step))  # type: ignore[operator]
        if not isinstance(factor, (int, float, numpy.number)) or not 0 <= factor < math.inf:
            raise refuse("step %d: the schedule gave %r; expected a number from 0, by which the "
                         "learning rate is multiplied" % (step, factor))
        self._multiply(float(factor))

    def end(self) -> None:
        if self.schedule is not None:
            self._multiply(1)

    def _multiply(self, factor: float) -> None:
        for kernel, rate in self.first:
            self.device.check(c.glcnn_kernel_set(kernel, b"learning_rate", rate * factor))
        self.now = self.first[0][1] * factor if self.first else 0.0


# ---- Data ----

# What the tool calls it to learn them.
_TASKS = {"classes": "classify", "numbers": "regress", "masks": "segment"}


def source_of(network: Network, images: Any, labels: Any, *, batch: int, steps: Optional[int],
              seed: int) -> Union[Arrayed, Iterated]:
    """Where the batches of a training come from."""
    fitting = Fitting(network)
    if labels is None and (is_batches(images) or isinstance(images, list)):
        if isinstance(images, Dataset):
            _take_classes(network, images)
        return Iterated(fitting, images, steps)
    if steps is not None:
        raise refuse("steps is for iterators of batches; those of arrays follow from batch")
    data = fitting.batch(*given_pair(images, labels))
    data.check()
    return Arrayed(data, batch, seed)


def given_pair(images: Any, labels: Any) -> Tuple[Any, Any]:
    """(images, labels), which may be one argument."""
    if isinstance(images, (str, bytes, os.PathLike)):
        raise refuse("images is the path %r; glcnn.Dataset(path, part=...) reads a folder"
                     % (images,))
    if labels is None and isinstance(images, tuple) and len(images) == 2:
        return images[0], images[1]
    return images, labels


def folder(network: Network, path: Any, batch: int, seed: int) -> Dataset:
    """The training part of a folder for a network, whose input tells the size of pictures."""
    inputs = list(Fitting(network).inputs.values())
    shape = inputs[0].shape
    if len(inputs) != 1 or not shape:
        raise refuse("%s: a folder is for a network of one input, whose shape is known; "
                     "glcnn.Dataset(path, size=...) gives batches to other networks"
                     % os.fspath(path))
    return Dataset(path, size=shape[1:], channels=shape[0], resize=network.resize,
                   fit=network.fit, batch=batch, seed=seed, classes=network.classes or None)


def _take_classes(network: Network, data: Dataset) -> None:
    """The names of the data's classes become those of a network that has none."""
    if data.targets == "boxes":
        raise refuse("the data's targets are boxes, which no loss compares with an output; make of "
                     "each batch of the dataset what the network is to answer, and train on that")
    [shape] = [node.shape for node in network.outputs.values()][:1]
    if shape and shape[0] != len(data.classes) and (shape[0] > 1 or data.targets != "classes"):
        raise refuse("the data has %d %s, %s; the output has %d channels"
                     % (len(data.classes), "numbers" if data.targets == "numbers" else "classes",
                        ", ".join(data.classes[:8]), shape[0]))
    if network.classes and network.classes != data.classes:
        raise refuse("the network's classes are %s, those of the data %s; "
                     "glcnn.Dataset(path, classes=net.classes) numbers them as the network does"
                     % (", ".join(network.classes[:8]), ", ".join(data.classes[:8])))
    network.classes, network.task = data.classes, _TASKS[data.targets]


def loss_for(loss: Optional[AnyLoss], data: Any) -> AnyLoss:
    """The loss where none is given."""
    if loss is not None:
        return loss
    return "mse" if isinstance(data, Dataset) and data.targets == "numbers" else "cross_entropy"


# ---- Training ----

def _stops(answer: Any) -> bool:
    return isinstance(answer, (bool, numpy.bool_)) and not answer


class Training:
    """One call of Network.train."""

    def __init__(self, network: Network, source: Union[Arrayed, Iterated], recipe: Recipe, *,
                 metrics: Dict[str, Metric], rates: Rates, memory: int, clip_norm: float,
                 on_step: Optional[OnScore]):
        self.network, self.source, self.recipe, self.metrics = network, source, recipe, metrics
        self.rates, self.memory, self.clip_norm, self.on_step = rates, memory, clip_norm, on_step
        self.step, self.stopped = 0, False
        self._kept: Tuple[Any, Any] = (None, None)

    def _graph(self, batch: Batch) -> LossGraph:
        shapes = tuple(batch.goal_shapes().items())
        if self._kept[0] != shapes:
            def make(terms: List[Term], outputs: List[Any]) -> Graph:
                return TrainingGraph([term.filter for term in terms], results=outputs,
                                     memory=self.memory, clip_norm=self.clip_norm)
            self._kept = shapes, self.network.kept_graph(
                ("train", self.recipe.key, shapes, self.memory, self.clip_norm),
                lambda: LossGraph(self.network, self.recipe, batch, make))
        graph: LossGraph = self._kept[1]
        return graph

    def epoch(self, number: int) -> Score:
        total = Total(self.metrics)
        for step, batch in enumerate(self.source.batches(number)):
            self.rates.begin(self.step)
            if isinstance(self.source, Iterated):
                batch.check(" of step %d of epoch %d" % (step, number))
            losses, outputs, changed = self._graph(batch).step(batch)
            loss = sum(float(term.sum(dtype=float)) for term in losses)
            if not changed or not math.isfinite(loss):
                what = "its gradients are not finite; " if math.isfinite(loss) else ""
                kept = "" if changed else "weights are as they were before this step; "
                raise Error(_c.Status.CHECK_FAILED, "epoch %d, step %d: the loss is %s; %s"
                            % (number, step, loss, what + kept + _advice(self.step)))
            total.add(loss * batch.count, outputs, batch)
            if self.on_step:
                one = Total({})
                one.add(loss * batch.count, outputs, batch)
                self.stopped = _stops(self.on_step(self.step, one.score(self.rates.now)))
            self.step += 1
            if self.stopped:
                break
        return total.score(self.rates.now)


def _advice(step: int) -> str:
    """Why a loss may be no number. The first is that of weights which no step has changed."""
    if step:
        return "a smaller learning rate or clip_norm may help"
    return ("no step of this call had changed the weights yet: those that it began with are "
            "damaged, or the values of an image or of its labels are too large")


def train(training: Training, epochs: int, validate: Optional[Callable[[], Score]],
          on_epoch: Optional[OnScore]) -> History:
    history = History()
    try:
        for epoch in range(epochs):
            score = training.epoch(epoch)
            if validate and not training.stopped:
                score = score._replace(validation=validate())
            history.append(score)
            if training.stopped or on_epoch and _stops(on_epoch(epoch, score)):
                break
    finally:
        training.rates.end()
    return history


# ---- Evaluation ----

def evaluate(network: Network, images: Any, labels: Any, *, batch: int, recipe: Recipe,
             metrics: Dict[str, Metric]) -> Score:
    total, each, size = Total(metrics), [], 0
    for part in _parts(network, images, labels, batch):
        part.check_labels(first=total.count)
        size = max(size, part.count)
        shapes = tuple(part.goal_shapes().items())
        graph = network.kept_graph(
            ("evaluate", recipe.key, shapes),
            lambda: LossGraph(network, recipe, part, lambda terms, outputs: Graph(
                [term.filter.loss for term in terms] + outputs), RANDOM))
        losses, outputs = graph.execute(part.padded(size), 1)
        losses, outputs = ([a[:part.count] for a in arrays] for arrays in (losses, outputs))
        for told in filter(None, (not_finite(output, total.count) for output in outputs)):
            raise Error(_c.Status.CHECK_FAILED, told)
        each.append(losses[0])
        total.add(sum(float(term.sum(dtype=float)) for term in losses), outputs, part)
    if not total.count:
        raise refuse("the iterator of batches gave none to evaluate")
    score = total.score()
    if any(loss.reduction == "none" for loss in recipe.losses):
        return score._replace(loss=numpy.concatenate(each))
    return score


def _parts(network: Network, images: Any, labels: Any, batch: int) -> Iterator[Batch]:
    fitting = Fitting(network)
    if isinstance(images, Dataset):
        images = images.ordered()
    if labels is None and (is_batches(images) or isinstance(images, list)):
        yield from Iterated(fitting, images, None).batches(0)
    else:
        yield from fitting.batch(*given_pair(images, labels)).parts(whole("batch", batch, 1))


def not_finite(output: Any, first: int = 0) -> str:
    """A message of the images whose output is not finite; "" where there is none. The first of them
    has the number `first`."""
    wrong = numpy.flatnonzero(~numpy.isfinite(output).all(axis=(1, 2, 3)))
    if not wrong.size:
        return ""
    more = " (and of %d more)" % (wrong.size - 1) if wrong.size > 1 else ""
    return ("the output of image %d%s is NaN or infinite; either its values are too large for the "
            "network, or the network's weights are damaged" % (first + wrong[0], more))
