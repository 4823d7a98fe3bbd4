"""Every kernel as a function of arrays, made of what the library in use tells of it.

    pooled = glcnn.kernels.pooling_max(image, kernel_width=2, kernel_height=2,
                                       stride_in_pixels_x=2, stride_in_pixels_y=2)

Inputs come first, in the order of `glcnn kernels NAME`, or by their names; settings only by name.
The result is an array, or of a kernel with several outputs a tuple that has them by name; what a
state keeps for the gradient, and may not, is only among the results of glcnn.run. `format`,
`reference` and `device` are those of that.
"""
from __future__ import annotations

import collections
import inspect
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List

from . import _c
from ._library import c, refuse, text
from .run import run as _run

_BOOLEAN, _ENUMERATION, _INTEGER = (_c.ParameterType.BOOLEAN, _c.ParameterType.ENUMERATION,
                                    _c.ParameterType.INTEGER)


def _value_names(parameter: Any) -> List[str]:
    names: List[str] = []
    while parameter.value_names and parameter.value_names[len(names)]:
        names.append(parameter.value_names[len(names)].decode())
    return names


def _default(parameter: Any) -> Any:
    value = parameter.default_value
    if parameter.type == _ENUMERATION and parameter.value_names:
        return _value_names(parameter)[int(value)]
    kinds = {_BOOLEAN: bool, _ENUMERATION: int, _INTEGER: int}
    return kinds.get(parameter.type, float)(value)


def _line(parameter: Any) -> str:
    """What the parameter may be, for its function's text."""
    names = _value_names(parameter) if parameter.type == _ENUMERATION else []
    legal = " ".join(names) or "%.10g to %.10g" % (parameter.minimum, parameter.maximum)
    return "    %s: %s; %s" % (parameter.name.decode(), legal, text(parameter.text))


def _signature(inputs: List[Any], parameters: List[Any]) -> inspect.Signature:
    def word(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
        return inspect.Parameter(name, kind, default=default)

    place = inspect.Parameter.POSITIONAL_OR_KEYWORD
    by_name = inspect.Parameter.KEYWORD_ONLY
    ordered = [i for i in inputs if not i.is_optional] + [i for i in inputs if i.is_optional]
    return inspect.Signature(
        [word(i.name.decode(), place, None if i.is_optional else inspect.Parameter.empty)
         for i in ordered] +
        [word(p.name.decode(), by_name, _default(p)) for p in parameters] +
        [word("settings", inspect.Parameter.VAR_KEYWORD)])


def _function(info: Any) -> Any:
    name = info.name.decode()
    inputs = [a for a in info.arguments[:info.argument_count] if a.is_input]
    outputs = [a.name.decode() for a in info.arguments[:info.argument_count]
               if a.is_output and (a.is_image or not a.is_optional)]
    parameters = info.parameters[:info.parameter_count]
    signature = _signature(inputs, parameters)
    places = [p for p in signature.parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD]
    result = collections.namedtuple(name, outputs)  # type: ignore[misc]

    def kernel(*arrays: Any, **words: Any) -> Any:
        if len(arrays) > len(places):
            raise refuse("%s takes %d arrays, not %d" % (name, len(places), len(arrays)))
        given: Dict[str, Any] = {p.name: a for p, a in zip(places, arrays) if a is not None}
        given.update((p.name, words.pop(p.name)) for p in places if words.get(p.name) is not None)
        found = _run(name, given, **words)
        made = [found[output] for output in outputs]
        return made[0] if len(made) == 1 else result(*made)

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__signature__ = signature  # type: ignore[attr-defined]
    kernel.__doc__ = "%s\n\nResult: %s.\n\nSettings, and what they may be:\n%s" % (
        text(info.text), ", ".join(outputs), "\n".join(map(_line, parameters)))
    return kernel


def _all() -> Iterator[Any]:
    for index in range(c.glcnn_kernel_count()):
        yield c.glcnn_kernel_info_at(index).contents


if TYPE_CHECKING:
    def __getattr__(name: str) -> Callable[..., Any]: ...

for _info in _all():
    globals()[_info.name.decode()] = _function(_info)
__all__ = [_info.name.decode() for _info in _all()]
