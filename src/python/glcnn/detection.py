"""A detector without anchors: its grids, head, loss and boxes, as the tool's task detect has them.

Images of predictions have the channels left, top, right, bottom, which are distances to the edges of a
box in strides of the grid, and a probability for each class. Grids lie below each other, the finest
first, each filled up with zeros to the width of the first.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, NamedTuple, Sequence

import numpy

from ._c import Axis
from .batches import Shape
from .loss import Loss, Term
from .measures import CROWD
from .node import ImageNode

if TYPE_CHECKING:
    from .network import Network

CHANNELS = 32    # of the head
GAIN = 4         # of the loss of boxes beside that of classes
RADIUS = 1.5     # strides from the centre of a box, within which locations are for it
LONGEST = 6      # strides of a box's side, unless the grid is the coarsest
LEAST = 1e-7     # keeps quotients of two zeros at 0
OVERLAP = 0.6    # intersection over union above which the less likely of a class is left out
CONFIDENCE = 0.3  # probability of what is shown
MOST = 300       # boxes of an image


class Grid(NamedTuple):
    stride: int
    rows: int
    columns: int
    first: int  # row in an image of all grids


class Layout:
    """The grids over pictures of (C, H, W), of so many classes."""

    def __init__(self, shape: Shape, classes: int):
        _, self.height, self.width = shape
        self.classes, self.grids = classes, []
        longer, first = max(self.height, self.width), 0
        for stride in (8, 16, 32)[:1 if longer <= 96 else 2 if longer <= 192 else 3]:
            grid = Grid(stride, -(-self.height // stride), -(-self.width // stride), first)
            self.grids.append(grid)
            first += grid.rows
        self.rows, self.columns = first, self.grids[0].columns

    # ---- Boxes to locations ----

    def encode(self, boxes: Sequence[Any]) -> Any:
        """Labels for the loss, of boxes [K][5] or [K][6] in shares of each image: a 1 for the class of a
        location, weights of the classes, distances and their weight. Weights make the sum over a batch a
        mean over the locations of objects, times the number of images, which Network.train divides by.
        Crowds are not trained: locations in one that are for no object have no weight. Boxes are cut at
        the image's edges, and those of which less than a quarter of the area is left are dropped."""
        boxes = [seen(its) for its in boxes]
        labels = numpy.zeros((len(boxes), 2 * self.classes + 5, self.rows, self.columns),
                             numpy.float32)
        for scale, grid in enumerate(self.grids):
            for image, its in zip(labels, boxes):
                self._encode(scale, its, image[:, grid.first:grid.first + grid.rows, :grid.columns])
        share = len(boxes) / max(labels[:, -1].sum(), 1)
        labels[:, self.classes:2 * self.classes] *= share
        labels[:, -1] *= GAIN * share
        return labels

    def _encode(self, scale: int, boxes: Any, labels: Any) -> None:
        grid = self.grids[scale]
        labels[self.classes:2 * self.classes] = 1
        labels[2 * self.classes:-1] = 1  # what a weight of 0 hides must be positive
        edges = boxes[:, :4] * [self.width, self.height, self.width, self.height] / grid.stride
        crowds = _kinds(boxes) == CROWD
        inside = (self._distances(grid, edges[crowds]).min(-1) > 0).any(0)
        labels[self.classes:2 * self.classes, inside] = 0
        boxes, edges = boxes[~crowds], edges[~crowds]
        if not len(boxes):
            return
        sides = edges[:, 2:] - edges[:, :2]
        distances = self._distances(grid, edges)
        fits = self._are_for(scale, grid, edges, sides, distances)
        areas = numpy.where(fits, sides.prod(1)[:, None, None], numpy.inf)
        rows, columns = numpy.nonzero(fits.any(0))
        chosen = areas.argmin(0)[rows, columns]  # the smallest
        labels[boxes[chosen, 4].astype(int), rows, columns] = 1
        labels[self.classes:2 * self.classes, rows, columns] = 1
        labels[2 * self.classes:-1, rows, columns] = distances[chosen, rows, columns].T.clip(0.01)
        labels[-1, rows, columns] = 1

    def _distances(self, grid: Grid, edges: Any) -> Any:
        """[K][rows][columns][4], in strides."""
        y = numpy.arange(grid.rows)[:, None] + 0.5
        x = numpy.arange(grid.columns)[None] + 0.5
        left, top, right, bottom = edges.T[:, :, None, None]
        return numpy.stack(numpy.broadcast_arrays(x - left, y - top, right - x, bottom - y), -1)

    def _are_for(self, scale: int, grid: Grid, edges: Any, sides: Any, distances: Any) -> Any:
        """Which locations are for which boxes, [K][rows][columns]: near the middle of those of the
        grid's size."""
        apart = abs(distances[..., :2] - distances[..., 2:]).max(-1)  # twice the way to the middle
        near = (distances.min(-1) > 0) & (apart < 2 * RADIUS)
        cells = ((edges[:, 1::2].mean(1), grid.rows), (edges[:, ::2].mean(1), grid.columns))
        row, column = (numpy.floor(at).astype(int).clip(0, n - 1) for at, n in cells)
        near[numpy.arange(len(edges)), row, column] = True
        longest = sides.max(1)
        fits = numpy.ones(len(edges), bool)
        if scale > 0:
            fits &= longest * grid.stride > LONGEST * self.grids[scale - 1].stride
        if scale + 1 < len(self.grids):
            fits &= longest <= LONGEST
        return near & fits[:, None, None]

    # ---- Locations to boxes ----

    def decode(self, predictions: Any, least: float, overlap: float = OVERLAP, most: int = MOST,
               across_classes: bool = False) -> List[Any]:
        """[K][6] of each image, of predictions [N][4 + classes][rows][columns]. Boxes of one class, or
        of all, leave out those that they overlap."""
        return [self._decode(image, least, overlap, most, across_classes) for image in predictions]

    def _decode(self, image: Any, least: float, overlap: float, most: int,
                across_classes: bool) -> Any:
        found = [self._boxes(grid, image[:, grid.first:grid.first + grid.rows, :grid.columns], least)
                 for grid in self.grids]
        boxes = numpy.concatenate(found)
        boxes = boxes[numpy.argsort(-boxes[:, 5], kind="stable")][:10000]
        kept: List[Any] = []
        for box in boxes:
            same = [k for k in kept if across_classes or k[4] == box[4]]
            if not same or overlaps(numpy.array(same), box[None])[:, 0].max() <= overlap:
                kept.append(box)
            if len(kept) == most:
                break
        return numpy.array(kept, numpy.float32).reshape(-1, 6)

    def _boxes(self, grid: Grid, image: Any, least: float) -> Any:
        """What is likely at the locations of a grid, cut at the picture's edges."""
        rows, columns, classes = numpy.nonzero(numpy.moveaxis(image[4:], 0, -1) >= least)
        left, top, right, bottom = image[:4, rows, columns].astype(float)
        x, y = columns + 0.5, rows + 0.5
        edges = numpy.stack([(x - left) / self.width, (y - top) / self.height,
                             (x + right) / self.width, (y + bottom) / self.height], 1)
        edges = (edges * grid.stride).clip(0, 1)
        boxes = numpy.column_stack([edges, classes, image[4 + classes, rows, columns]])
        return boxes[numpy.isfinite(boxes).all(1) & (edges[:, 2:] > edges[:, :2]).all(1)]


def cut(boxes: Any, edges: Sequence[float]) -> Any:
    """Boxes [K][6] as far as they lie within left, top, right and bottom, without those that do not."""
    boxes = boxes.copy()
    for i in range(4):
        boxes[:, i] = boxes[:, i].clip(edges[i % 2], edges[2 + i % 2])
    return boxes[(boxes[:, 2:4] > boxes[:, :2]).all(1)]


def seen(boxes: Any) -> Any:
    """Objects as far as the image shows them, as the tool's object_cut has it."""
    edges = boxes[:, :4].clip(0, 1)
    left = (edges[:, 2:] - edges[:, :2]).clip(0).prod(1)
    kept = (left > 0) & ((_kinds(boxes) == CROWD) |
                         (left >= (boxes[:, 2:4] - boxes[:, :2]).prod(1) / 4))
    return numpy.column_stack([edges, boxes[:, 4:]])[kept]


def overlaps(a: Any, b: Any) -> Any:
    """Intersection over union, [len(a)][len(b)]."""
    low = numpy.maximum(a[:, None, :2], b[None, :, :2])
    high = numpy.minimum(a[:, None, 2:4], b[None, :, 2:4])
    both = (high - low).clip(0).prod(-1)
    areas = [(boxes[:, 2:4] - boxes[:, :2]).prod(-1) for boxes in (a, b)]
    return both / (areas[0][:, None] + areas[1] - both)


# ---- The head ----

def _convolve(x: ImageNode, size: int, outputs: int, stride: int = 1) -> ImageNode:
    return x.convolution(kernel_width=size, kernel_height=size, output_feature_channels=outputs,
                         stride_in_pixels_x=stride, stride_in_pixels_y=stride)


def normalise(x: ImageNode) -> ImageNode:
    """Batch normalisation and a ReLU whose derivative at 0 is 0, as in the tool's networks."""
    x = x.batch_normalization(1e-5).neuron_relu()
    if x.filter:
        x.filter["neuron_c"] = 1
    return x


def _fit(x: ImageNode, grid: Grid) -> ImageNode:
    """Halved as often as leaves it as large as the grid, then brought to its size."""
    channels, height, width = x.shape or (0, 0, 0)
    while -(-height // 2) >= grid.rows and -(-width // 2) >= grid.columns and (
            height > grid.rows or width > grid.columns):
        channels = 2 * channels if channels < 32 else max(channels, 64)
        x = normalise(_convolve(x, 3, channels, 2))
        height, width = -(-height // 2), -(-width // 2)
    return x if (height, width) == (grid.rows, grid.columns) else x.resize_linear(
        resized_width=grid.columns, resized_height=grid.rows)


def _feature_for(features: Sequence[ImageNode], grid: Grid) -> ImageNode:
    """The smallest that is as large as the grid; where there is none the largest."""
    for x in reversed(features):
        _, height, width = x.shape or (0, 0, 0)
        if height >= grid.rows and width >= grid.columns:
            return x
    return features[0]


def _pyramid(layout: Layout, levels: List[ImageNode]) -> List[ImageNode]:
    """Features of as many channels on each grid, each with what the coarser ones know."""
    levels = [_convolve(x, 1, CHANNELS) for x in levels]
    for i in reversed(range(len(levels) - 1)):
        grid = layout.grids[i]
        levels[i] = levels[i] + levels[i + 1].resize_nearest(
            resized_width=grid.columns, resized_height=grid.rows)
    return levels


def _predictions(x: ImageNode, scale: int, classes: int) -> ImageNode:
    for _ in range(2):
        x = normalise(_convolve(x, 3, CHANNELS))
    scores = _convolve(x, 1, classes).set(label="detection_scores_%d" % scale)
    if scores.filter:  # or the many locations without an object would be all of the first steps
        scores.filter.set_vector("biases", numpy.full(classes, -numpy.log(99)))
    distances = _convolve(x, 1, 4).neuron_soft_plus(1, 1).set(label="detection_distances_%d" % scale)
    return distances.concatenation(scores.neuron_sigmoid())


def head(layout: Layout, features: Sequence[ImageNode]) -> ImageNode:
    """The predictions of all grids, of features whose first is the finest."""
    levels, x = [], _feature_for(features, layout.grids[0])
    for grid in layout.grids:
        x = _fit(x, grid)
        levels.append(x)
    levels = _pyramid(layout, levels) if len(levels) > 1 else levels
    found = [_predictions(x, scale, layout.classes) for scale, x in enumerate(levels)]
    result = found[0]
    for grid, image in zip(layout.grids[1:], found[1:]):
        image = image.pad(right=layout.columns - grid.columns)
        result = result.axis_concatenation(image, axis=Axis.ROWS)
    return result


# ---- The loss ----

def losses(layout: Layout, network: Network, labels: ImageNode) -> List[Term]:
    """Of a network that has the head, against an image of Layout.encode."""
    terms = []
    for scale, grid in enumerate(layout.grids):
        def part(first: int, count: int) -> ImageNode:
            made = labels.strided_slice(start_channel=first, size_channels=count, start_y=grid.first,
                                        size_y=grid.rows, size_x=grid.columns)
            made.stop_gradient = True
            return made
        wanted, weights = part(0, layout.classes), part(layout.classes, layout.classes)
        distances, there = part(2 * layout.classes, 4), part(2 * layout.classes + 4, 1)
        scores, found = (network.filter("detection_%s_%d" % (what, scale)).result
                         for what in ("scores", "distances"))
        terms.append(Loss("bce", reduction="sum")(scores, wanted, weights))
        terms.append(Loss("mae", reduction="sum")(
            ciou(found, distances), wanted.reduce_feature_channels_sum(), there))
    return terms


def _channels(x: ImageNode, first: int, count: int) -> ImageNode:
    return x.strided_slice(start_channel=first, size_channels=count)


def _extent(distances: ImageNode) -> ImageNode:
    """Width and height, in two channels."""
    return _channels(distances, 0, 2) + _channels(distances, 2, 2)


def _area(extent: ImageNode) -> ImageNode:
    return _channels(extent, 0, 1) * _channels(extent, 1, 1)


def _squared_length(vector: ImageNode) -> ImageNode:
    return (vector * vector).reduce_feature_channels_sum()


def _angle(extent: ImageNode) -> ImageNode:
    """atan(w / h) - pi / 4 = atan(u), u = (w - h) / (w + h), by the polynomial 4.4.47 of Abramowitz and
    Stegun, whose error is below 1e-5."""
    width, height = _channels(extent, 0, 1), _channels(extent, 1, 1)
    u = (width - height) / (width + height + LEAST)
    square = u * u
    found = square * 0.0208351 - 0.0851330
    for factor in (0.1801410, -0.3302995, 0.9998660):
        found = found * square + factor
    return found * u


def ciou(found: ImageNode, wanted: ImageNode) -> ImageNode:
    """IoU - d^2 / c^2 - alpha v of two boxes around one point (Zheng et al. 2020): d is how far their
    middles are apart, c the diagonal of the box around both, v the difference of their proportions,
    alpha = v / (1 - IoU + v), which is no part of the gradient."""
    extent, other = _extent(found), _extent(wanted)
    inside = _area(_extent(found.minimum(wanted)))
    iou = inside / (_area(extent) + _area(other) - inside + LEAST)
    apart = found - wanted
    middles = _channels(apart, 2, 2) - _channels(apart, 0, 2)  # twice d
    far = _squared_length(middles) * 0.25 / _squared_length(_extent(found.maximum(wanted)))
    angle = (_angle(extent) - _angle(other)) * (2 / numpy.pi)
    v = angle * angle
    alpha = v / (v - iou + (1 + LEAST))
    alpha.stop_gradient = True
    return iou - far - alpha * v


def _kinds(objects: Any) -> Any:
    """0, CROWD or DIFFICULT of each."""
    return objects[:, 5] if objects.shape[1] > 5 else numpy.zeros(len(objects))
