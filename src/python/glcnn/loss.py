"""Losses: by name, or built of nodes. include/glcnn/kernels/loss.h."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Literal, Optional, Sequence, Tuple, Union

from . import _c
from ._library import refuse
from .batches import Shape, goal_handle, goal_name
from .node import FilterNode, ImageNode

_T = _c.LossType
Reduction = Literal["mean", "sum", "none"]

# The short names, beside those of glcnn.LossType in small letters. "value" is the image itself.
NAMES: Dict[str, _c.LossType] = {
    "cross_entropy": _T.SOFT_MAX_CROSS_ENTROPY, "bce": _T.SIGMOID_CROSS_ENTROPY,
    "mse": _T.MEAN_SQUARED_ERROR, "mae": _T.MEAN_ABSOLUTE_ERROR,
    "kl_divergence": _T.KULLBACK_LEIBLER_DIVERGENCE,
    **{kind.name.lower(): kind for kind in _T}}

# Losses whose terms are of a pixel, all its channels together. A cosine distance is of an image;
# all others have a term for each channel of each pixel.
_OF_PIXELS = {_T.SOFT_MAX_CROSS_ENTROPY, _T.CATEGORICAL_CROSS_ENTROPY}

# What a loss takes in instead of a filter that ends the network: it has the same in a form that
# does not overflow.
_ENDS = {_T.SOFT_MAX_CROSS_ENTROPY: "soft_max", _T.SIGMOID_CROSS_ENTROPY: "neuron"}


class Term:
    """A part of a loss, in a network: its filter, and by what the sum over an image is multiplied.
    Loss makes it; a function that builds a loss gives a list of them."""

    def __init__(self, filter: FilterNode, image: ImageNode, labels: Optional[ImageNode],
                 loss: Loss):
        self.filter, self.image, self.labels, self.loss = filter, image, labels, loss
        self._weight: Optional[float] = None  # as it was set last

    def set_weight(self, images: int, shapes: Dict[str, Shape]) -> None:
        """For the mean over that many images, whose labels have these shapes."""
        weight = self.loss.scale / (images * self._terms(shapes))
        if weight != self._weight:
            self.filter["weight"] = self._weight = weight

    def _terms(self, shapes: Dict[str, Shape]) -> int:
        """By how much the sum over an image is divided."""
        if self.loss.reduction != "mean" or self.loss.type == _T.COSINE_DISTANCE:
            return 1
        handle = self.labels.handle if self.labels and not self.labels.filter else None
        shape = shapes.get(handle or "") or self.image.shape
        if not shape:
            raise refuse("%s: the mean of a loss needs the size of its image; give the network's "
                         "inputs their shapes" % self.filter.label)
        channels, height, width = shape
        return height * width * (1 if self.loss.type in _OF_PIXELS else channels)


class Loss:
    """A loss with its parameters.

        net.train(images, labels, loss=glcnn.Loss("huber", delta=0.5))

    kind        "cross_entropy" (of scores, whose soft-max it takes), "bce" (of scores, whose sigmoid
                it takes), "mse", "mae", "huber", "hinge", "log", "categorical_cross_entropy" (of
                probabilities), "kl_divergence", "cosine_distance", or "value": the image itself,
                which has no labels
    reduction   "mean": of all pixels and channels of a batch's images; of soft-max and categorical
                cross entropy, whose terms are of a pixel, of all pixels; of cosine distance, whose
                terms are of an image, of all images. "sum": the mean over images of the sum over an
                image's pixels and channels; the learning rate that suits it falls as images grow
    weight      multiplies it
    parameters  label_smoothing, delta, epsilon: `glcnn kernels loss`

    It is called with nodes, in a function that builds a loss of several parts:

        def loss(outputs, labels):
            return [glcnn.Loss("bce")(outputs["picture"], labels),
                    glcnn.Loss("value", weight=0.1)(outputs["mean"] * outputs["mean"])]
    """

    def __init__(self, kind: Union[str, _c.LossType], *, reduction: Reduction = "mean",
                 weight: float = 1, **parameters: Any):
        self.of_itself = kind == "value"
        if isinstance(kind, str) and not self.of_itself and kind not in NAMES:
            raise refuse("there is no loss %r; there are %s and value"
                         % (kind, ", ".join(sorted(NAMES))))
        if reduction not in ("mean", "sum", "none"):
            raise refuse("there is no reduction %r; there are \"mean\", \"sum\" and \"none\""
                         % (reduction,))
        # Kullback-Leibler's loss is -y where the label is 1, and its gradient -1.
        self.type = _T.KULLBACK_LEIBLER_DIVERGENCE if self.of_itself else (
            NAMES[kind] if isinstance(kind, str) else _T(kind))
        self.kind, self.reduction, self.weight, self.parameters = kind, reduction, weight, parameters
        self.scale = -weight if self.of_itself else weight

    def __repr__(self) -> str:
        words = [repr(self.kind), "reduction=%r" % self.reduction, "weight=%r" % self.weight]
        return "glcnn.Loss(%s)" % ", ".join(
            words + ["%s=%r" % item for item in self.parameters.items()])

    @property
    def key(self) -> Tuple[Any, ...]:
        """The same for losses that make the same graph."""
        return (self.type, self.of_itself, self.reduction, self.weight,
                tuple(sorted(self.parameters.items())))

    def with_reduction(self, reduction: Reduction) -> Loss:
        return Loss(self.kind, reduction=reduction, weight=self.weight, **self.parameters)

    def __call__(self, output: ImageNode, labels: Optional[ImageNode] = None,
                 weights: Optional[ImageNode] = None) -> Term:
        """The loss of an image, to be made less; "value" has no labels. `weights` are factors of its
        terms, an image as large as the output; a mean is of the products."""
        if self.of_itself != (labels is None):
            raise refuse("%r takes %s" % (self, "one image, without labels" if self.of_itself
                                          else "an image and its labels"))
        image = self._compared(output)
        kind = _c.ReductionType.NONE if self.reduction == "none" else _c.ReductionType.SUM
        made = image.loss(labels or image.neuron_linear(0, 1), self.type, kind,
                          label_weights=weights)
        if "label_smoothing" in self.parameters and self.type == _T.SOFT_MAX_CROSS_ENTROPY:
            made["number_of_classes"] = (image.shape or (1, 1, 1))[0]
        for name, value in self.parameters.items():
            made[name] = value
        return Term(made, image, labels, self)

    def _compared(self, output: ImageNode) -> ImageNode:
        """What the loss is of: the output, but for cross entropies what a soft-max or a sigmoid that
        ends the network reads."""
        shape = output.shape
        if self.type == _T.SOFT_MAX_CROSS_ENTROPY and shape and shape[0] == 1:
            raise refuse("soft-max cross entropy of one channel is 0 whatever the channel is; "
                         "\"bce\" is for one score, \"mse\" for one number")
        last = output.filter
        if last and last.name == _ENDS.get(self.type) and (
                last.name == "soft_max" or last["neuron_type"] == _c.NeuronType.SIGMOID):
            return last.sources[0]
        return output


Built = Union[ImageNode, Term, Sequence[Union[ImageNode, Term]]]
Builder = Callable[[Any, Any], Built]  # of output nodes and label nodes
AnyLoss = Union[str, _c.LossType, Loss, Dict[str, Any], Builder]


class Recipe:
    """How the terms of a loss are made, from whatever the caller gave."""

    def __init__(self, loss: AnyLoss, reduction: Optional[Reduction] = None):
        self.each: Dict[str, Loss] = {}
        self.one: Optional[Loss] = None
        self.builder: Optional[Builder] = None
        if isinstance(loss, dict):
            self.each = {name: _loss(one, reduction) for name, one in loss.items()}
        elif callable(loss) and not isinstance(loss, Loss):
            self.builder = loss
        else:
            self.one = _loss(loss, reduction)
        if not self.one and any(one.reduction == "none" for one in self.losses):
            raise refuse("reduction \"none\" is for one loss, and there are %d" % len(self.each))
        if reduction and self.builder and reduction != "mean":
            raise refuse("a function builds the loss: it says how it is reduced, by "
                         "glcnn.Loss(\"value\", reduction=%r)" % (reduction,))

    @property
    def key(self) -> Any:
        return self.builder or (self.one and self.one.key) or tuple(
            (name, one.key) for name, one in self.each.items())

    @property
    def losses(self) -> List[Loss]:
        return [self.one] if self.one else list(self.each.values())

    def terms(self, outputs: Dict[str, ImageNode], labels: Dict[str, ImageNode]) -> List[Term]:
        """Made of the output nodes and of the label nodes by their handles."""
        if self.one:
            output = _single(outputs)
            given = None if self.one.of_itself else labels.get(goal_handle())
            if not given and not self.one.of_itself:
                raise refuse("the loss %r is of one output and its labels; found %s" % (
                    self.one.kind, ", ".join(labels) or "no labels"))
            return [self.one(output, given)]
        if self.each:
            return [one(_named(outputs, name, "outputs"),
                        None if one.of_itself else _named(labels, goal_handle(name), "labels"))
                    for name, one in self.each.items()]
        assert self.builder
        named = {goal_name(handle): node for handle, node in labels.items()}
        built = self.builder(outputs if len(outputs) > 1 else _single(outputs),
                             labels.get(goal_handle()) or named or None)
        return list(map(_term, built if isinstance(built, (list, tuple)) else [built]))


def _loss(loss: Any, reduction: Optional[Reduction]) -> Loss:
    if isinstance(loss, Loss):
        return loss.with_reduction(reduction) if reduction else loss
    if not isinstance(loss, (str, int)):
        raise refuse("loss is of type %s; expected a name, a glcnn.Loss, a dictionary of such by "
                     "outputs, or a function of nodes" % type(loss).__name__)
    return Loss(loss, reduction=reduction or "mean")  # type: ignore[arg-type]


def _term(built: Any) -> Term:
    if isinstance(built, Term):
        return built
    if isinstance(built, ImageNode):
        return Loss("value")(built)
    raise refuse("the function of the loss gave %s; expected an image node, what glcnn.Loss(...)(...) "
                 "gives, or a list of those" % type(built).__name__)


def _single(outputs: Dict[str, ImageNode]) -> ImageNode:
    if len(outputs) > 1:
        raise refuse("the network has %d outputs, %s; net.output = net.outputs[\"%s\"] selects "
                     "one, and a dictionary of losses, or a function, is of several"
                     % (len(outputs), ", ".join(outputs), next(iter(outputs))))
    return next(iter(outputs.values()))


def _named(nodes: Dict[str, ImageNode], name: str, what: str) -> ImageNode:
    if name not in nodes:
        raise refuse("a loss of \"%s\": the %s are %s" % (name, what, ", ".join(nodes) or "none"))
    return nodes[name]
