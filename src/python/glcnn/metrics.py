"""Scores, and what is counted beside the loss."""
from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy

from ._library import refuse
from .batches import Batch

Metric = Callable[[Any, Any], float]  # of the outputs and the labels of a batch
Metrics = Sequence[Union[str, Metric]]


class Score(NamedTuple):
    """Of a step or an epoch of training, or of an evaluation: means over all images."""
    loss: Any                            # a float; of reduction="none" an array, [N][C][H][W]
    accuracy: Optional[float] = None     # the share of right classes; None where labels are none
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
        if getattr(classes, "ndim", 0) != 1:
            raise refuse("top_%d is of classes, whole numbers [N]" % count)
        better = (output > numpy.take_along_axis(output, classes[:, None], 1)).sum(1)
        return float((better < count).mean())
    return top


def _same_shape(output: Any, labels: Any) -> Any:
    if getattr(labels, "shape", None) != output.shape:
        raise refuse("outputs are of shape %s and labels of %s; the metric compares numbers of one "
                     "shape" % (output.shape, getattr(labels, "shape", "several outputs")))
    return numpy.asarray(output, float) - labels


_NAMED: Dict[str, Metric] = {
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
        self.functions, self.sums = metrics, dict.fromkeys(metrics, 0.0)
        self.loss, self.right, self.count, self.classified = 0.0, 0, 0, True

    def add(self, loss: float, outputs: List[Any], batch: Batch) -> None:
        """A batch, whose `loss` is a sum over its images; outputs are [N][C][H][W]."""
        self.loss, self.count = self.loss + loss, self.count + batch.count
        if batch.classes is None:
            self.classified = False
        else:
            self.right += int((outputs[0].argmax(1)[:, 0, 0] == batch.classes).sum())
        output = batch.fitting.arrays(outputs) if self.functions else None
        for name, function in self.functions.items():
            self.sums[name] += float(function(output, batch.targets())) * batch.count

    def score(self, rate: Optional[float] = None) -> Score:
        accuracy = self.right / self.count if self.classified else None
        return Score(self.loss / self.count, accuracy,
                     {name: total / self.count for name, total in self.sums.items()}, None, rate)
