"""Nodes: networks written down as filters on images. include/glcnn/node.h."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, List, Optional, Tuple, Union

import numpy

from . import _c
from ._library import Error, c, call, fitting, refuse, text
from ._nodes import Nodes
from .image import Image, as_images
from .run import setting

if TYPE_CHECKING:
    from .network import Network
    from .tensor import Tensor

PADDING = {"valid": _c.Padding.SIZE_VALID_ONLY, "same": _c.Padding.SIZE_SAME,
           "full": _c.Padding.SIZE_FULL}
_FLOATS = ctypes.POINTER(ctypes.c_float)


def address(pointer: Any) -> int:
    """Identifies one of the library's nodes; 0 for NULL."""
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def pointers(kind: Any, nodes: Any) -> Any:
    """An array of the library's nodes."""
    return (ctypes.POINTER(kind) * len(nodes))(*[n.pointer for n in nodes])


class _Node:
    """A node of the library. It lives as long as its network, which it keeps."""

    def __init__(self, network: Network, pointer: Any):
        self.network, self.pointer = network, pointer

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Node) and address(self.pointer) == address(other.pointer)

    def __hash__(self) -> int:
        return address(self.pointer)

    def _check(self, status: int) -> None:
        self.network.device.check(status)


class ImageNode(Nodes, _Node):
    """An image of a network: an input, or the result of a filter. Its methods make filters of which
    it is the source: the constructors of include/glcnn/kernels, and node() by name."""

    def _node(self, constructor: str, *arguments: Any) -> Any:
        self.network.device.enter()
        sources = [a for a in arguments if isinstance(a, ImageNode)]
        for other in sources:
            if other.network is not self.network:
                raise refuse("%s: an image of another network" % constructor)
        function = getattr(c, constructor)
        made = function(*_convert(function, list(arguments)))
        self.network.check()
        if function.restype == ctypes.POINTER(_c.glcnn_filter_node):
            return FilterNode(self.network, made)
        return ImageNode(self.network, made)

    def _describe(self, constructor: str, structure: type, **fields: Any) -> Any:
        """A descriptor; what the shape of the source says need not be given."""
        shape = self.shape
        if shape and not fields.get("input_feature_channels", 1):
            fields["input_feature_channels"] = shape[0]
        if shape and constructor == "glcnn_fully_connected_node" and not fields["kernel_width"]:
            fields["kernel_height"], fields["kernel_width"] = shape[1:]
        if shape and structure is _c.glcnn_source_shape:
            known = dict(zip(("feature_channels", "height", "width"), shape))
            fields = {name: fields[name] or known[name] for name in fields}
        kinds = {field[0]: field[1] for field in structure._fields_}  # type: ignore[attr-defined]
        return structure(**{name: fitting(name, value, kinds[name])
                            for name, value in fields.items() if value is not None})

    def _number(self, neuron: _c.NeuronType, name: str, value: Optional[float]) -> float:
        return getattr(c.glcnn_neuron_descriptor_default(neuron), name) if value is None else value

    def node(self, kernel: str, *others: ImageNode, **settings: Any) -> ImageNode:
        """The result of a filter by its kernel's name, with settings of `glcnn kernels NAME` and
        padding="valid" and so on."""
        self.network.device.enter()
        words = " ".join(setting(name, value) for name, value in settings.items())
        sources = pointers(_c.glcnn_image_node, (self, *others))
        made = c.glcnn_filter_node_create(self.network.pointer, kernel.encode(), words.encode(),
                                          sources, len(sources))
        self.network.check()
        return FilterNode(self.network, made).result

    def node_with_kernel(self, filter: FilterNode, *others: ImageNode) -> ImageNode:
        """The result of a filter that has the kernel of another one, of this network or of another on
        the device: the two have parameters and weights in common, and what trains one changes both.
        Network.__call__ does so for all filters of a network."""
        self.network.device.enter()
        sources = (self, *others)
        rows = pointers(_c.glcnn_image_node, sources)
        made = c.glcnn_filter_node_create_with_kernel(self.network.pointer, filter.kernel, rows,
                                                      len(rows))
        self.network.check()
        if filter.network is not self.network:
            self.network.borrowed.add(address(made))
        return FilterNode(self.network, made).result

    # ---- Arithmetic, with images and with numbers ----

    def __add__(self, other: Union[ImageNode, float]) -> ImageNode:
        return self.add(other) if isinstance(other, ImageNode) else self.neuron_linear(1, other)

    def __radd__(self, other: float) -> ImageNode:
        return self.neuron_linear(1, other)

    def __sub__(self, other: Union[ImageNode, float]) -> ImageNode:
        return (self.subtract(other) if isinstance(other, ImageNode)
                else self.neuron_linear(1, -other))

    def __rsub__(self, other: float) -> ImageNode:
        return self.neuron_linear(-1, other)

    def __mul__(self, other: Union[ImageNode, float]) -> ImageNode:
        return self.multiply(other) if isinstance(other, ImageNode) else self.neuron_linear(other, 0)

    def __rmul__(self, other: float) -> ImageNode:
        return self.neuron_linear(other, 0)

    def __truediv__(self, other: Union[ImageNode, float]) -> ImageNode:
        return (self.divide(other) if isinstance(other, ImageNode)
                else self.neuron_linear(1 / other, 0))

    def __neg__(self) -> ImageNode:
        return self.neuron_linear(-1, 0)

    def __repr__(self) -> str:
        made = "result of %s" % self.filter.label if self.filter else "input %s" % self.handle
        return "<glcnn.ImageNode %s: %s>" % (made, size_text(self))

    def set(self, *, padding: Union[str, _c.Padding, None] = None, label: Optional[str] = None,
            **parameters: Any) -> ImageNode:
        """Changes the filter that makes the image, and gives the image:

            x.pooling_max(3, 3, 2, 2).set(padding="valid", label="pool1")
        """
        if not self.filter:
            raise refuse("%s is an input: no filter makes it" % (self.handle or "the image"))
        if padding is not None:
            self.filter.padding = _padding(self.filter, padding)
        if label is not None:
            self.filter.label = label
        for name, value in parameters.items():
            self.filter[name] = value
        return self

    @property
    def shape(self) -> Optional[Tuple[int, int, int]]:
        """(C, H, W) where the inputs have one, as a graph will make it; otherwise None."""
        known, waiting = self.network.shapes, [self]
        while waiting:
            node = waiting[-1]
            made_by, key = node.filter, address(node.pointer)
            sources = made_by.sources if made_by and key not in known else []
            missing = [s for s in sources if address(s.pointer) not in known]
            if not missing:
                if key not in known:
                    known[key] = made_by.shape_of(node) if made_by else None
                waiting.pop()
            waiting += missing
        return known[address(self.pointer)]

    @property
    def tensor(self) -> Optional[Tensor]:
        """How an ONNX file has its axes, where it is an input or an output of one."""
        return self.network.tensors.get(address(self.pointer))

    def as_images(self, array: Any) -> Any:
        """[N][C][H][W] of an array for this image, which may have the axes of the ONNX file."""
        array, tensor = numpy.asarray(array), self.tensor
        shape = self.shape
        if not tensor or not shape or (not self.filter and not tensor.takes(array, shape)):
            return as_images(array)
        return as_images(tensor.to_image(array, shape))

    @property
    def filter(self) -> Optional[FilterNode]:
        """The filter that makes the image; None for an input."""
        found = c.glcnn_image_node_filter(self.pointer)
        return FilterNode(self.network, found) if found else None

    @property
    def handle(self) -> Optional[str]:
        return text(c.glcnn_image_node_handle(self.pointer))

    @property
    def stop_gradient(self) -> bool:
        """Training ends here: filters before the image are not trained."""
        return c.glcnn_image_node_stop_gradient(self.pointer)

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        c.glcnn_image_node_set_stop_gradient(self.pointer, value)


class FilterNode(_Node):
    """A filter of a network. Its parameters are items: node["epsilon"] = 1e-5."""

    @property
    def kernel(self) -> Any:
        return c.glcnn_filter_node_kernel(self.pointer)

    @property
    def name(self) -> str:
        """Its kernel's: "convolution"."""
        return c.glcnn_kernel_name(self.kernel).decode()

    def __getitem__(self, parameter: str) -> float:
        return get_parameter(self.network.device, self.kernel, parameter)

    def __setitem__(self, parameter: str, value: Any) -> None:
        set_parameter(self.network.device, self.kernel, parameter, value)

    @property
    def label(self) -> str:
        """Names its weights in files; keep labels unique."""
        return c.glcnn_filter_node_label(self.pointer).decode()

    @label.setter
    def label(self, value: str) -> None:
        self._check(c.glcnn_filter_node_set_label(self.pointer, value.encode()))

    def __repr__(self) -> str:
        return "<glcnn.FilterNode %s: %s of %s, to %s>" % (
            self.label, self.name, ", ".join(map(size_text, self.sources)),
            size_text(self.result))

    @property
    def padding(self) -> _c.Padding:
        return _c.Padding(c.glcnn_filter_node_padding(self.pointer))

    @padding.setter
    def padding(self, value: _c.Padding) -> None:
        self._check(c.glcnn_filter_node_set_padding(self.pointer, value))

    @property
    def training_style(self) -> _c.TrainingStyle:
        """NONE freezes the filter's weights; GPU, the default, has them trained."""
        return _c.TrainingStyle(c.glcnn_filter_node_training_style(self.pointer))

    @training_style.setter
    def training_style(self, style: _c.TrainingStyle) -> None:
        self._check(c.glcnn_filter_node_set_training_style(self.pointer, style))

    @property
    def sources(self) -> List[ImageNode]:
        count = c.glcnn_filter_node_source_count(self.pointer)
        return [ImageNode(self.network, c.glcnn_filter_node_source(self.pointer, i))
                for i in range(count)]

    @property
    def result(self) -> ImageNode:
        return ImageNode(self.network, c.glcnn_filter_node_result(self.pointer))

    @property
    def loss(self) -> ImageNode:
        """Of a loss its value, where `result` is the gradient."""
        found = c.glcnn_filter_node_loss(self.pointer)
        if not found:
            raise refuse("%s is not a loss" % self.label)
        return ImageNode(self.network, found)

    def vector(self, name: str) -> numpy.ndarray[Any, Any]:
        """Weights and the like, in the order of their kernel's header: those of a convolution are
        [outputs][kernel_height][kernel_width][inputs / groups], flat."""
        device = self.network.device
        device.enter()
        buffer = c.glcnn_kernel_vector(self.kernel, name.encode())
        if not buffer:
            raise device.error()
        values = numpy.empty(c.glcnn_buffer_size(buffer) // 4, numpy.float32)
        device.check(c.glcnn_buffer_read(buffer, 0, values.nbytes, values.ctypes.data))
        return values

    def set_vector(self, name: str, values: Any) -> None:
        flat = numpy.ascontiguousarray(values, numpy.float32).ravel()
        self.network.device.enter()
        self._check(c.glcnn_kernel_set_vector(self.kernel, name.encode(),
                                              flat.ctypes.data_as(_FLOATS), flat.size))

    def shape_of(self, image: ImageNode) -> Optional[Tuple[int, int, int]]:
        """What the library would make for images of the sources' shapes, of the result or of the loss;
        None where it cannot be told before they are there."""
        shapes = [s.shape for s in self.sources if s.shape]
        if len(shapes) < len(self.sources) or c.glcnn_filter_node_source_state(self.pointer):
            return None
        loss = c.glcnn_filter_node_loss(self.pointer)
        if loss:
            is_one = (address(loss) == address(image.pointer)
                      and self["reduction_type"] != _c.ReductionType.NONE)
            if is_one:
                return 1, 1, 1
            # A place has one loss, whatever the four channels of its box.
            has_one = address(loss) == address(image.pointer) and self.name == "box_loss"
            return (1,) + shapes[0][1:] if has_one else shapes[0]
        if self.name == "concatenation":  # each but the last fills slices of four channels
            channels = sum(-(-s[0] // 4) * 4 for s in shapes[:-1]) + shapes[-1][0]
            return channels, shapes[0][1], shapes[0][2]
        device = self.network.device
        images = [Image((1,) + s, device=device) for s in shapes[:2]]  # that take no memory
        encode = _c.glcnn_encode(source=images[0].pointer,
                                 secondary=images[1].pointer if images[1:] else None)
        result = _c.glcnn_image_descriptor()
        self._check(c.glcnn_kernel_prepare_destination(self.kernel, ctypes.byref(encode),
                                                       ctypes.byref(result)))
        return result.feature_channels, result.height, result.width


def size_text(image: ImageNode) -> str:
    """"8x28x28", channels first; "?" where it is not known before there are images, or cannot be."""
    try:
        shape = image.shape
    except Error:
        return "?"
    return "x".join(map(str, shape)) if shape else "?"


def _padding(node: FilterNode, value: Union[str, _c.Padding]) -> _c.Padding:
    if not isinstance(value, str):
        return value
    if value not in PADDING:
        raise refuse("%s: there is no padding %r; there are %s, and bits of glcnn.Padding"
                     % (node.label, value, ", ".join(PADDING)))
    return PADDING[value]


def _convert(function: Any, arguments: List[Any]) -> List[Any]:
    """Arguments as ctypes takes them: nodes by their pointers, structures by reference unless the
    function takes them by value, numbers as arrays of float, whose length is behind them."""
    if function.argtypes[0] == ctypes.POINTER(ctypes.POINTER(_c.glcnn_image_node)):
        sources = [a for a in arguments if isinstance(a, ImageNode)]
        rest = arguments[len(sources) + 1:]  # behind their number
        return [pointers(_c.glcnn_image_node, sources), len(sources)] + [
            fitting("an argument of " + function.__name__, argument, kind)
            for argument, kind in zip(rest, function.argtypes[2:])]
    converted, length = [], 0
    for argument, kind in zip(arguments, function.argtypes):
        if isinstance(argument, _Node):
            argument = argument.pointer
        elif isinstance(argument, ctypes.Structure):
            argument = argument if isinstance(argument, kind) else ctypes.byref(argument)
        elif kind == _FLOATS and argument is not None:
            values = numpy.ascontiguousarray(argument, numpy.float32).ravel()
            if length not in (0, values.size):
                raise refuse("%s: arrays of %d and of %d numbers"
                             % (function.__name__, length, values.size))
            length = values.size
            argument = (ctypes.c_float * length)(*values)
        elif kind == ctypes.c_size_t and argument is None:
            argument = length
        else:
            argument = fitting("an argument of " + function.__name__, argument, kind)
        converted.append(argument)
    return converted


def get_parameter(device: Any, kernel: Any, name: str) -> float:
    value = ctypes.c_double()
    device.check(c.glcnn_kernel_get(kernel, name.encode(), ctypes.byref(value)))
    return value.value


def set_parameter(device: Any, kernel: Any, name: str, value: Any) -> None:
    """Takes what glcnn_setting_parse takes, names of values too."""
    parsed = _c.glcnn_setting()
    call(c.glcnn_setting_parse, c.glcnn_kernel_name(kernel), setting(name, value).encode(),
         ctypes.byref(parsed))
    if parsed.whole:
        device.check(c.glcnn_kernel_set_uint64(kernel, parsed.name, parsed.whole))
    else:
        device.check(c.glcnn_kernel_set(kernel, parsed.name, parsed.value))
