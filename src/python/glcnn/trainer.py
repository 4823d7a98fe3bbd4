"""Training by the library's own loop, that of glcnn train: glcnn/train.h and glcnn/report.h."""
from __future__ import annotations

import ctypes
import math
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Union

from . import _c
from ._library import Error, c, call, library, refuse, text
from .dataset import Dataset
from .device import Device, default_device
from .metrics import History, Score
from .network import Network, load

Path = Union[str, "os.PathLike[str]"]

END = _c.TrainEventKind.END


# ---- Settings ----

class Setting(NamedTuple):
    """A row of the table that glcnn train's options are made of too. `value` is None of what is on or
    off, and `choices` are those of a name."""
    name: str
    value: Optional[str]
    text: str
    choices: List[str]


def settings() -> List[Setting]:
    """What `train` takes, in the order of "glcnn help train", with the library's words and defaults."""
    calls = library("glcnn_train")
    found: List[Setting] = []
    while row := calls.glcnn_train_setting_at(len(found)):
        choices: List[str] = []
        while name := calls.glcnn_train_setting_choice(row, len(choices)):
            choices.append(name.decode())
        one = row.contents
        found.append(Setting(one.name.decode().replace("-", "_"), text(one.value),
                             one.text.decode(), choices))
    return found


def _text(name: str, value: Any) -> bytes:
    """A setting's value as the library reads it."""
    if isinstance(value, bool):
        return b"1" if value else b"0"
    if isinstance(value, (list, tuple)):
        if name == "size" and len(value) == 2:
            return b"%dx%d" % (value[1], value[0])  # arrays are [H][W], texts WxH
        return ",".join(map(str, value)).encode()
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsencode(value)
    return repr(value.item() if hasattr(value, "item") else value).encode()


# ---- Events ----

class Event:
    """What happened: struct glcnn_train_event. What a kind has no value for is 0 or None."""

    def __init__(self, made: Any):
        for name, _ in made._fields_:
            value = getattr(made, name)
            setattr(self, name, value.decode(errors="replace") if isinstance(value, bytes) else value)
        self.kind, self.status = _c.TrainEventKind(made.kind), _c.Status(made.status)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError("an event has no " + name)

    def __repr__(self) -> str:
        return "<glcnn.Event %s>" % self.kind.name


class Trainer:
    """A training that is taken event by event: it goes on while it is iterated over.

        with glcnn.Trainer(data="fruit", out="fruit.safetensors", epochs=5) as trainer:
            for event in trainer:
                if event.kind == glcnn.TrainEventKind.EPOCH:
                    print(event.epoch, event.validation_measure)

    The last event, END, has the status; nothing is raised for a training that fails."""

    def __init__(self, data: Union[Path, Dataset, None] = None, *, device: Optional[Device] = None,
                 **settings: Any):
        self._calls, self._device = library("glcnn_train"), device or default_device()
        self._pointer = ctypes.POINTER(_c.glcnn_trainer)()
        self._observers = ctypes.POINTER(_c.glcnn_observers)()
        self._ended, self._data = False, data  # a dataset must outlive the trainer
        given = self._settings({"data": data, **settings})
        try:
            call(self._calls.glcnn_trainer_create, self._device.enter(), given,
                 ctypes.byref(self._pointer))
        finally:
            self._calls.glcnn_train_settings_destroy(ctypes.byref(given))
        call(self._calls.glcnn_observers_create, self._pointer, ctypes.byref(self._observers))

    def _settings(self, values: Dict[str, Any]) -> Any:
        made = self._calls.glcnn_train_settings_create()
        for name, value in values.items():
            if value is None:
                continue
            try:
                if isinstance(value, Dataset) and name == "data":
                    call(self._calls.glcnn_train_settings_set_dataset, made, value.pointer)
                    continue
                call(self._calls.glcnn_train_settings_set, made, name.encode(), _text(name, value))
            except Error:
                self._calls.glcnn_train_settings_destroy(ctypes.byref(made))
                raise
        return made

    def __iter__(self) -> Iterator[Event]:
        made = ctypes.POINTER(_c.glcnn_train_event)()
        while not self._ended and self._pointer:
            self._device.enter()
            self._calls.glcnn_trainer_next(self._pointer, ctypes.byref(made))
            self._calls.glcnn_observers_take(self._observers, made)
            event = Event(made.contents)
            self._ended = event.kind == END
            yield event

    def stop(self) -> None:
        """Has it end after the step under way, which is saved."""
        if self._pointer:
            self._calls.glcnn_trainer_stop(self._pointer)

    def close(self) -> None:
        """Ends it wherever it is, without another checkpoint."""
        self._calls.glcnn_observers_destroy(ctypes.byref(self._observers))
        self._calls.glcnn_trainer_destroy(ctypes.byref(self._pointer))

    def __enter__(self) -> Trainer:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            self._device.give_up(self._calls.glcnn_observers_destroy, self._observers)
            self._device.give_up(self._calls.glcnn_trainer_destroy, self._pointer)


# ---- What is shown ----

class Progress:
    """Prints notes and epochs, and where somebody looks at it a line on the epoch under way."""

    def __init__(self) -> None:
        self.draws = sys.stdout.isatty() or "ipykernel" in sys.modules
        self.next, self.shown = 0.0, 0

    def __call__(self, event: Event) -> None:
        kind = event.kind
        if kind == _c.TrainEventKind.STEP:
            if self.draws and time.monotonic() >= self.next:
                self.next = time.monotonic() + 0.2
                self.line("epoch %d of %d: %d of %d images, loss %.4f" % (
                    event.epoch, event.epochs, event.done, event.images, event.mean_loss), "\r")
            return
        if kind == _c.TrainEventKind.EPOCH:
            self.line(_epoch_text(event), "\n")
        elif event.text and kind == _c.TrainEventKind.NOTE:
            self.line(event.text, "")
        elif event.text and kind != END:
            self.line("glcnn: " + event.text.rstrip("\n"), "\n")

    def line(self, words: str, end: str) -> None:
        """In place of the line under way."""
        erase = "\r" + " " * self.shown + "\r" if self.shown else ""
        self.shown = len(words) if end == "\r" else 0
        print(erase + words, end=end, flush=True)


def _epoch_text(event: Event) -> str:
    name = _measure(event.task)
    training = "" if math.isnan(event.mean_measure) else ", %s %.4f" % (name, event.mean_measure)
    return "epoch %d of %d: loss %.4f%s; validation loss %.4f, %s %.4f%s" % (
        event.epoch, event.epochs, event.mean_loss, training, event.validation_loss, name,
        event.validation_measure, " (best)" if event.is_best else "")


def _measure(task: Optional[str]) -> str:
    """What the task's measure is called: "mAP@0.5"."""
    calls, number = library("glcnn_train"), 0
    while info := calls.glcnn_task_at(number):
        if info.contents.name.decode() == task:
            return info.contents.measure.decode()
        number += 1
    return "measure"


# ---- Training ----

class Trained(NamedTuple):
    """What a training leaves. `network` is that of the epoch whose validation was best, or if there was
    none that of the last step; `interrupted` tells that it was stopped before its end."""
    network: Network
    history: History
    interrupted: bool


def score_of(event: Event) -> Score:
    """Reads an event EPOCH; the task's measure is in `metrics`, as glcnn.tasks names it."""
    name = {"mAP@0.5": "map_50"}.get(_measure(event.task), _measure(event.task).lower())

    def one(loss: float, measure: float, validation: Any, rate: Optional[float]) -> Score:
        known = not math.isnan(measure)
        return Score(loss, measure if known and event.task == "classify" else None,
                     {name: measure} if known else {}, validation, rate)
    return one(event.mean_loss, event.mean_measure,
               one(event.validation_loss, event.validation_measure, None, None), event.rate)


class _Interrupt:
    """While it is entered the first Ctrl-C stops a trainer; the second is Python's."""

    def __init__(self, trainer: Trainer):
        self.trainer, self.before = trainer, signal.SIG_DFL  # type: Trainer, Any
        self.takes = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> None:
        if self.takes:
            self.before = signal.signal(signal.SIGINT, self._stop)

    def _stop(self, _number: int, _frame: Any) -> None:
        self.trainer.stop()
        self.__exit__()

    def __exit__(self, *_error: Any) -> None:
        if self.takes:
            signal.signal(signal.SIGINT, self.before)


def _run(trainer: Trainer, progress: bool, on_event: Optional[Callable[[Event], Any]]) -> Any:
    history, show = History(), Progress() if progress else None
    for event in trainer:
        if show:
            show(event)
        if event.kind == _c.TrainEventKind.EPOCH:
            history.append(score_of(event))
        if on_event and on_event(event) is False:
            trainer.stop()
    if event.status != _c.Status.SUCCESS:
        raise Error(event.status, event.text or c.glcnn_status_text(event.status).decode())
    return history, event.is_interrupted


def train(data: Any = None, labels: Any = None, *, model: Union[Network, Path, None] = None,
          progress: bool = True, on_event: Optional[Callable[[Event], Any]] = None,
          device: Optional[Device] = None, **settings: Any) -> Trained:
    """Trains a network on labelled pictures, as glcnn train does, and gives it.

        trained = glcnn.train("fruit", epochs=5, patience=2)
        trained.network.predict("new/a.jpg")

    data      the path of pictures: folders of classes, masks, boxes, tables ... (glcnn/data.h); a
              glcnn.Dataset, whose validation part validates; or images, and
    labels    as glcnn.Dataset.of takes them, where `validation` may be (images, labels)
    model     begin with this network, or that of a file; of one without the task's head, a backbone
              or a classifier, the task's is put on its features
    progress  whether notes and a line for each epoch are printed
    on_event  is called with each Event; where it returns False, training ends after the step
    settings  task, epochs, batch, lr, patience (early stopping), out and so on: what glcnn.settings()
              lists, with the library's defaults

    Without `out` no file is left. Ctrl-C ends training after the step, and the network is given as it is
    then; a second one is an exception. A training that fails raises Error."""
    if labels is not None:
        data = Dataset.of(data, labels, seed=settings.get("seed", 0), **{
            name: settings.pop(name) for name in ("validation", "classes") if name in settings})
    folder = tempfile.mkdtemp(prefix="glcnn-")
    try:
        if isinstance(model, Network):
            model.save(os.path.join(folder, "model.safetensors"))
            device, model = device or model.device, os.path.join(folder, "model.safetensors")
        if settings.get("find_lr"):
            raise refuse("find_lr trains no network; glcnn.Trainer(find_lr=True) gives its notes")
        out = os.fspath(settings.setdefault("out", os.path.join(folder, "net.safetensors")))
        with Trainer(data, model=model, device=device, **settings) as trainer:
            with _Interrupt(trainer):
                history, interrupted = _run(trainer, progress, on_event)
        best = "%s.best%s" % os.path.splitext(out)
        has_best = bool(history) and os.path.exists(best)
        return Trained(load(best if has_best else out, device), history, interrupted)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
