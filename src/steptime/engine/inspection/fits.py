"""The fits of one process."""

from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import keras

from steptime.engine.request import FitRequest


def passes(request: FitRequest) -> int:
    """The epochs that a fit trains."""
    return max(int(request.epochs) - int(request.initial_epoch), 0)


@dataclass(slots=True)
class PastFits:
    """Remembers how many epochs and steps each model was trained by each fit; models that are gone are forgotten."""

    _epochs: "WeakKeyDictionary[Any, list[int]]" = field(default_factory=WeakKeyDictionary)

    def note(self, model: keras.Model, request: FitRequest) -> None:
        """Remember a fit that has ended."""
        self._epochs.setdefault(model, []).append(passes(request))

    def epochs(self, model: keras.Model) -> list[int]:
        """Epochs of each earlier fit of a model, oldest first."""
        return list(self._epochs.get(model, ()))
