"""Measures of answers from wherever they come: glcnn/metrics.h and glcnn/detection.h."""
from __future__ import annotations

import ctypes
import weakref
from typing import Any, List, Sequence

import numpy

from . import _c
from ._library import Error, c, library, refuse, whole

CROWD, DIFFICULT = 1, 2  # in the sixth column of an object; without one all count


def _check(status: int, what: str) -> None:
    if status:
        raise Error(status, "%s: %s" % (what, c.glcnn_status_text(status).decode()))


class ClassMetrics:
    """How well classes are predicted. `add` counts probabilities [N][C] and the labels [N] that are
    right, `add_labels` answers that are classes, of any shape; 255 is no class. `result()` has accuracy,
    top_5, calibration_error, precision, recall, f1, iou, and of each class class_iou and so on."""

    def __init__(self, classes: int):
        self._calls = library("glcnn_train")
        self.classes = whole("classes", classes, 1)
        self._pointer = self._calls.glcnn_class_metrics_create(self.classes)
        if not self._pointer:
            raise Error(_c.Status.OUT_OF_MEMORY, "not enough memory")
        weakref.finalize(self, self._calls.glcnn_class_metrics_destroy, ctypes.byref(self._pointer))

    def add(self, probabilities: Any, labels: Any) -> None:
        values = numpy.ascontiguousarray(probabilities, numpy.float32)
        right = numpy.ascontiguousarray(labels, numpy.uint32)
        if values.shape != (len(right), self.classes):
            raise refuse("probabilities are of shape %s and labels of %s; expected [N][%d] and [N]"
                         % (values.shape, right.shape, self.classes))
        _check(self._calls.glcnn_class_metrics_add(
            self._pointer, _at(values, ctypes.c_float), _at(right, ctypes.c_uint32), len(right)),
            "a label is no class, or a probability not finite")

    def add_labels(self, answers: Any, labels: Any) -> None:
        found = numpy.ascontiguousarray(answers, numpy.uint8)
        right = numpy.ascontiguousarray(labels, numpy.uint8)
        if found.shape != right.shape:
            raise refuse("answers are of shape %s and labels of %s; expected one shape"
                         % (found.shape, right.shape))
        _check(self._calls.glcnn_class_metrics_add_labels(
            self._pointer, _at(found, ctypes.c_uint8), _at(right, ctypes.c_uint8), found.size),
            "an answer is no class")

    def result(self) -> Any:
        """Of all that was counted, as struct glcnn_class_result; arrays live until the next call."""
        return self._calls.glcnn_class_metrics_result(self._pointer).contents


class DetectionScore:
    """Mean average precision of boxes by COCO's rules, as glcnn evaluate has it. `add` counts images:
    of each the boxes that were found, [K][6], edges, class and score, and its objects, [K][5] or [K][6],
    edges, class and nothing, CROWD or DIFFICULT, as a glcnn.Dataset has them."""

    def __init__(self, classes: int):
        self._calls = library("glcnn_train")
        self._pointer = self._calls.glcnn_detection_score_create(whole("classes", classes))
        if not self._pointer:
            raise refuse("a score needs at least one class, and memory for it")
        weakref.finalize(self, self._calls.glcnn_detection_score_destroy,
                         ctypes.byref(self._pointer))

    def add(self, found: Sequence[Any], objects: Sequence[Any]) -> None:
        if len(found) != len(objects):
            raise refuse("there are boxes of %d images and objects of %d"
                         % (len(found), len(objects)))
        for boxes, its in zip(found, objects):
            rows = (_c.glcnn_detection * len(boxes))(*[
                _c.glcnn_detection(_c.glcnn_box(*box[:4]), int(box[4]), box[5]) for box in boxes])
            wanted = (_c.glcnn_object * len(its))(*[
                _c.glcnn_object(_c.glcnn_box(*one[:4]), int(one[4]),
                                len(one) > 5 and one[5] == CROWD,
                                len(one) > 5 and one[5] == DIFFICULT) for one in its])
            _check(self._calls.glcnn_detection_score_add(
                self._pointer, wanted, len(wanted), rows, len(rows)),
                "a label is no class, or a score not finite")

    def _result(self) -> Any:
        return self._calls.glcnn_detection_score_result(self._pointer).contents

    @property
    def at_50(self) -> float:
        """Of an overlap of 0.5; NaN where there is no object."""
        return self._result().at_50

    @property
    def at_all(self) -> float:
        """The mean over the overlaps 0.5, 0.55 ... 0.95."""
        return self._result().at_all

    @property
    def of_class_at_50(self) -> List[float]:
        result = self._result()
        return list(result.of_class_at_50[:result.class_count])


def _at(array: Any, kind: Any) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(kind))
