"""Labelled images of folders and tables, in batches that threads decode ahead: glcnn/data.h."""
from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy

from . import _c
from ._library import SIZE_MAX, call, library, refuse, whole
from .source import TARGETS, make_source

_PARTS = {"training": _c.DataPart.TRAINING, "train": _c.DataPart.TRAINING,
          "validation": _c.DataPart.VALIDATION, "val": _c.DataPart.VALIDATION,
          "test": _c.DataPart.TEST}
_FITS = {"cut": _c.DataFit.CUT, "letterbox": _c.DataFit.LETTERBOX, "stretch": _c.DataFit.STRETCH}
_EMPTY = 2 ** 32 - 1  # the index of a place of a batch that has no image


class _Set:
    """The library's data set; its parts share it, and it ends behind their loaders."""

    def __init__(self, path: Union[str, os.PathLike[str]], parameters: Any, labelled: bool,
                 source: Any = None, kept: Any = None):
        found = library("glcnn_data")
        self.path, self.pointer = os.fspath(path), ctypes.POINTER(_c.glcnn_dataset)()
        if source:
            call(found.glcnn_dataset_open_source, ctypes.byref(source), ctypes.byref(parameters),
                 ctypes.byref(self.pointer))
        elif labelled:
            call(found.glcnn_dataset_open, os.fsencode(path), ctypes.byref(parameters),
                 ctypes.byref(self.pointer))
        else:
            call(found.glcnn_dataset_open_files, (ctypes.c_char_p * 1)(os.fsencode(path)), 1,
                 ctypes.byref(parameters), ctypes.byref(self.pointer))
        # A source's arrays, which the library reads, live as long as the set.
        weakref.finalize(self, _end_set, ctypes.byref(self.pointer), kept)
        self.info = found.glcnn_dataset_info(self.pointer).contents


def _end_set(pointer: Any, _kept: Any) -> None:
    library("glcnn_data").glcnn_dataset_destroy(pointer)


class _Loader:
    """The library's loader, from a batch on."""

    def __init__(self, owner: _Set, parameters: Any):
        found = library("glcnn_data")
        self.pointer = ctypes.POINTER(_c.glcnn_data_loader)()
        call(found.glcnn_data_loader_create, owner.pointer, ctypes.byref(parameters),
             ctypes.byref(self.pointer))
        weakref.finalize(self, _end_loader, ctypes.byref(self.pointer), owner)
        self.next: int = parameters.step
        self.steps: int = found.glcnn_data_loader_steps(self.pointer)

    def read(self) -> Any:
        batch = _c.glcnn_data_batch()
        call(library("glcnn_data").glcnn_data_loader_next, self.pointer, ctypes.byref(batch))
        self.next += 1
        return batch


def _end_loader(pointer: Any, _owner: _Set) -> None:
    library("glcnn_data").glcnn_data_loader_destroy(pointer)


class DataBatch(NamedTuple):
    images: Any  # [N][C][H][W], bytes or float32
    labels: Any  # [N] classes; of numbers [N][K], float32; of masks [N][H][W], bytes; of boxes a list;
    # None without labels


class Range(NamedTuple):
    """The smallest, the median and the largest of some numbers."""
    least: float
    median: float
    most: float


class ClassLook(NamedTuple):
    """What a dataset has of a class, or of a number: by part, images that have it, and boxes, pixels or
    labels."""
    name: str
    images: Dict[str, int]
    objects: Dict[str, int]


class Look(NamedTuple):
    """What a look at a dataset finds, as glcnn look prints it. `suspicious` has a sentence for each thing
    that may be wrong, `left_out` one for each image or file that is not used."""
    classes: List[ClassLook]
    unlabelled: Dict[str, int]
    widths: Range
    heights: Range
    sides: Range  # of boxes, the roots of their areas in pixels of their pictures
    suspicious: List[str]
    left_out: List[str]


class Dataset:
    """Labelled images of a folder or of tables: include/glcnn/data.h tells what is found.

        data = glcnn.Dataset("fruit", size=64, batch=32)      # fruit/apple/*.jpg ...
        net = glcnn.network(data.shape, layers)
        net.train(data, epochs=5, validation=data.part("validation"))

    It can be iterated over, (images, labels) for each batch: each time is the next epoch.

    targets     "classes" of images; "numbers", real ones, named by `classes`; "masks", the class of
                each pixel, 255 for none; or "boxes", of each image an array [K][6] of left, top, right
                and bottom, in shares of the image, class, and what to find it counts: 0 as right;
                nothing where it is a crowd, 1 (COCO), or difficult, 2 (Pascal VOC); or "nothing", of
                pictures without labels, which are all the test part, for net.predict. None: what the
                path looks like
    size        (H, W), or one number for both; None: follows from the pictures
    channels    1, 3 or 4; 0: follows from the pictures
    resize      to which the shorter side of pictures is scaled before their middle of `size` is taken,
                as Network.resize; 0: they are scaled as `fit` says
    fit         how pictures come to that size, as Network.fit: "cut", until they cover it, and their
                middle is taken; "letterbox", whole, with a black border; or "stretch". None: letterbox
                for masks and boxes, else cut
    part        "training", "validation" or "test"
    batch       images of a batch
    shuffle     another order each epoch, from `seed`, where what does not fill a batch is left out;
                None: of the training part
    validation  the share of the training part that is its validation part, where the data has none;
                None: a tenth there. Where the data has one a share is refused
    classes     their names, where they are not to follow from the data; Network.classes, say
    mask_colours  a file of lines NAME:R,G,B, where masks are colours; labelmap.txt in the data is read anyway
    strict      whether a broken picture is an error, and not left out with a note
    memory      bytes of decoded images that are kept; 0: 256 MiB
    threads     that decode; 0: one for each processor
    """

    def __init__(self, path: Union[str, os.PathLike[str]], *,
                 targets: Optional[str] = "classes", size: Union[int, Sequence[int], None] = None,
                 channels: int = 0, resize: int = 0, fit: Optional[str] = None,
                 part: str = "training", batch: int = 32,
                 shuffle: Optional[bool] = None,
                 seed: int = 0, validation: Optional[float] = None,
                 classes: Optional[Sequence[str]] = None, strict: bool = False,
                 mask_colours: Union[str, os.PathLike[str], None] = None,
                 memory: int = 0, threads: int = 0):
        if targets is None:
            guess = library("glcnn_data").glcnn_data_guess_targets(os.fsencode(path))
            targets = next(name for name, value in TARGETS.items() if value == guess)
        labelled = targets != "nothing"
        if labelled and targets not in TARGETS:
            raise refuse("there are no targets %r; there are %s and nothing"
                         % (targets, ", ".join(TARGETS)))
        if fit is None:
            fit = "letterbox" if targets in ("masks", "boxes") and not resize else "cut"
        if fit not in _FITS:
            raise refuse("there is no fit %r; there are %s" % (fit, ", ".join(_FITS)))
        self.fit, self.resize = fit, whole("resize", resize)
        height, width = _sides(size)
        self.targets = targets
        names = [name.encode() for name in classes or ()]
        rows = (ctypes.c_char_p * len(names))(*names)
        shared = _Set(path, _c.glcnn_data_parameters(
            width=width, height=height, channels=whole("channels", channels),
            resize=self.resize,
            validation=0.1 if validation is None else validation, strict=strict,
            mask_colours=None if mask_colours is None else os.fsencode(mask_colours),
            memory=whole("memory", memory, 0, SIZE_MAX),
            class_names=rows if names else None, class_count=len(names), targets=TARGETS[targets] if labelled else 0,
            fit=_FITS[fit]), labelled)
        counted = shared.info.counts[_c.DataPart.VALIDATION]
        if validation and counted and not shared.info.is_split:
            raise refuse("%s has a validation part, of %d images: validation=%g sets nothing aside"
                         % (path, counted, validation))
        self._take_set(shared, part, batch, seed, shuffle, threads)

    @classmethod
    def of(cls, images: Any, labels: Any = None, *, validation: Any = 0.1, test: Any = None,
           classes: Optional[Sequence[str]] = None, batch: int = 32, seed: int = 0) -> Dataset:
        """A dataset of arrays, for glcnn.train, glcnn.evaluate and glcnn.tasks.

            data = glcnn.Dataset.of(images, labels, classes=["cat", "dog"])

        images      [N][C][H][W] or [N][H][W]; bytes b stand for b / 255. Arrays of bytes and float32 in
                    the order of C are not copied, and must not change
        labels      [N], whole numbers, are classes; [N] or [N][K] of floats numbers; [N][H][W], whole
                    numbers, masks, 255 for none; a list of arrays [K][5] or [K][6] boxes, as a dataset
                    of boxes gives them; without labels all are the test part
        validation  the share of the images that validates; or (images, labels) that do
        test        (images, labels)
        classes     their names, or those of numbers; None: "0", "1" ..."""
        share = validation if isinstance(validation, (int, float)) else 0
        parts = [(images, labels), None if share == validation else validation, test]
        source, kept, targets = make_source(parts, classes)
        made = cls.__new__(cls)
        made.targets, made.fit, made.resize = targets, "cut", 0
        shared = _Set("arrays", _c.glcnn_data_parameters(
            validation=share, seed=whole("seed", seed, 0, SIZE_MAX),
            targets=TARGETS.get(targets, 0)), True, source, kept)
        made._take_set(shared, "training", batch, seed)
        return made

    def _take_set(self, shared: _Set, part: str, batch: int, seed: int,
                  shuffle: Optional[bool] = None, threads: int = 0) -> None:
        self._set, self._shuffle, self.batch = shared, shuffle, batch
        self.seed, self._threads = whole("seed", seed, 0, SIZE_MAX), whole("threads", threads)
        self._loader: Optional[_Loader] = None
        self._epoch = 0
        self._choose("test" if self.targets == "nothing" else part)

    @property
    def pointer(self) -> Any:
        """The library's data set, of all parts; it lives as long as this object."""
        return self._set.pointer

    @property
    def number(self) -> int:
        """The library's number of this part."""
        return int(self._part)

    def of_same(self, other: Dataset) -> bool:
        """True if both are parts of one dataset."""
        return self._set is other._set

    def _choose(self, part: str) -> None:
        if part not in _PARTS:
            raise refuse("there is no part %r; there are training, validation and test" % (part,))
        self._part, self.name = _PARTS[part], part
        if not self.count:
            raise refuse("%s has no %s part; it has %s" % (self._set.path, part, ", ".join(
                "%d images for %s" % (n, key) for key, n in self.counts.items() if n)))
        whole("batch", self.batch, 1, 65536)
        self.shuffle = self._part == _c.DataPart.TRAINING if self._shuffle is None else self._shuffle

    def part(self, part: str) -> Dataset:
        """Another part of the same data."""
        other = Dataset.__new__(Dataset)
        other.__dict__.update(self.__dict__, _loader=None, _epoch=0)
        other._choose(part)
        return other

    def ordered(self) -> Dataset:
        """The same part in its order, all its images, those too that fill no batch."""
        other = Dataset.__new__(Dataset)
        other.__dict__.update(self.__dict__, _loader=None, _epoch=0, _shuffle=False, shuffle=False)
        return other

    @property
    def shape(self) -> Tuple[int, int, int]:
        """(C, H, W) of the images."""
        info = self._set.info
        return info.channels, info.height, info.width

    @property
    def classes(self) -> List[str]:
        """The names of the classes, by their numbers; or of the numbers of an image."""
        info = self._set.info
        return [name.decode() for name in info.class_names[:info.class_count]]

    @property
    def counts(self) -> Dict[str, int]:
        """Images of each part."""
        return {name: self._set.info.counts[_PARTS[name]]
                for name in ("training", "validation", "test")}

    @property
    def count(self) -> int:
        """Images of this part."""
        return int(self._set.info.counts[self._part])

    @property
    def labels(self) -> Any:
        """The class of each image of the part, in its order, [N]; its numbers, [N][K]; or a list of
        its boxes."""
        found = library("glcnn_data")
        if self.targets == "boxes":
            return [self._boxes(i) for i in range(self.count)]
        if self.targets == "nothing":
            raise refuse("the pictures have no labels")
        if self.targets == "masks":
            raise refuse("labels are masks, which come with the images of a batch")
        if self.targets == "classes":
            return numpy.array([found.glcnn_dataset_label(self._set.pointer, self._part, i)
                                for i in range(self.count)])
        return numpy.array([found.glcnn_dataset_numbers(self._set.pointer, self._part, i)[
            :self._set.info.class_count] for i in range(self.count)], numpy.float32)

    @property
    def sizes(self) -> Any:
        """Width and height of each picture of the part in its file, as it is shown, [N][2]."""
        return numpy.array([self._size(i) for i in range(self.count)])

    @property
    def windows(self) -> Any:
        """What the images of the part show of their pictures, [N][4]: left, top, width and height in the
        picture's pixels. A share x of an image is left + x * width of the picture."""
        return numpy.array([self._window(i) for i in range(self.count)])

    def _size(self, index: int) -> Tuple[int, int]:
        width, height = ctypes.c_uint32(), ctypes.c_uint32()
        library("glcnn_data").glcnn_dataset_size(self._set.pointer, self._part, index,
                                                  ctypes.byref(width), ctypes.byref(height))
        return width.value, height.value

    def _window(self, index: int) -> Tuple[float, float, float, float]:
        window, (_, height, width) = _c.glcnn_data_window(), self.shape
        library("glcnn_data").glcnn_data_find_window(
            *self._size(index), ctypes.byref(_c.glcnn_data_parameters(
                width=width, height=height, resize=self.resize, fit=_FITS[self.fit])),
            ctypes.byref(window))
        return window.left, window.top, window.width, window.height

    @property
    def notes(self) -> List[str]:
        """What was decided where the data could have meant something else, and what was left out."""
        found = library("glcnn_data")
        return [text for get in (found.glcnn_dataset_decision, found.glcnn_dataset_note)
                for text in self._messages(get)]

    def look(self) -> Look:
        """Counts all labels of all parts, and looks for what is suspicious: equal images in two parts,
        boxes of a pixel or of the whole picture, masks of one class, classes with few images, nearly
        equal names of classes, and images without labels."""
        found = library("glcnn_data")
        pointer = ctypes.POINTER(_c.glcnn_data_look)()
        call(found.glcnn_dataset_look, self._set.pointer, ctypes.byref(pointer))
        try:
            look = pointer.contents

            def parts(counts: Any) -> Dict[str, int]:
                return dict(zip(("training", "validation", "test"), map(int, counts)))

            def extent(r: Any) -> Range:
                return Range(r.least, r.median, r.most)

            return Look(
                [ClassLook(one.name.decode(errors="replace"), parts(one.images), parts(one.objects))
                 for one in look.classes[:look.class_count]],
                parts(look.unlabelled), extent(look.widths), extent(look.heights),
                extent(look.sides), [one.text.decode(errors="replace")
                                     for one in look.suspicions[:look.suspicion_count]],
                list(self._messages(found.glcnn_dataset_note)))
        finally:
            found.glcnn_data_look_destroy(ctypes.byref(pointer))

    def _messages(self, get: Any) -> Iterator[str]:
        number = 0
        while get(self._set.pointer, number):
            yield get(self._set.pointer, number).decode(errors="replace")
            number += 1

    def __repr__(self) -> str:
        return "<glcnn.Dataset %s: %d images for %s, %s of %s, %d %s>" % (
            self._set.path, self.count, self.name, "bytes" if self._set.info.bytes else "floats",
            "x".join(map(str, self.shape)), self._set.info.class_count,
            "numbers" if self.targets == "numbers" else "classes")

    # ---- Batches ----

    def __len__(self) -> int:
        """Batches of an epoch."""
        return self.count // self.batch if self.shuffle else -(-self.count // self.batch)

    def __iter__(self) -> Iterator[DataBatch]:
        self._epoch += 1
        return self.batches(self._epoch - 1)

    def batches(self, epoch: int) -> Iterator[DataBatch]:
        """Those of the epoch of that number, from 0: the same whenever it is asked for. Asking for
        another while one is read ends that."""
        loader = self._begin(epoch)
        for _ in range(loader.steps):
            if loader is not self._loader:
                raise refuse("the batches of another epoch of this dataset were asked for meanwhile")
            batch = self._arrays(loader.read())
            if len(batch.images):
                yield batch

    def _begin(self, epoch: int) -> _Loader:
        step = epoch * len(self)
        if not self._loader or self._loader.next != step:
            self._loader = None  # its threads end before others begin
            self._loader = _Loader(self._set, _c.glcnn_data_loader_parameters(
                part=self._part, batch=self.batch, threads=self._threads, shuffle=self.shuffle,
                seed=self.seed, step=step, bytes=self._set.info.bytes))
        return self._loader

    def _arrays(self, batch: Any) -> DataBatch:
        """A copy of a batch, without its empty places."""
        values = batch.bytes if self._set.info.bytes else batch.floats
        images = numpy.ctypeslib.as_array(values, (batch.count, *self.shape))
        indices = numpy.ctypeslib.as_array(batch.indices, (batch.count,))
        filled = indices != _EMPTY
        if self.targets == "nothing":
            return DataBatch(images[filled], None)
        if self.targets == "boxes":
            return DataBatch(images[filled], [self._boxes(int(i)) for i in indices[filled]])
        return DataBatch(images[filled], self._labels(batch)[filled])

    def _boxes(self, index: int) -> Any:
        """[K][6] of an image."""
        count = ctypes.c_uint32()
        found = library("glcnn_data").glcnn_dataset_boxes(self._set.pointer, self._part, index,
                                                           ctypes.byref(count))
        return numpy.array([(b.left, b.top, b.right, b.bottom, b.label,
                             1 if b.is_crowd else 2 if b.is_difficult else 0)
                            for b in found[:count.value]], numpy.float32).reshape(-1, 6)

    def _labels(self, batch: Any) -> Any:
        if self.targets == "numbers":
            return numpy.ctypeslib.as_array(batch.numbers,
                                            (batch.count, self._set.info.class_count))
        if self.targets == "masks":
            return numpy.ctypeslib.as_array(batch.masks, (batch.count, *self.shape[1:]))
        return numpy.ctypeslib.as_array(batch.labels, (batch.count,)).astype(numpy.int64)


def _sides(size: Any) -> Tuple[int, int]:
    """Height and width; 0 where they are not given."""
    if size is None:
        return 0, 0
    sides = (size, size) if isinstance(size, int) else tuple(size)
    if len(sides) != 2:
        raise refuse("size is %r; expected (H, W) or one number for both" % (size,))
    return whole("size", sides[0], 1), whole("size", sides[1], 1)
