"""Records of ONNX files in model files: struct glcnn_onnx_record as the tool writes it, as JSON."""
from __future__ import annotations

import ctypes
import json
from typing import Any, Dict, List, Tuple

from . import _c

_LISTS = ("inputs", "input_count", _c.glcnn_onnx_image), (
    "outputs", "output_count", _c.glcnn_onnx_image), (
    "parameters", "parameter_count", _c.glcnn_onnx_parameter), (
    "frozen", "frozen_count", _c.glcnn_onnx_frozen)


def _row(struct: Any) -> Dict[str, Any]:
    """The fields of one element of a list, as the tool writes them."""
    row = {}
    for name, kind in [field[:2] for field in struct._fields_ if field[0] != "node"]:
        value = getattr(struct, name)
        row[name] = (value.decode() if kind is ctypes.c_char_p
                     else list(value) if issubclass(kind, ctypes.Array) else value)
    return row


def record_parts(record: Any) -> Tuple[bytes, bytes]:
    """The skeleton of the file, and the rest as JSON."""
    known = record.contents
    text = {name: [_row(struct) for struct in getattr(known, name)[:getattr(known, count)]]
            for name, count, _ in _LISTS}
    return ctypes.string_at(known.skeleton, known.skeleton_size), json.dumps(text).encode()


def _struct(kind: Any, row: Dict[str, Any]) -> Any:
    made = kind()
    for name, type_ in [field[:2] for field in kind._fields_ if field[0] != "node"]:
        value = row[name]
        setattr(made, name, value.encode() if type_ is ctypes.c_char_p
                else type_(*value) if issubclass(type_, ctypes.Array) else value)
    return made


def record_of(skeleton: bytes, text: bytes) -> Any:
    """The record of those parts."""
    made, rows = _c.glcnn_onnx_record(), json.loads(text)
    for name, count, kind in _LISTS:
        structs: List[Any] = [_struct(kind, row) for row in rows.get(name, [])]
        setattr(made, name, (kind * len(structs))(*structs))
        setattr(made, count, len(structs))
    made.skeleton = (ctypes.c_uint8 * len(skeleton)).from_buffer_copy(skeleton)
    made.skeleton_size = len(skeleton)
    return ctypes.pointer(made)
