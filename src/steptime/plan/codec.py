"""Turns frozen dataclasses into JSON values and back, by their annotations.

Owns the mapping only; files belong to ``record``. Unknown keys are an error when reading, because a key that
is silently dropped is information lost.
"""

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from steptime.errors import RecordError, UsageError

_T = TypeVar("_T")
_HINT = "The file was not written by this version of steptime, or was changed since."


def to_json(value: object) -> Any:
    """Return ``value`` as JSON types: dataclasses as objects, tuples as arrays, mappings as objects."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]
    return value


def from_json(kind: type[_T], value: object, where: str = "") -> _T:
    """Build a ``kind`` from JSON ``value``.

    Args:
        kind: A dataclass, or any type its annotations may name.
        value: What ``json.loads`` returned.
        where: The path to this value, for error messages.

    Raises:
        RecordError: ``value`` does not have the shape that ``kind`` declares.
    """
    return cast("_T", _decode(kind, value, where or getattr(kind, "__name__", "value")))


def _decode(kind: Any, value: Any, where: str) -> Any:
    origin = typing.get_origin(kind)
    if kind is Any or kind is object:
        return value
    if origin in (typing.Union, types.UnionType):
        return _decode_union(typing.get_args(kind), value, where)
    if origin is tuple:
        return _decode_tuple(typing.get_args(kind), value, where)
    if origin in (dict, Mapping):
        _expect(isinstance(value, dict), "an object", value, where)
        item_kind = typing.get_args(kind)[1]
        return {key: _decode(item_kind, item, f"{where}.{key}") for key, item in value.items()}
    if dataclasses.is_dataclass(kind):
        return _decode_dataclass(kind, value, where)
    if kind is float:
        _expect(isinstance(value, (int, float)) and not isinstance(value, bool), "a number", value, where)
        return float(value)
    if kind is int:
        _expect(isinstance(value, int) and not isinstance(value, bool), "a whole number", value, where)
        return value
    _expect(isinstance(value, kind), f"a value of type {kind.__name__}", value, where)
    return value


def _decode_union(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    (kind,) = (kind for kind in kinds if kind is not type(None))
    return _decode(kind, value, where)


def _decode_tuple(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    _expect(isinstance(value, list), "an array", value, where)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_decode(kinds[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    _expect(len(value) == len(kinds), f"an array of {len(kinds)}", value, where)
    pairs = zip(kinds, value, strict=True)
    return tuple(_decode(kind, item, f"{where}[{i}]") for i, (kind, item) in enumerate(pairs))


def _decode_dataclass(kind: Any, value: Any, where: str) -> Any:
    _expect(isinstance(value, dict), "an object", value, where)
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    unknown = sorted(set(value) - set(fields))
    _expect(not unknown, f"only the keys {sorted(fields)}", unknown, where)
    required = {
        name
        for name, field in fields.items()
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    missing = sorted(required - set(value))
    _expect(not missing, f"the keys {missing}", sorted(value), where)
    decoded = {name: _decode(hints[name], item, f"{where}.{name}") for name, item in value.items()}
    try:
        return kind(**decoded)
    except UsageError as error:  # a value outside its limits, as the class itself checks
        raise RecordError(f"{where}: {error.message}", hint=_HINT) from None


def _expect(ok: bool, expected: str, received: object, where: str) -> None:
    if not ok:
        text = repr(received)
        shown = text if len(text) <= 80 else text[:77] + "..."
        raise RecordError(
            f"{where} must be {expected}. Received: {shown}",
            hint=_HINT,
        )
