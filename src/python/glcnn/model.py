"""A network as the library's tasks have it: how well it does on labelled pictures, and what it answers to
new ones, as glcnn evaluate and predict print it: glcnn/task.h."""
from __future__ import annotations

import ctypes
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union

import numpy

from . import _c
from ._library import c, call, library, refuse
from .dataset import Dataset
from .device import Owned

if TYPE_CHECKING:
    from .network import Network

Path = Union[str, "os.PathLike[str]"]

_PARTS = ("all", "validation", "test")
_BOXES = ("split", "yolo", "nms")
_PREPROCESSINGS = {None: (0, False), "unit": (1, False), "bytes": (2, False), "unit-bgr": (1, True),
                   "bytes-bgr": (2, True)}


class Evaluation(NamedTuple):
    """How well a network does. What is not defined is NaN."""
    measure: float            # the task's: accuracy, R2, mIoU, mAP@0.5, PCK@0.05
    loss: float               # the mean over pictures; of segment over pixels that have a class
    images: int               # that were measured
    part: str                 # the test part, or without one the validation part, or "all"
    trained_on: int           # of these pictures, how many the network was trained on
    measures: Dict[str, Any]  # all that glcnn evaluate --json prints, by its names
    text: str                 # what glcnn evaluate prints
    notes: str                # what opening the data decided, and pictures that were left out


class Answer(NamedTuple):
    """What a network answers to a picture. What its task does not have is None."""
    name: str                      # the picture's path, or its number in a file of several
    size: Any                      # (H, W) of the picture
    values: Any                    # as the network answers: probabilities of classes, numbers ...
    label: Optional[str]           # classify: the most probable class
    probability: Optional[float]   # and its probability
    boxes: Any                     # detect: [K][6], edges in pixels, class, probability
    points: Any                    # keypoints: [K][3], x and y in pixels, confidence
    mask: Any                      # segment: [H][W], the class of each pixel, 255 for none
    text: str                      # what glcnn predict prints


def _save_tflite(path: Path, exported: Any) -> None:
    calls, size = library("glcnn_tflite"), ctypes.c_size_t()
    data = ctypes.POINTER(ctypes.c_uint8)()
    call(calls.glcnn_tflite_from_onnx, exported.bytes, exported.size, None, ctypes.byref(data), ctypes.byref(size))
    try:
        call(c.glcnn_file_save, os.fsencode(path), data, size)
    finally:
        calls.glcnn_tflite_destroy(data)


class Model:
    """The library's model of a network, with its weights of now."""

    def __init__(self, network: Network, size: Any = None):
        height, width = (size, size) if isinstance(size, int) else size or (0, 0)
        self._calls, self._device = library("glcnn_train"), network.device
        pointer = ctypes.POINTER(_c.glcnn_model)()
        with tempfile.TemporaryDirectory(prefix="glcnn-") as folder:
            path = os.path.join(folder, "model.safetensors")
            network.save(path)
            call(self._calls.glcnn_model_load_sized, self._device.enter(), os.fsencode(path),
                 width, height, ctypes.byref(pointer))
        self._owned = Owned(self._device, self._calls.glcnn_model_destroy, pointer)
        self._info = self._calls.glcnn_model_info(pointer).contents

    @property
    def task(self) -> str:
        return self._info.task.contents.name.decode()

    def evaluate(self, data: Union[Path, Dataset], *, flip: bool = False) -> Evaluation:
        """Measures the part of a path that there is for it, or the part that a dataset is."""
        made, options = ctypes.POINTER(_c.glcnn_evaluation)(), _options(data, flip)
        self._data = data  # which the evaluation needs
        self._device.enter()
        call(self._calls.glcnn_model_evaluate, self._owned.pointer,
             None if isinstance(data, Dataset) else os.fsencode(data),
             ctypes.byref(options), ctypes.byref(made))
        one = made.contents
        return Evaluation(one.measure, one.loss, one.count, _PARTS[one.part], one.trained_on,
                          json.loads(one.json), one.text.decode(), self._notes())

    def _notes(self) -> str:
        of = self._calls.glcnn_model_notes, self._calls.glcnn_model_remarks
        return "".join(notes(self._owned.pointer).decode() for notes in of)

    def export(self, path: Path, *, boxes: str, batch: int, preprocessing: Optional[str]) -> str:
        """Writes a file for other programs; what it takes and gives."""
        is_tflite = os.fsencode(path).lower().endswith(b".tflite")
        batch = batch or 1 if is_tflite else batch
        options = _c.glcnn_export_options(batch=batch)
        try:
            options.boxes = _BOXES.index(boxes)
            options.pixels, options.is_blue_first = _PREPROCESSINGS[preprocessing]
        except (ValueError, KeyError):
            raise refuse("boxes is %r and preprocessing %r; expected one of %s and one of %s" % (
                boxes, preprocessing, ", ".join(_BOXES), ", ".join(map(str, _PREPROCESSINGS)))) from None
        made = ctypes.POINTER(_c.glcnn_exported)()
        self._device.enter()
        call(self._calls.glcnn_export_model, self._owned.pointer, ctypes.byref(options), ctypes.byref(made))
        try:
            one = made.contents
            if not is_tflite:
                call(c.glcnn_file_save, os.fsencode(path), one.bytes, one.size)
                return one.text.decode()
            _save_tflite(path, one)
            return "%sTensorFlow Lite, in which N,C,H,W is N,H,W,C, and the batch is %d\n" % (one.text.decode(), batch)
        finally:
            self._calls.glcnn_exported_destroy(ctypes.byref(made))

    def predict(self, paths: Sequence[Path] = (), *, data: Optional[Dataset] = None,
                flip: bool = False, limits: Any = None) -> Iterator[Answer]:
        """Answers to pictures, folders of pictures, or one file of images, of which what cannot be read is
        left out; or to the images of a dataset's part."""
        names = (ctypes.c_char_p * len(paths))(*map(os.fsencode, paths))
        begun, options = ctypes.POINTER(_c.glcnn_predictions)(), _options(data, flip)
        if limits is not None:
            options.limits = ctypes.pointer(limits)
        self._device.enter()
        call(self._calls.glcnn_model_predict, self._owned.pointer, names, len(names),
             ctypes.byref(options), ctypes.byref(begun))
        made = ctypes.POINTER(_c.glcnn_prediction)()
        try:
            while True:
                self._device.enter()
                call(self._calls.glcnn_predictions_next, begun, ctypes.byref(made))
                if not made:
                    return
                yield self._answer(made.contents, begun)
        finally:
            self._calls.glcnn_predictions_destroy(ctypes.byref(begun))

    def _answer(self, one: Any, begun: Any) -> Answer:
        values = _copy(one.values, self._info.value_count)
        classifies = self.task == "classify" and one.is_finite
        label = self._info.class_names[one.label].decode() if classifies else None
        boxes = [(b.box.left, b.box.top, b.box.right, b.box.bottom, b.label, b.score)
                 for b in one.boxes[:one.box_count]] if self.task == "detect" else None
        points = [(p.x, p.y, p.confidence)
                  for p in one.points[:one.point_count]] if one.points else None
        mask = _copy(self._calls.glcnn_predictions_mask(begun), one.height * one.width)
        text = self._calls.glcnn_predictions_text(begun) or b""
        return Answer(one.name.decode(errors="surrogateescape"), (one.height, one.width), values,
                      label, one.probability if classifies else None,
                      None if boxes is None else numpy.array(boxes).reshape(-1, 6),
                      None if points is None else numpy.array(points).reshape(-1, 3),
                      None if mask is None else mask.reshape(one.height, one.width),
                      text.decode())


def _options(data: Any, flip: bool) -> Any:
    options = _c.glcnn_model_options(flip=flip)
    if isinstance(data, Dataset):
        options.data, options.part = data.pointer, data.number
    return options


def evaluate(network: Network, data: Union[Path, Dataset], *, flip: bool = False, size: Any = None) -> Evaluation:
    """Measures a network on labelled pictures, as glcnn evaluate does: on the test part of the path, or
    without one on the validation part, or if there is none of these on all; or on the part of a dataset.

    flip  the mean of the answers to a picture and its mirror image, of classify alone
    size  of pictures as the network sees them, a number or (H, W), where its layers allow another than
          the one that it was made for"""
    return Model(network, size).evaluate(data, flip=flip)


def _copy(pointer: Any, count: int) -> Any:
    return numpy.ctypeslib.as_array(pointer, (count,)).copy() if pointer else None


def paths_of(given: Any) -> Optional[List[Path]]:
    """A path, or a list of paths; None of anything else."""
    if isinstance(given, (str, os.PathLike)):
        return [given]
    if isinstance(given, (list, tuple)) and given and all(
            isinstance(one, (str, os.PathLike)) for one in given):
        return list(given)
    return None


def answers(network: Network, given: Any, paths: List[Path], size: Any = None) -> Any:
    """An Answer of the path of a file; a list of them of a folder, a list, or a file of several."""
    found = list(Model(network, size).predict(paths))
    if isinstance(given, (str, os.PathLike)) and not os.path.isdir(given) and len(found) == 1:
        return found[0]
    if not found:
        raise refuse("%s: no picture could be read" % ", ".join(str(path) for path in paths))
    return found
