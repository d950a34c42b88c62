"""Facts of the validation data: are they the training data, and do they show the same classes?"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from steptime.engine.inspection import pipeline
from steptime.engine.inspection.data import arrays_of, classes_of
from steptime.engine.inspection.losses import loss_name, losses_of
from steptime.engine.inspection.sample import leaves, rows, shape_of
from steptime.engine.inspection.subject import DoesNotApply, NotKnown, Subject

_COMPARED = 500
# Hashing this many bytes takes about a tenth of a second.
_HASHED_BYTES = 128 * 2**20
_HASHED_ROWS = 150_000
# Fewer samples of a class than this tell nothing about its share.
_SAMPLES_A_CLASS = 10


def read_validation(subject: Subject) -> dict[str, Any]:
    """How much of the validation data is trained on.

    Raises:
        DoesNotApply: There are none.
        NotKnown: They can't be compared without making them.
    """
    given = subject.request.validation_data
    if given is None:
        raise DoesNotApply("there are no validation data of their own")
    if given is subject.request.x:
        return _same("object")
    if isinstance(given, tf.data.Dataset):
        elements = pipeline.sliced(given)
        x_val = elements[0] if isinstance(elements, tuple) else elements
    elif isinstance(given, (tuple, list)) and given:
        x_val = given[0]
    else:
        raise NotKnown("the validation data come from Python code, which is not called for this")
    if x_val is subject.request.x:
        return _same("object")
    x, _ = arrays_of(subject)
    train, held = [leaf for _, leaf in leaves(x)], [leaf for _, leaf in leaves(x_val)]
    if not train or [shape_of(leaf)[1:] for leaf in train] != [shape_of(leaf)[1:] for leaf in held]:
        raise NotKnown("training and validation inputs have different forms")
    return _compared(train, held)


def _same(how: str) -> dict[str, Any]:
    return {"same": how, "overlap_share": None, "compared": None, "samples": None, "numbers": None}


def _compared(train: list[Any], held: list[Any]) -> dict[str, Any]:
    """Compare samples as a whole: one input alone, such as a mask, may well be the same in all of them."""
    shapes = [shape_of(leaf) for leaf in held]
    numbers = sum(math.prod(shape[1:]) for shape in shapes)
    facts = {"same": None, "overlap_share": None, "samples": shapes[0][0], "numbers": numbers}
    # The same rows of each input, also where one has large ones.
    most = min(len(rows(leaf, most_rows=_COMPARED)) for leaf in held)
    some = [rows(leaf, most_rows=most) for leaf in held]
    facts["compared"] = len(some[0])
    if [shape_of(leaf) for leaf in train] == shapes and all(
        np.array_equal(part, rows(leaf, most_rows=most)) for part, leaf in zip(some, train, strict=True)
    ):
        return facts | {"same": "values", "overlap_share": 1.0}
    whole = all(
        isinstance(leaf, (np.ndarray, tf.Tensor)) and not isinstance(leaf, np.memmap) for leaf in train
    )
    if not whole or shape_of(train[0])[0] > _HASHED_ROWS:
        raise NotKnown("the training data are too large to look for each validation sample among them")
    values = [np.asarray(leaf) for leaf in train]
    if sum(leaf.nbytes for leaf in values) > _HASHED_BYTES or [leaf.dtype for leaf in values] != [
        part.dtype for part in some
    ]:
        raise NotKnown(
            "the training data are too large, or of another dtype, to look for validation samples among them"
        )
    known = set(_hashes(values))
    return facts | {"overlap_share": sum(one in known for one in _hashes(some)) / max(len(some[0]), 1)}


def _hashes(inputs: "list[np.ndarray[Any, Any]]") -> Iterator[int]:
    """Hash each sample over all its inputs."""
    return (hash(tuple(row.tobytes() for row in sample)) for sample in zip(*inputs, strict=True))


def read_split(subject: Subject) -> dict[str, Any]:
    """How the labels that `validation_split` holds back differ from the rest.

    Raises:
        DoesNotApply: There is no split.
        NotKnown: The targets are not one number a sample.
    """
    request = subject.request
    if not request.validation_split or request.validation_data is not None:
        raise DoesNotApply("there is no validation_split")
    classes = classes_of(request.y) if _takes_classes(subject) else None
    facts: dict[str, Any] = {"share": float(request.validation_split), "unseen_share": None, "distance": None}
    if classes is None:
        classes, is_class = _bins(request.y), False
    else:
        is_class = True
    cut = math.floor(len(classes) * (1.0 - request.validation_split))
    head, tail = classes[:cut], classes[cut:]
    names, numbers = np.unique(classes, return_inverse=True)
    facts |= {"samples": len(tail), "classes": len(names)}
    if len(tail) < _SAMPLES_A_CLASS * len(names) or not len(head):
        return facts
    counted = [
        np.bincount(numbers[part], minlength=len(names)) for part in (slice(None, cut), slice(cut, None))
    ]
    shares = [count / count.sum() for count in counted]
    facts["distance"] = float(np.abs(shares[0] - shares[1]).sum() / 2)
    if is_class:
        facts["unseen_share"] = float(shares[1][counted[0] == 0].sum())
    return facts


def _takes_classes(subject: Subject) -> bool:
    """Whether a loss reads labels as classes; to any other one a whole number is a quantity."""
    names = (loss_name(loss) or "" for loss in losses_of(subject.model))
    return any(name.lower().replace("_", "").endswith("crossentropy") for name in names)


def _bins(y: Any) -> "np.ndarray[Any, Any]":
    """Ten bins of equal size for targets that are numbers.

    Raises:
        NotKnown: They are not one number a sample.
    """
    found = leaves(y)
    values = np.asarray(found[0][1]) if len(found) == 1 else np.empty((0, 2))
    if values.size != len(values) or not values.size or values.dtype.kind not in "iuf":
        raise NotKnown("the targets are not one number or class a sample")
    flat = values.reshape(-1)
    edges = np.quantile(flat, np.linspace(0.1, 0.9, 9))
    return np.asarray(np.searchsorted(edges, flat))
