"""What a training is: what must not have changed for it to go on as if nothing had happened."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from steptime.engine.feeds.arrays import ArrayFeed
from steptime.engine.feeds.stream import StreamFeed
from steptime.engine.private_keras import datasets
from steptime.engine.request import FitRequest

# Rows of the data that are hashed: enough to notice other data, and no time.
_ROWS = 256
_SHOWN = 10

Identity = dict[str, Any]


def identity_of(model: keras.Model, feed: ArrayFeed | StreamFeed, request: FitRequest) -> Identity:
    """Describes model, optimizer, data and batches in JSON types.

    Args:
        model: Before anything was trained in this process.
        feed: Its data.
        request: The arguments of the fit.
    """
    identity: Identity = {
        "model": _config(model.get_config),
        "compile": _config(model.get_compile_config),
        "data": _data(feed) | _steps(request.x),
        "steps_per_epoch": request.steps_per_epoch,
        "validated": request.validation_data is not None or bool(request.validation_split),
        "learning_rate": learning_rate_of(model),
    }
    if isinstance(feed, ArrayFeed):
        identity |= {"batch_size": feed.batch_size, "shuffle": feed.shuffle, "seed": request.seed}
    return identity


def differences(kept: Mapping[str, Any], now: Mapping[str, Any], kept_rate: float | None) -> list[str]:
    """Says in words in what two identities differ.

    Args:
        kept: That of the checkpoint.
        now: That of this process.
        kept_rate: The learning rate when the checkpoint was taken. A model that was trained on in this process
            has it already, and a new one the rate it was compiled with.
    """
    found: list[str] = []
    for key in sorted(kept.keys() | now.keys()):
        if key == "learning_rate":
            if now.get(key) not in (kept.get(key), kept_rate):
                found.append(f"learning_rate: {kept.get(key)} in the checkpoint, {now.get(key)} now")
        else:
            _compare(key, kept.get(key), now.get(key), found)
    more = len(found) - _SHOWN
    return found if more <= 0 else [*found[:_SHOWN], f"and {more} more"]


def accumulation_of(identity: Mapping[str, Any]) -> int:
    """Steps that Keras' optimizer takes for one update."""
    optimizer = (identity.get("compile") or {}).get("optimizer")
    config = optimizer.get("config") if isinstance(optimizer, dict) else None
    return int((config or {}).get("gradient_accumulation_steps") or 1)


def _compare(where: str, kept: Any, now: Any, found: list[str]) -> None:
    if isinstance(kept, dict) and isinstance(now, dict):
        for key in sorted(kept.keys() | now.keys()):
            _compare(f"{where}.{key}", kept.get(key), now.get(key), found)
    elif isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now):
        for index, (a, b) in enumerate(zip(kept, now, strict=True)):
            _compare(f"{where}[{_label(index, a)}]", a, b, found)
    elif kept != now:
        found.append(f"{where}: {_short(kept)} in the checkpoint, {_short(now)} now")


def _label(index: int, item: Any) -> str:
    config = item.get("config") if isinstance(item, dict) else None
    name = config.get("name") if isinstance(config, dict) else None
    return str(name or index)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _config(read: Callable[[], Any]) -> Any:
    """A configuration as plain JSON; None where the person's own class has none."""
    try:
        text = json.dumps(read(), default=_name)
    except Exception:  # noqa: BLE001  # a person's own get_config; the variables are compared in any case
        return None
    # Keras numbers names by how often they were used in the process.
    config = json.loads(re.sub(r'_\d+(?=")', "", text))
    optimizer = config.get("optimizer") if isinstance(config, dict) else None
    if isinstance(optimizer, dict) and isinstance(optimizer.get("config"), dict):
        rate = optimizer["config"].get("learning_rate")
        if not isinstance(rate, dict):  # A number is compared by itself; a schedule stays.
            optimizer["config"].pop("learning_rate", None)
    return config


def _name(value: Any) -> str:
    return str(getattr(value, "__name__", type(value).__name__))


def learning_rate_of(model: keras.Model) -> float | None:
    """The learning rate now; None for a schedule."""
    rate = getattr(getattr(model, "optimizer", None), "_learning_rate", None)
    return float(rate.numpy()) if isinstance(rate, keras.Variable) else None


def _data(feed: ArrayFeed | StreamFeed) -> dict[str, Any]:
    specs = [s for s in tf.nest.flatten(feed.element_spec) if hasattr(s, "dtype")]
    if isinstance(feed, ArrayFeed):
        elements = [f"{spec.dtype.name}{list(spec.shape[1:])}" for spec in specs]
        return {"elements": elements, "samples": feed.samples, "content": _digest(feed)}
    batches = [f"{spec.dtype.name}{spec.shape}" for spec in specs]
    return {"batches": batches, "number_of_batches": feed.num_batches}


def _steps(x: Any) -> dict[str, Any]:
    """What a data set is made of, step by step: a saved iterator fits the same steps only."""
    if not isinstance(x, tf.data.Dataset):
        return {}
    return {
        "steps": [[datasets.kind(step), datasets.number(step, "batch_size")] for step in datasets.chain(x)]
    }


def _digest(feed: ArrayFeed) -> str:
    """A hash of rows that lie evenly in the data, in the order of the data."""
    rows = np.linspace(0, feed.samples - 1, min(feed.samples, _ROWS)).astype(np.int64)
    digest = hashlib.sha256()
    with tf.device("/CPU:0"):
        for tensor in tf.nest.flatten(feed.host):
            if tensor is not None:
                values = tf.gather(tensor, rows).numpy()
                digest.update(repr(values.tolist()).encode() if values.dtype.hasobject else values.tobytes())
    return digest.hexdigest()[:16]
