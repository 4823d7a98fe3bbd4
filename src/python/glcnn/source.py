"""Arrays as the library's trainer takes images: struct glcnn_image_source of glcnn/data.h."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Optional, Sequence, Tuple

import numpy

from . import _c
from ._library import refuse
from .image import as_images

TARGETS = {"classes": _c.DataTargets.CLASSES, "numbers": _c.DataTargets.NUMBERS,
            "masks": _c.DataTargets.MASKS, "boxes": _c.DataTargets.BOXES}
# The member of struct glcnn_image_source_part, and its type in C and in NumPy.
_MEMBERS: Dict[str, Any] = {"classes": ("labels", ctypes.c_uint32, numpy.uint32),
                            "numbers": ("numbers", ctypes.c_float, numpy.float32),
                            "masks": ("masks", ctypes.c_uint8, numpy.uint8)}


def make_source(parts: Sequence[Any], classes: Optional[Sequence[str]]) -> Tuple[Any, Any, str]:
    """A source of the parts, each (images, labels) or None, for training, validation and test; the
    arrays that it points to; and what its targets are called."""
    pairs = [_pair(part) for part in parts]
    targets = _targets(pairs[0][1], pairs[0][0])
    if targets == "nothing":
        pairs = [(None, None), (None, None), pairs[0]]
    images = [None if part is None else _images(part) for part, _ in pairs]
    if len({(one.shape[1:], one.dtype) for one in images if one is not None}) > 1:
        raise refuse("images of the parts differ: %s; expected one shape and one type" % ", ".join(
            "%s of %s" % (one.shape, one.dtype) for one in images if one is not None))
    first = next(one for one in images if one is not None)
    labels = [_labels(targets, its, one) for (_, its), one in zip(pairs, images)]
    count = 0 if targets == "nothing" else len(classes) if classes else _count(targets, labels)
    names = [name.encode() for name in classes or ()]
    kept = [images, labels, (ctypes.c_char_p * len(names))(*names)]
    _, channels, height, width = first.shape
    return _c.glcnn_image_source(
        name=b"arrays", width=width, height=height, channels=channels,
        is_bytes=first.dtype == numpy.uint8, targets=TARGETS.get(targets, 0),
        class_names=kept[2] if names else None, class_count=count,
        parts=(_c.glcnn_image_source_part * 3)(*[_part(targets, *both)
                                                 for both in zip(images, labels)])), kept, targets


def _pair(part: Any) -> Tuple[Any, Any]:
    if part is None:
        return None, None
    if not isinstance(part, (tuple, list)) or len(part) != 2:
        raise refuse("a part of a dataset is (images, labels), not %s" % type(part).__name__)
    return part[0], part[1]


def _images(array: Any) -> Any:
    made = as_images(array)
    return made if made.dtype == numpy.uint8 else numpy.ascontiguousarray(made, numpy.float32)


def _targets(labels: Any, images: Any) -> str:
    if labels is None:
        return "nothing"
    if isinstance(labels, list) and labels and numpy.ndim(labels[0]) == 2:
        return "boxes"
    labels = numpy.asarray(labels)
    if labels.dtype.kind in "iub" and labels.ndim in (1, 3):
        return "classes" if labels.ndim == 1 else "masks"
    if labels.dtype.kind == "f" and labels.ndim in (1, 2):
        return "numbers"
    raise refuse("labels are of shape %s and type %s, images of shape %s; expected whole numbers [N] or "
                 "[N][H][W], floats [N] or [N][K], or a list of boxes [K][5] or [K][6]"
                 % (labels.shape, labels.dtype, numpy.shape(images)))


def _labels(targets: str, labels: Any, images: Any) -> Any:
    """Arrays as the struct has them: `boxes` come with how many each image has."""
    if images is None or targets == "nothing":
        return None
    if labels is None or len(labels) != len(images):
        raise refuse("expected as many of each; found %d images and %d labels"
                     % (len(images), 0 if labels is None else len(labels)))
    if targets == "boxes":
        rows = [row for its in labels for row in numpy.reshape(its, (len(its), -1))]
        return ((_c.glcnn_data_box * len(rows))(*map(_box, rows)),
                (ctypes.c_uint32 * len(labels))(*map(len, labels)))
    array, (_, _, kind) = numpy.asarray(labels), _MEMBERS[targets]
    if targets == "numbers":
        return numpy.ascontiguousarray(array.reshape(len(array), -1), kind)
    if array.size and (array.min() < 0 or array.max() > (255 if targets == "masks" else 65535)):
        raise refuse("labels are classes from 0, not %d" % (
            array.min() if array.min() < 0 else array.max()))
    if targets == "masks" and array.shape[1:] != images.shape[2:]:
        raise refuse("masks are of shape %s and images of %s" % (array.shape, images.shape))
    return numpy.ascontiguousarray(array, kind)


def _box(row: Any) -> Any:
    kind = row[5] if len(row) > 5 else 0
    return _c.glcnn_data_box(*row[:4], int(row[4]), kind == 1, kind == 2)


def _count(targets: str, labels: Sequence[Any]) -> int:
    """Counts the classes, or numbers, that the labels have."""
    given = [its for its in labels if its is not None]
    if targets == "numbers":
        return int(given[0].shape[1])
    if targets == "boxes":
        return 1 + max((box.label for its in given for box in its[0]), default=0)
    return 1 + max(int(its[its < 255].max(initial=0)) if targets == "masks" else int(its.max(initial=0))
                   for its in given)


def _part(targets: str, images: Any, labels: Any) -> Any:
    made = _c.glcnn_image_source_part()
    if images is None:
        return made
    made.count, made.images = len(images), images.ctypes.data
    if isinstance(labels, tuple):
        made.boxes, made.box_counts = labels
    elif labels is not None:
        name, kind, _ = _MEMBERS[targets]
        setattr(made, name, labels.ctypes.data_as(ctypes.POINTER(kind)))
    return made
