"""Batches of images and labels, as graphs take them: of arrays, of iterators and of datasets."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, Optional, Tuple

import numpy

from ._library import refuse, whole
from .graph import Arrays
from .image import as_images
from .node import ImageNode

if TYPE_CHECKING:
    from .network import Network

Shape = Tuple[int, int, int]

NO_CLASS = 255  # of a pixel, where there are no more than as many classes; negative numbers too

# What changes pictures and features at random, only for training.
RANDOM = {"dropout", "augment_geometry", "augment_color"}


def needed(outputs: Iterable[ImageNode]) -> Dict[ImageNode, bool]:
    """The images that images depend on, they themselves among them."""
    found: Dict[ImageNode, bool] = {}
    waiting = list(outputs)
    while waiting:
        image = waiting.pop()
        if image not in found:
            found[image] = True
            waiting += image.filter.sources if image.filter else []
    return found


class Fitting:
    """What arrays for a network are: its inputs and its outputs, looked up once."""

    def __init__(self, network: Network):
        self.outputs = network.outputs
        self.inputs = {i.handle or "": i for i in needed(self.outputs.values()) if not i.filter}
        self.mean, self.deviation = network.mean, network.deviation
        self.sizes = {name: node.shape for name, node in self.inputs.items()}
        self.shapes = {name: node.shape for name, node in self.outputs.items()}

    def batch(self, images: Arrays, labels: Any = None) -> Batch:
        """Checks arrays and makes images of them."""
        if not isinstance(images, dict):
            images = {next(iter(self.inputs)): images}
        if sorted(images) != sorted(self.inputs):
            raise refuse("the network takes %s, not %s" % (
                ", ".join(sorted(self.inputs)), ", ".join(sorted(images))))
        made = {handle: self._images(handle, array) for handle, array in images.items()}
        counts = {handle: len(array) for handle, array in made.items()}
        goals, classes, channels = self._labels(labels)
        counts.update({handle: len(array) for handle, array in goals.items()})
        if classes is not None:
            counts["labels"] = len(classes)
        count = next(iter(counts.values()))
        if not count or len(set(counts.values())) != 1:
            raise refuse("expected as many of each, and at least one; found %s"
                         % ", ".join("%d %s" % (n, h) for h, n in counts.items()))
        return Batch(self, count, made, goals, classes, channels)

    def _images(self, handle: str, array: Any) -> Any:
        """[N][C][H][W] of an input, whose shape is looked at before anything is made for it."""
        made, shape = self.inputs[handle].as_images(array), self.sizes[handle]
        if shape and made.shape[1:] != shape:
            raise refuse("images for \"%s\" have the shape %s, (C, H, W); the network takes %s"
                         % (handle, made.shape[1:], shape))
        return made

    def _labels(self, labels: Any) -> Tuple[Dict[str, Any], Any, int]:
        """Images for a loss by their handles; or classes, and of how many."""
        if labels is None:
            return {}, None, 0
        if isinstance(labels, dict):
            return {goal_handle(name): self._goals(self._output(name), numpy.asarray(array))
                    for name, array in labels.items()}, None, 0
        output, labels = next(iter(self.outputs.values())), numpy.asarray(labels)
        shape = self.shapes[next(iter(self.outputs))]
        if len(self.outputs) > 1 or not _are_classes(labels, shape):
            return {goal_handle(): self._goals(output, labels)}, None, 0
        channels = shape[0] if shape else int(labels.max(initial=0)) + 1
        wrong = labels[~in_range(labels, channels)]
        if labels.ndim == 3:
            wrong = wrong[(wrong >= 0) & (wrong != NO_CLASS)]
        if wrong.size:
            raise refuse("labels are classes from 0 to %d%s, not %d" % (
                channels - 1, ", or 255 for none" if labels.ndim == 3 else "", wrong[0]))
        return {}, labels, channels

    def _output(self, name: str) -> ImageNode:
        if name not in self.outputs:
            raise refuse("labels of \"%s\": the network's outputs are %s"
                         % (name, ", ".join(self.outputs)))
        return self.outputs[name]

    def _goals(self, output: ImageNode, labels: Any) -> Any:
        """[N][C][H][W] of labels that are no classes: of [N] and [N][C] with one pixel. What labels
        of a network of several outputs mean is known to its loss alone."""
        if labels.ndim > 2 or output.tensor and labels.ndim == len(output.tensor.sizes):
            return output.as_images(labels)
        labels, shape = numpy.atleast_1d(labels), output.shape
        one = (labels.shape[1] if labels.ndim == 2 else 1), 1, 1
        if shape and shape != one and len(self.outputs) == 1:
            pixels = "" if shape[1:] == (1, 1) else " of %dx%d pixels" % (shape[2], shape[1])
            raise refuse("labels are [N]%s of %s and the output has %d channels%s; expected "
                         "classes, whole numbers [N] from 0 to %d, or an array of the output's shape"
                         % ("[%d]" % one[0] if labels.ndim == 2 else "", labels.dtype, shape[0],
                            pixels, shape[0] - 1))
        return as_images(labels.reshape(len(labels), *one))

    def array(self, name: str, image: Any) -> Any:
        """What predict gives for an image [N][C][H][W] of an output."""
        node = self.outputs[name]
        if node.tensor:
            return node.tensor.of_image(image)
        return image[:, :, 0, 0] if image.shape[2:] == (1, 1) else image

    def arrays(self, images: Iterable[Any]) -> Any:
        """The same of all outputs: an array of the only one, a dictionary of several."""
        found = {name: self.array(name, image) for name, image in zip(self.outputs, images)}
        return found if len(found) > 1 else next(iter(found.values()))


def _are_classes(labels: Any, shape: Optional[Shape]) -> bool:
    """Whole numbers [N], or [N][H][W] of the output's pixels; of one channel they are its values."""
    if labels.dtype.kind not in "iu" or (shape and shape[0] == 1):
        return False
    return labels.ndim == 1 or labels.ndim == 3 and shape is not None and (
        labels.shape[1:] == shape[1:])


def in_range(classes: Any, channels: int) -> Any:
    """Which of them are classes, and not NO_CLASS or negative."""
    return (classes >= 0) & (classes < channels)


def goal_handle(output: str = "") -> str:
    """What the image of an output's labels is called in a network with a loss."""
    return "labels of " + output if output else "labels"


def goal_name(handle: str) -> str:
    """The output of such a handle; "" where labels are those of the only one."""
    return handle[len("labels of "):]


def _check_finite(name: str, array: Any, first: int) -> None:
    """Of [N][C][H][W]; `name` is that of number %d, which is counted from `first`."""
    if array.dtype.kind != "f":
        return
    for start in range(0, len(array), 256):
        wrong = numpy.flatnonzero(~numpy.isfinite(array[start:start + 256]).all(axis=(1, 2, 3)))
        if wrong.size:
            raise refuse((name + " has a value that is NaN or infinite; mend it or leave it out")
                         % (first + start + wrong[0]))


class Batch:
    """Images by the handles of a network's inputs, and labels: images `goals` by their handles, or
    `classes`, [N] or [N][H][W], numbers below `channels`."""

    def __init__(self, fitting: Fitting, count: int, images: Dict[str, Any], goals: Dict[str, Any],
                 classes: Any, channels: int):
        self.fitting, self.count, self.images = fitting, count, images
        self.goals, self.classes, self.channels = goals, classes, channels

    def take(self, chosen: Any) -> Batch:
        """Those of these numbers."""
        return Batch(self.fitting, len(chosen), {h: a[chosen] for h, a in self.images.items()},
                     {h: a[chosen] for h, a in self.goals.items()},
                     None if self.classes is None else self.classes[chosen], self.channels)

    def padded(self, count: int) -> Batch:
        """At least that many, of which those behind the batch's own repeat its last one."""
        if count <= self.count:
            return self
        return self.take(numpy.arange(count).clip(max=self.count - 1))

    def parts(self, count: int) -> Iterator[Batch]:
        """In order, that many in each, the rest in the last."""
        for start in range(0, self.count, count):
            yield self.take(numpy.arange(start, min(start + count, self.count)))

    def inputs(self) -> Dict[str, Any]:
        return {handle: self._normalise(array) for handle, array in self.images.items()}

    def check(self, where: str = "") -> None:
        """Refuses values that are not finite, of images and labels: they would make weights NaN."""
        for handle, array in self.images.items():
            name = " of input \"%s\"" % handle if len(self.images) > 1 else ""
            _check_finite("image %d" + name + where, array, 0)
        self.check_labels(where)

    def check_labels(self, where: str = "", first: int = 0) -> None:
        for handle, array in self.goals.items():
            _check_finite("label %d" + (" of output \"%s\"" % goal_name(handle) if goal_name(handle)
                                        else "") + where, array, first)

    def _normalise(self, images: Any) -> Any:
        mean, deviation = self.fitting.mean, self.fitting.deviation
        if mean is None and deviation is None:
            return images
        scale = numpy.float32(1 / 255 if images.dtype == numpy.uint8 else 1)
        mean = numpy.reshape(0 if mean is None else mean, (-1, 1, 1))
        deviation = numpy.reshape(1 if deviation is None else deviation, (-1, 1, 1))
        return ((images * scale - mean) / deviation).astype(numpy.float32)

    def goal_images(self) -> Dict[str, Any]:
        """[N][C][H][W] for the loss: of classes a 1 in the channel of each."""
        if self.classes is None:
            return self.goals
        if self.classes.ndim == 3:  # bytes, 255 of which stand for 1; none where there is no class
            all_classes = numpy.arange(self.channels)[:, None, None]
            return {goal_handle(): (self.classes[:, None] == all_classes) * numpy.uint8(255)}
        one = numpy.eye(self.channels, dtype=numpy.float32)[self.classes]
        return {goal_handle(): one[:, :, None, None]}

    def goal_shapes(self) -> Dict[str, Shape]:
        if self.classes is not None:
            height, width = (*self.classes.shape[1:], 1, 1)[:2]
            return {goal_handle(): (self.channels, height, width)}
        return {handle: array.shape[1:] for handle, array in self.goals.items()}

    def targets(self) -> Any:
        """What metrics compare outputs with: classes, or arrays as predict gives them."""
        if self.classes is not None:
            return self.classes
        found = [a[:, :, 0, 0] if a.shape[2:] == (1, 1) else a for a in self.goals.values()]
        if len(found) < 2:
            return found[0] if found else None
        return {goal_name(handle): array for handle, array in zip(self.goals, found)}


# ---- Where batches come from ----

def is_batches(data: Any) -> bool:
    """Is it something to iterate over, each of whose items is a batch, and no array?"""
    if isinstance(data, (dict, str, bytes, list, tuple)) or hasattr(data, "__array__"):
        return False
    return hasattr(data, "__iter__") or hasattr(data, "__next__")


def pair(item: Any) -> Tuple[Any, Any]:
    """(images, labels) of what an iterator gives; labels None where it gives images alone."""
    if isinstance(item, dict) or hasattr(item, "__array__"):
        return item, None
    if isinstance(item, (tuple, list)) and len(item) == 2:
        return item[0], item[1]
    length = " of %d" % len(item) if isinstance(item, (tuple, list)) else ""
    raise refuse("an iterator of batches gave a %s%s; expected (images, labels) or images"
                 % (type(item).__name__, length))


class Arrayed:
    """Batches of arrays, in another order each epoch; what does not fill a batch is left out."""

    def __init__(self, data: Batch, batch: int, seed: int):
        self.data, self.size, self.seed = data, min(batch, data.count), seed
        self.steps: Optional[int] = data.count // self.size

    def batches(self, epoch: int) -> Iterator[Batch]:
        order = numpy.random.default_rng((self.seed, epoch)).permutation(self.data.count)
        for step in range(self.data.count // self.size):
            yield self.data.take(order[step * self.size:][:self.size])


class Iterated:
    """Batches of whatever can be iterated over: each epoch once, or `steps` batches of it, where an
    iterator that ends in an epoch is not begun again."""

    def __init__(self, fitting: Fitting, data: Iterable[Any], steps: Optional[int]):
        self.fitting, self.data = fitting, data
        self.limit = None if steps is None else whole("steps", steps, 1)
        self.steps: Optional[int] = self.limit
        if self.steps is None and hasattr(data, "__len__"):
            self.steps = len(data)  # type: ignore[arg-type]

    def batches(self, epoch: int) -> Iterator[Batch]:
        given = 0
        items = self.data.batches(epoch) if hasattr(self.data, "batches") else iter(self.data)
        while self.limit is None or given < self.limit:
            try:
                item = next(items)
            except StopIteration:
                break
            given += 1
            yield self.fitting.batch(*pair(item))
        if not given or self.limit is not None and given < self.limit:
            raise refuse("epoch %d: the iterator of batches ended after %d of %s; give one that can "
                         "be iterated over in each epoch, or steps=, the batches of one"
                         % (epoch, given, self.limit or "at least 1"))
