"""An arm of a comparison: one configuration, said as ``gpu,precision=mixed_float16``."""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from steptime.errors import UsageError
from steptime.plan.settings import Settings, change, parse_pairs

_HINT = "For example: --arm cpu,loop=keras --arm gpu,precision=mixed_float16"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One configuration in a comparison.

    Attributes:
        name: What people call it; unique in a comparison.
        changes: The settings that make this arm, as text by key; what they do not name is alike in all arms.
    """

    name: str
    changes: Mapping[str, str]

    @property
    def text(self) -> str:
        """The arm as ``--arm`` takes it."""
        given = dict(self.changes)
        device = [given.pop("device")] if "device" in given else []
        named = [f"name={self.name}"] if self.name != _default_name(self.changes) else []
        return ",".join([*device, *(f"{key}={value}" for key, value in given.items()), *named])


def parse_arm(text: str) -> Arm:
    """Read ``DEVICE[,KEY=VALUE ...]``; the device may be left out, and ``name=`` names the arm.

    Raises:
        UsageError: Not of that form, an unknown key, or a value outside its limits.
    """
    items = [item.strip() for item in text.split(",") if item.strip()]
    if not items or any("=" not in item for item in items[1:]):
        raise UsageError(f"--arm must be DEVICE[,KEY=VALUE ...]. Received: {text!r}", hint=_HINT)
    pairs = {"device": items.pop(0)} if "=" not in items[0] else {}
    pairs |= {key.replace("-", "_"): value for key, value in parse_pairs(items, "--arm").items()}
    change(Settings(), pairs, "--arm")
    name = pairs.pop("name", "")
    if not pairs:
        raise UsageError(f"--arm must say how the arm is made. Received: {text!r}", hint=_HINT)
    return Arm(name=name or _default_name(pairs), changes=pairs)


def default_arms(gpus: int) -> tuple[Arm, ...]:
    """Return the arms of the tutorial's question: Keras' stock loop and ours, on the CPU and on each GPU.

    Args:
        gpus: Number of usable GPUs.
    """
    devices = ["cpu", *(["gpu"] if gpus == 1 else [f"gpu:{index}" for index in range(gpus)])]
    return tuple(parse_arm(text) for device in devices for text in (f"{device},loop=keras", device))


def distinct(arms: Iterable[Arm]) -> tuple[Arm, ...]:
    """Return the arms with unique names: a name that comes again is numbered."""
    named: list[Arm] = []
    for arm in arms:
        name, number = arm.name, 1
        while any(name == other.name for other in named):
            number += 1
            name = f"{arm.name} ({number})"
        named.append(dataclasses.replace(arm, name=name))
    return tuple(named)


def find_arm(arms: tuple[Arm, ...], text: str | None) -> Arm:
    """Return the arm that ``--baseline`` names, by its name or its text; the first one for None.

    Raises:
        UsageError: No arm has that name.
    """
    if text is None:
        return arms[0]
    for arm in arms:
        if text in (arm.name, arm.text) or _words(text) == _words(arm.text):
            return arm
    raise UsageError(
        f"--baseline must name an arm: {', '.join(repr(arm.text) for arm in arms)}. Received: {text!r}",
        hint="Without it the first arm is the baseline.",
    )


def settings_of(arm: Arm, base: Settings, repeat: int) -> Settings:
    """Return the settings of one run of an arm.

    Args:
        arm: What makes it.
        base: What all arms share.
        repeat: Number of the repeat, counted from 0. Each repeat has a seed of its own, the same one for all
            arms, so that the spread between seeds is seen and hits all alike.

    Raises:
        UsageError: An unknown key or a value outside its limits.
    """
    own = change(base, arm.changes, f"--arm {arm.name}")
    label = re.sub(r"[^A-Za-z0-9.]+", "-", arm.name).strip("-.") or "arm"
    return dataclasses.replace(own, seed=own.seed + repeat, name=f"{label[:56]}-{repeat + 1}")


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _default_name(changes: Mapping[str, str]) -> str:
    # Spaces instead of commas: the name stands in sentences.
    return " ".join(value if key == "device" else f"{key}={value}" for key, value in changes.items())
