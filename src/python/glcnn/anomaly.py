"""Pictures that differ from normal ones, as glcnn anomaly finds them: glcnn/anomaly.h.

    bank = glcnn.tasks.anomaly.fit("backbone.glcnn", "bottle", seed=1)
    bank.save("bottle.glcnn")
    for one in glcnn.tasks.anomaly.load("bottle.glcnn").score("bottle"):
        print(one.name, one.score, one.is_anomalous)
"""
from __future__ import annotations

import ctypes
import os
import tempfile
from typing import Any, Iterator, NamedTuple, Optional, Sequence, Union

import numpy

from . import _c
from ._library import call, library
from .device import Device, Owned, default_device
from .model import Path, paths_of
from .network import Network

__all__ = ["Bank", "Scored", "Summary", "fit", "load"]


class Scored(NamedTuple):
    """How unusual a picture is. Features that are not finite have the score NaN."""
    name: str             # the picture's path
    score: float
    is_anomalous: bool    # the score is above the threshold
    label: Optional[str]  # of a picture in a folder good, or in one beside it, the folder's name
    is_defect: bool       # it is in one beside it
    distances: Any        # [rows][columns]: of each patch from the nearest in the bank


class Summary(NamedTuple):
    """How well the scores of labelled pictures divide normal ones from others."""
    auroc: float          # area under the ROC curve; NaN where there are none of a kind
    normal: int           # pictures with a label, and of these those above the threshold
    defects: int
    normal_above: int
    defects_above: int


class Bank:
    """Patches of normal pictures, the network that makes them, and a threshold."""

    def __init__(self, device: Optional[Device], make: str, *arguments: Any):
        self._calls, device = library("glcnn_train"), device or default_device()
        pointer = ctypes.POINTER(_c.glcnn_anomaly)()
        call(getattr(self._calls, make), device.enter(), *arguments, ctypes.byref(pointer))
        self._owned = Owned(device, self._calls.glcnn_anomaly_destroy, pointer)
        self._info = self._calls.glcnn_anomaly_info(pointer).contents
        self.threshold: float = self._info.threshold
        self.patches: int = self._info.bank
        self.notes: str = self._texts("notes", "remarks")

    def _texts(self, *names: str) -> str:
        return "".join(getattr(self._calls, "glcnn_anomaly_" + name)(self._owned.pointer).decode()
                       for name in names)

    def save(self, path: Path) -> None:
        self._owned.device.enter()
        call(self._calls.glcnn_anomaly_save, self._owned.pointer, os.fsencode(path))

    def score(self, paths: Union[Path, Sequence[Path]]) -> Iterator[Scored]:
        """Pictures, or folders of pictures; what cannot be read is left out, and is in `notes` then."""
        given = paths_of(paths) or []
        names = (ctypes.c_char_p * len(given))(*map(os.fsencode, given))
        self._owned.device.enter()
        call(self._calls.glcnn_anomaly_begin, self._owned.pointer, names, len(names))
        self.notes = self._texts("notes", "remarks")
        return self._scores()

    def _scores(self) -> Iterator[Scored]:
        one = ctypes.POINTER(_c.glcnn_anomaly_score)()
        while True:
            self._owned.device.enter()
            call(self._calls.glcnn_anomaly_next, self._owned.pointer, ctypes.byref(one))
            self.notes += self._texts("remarks")
            if not one:
                return
            yield self._scored(one.contents)

    def _scored(self, one: Any) -> Scored:
        shape = self._info.rows, self._info.columns
        distances = (numpy.ctypeslib.as_array(one.distances, shape).copy() if one.is_finite
                     else numpy.full(shape, numpy.nan))
        kinds = _c.AnomalyKind
        return Scored(one.name.decode(errors="surrogateescape"),
                      one.score if one.is_finite else numpy.nan, one.is_anomalous,
                      None if one.kind == kinds.UNLABELLED
                      else one.label.decode(errors="surrogateescape"),
                      one.kind == kinds.DEFECT, distances)

    @property
    def summary(self) -> Summary:
        """Of the pictures that were scored last, so far."""
        s = self._calls.glcnn_anomaly_summarise(self._owned.pointer).contents
        return Summary(s.auroc, s.normal_count, s.defect_count, s.normal_above, s.defects_above)


def fit(backbone: Union[Network, Path], folder: Path, *, layers: Sequence[str] = (), bank: int = 0,
        held_out: float = 0, quantile: float = 0, seed: int = 1,
        device: Optional[Device] = None) -> Bank:
    """Fits a bank to a folder of normal pictures. 0 stands for a default.

    backbone  a trained network, or the path of a model file
    layers    labels of one or two layers behind which it is cut
    bank      patches to keep: a tenth of them, at most 2000
    held_out  share of the pictures that set the threshold: 0.25
    quantile  of their scores that is the threshold: 0.95"""
    names = [label.encode() for label in layers] + [None, None]
    parameters = _c.glcnn_anomaly_parameters(
        layers=(ctypes.c_char_p * 2)(*names[:2]), bank=bank, held_out=held_out, quantile=quantile,
        seed=seed)
    with tempfile.TemporaryDirectory(prefix="glcnn-") as made:
        path: Path = os.path.join(made, "backbone.safetensors")
        if isinstance(backbone, Network):
            backbone.save(path)
            device = device or backbone.device
        else:
            path = backbone
        return Bank(device, "glcnn_anomaly_fit", os.fsencode(path), os.fsencode(folder),
                    ctypes.byref(parameters))


def load(path: Path, *, device: Optional[Device] = None) -> Bank:
    """Reads a file of Bank.save or of glcnn anomaly fit."""
    return Bank(device, "glcnn_anomaly_load", os.fsencode(path))
