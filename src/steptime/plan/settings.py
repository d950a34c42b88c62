"""How to train: every setting with its type, default, meaning and limits, declared once.

Flags, ``--set``, ``steptime.toml``, ``steptime settings`` and docs/settings.md are made from this one table.
"""

import dataclasses
import difflib
import math
import re
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from steptime.errors import UsageError
from steptime.plan.cadence import EVERY_PATTERN, EVERY_WORDS


def _setting(
    default: Any,
    meaning: str,
    *,
    choices: tuple[str, ...] = (),
    pattern: str = "",
    words: str = "",
    above: float | None = None,
    minimum: float | None = None,
    below: float | None = None,
) -> Any:
    limits = {
        "choices": choices,
        "pattern": pattern,
        "words": words,
        "above": above,
        "minimum": minimum,
        "below": below,
    }
    return field(default=default, metadata={"meaning": meaning, **limits})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a workload is trained. Every field is one key of ``--set`` and of ``steptime.toml``."""

    device: str = _setting(
        "auto",
        "Where to train: auto, cpu, gpu (the first one) or gpu:N. auto takes a usable GPU if there is one.",
        pattern=r"auto|cpu|gpu(:\d+)?",
        words="auto, cpu, gpu or gpu:N",
    )
    devices: str = _setting(
        "1",
        "How many devices train together in each worker: a number, or all. CPUs are split into so many "
        "logical devices, which is for trying.",
        pattern=r"all|[1-9]\d*",
        words="all or a number from 1",
    )
    workers: int = _setting(1, "Processes that train together, on one machine or several.", minimum=1)
    launcher: str = _setting(
        "local",
        "What starts the workers when there are several: processes of this machine, or Ray.",
        choices=("local", "ray"),
    )
    scale_batch: bool = _setting(
        False,
        "Whether the batch, and with it the learning rate, is multiplied by the number of devices (linear "
        "scaling rule). Changes results.",
    )
    batch_size: int = _setting(
        32, "Samples per training step; a tf.data.Dataset brings its own batches.", minimum=1
    )
    epochs: int = _setting(10, "Passes over the training data.", minimum=1)
    steps_per_epoch: int | None = _setting(
        None, "Steps that make an epoch; none means all the data.", minimum=1
    )
    # NumPy's generators take 32 bits.
    seed: int = _setting(0, "Seed of initial weights, data order and dropout.", minimum=0, below=2**32)
    loop: str = _setting(
        "auto",
        "How training steps are executed; auto measures on real steps and takes the fastest. Name one for long "
        "runs that must repeat to the last bit: two measurements may choose differently.",
        choices=("auto", "keras", "graph", "xla"),
    )
    exact_kernels: str = _setting(
        "auto",
        "Whether fused kernels with equal results may replace Keras' batch normalisation and Adam.",
        choices=("auto", "on", "off"),
    )
    precision: str = _setting(
        "float32",
        "Keras' dtype policy. Other than float32 computes in half precision and changes results.",
        choices=("float32", "mixed_float16", "mixed_bfloat16"),
    )
    tf32: bool = _setting(
        True, "Whether NVIDIA GPUs from Ampere on may multiply float32 with 10 bits of mantissa (TF32)."
    )
    xla: str = _setting(
        "auto",
        "Keras' jit_compile when steptime compiles the model: auto leaves the choice to Keras.",
        choices=("auto", "on", "off"),
    )
    threads: int | None = _setting(None, "Threads inside one op; none lets TensorFlow choose.", minimum=1)
    inter_threads: int | None = _setting(
        None, "Ops that run at once; none lets TensorFlow choose.", minimum=1
    )
    deterministic: bool = _setting(
        False,
        "Whether TensorFlow must use deterministic kernels. Slower, and XLA is off; a CPU needs it not.",
    )
    on_nan: str = _setting(
        "stop",
        "When the loss becomes NaN or infinite: stop at that step and say where it came from, or continue as Keras "
        "does.",
        choices=("stop", "continue"),
    )
    optimizer: str = _setting("adam", "Keras' name of the optimizer, when steptime compiles the model.")
    learning_rate: float | None = _setting(
        None, "Learning rate, when steptime compiles the model; none is the optimizer's own.", above=0.0
    )
    loss: str = _setting(
        "auto", "Keras' name of the loss, when steptime compiles the model; auto chooses by labels and head."
    )
    metrics: str = _setting(
        "auto", "Keras' names of metrics, joined by commas, when steptime compiles the model; none for none."
    )
    shuffle: bool = _setting(True, "Whether arrays are shuffled anew each epoch.")
    validation: bool = _setting(True, "Whether to validate, if the workload brings validation data.")
    validation_freq: int = _setting(1, "Validate every so many epochs.", minimum=1)
    validation_split: float = _setting(
        0.0, "Share of the training arrays held back for validation.", minimum=0.0, below=1.0
    )
    validation_batch_size: int | None = _setting(
        None, "Samples per validation step; none is the batch size.", minimum=1
    )
    checkpoint_every: str = _setting(
        "auto",
        "How often the training is kept, to go on from there: a time (5m), steps (200steps), epochs (1epoch), none, or "
        "auto: every 5 minutes and at each epoch's end; with loop=keras, which is Keras' own fit, none.",
        pattern=EVERY_PATTERN,
        words=EVERY_WORDS,
    )
    checkpoint_keep: int = _setting(3, "How many of the newest checkpoints are kept.", minimum=1)
    checkpoint_best: str | None = _setting(
        "auto",
        "Metric whose best checkpoint is kept as well; auto is val_loss where there is validation, none is none.",
    )
    name: str | None = _setting(
        None,
        "Name of the run in lists and folders.",
        pattern=r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}",
        words="at most 64 letters, digits, dots, dashes and underscores, a letter or digit first",
    )

    def __post_init__(self) -> None:
        for declaration in dataclasses.fields(self):
            _check(declaration, getattr(self, declaration.name))


def describe() -> tuple[tuple[str, str, str, str], ...]:
    """Return (key, type, default, meaning) of every setting, as text."""
    return tuple(
        (item.name, _type_text(item), _value_text(item.default), str(item.metadata["meaning"]))
        for item in dataclasses.fields(Settings)
    )


def change(settings: Settings, pairs: Mapping[str, object], origin: str) -> Settings:
    """Return ``settings`` with ``pairs`` applied.

    Args:
        settings: What to start from.
        pairs: Key to value; text values are read by the type of the key (``none`` for nothing).
        origin: Where the pairs come from, for the error message, such as ``--set``.

    Raises:
        UsageError: An unknown key (the nearest right one is named) or a value outside its limits.
    """
    declared = {item.name: item for item in dataclasses.fields(Settings)}
    changed: dict[str, Any] = {}
    for raw_key, value in pairs.items():
        key = raw_key.replace("-", "_")
        if key not in declared:
            near = difflib.get_close_matches(key, declared, n=1)
            raise UsageError(
                f"{origin} must name a setting. Received: {raw_key!r}",
                hint=f"Did you mean {near[0]!r}?" if near else "`steptime settings` lists every key.",
            )
        changed[key] = _read(declared[key], value) if isinstance(value, str) else value
    return dataclasses.replace(settings, **changed)


def parse_pairs(texts: Iterable[str], origin: str) -> dict[str, str]:
    """Split ``key=value`` texts.

    Raises:
        UsageError: A text without ``=``.
    """
    pairs = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(
                f"{origin} must be KEY=VALUE. Received: {text!r}", hint="For example: --set batch_size=128"
            )
        pairs[key.strip()] = value.strip()
    return pairs


def _kinds(declaration: dataclasses.Field[Any]) -> tuple[type, bool]:
    """Return the plain type of a setting and whether it may be None."""
    kind: Any = declaration.type
    if isinstance(kind, types.UnionType):
        args = typing.get_args(kind)
        return next(arg for arg in args if arg is not type(None)), True
    return kind, False


def _read(declaration: dataclasses.Field[Any], text: str) -> Any:
    kind, may_be_none = _kinds(declaration)
    if may_be_none and text.lower() in ("none", ""):
        return None
    if kind is bool:
        words = {"true": True, "on": True, "yes": True, "1": True}
        words |= {"false": False, "off": False, "no": False, "0": False}
        return words.get(text.lower(), text)
    if kind is str:
        return text
    try:
        return kind(text.replace("_", ""))
    except ValueError:
        return text


def _check(declaration: dataclasses.Field[Any], value: Any) -> None:
    kind, may_be_none = _kinds(declaration)
    if value is None and may_be_none:
        return
    accepted = (int, float) if kind is float else kind
    right_type = isinstance(value, accepted) and not (kind in (int, float) and isinstance(value, bool))
    if not right_type or not _within(declaration.metadata, value):
        raise UsageError(
            f"{declaration.name} must be {_expectation(declaration)}. Received: {value!r}",
            hint=str(declaration.metadata["meaning"]),
        )


def _within(limits: Mapping[str, Any], value: Any) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        return False
    if limits["choices"] and value not in limits["choices"]:
        return False
    if limits["pattern"] and not re.fullmatch(limits["pattern"], value):
        return False
    if limits["above"] is not None and not value > limits["above"]:
        return False
    if limits["below"] is not None and not value < limits["below"]:
        return False
    return limits["minimum"] is None or bool(value >= limits["minimum"])


def _expectation(declaration: dataclasses.Field[Any]) -> str:
    kind, may_be_none = _kinds(declaration)
    limits = declaration.metadata
    if limits["choices"]:
        text = "one of " + ", ".join(limits["choices"])
    elif limits["pattern"]:
        text = limits["words"]
    else:
        text = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}[kind]
    for key, words in (("above", "above"), ("minimum", "of at least"), ("below", "and below")):
        if limits[key] is not None:
            text += f" {words} {int(limits[key]) if limits[key] == int(limits[key]) else limits[key]}"
    return text + (", or none" if may_be_none else "")


def _type_text(declaration: dataclasses.Field[Any]) -> str:
    choices: tuple[str, ...] = declaration.metadata["choices"]
    if choices:
        return " | ".join(choices)
    kind, may_be_none = _kinds(declaration)
    return kind.__name__ + (" | none" if may_be_none else "")


def _value_text(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return str(value)
