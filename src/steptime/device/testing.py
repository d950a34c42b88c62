"""Devices for tests."""

import dataclasses
from typing import Any

from steptime.device.device import DeviceFacts
from steptime.device.find import FoundGpu


def make_gpu(index: int, name: str = "NVIDIA T4", *, usable: bool = True) -> FoundGpu:
    """A GPU of which nothing is known but its place and its name."""
    needed: dict[str, Any] = {
        item.name: None
        for item in dataclasses.fields(DeviceFacts)
        if item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
    }
    return FoundGpu(
        name=f"gpu{index}",
        facts=DeviceFacts(**{**needed, "index": index, "name": name}),
        usable=usable,
        why_not=None if usable else "hidden",
        cuda_index=None,
        visible_as=f"GPU-{index}",
    )
