"""Which GPUs ``CUDA_VISIBLE_DEVICES`` lets a process see, in which order.

Rules: CUDA Programming Guide, "CUDA Environment Variables", and MIG User Guide. Numbers count cards in CUDA's
order, identifiers may be shortened to any unique beginning, the list ends at the first entry that names no
GPU, and an empty list hides all. A number that names a card in MIG mode means its first slice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steptime.device.device import DeviceFacts

VARIABLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """What a process started with these environment variables will see.

    Attributes:
        positions: Positions in the given list of devices, in the order in which CUDA will number them.
        ended_by: The entry that named no GPU and so ended the list, if there was one.
        order_known: Whether CUDA's numbering is certain. By default CUDA puts the fastest card first, by a
            rule that it does not publish, so among different cards only identifiers are certain, or all
            with ``CUDA_DEVICE_ORDER=PCI_BUS_ID``.
    """

    positions: tuple[int, ...]
    ended_by: str | None
    order_known: bool


def visible_devices(devices: Sequence[DeviceFacts], environ: Mapping[str, str]) -> Visibility:
    """Work out which devices CUDA will show.

    Args:
        devices: Whole cards, each followed by its MIG slices if it has any, in the order of the PCI bus.
        environ: Environment variables of the process.
    """
    cards = [device for device in devices if device.mig_index is None]
    by_bus = environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID" or len({card.name for card in cards}) <= 1
    text = environ.get(VARIABLE)
    if text is None:
        everything = tuple(place for place, device in enumerate(devices) if device.mig_mode != "enabled")
        is_whole = all(devices[place].mig_index is None for place in everything)
        return Visibility(positions=everything, ended_by=None, order_known=by_bus and is_whole)
    positions: list[int] = []
    order_known = True
    for entry in (part.strip() for part in text.split(",")):
        position = _position(entry, devices)
        if position is None or position in positions:
            return Visibility(positions=tuple(positions), ended_by=entry, order_known=order_known)
        positions.append(position)
        order_known = order_known and (by_bus or not entry.isdigit())
    return Visibility(positions=tuple(positions), ended_by=None, order_known=order_known)


def _position(entry: str, devices: Sequence[DeviceFacts]) -> int | None:
    if entry.isdigit():
        matches = [place for place, device in enumerate(devices) if device.index == int(entry)]
        usable = [place for place in matches if devices[place].mig_mode != "enabled"]
        return usable[0] if usable else None
    if not entry.startswith(("GPU-", "MIG-")):
        return None
    matches = [place for place, device in enumerate(devices) if (device.uuid or "").startswith(entry)]
    return matches[0] if len(matches) == 1 else None
