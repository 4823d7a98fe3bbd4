"""Inputs and outputs of ONNX models, as their files have them: struct glcnn_onnx_image."""
from __future__ import annotations

import math
from typing import Any, List, Tuple

import numpy

from ._library import refuse

_BATCH = 1000003  # stands for a size that the file leaves open; no other size is this prime
_N, _C = 0, 1     # axes of an image [N][C][H][W], by their numbers


class Tensor:
    """How the axes of a tensor are those of an image [N][C][H][W]. In the tensor's order the axes of
    the image follow one another as `order` says; the batch may be of any size."""

    def __init__(self, image: Any):
        self.name = image.name.decode()
        self.order: Tuple[int, ...] = tuple(image.order)
        self.sizes = [size if size > 0 else _BATCH for size in image.dimensions[:image.rank]]
        one = image.feature_channels, image.height, image.width
        if sorted(self.order) != [0, 1, 2, 3] or min(one) < 1 or image.rank > len(image.dimensions):
            raise ValueError("the axes of \"%s\"" % self.name)
        self.extents = (max(math.prod(self.sizes) // math.prod(one), 1), *one)
        self.ambiguous = False  # which axis is that of the batch
        if self.extents[_N] == 1:
            self._place_batch()

    def _place_batch(self) -> None:
        """A batch of one image may be any axis of one number: the first axis, unless only another
        has one number. Where none has, the batch is a part of the first."""
        ones = [i for i, size in enumerate(self.sizes) if size == 1]
        leads = not ones or ones[0] == 0
        self.ambiguous = not leads and len(ones) > 1
        before = 1 if leads else math.prod(self.sizes[:ones[0]])
        order = [axis for axis in self.order if axis != _N]
        at = 0
        while at < 3 and math.prod(self.extents[axis] for axis in order[:at]) != before:
            at += 1
        self.order = (*order[:at], _N, *order[at:])

    def _axis(self, axis: int) -> int:
        """The number of the tensor's axis at which this one of the image begins; -1: at none."""
        passed = math.prod(self.extents[a] for a in self.order[:self.order.index(axis)])
        for i, size in enumerate(self.sizes):
            is_it = size % self.extents[_N] == 0 if axis == _N else size == self.extents[axis] != 1
            if math.prod(self.sizes[:i]) == passed and is_it:
                return i
        return -1

    def _shape(self, extents: Tuple[int, ...]) -> List[int]:
        """The tensor's shape for images of these extents, -1 for what follows from the rest."""
        shape = list(self.sizes)
        for axis in self.order:
            i = self._axis(axis)
            if axis != _N and i >= 0:
                shape[i] = extents[axis]
            elif axis != _N and extents[axis] != self.extents[axis]:
                raise refuse("the image of \"%s\" is of (C, H, W) %s; the ONNX file's shape, %s, is "
                             "of %s" % (self.name, extents[1:], self._text(self.sizes),
                                        self.extents[1:]))
        batch = self._axis(_N)
        if batch < 0:
            return shape if extents[_N] == 1 else [-1] + shape
        return shape[:batch] + [-1] + shape[batch + 1:]

    @staticmethod
    def _text(shape: List[int]) -> str:
        return "x".join("N" if size in (-1, _BATCH) else str(size) for size in shape)

    def of_image(self, array: Any) -> Any:
        """The tensor of an image [N][C][H][W]."""
        if self.ambiguous and len(array) > 1:
            raise refuse("the ONNX file has \"%s\" as %s, of a batch of 1; which axis the batch is "
                         "cannot be told: give one image at a time"
                         % (self.name, self._text(self.sizes)))
        return array.transpose(self.order).reshape(self._shape(array.shape))

    def takes(self, array: Any, image: Tuple[int, int, int]) -> bool:
        """Has the array the file's axes, and not those of images of (C, H, W)?"""
        if array.ndim != len(self.sizes) or array.shape[1:] == image:
            return False
        return array.ndim != 4 or array.shape[1:] == tuple(self._shape((-1, *image))[1:])

    def to_image(self, array: Any, image: Tuple[int, int, int]) -> Any:
        """The image, of (C, H, W), of such a tensor."""
        count = array.size // max(math.prod(image), 1)
        extents = count, *image
        wanted = numpy.empty(extents, bool).transpose(self.order).reshape(
            self._shape(extents)).shape if count else ()
        if array.shape != wanted:
            raise refuse("an array for \"%s\" is of shape %s; the ONNX file has %s" % (
                self.name, array.shape, self._text(self._shape((-1, *image)))))
        return array.reshape([extents[axis] for axis in self.order]).transpose(
            numpy.argsort(self.order))

    def has_channels(self) -> bool:
        """Are its second axis the channels of the image?"""
        if len(self.sizes) < 2 or self.sizes[1] == 1:
            return self.extents[_C] == 1
        return self._axis(_C) == 1
