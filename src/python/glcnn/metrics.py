"""Scores, and what is counted beside the loss."""
from __future__ import annotations

import math
import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy

from ._library import refuse
from .batches import NO_CLASS, Batch, in_range
from .measures import ClassMetrics

# Of the outputs and the labels of a batch; or a class whose objects add up those of an epoch, by
# add(outputs, labels), and have value().
Metric = Union[Callable[[Any, Any], float], type]
Metrics = Sequence[Union[str, Metric]]


class Score(NamedTuple):
    """Of a step or an epoch of training, or of an evaluation: means over all images."""
    loss: Any                            # a float; of reduction="none" an array, [N][C][H][W]
    accuracy: Optional[float] = None     # the share of right classes, of pixels too; None: no classes
    metrics: Dict[str, float] = {}       # by their names
    validation: Any = None               # the Score of validation data, where there are some
    learning_rate: Optional[float] = None  # of the last step; None of an evaluation


class History(List[Score]):
    """The scores of the epochs of a training, the first in front."""

    def values(self, name: str) -> List[Any]:
        """One number of each epoch: "loss", "accuracy", "learning_rate", the name of a metric, and
        any of those of the validation data: "validation_loss"."""
        return [_value(score, name) for score in self]


def _value(score: Score, name: str) -> Any:
    if name.startswith("validation_") and score.validation:
        return _value(score.validation, name[len("validation_"):])
    if name in ("loss", "accuracy", "learning_rate"):
        return getattr(score, name)
    if name not in score.metrics:
        raise refuse("a history has no %r; it has loss, accuracy, learning_rate%s, and of validation "
                     "data validation_loss and so on" % (name, "".join(
                         ", " + known for known in score.metrics)))
    return score.metrics[name]


# ---- By name ----

def _top(count: int) -> Metric:
    def top(output: Any, classes: Any) -> float:
        if getattr(classes, "ndim", 0) != output.ndim - 1:
            raise refuse("top_%d is of classes, whole numbers [N] or [N][H][W]" % count)
        judged = in_range(classes, output.shape[1])
        its = numpy.take_along_axis(output, numpy.where(judged, classes, 0)[:, None], 1)
        right = ((output > its).sum(1) < count)[judged]
        return float(right.sum() / max(right.size, 1))
    return top


def _same_shape(output: Any, labels: Any) -> Any:
    if getattr(labels, "shape", None) != output.shape:
        raise refuse("outputs are of shape %s and labels of %s; the metric compares numbers of one "
                     "shape" % (output.shape, getattr(labels, "shape", "several outputs")))
    return numpy.asarray(output, float) - labels


class MeanIoU:
    """Intersection over union, the mean over classes that are somewhere, of classes of pixels."""

    def __init__(self) -> None:
        self.metrics: Optional[ClassMetrics] = None

    def add(self, output: Any, classes: Any) -> None:
        if getattr(classes, "ndim", 0) != 3:
            raise refuse("miou is of classes of pixels, whole numbers [N][H][W]")
        channels = output.shape[1]
        if channels > NO_CLASS:
            raise refuse("miou is of at most %d classes, and the output has %d"
                         % (NO_CLASS, channels))
        self.metrics = self.metrics or ClassMetrics(channels)
        judged = in_range(classes, channels)
        self.metrics.add_labels(output.argmax(1), numpy.where(judged, classes, NO_CLASS))

    def value(self) -> float:
        return self.metrics.result().iou if self.metrics else math.nan


class R2:
    """1 - (sum of squared errors) / (sum of squares around the labels' mean), the mean over channels
    whose labels are not all the same; NaN where all are."""

    def __init__(self) -> None:
        self.count = 0
        self.first: Any = None  # labels, [channels]
        self.varies: Any = False
        self.sums: Any = numpy.zeros((3, 1))

    def add(self, output: Any, labels: Any) -> None:
        wrong = _same_shape(output, labels)
        labels, axes = labels.astype(float), tuple(a for a in range(labels.ndim) if a != 1)
        labels = numpy.moveaxis(labels, 1, -1).reshape(-1, labels.shape[1])
        if self.first is None:
            self.first = labels[0]
        moved = labels - self.first  # small numbers, whose squares lose nothing
        self.count, self.varies = self.count + len(labels), self.varies | (moved != 0).any(0)
        self.sums = self.sums + numpy.array([
            moved.sum(0), (moved ** 2).sum(0), (wrong ** 2).sum(axes)])

    def value(self) -> float:
        total, squares, wrong = self.sums[:, self.varies] if self.count else self.sums[:, :0]
        variance = squares - total ** 2 / max(self.count, 1)
        return float((1 - wrong / variance).mean()) if variance.size else math.nan


_NAMED: Dict[str, Metric] = {
    "miou": MeanIoU, "r2": R2,
    "mse": lambda output, labels: float((_same_shape(output, labels) ** 2).mean()),
    "mae": lambda output, labels: float(abs(_same_shape(output, labels)).mean()),
    # Scores, whose sigmoid is above a half where they are above 0.
    "binary_accuracy": lambda output, labels: float(
        ((output > 0) == (labels > 0.5)).mean()) if _same_shape(output, labels).size else 0.0}


def named(metrics: Metrics) -> Dict[str, Metric]:
    """Functions by what they are called in a score."""
    found: Dict[str, Metric] = {}
    for metric in [metrics] if isinstance(metrics, str) or callable(metrics) else metrics:
        if callable(metric):
            found[getattr(metric, "__name__", type(metric).__name__)] = metric
            continue
        top = re.fullmatch(r"top_([1-9]\d*)|accuracy", str(metric))
        if not top and metric not in _NAMED:
            raise refuse("there is no metric %r; there are accuracy, top_5 (of any number), %s, and "
                         "functions of outputs and labels" % (metric, ", ".join(_NAMED)))
        found[metric] = _top(int(top.group(1) or 1)) if top else _NAMED[metric]
    return found


class Total:
    """Sums over images."""

    def __init__(self, metrics: Dict[str, Metric]):
        self.functions: Dict[str, Any] = {name: metric() if isinstance(metric, type) else metric
                                          for name, metric in metrics.items()}
        self.sums = dict.fromkeys(metrics, 0.0)
        self.loss, self.count, self.right, self.judged, self.classified = 0.0, 0, 0, 0, True

    def add(self, loss: float, outputs: List[Any], batch: Batch) -> None:
        """A batch, whose `loss` is a sum over its images; outputs are [N][C][H][W]."""
        self.loss, self.count = self.loss + loss, self.count + batch.count
        if batch.classes is None:
            self.classified = False
        else:
            found = outputs[0].argmax(1)
            found = found if batch.classes.ndim == 3 else found[:, 0, 0]
            judged = in_range(batch.classes, batch.channels)
            self.right += int((found == batch.classes)[judged].sum())
            self.judged += int(judged.sum())
        output = batch.fitting.arrays(outputs) if self.functions else None
        for name, function in self.functions.items():
            if hasattr(function, "value"):
                function.add(output, batch.targets())
            else:
                self.sums[name] += float(function(output, batch.targets())) * batch.count

    def score(self, rate: Optional[float] = None) -> Score:
        accuracy = self.right / self.judged if self.classified and self.judged else None
        return Score(self.loss / self.count, accuracy,
                     {name: function.value() if hasattr(function, "value")
                      else self.sums[name] / self.count
                      for name, function in self.functions.items()}, None, rate)
