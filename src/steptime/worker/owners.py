"""Tells from an operation's name which layer it belongs to and what it does there."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# What TensorFlow puts before the names of a step inside loops and calls.
_PREFIX = re.compile(
    r"^(?:.*?/)?(?:StatefulPartitionedCall|PartitionedCall)/(?!.*(?:StatefulPartitionedCall|PartitionedCall)/)"
)
_UNIQUE = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Where an operation belongs.

    Attributes:
        layer: Name of the layer; None outside layers.
        role: forward, backward, update, loss, metrics, input or other.
    """

    layer: str | None
    role: str


class Owners:
    """Finds owners by name.

    Keras opens a name scope for each layer; TensorFlow adds a number where it has seen a name before, so that
    "conv2d_1" may be the layer of that name or the layer "conv2d".

    Args:
        layers: Names of all layers.
        names: Names of all operations there are.
        optimizer: Name of the optimizer.
    """

    def __init__(self, layers: Iterable[str], names: Iterable[str], optimizer: str) -> None:
        scopes = {part for name in names for part in inside(name).split("/")[:-1]}
        self._layers = _scopes_of(set(layers), scopes)
        self._optimizer = re.compile(rf"{re.escape(optimizer)}(_\d+)?") if optimizer else None

    def of(self, name: str, group: str = "") -> Owner:
        """Return the owner of the operation ``name``.

        Args:
            name: Its name in the trace or in the graph.
            group: Its group, which tells reading of data by itself.
        """
        if group == "input":
            return Owner(layer=None, role="input")
        parts = inside(name).split("/")
        if self._optimizer and any(self._optimizer.fullmatch(part) for part in parts[:-1]):
            return Owner(layer=None, role="update")
        backward = "gradient_tape" in parts
        layer = next((self._layers[part] for part in reversed(parts[:-1]) if part in self._layers), None)
        if layer is not None:
            return Owner(layer=layer, role="backward" if backward else "forward")
        if any("loss" in part for part in parts):
            return Owner(layer=None, role="loss")
        return Owner(layer=None, role="other")


def inside(name: str) -> str:
    """Return the name without what TensorFlow puts before it inside loops and calls."""
    return _PREFIX.sub("", name)


def _scopes_of(layers: set[str], scopes: set[str]) -> Mapping[str, str]:
    """Map the scopes that stand for layers to them; each layer is taken by its longest name first."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for scope in sorted(scopes):
        stripped = _UNIQUE.sub("", scope)
        if scope not in layers and stripped in layers:
            found[scope] = stripped
            taken.add(stripped)
    for scope in sorted(scopes & layers):
        stripped = _UNIQUE.sub("", scope)
        if scope in taken and stripped in layers:
            found[scope] = stripped
        else:
            found[scope] = scope
    return found
