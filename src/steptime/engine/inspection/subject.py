"""What is looked at."""

from dataclasses import dataclass, field
from typing import Any

import keras
import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.inspection.fits import PastFits
from steptime.engine.request import FitRequest
from steptime.record.model_facts import DOES_NOT_APPLY


class NotKnown(Exception):  # noqa: N818 - it is no error: it carries the reason why a fact is absent
    """A fact can't be told; the text says why."""


class DoesNotApply(NotKnown):
    """There is nothing that the fact could be about."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{DOES_NOT_APPLY}: {reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A model and a call of `fit`.

    Attributes:
        model: The model, compiled.
        request: The arguments of the call.
        past: Earlier fits in this process.
        traces: Holds the model's trace once a probe needed it.
    """

    model: keras.Model
    request: FitRequest
    past: PastFits = field(default_factory=PastFits)
    traces: list[Any] = field(default_factory=list, repr=False)

    @property
    def dataset(self) -> tf.data.Dataset | None:
        """The tf.data pipeline, if that is what is trained on."""
        return self.request.x if isinstance(self.request.x, tf.data.Dataset) else None

    def graph(self) -> "private_keras.Graph":
        """The model's graph.

        Raises:
            NotKnown: Its `call` is Python.
        """
        graph = private_keras.graph_of(self.model)
        if graph is None:
            raise NotKnown("the model's call is Python, so the way through its layers is not known")
        return graph

    def layers(self) -> list[Any]:
        """All layers that have what weights they need, at any depth.

        Raises:
            NotKnown: The model has no weights yet.
        """
        if not self.model.built:
            raise NotKnown(UNBUILT)
        return [layer for layer in private_keras.flatten_layers(self.model)[1:] if layer.built]


UNBUILT = "the model has no weights before its first step"
