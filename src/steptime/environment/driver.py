"""Facts about the NVIDIA driver that files tell: PCI bus, kernel module, device nodes, Secure Boot."""

import os
import re

from steptime.environment.facts import Value
from steptime.environment.place import Place

_NVIDIA = "0x10de"
_AMD = "0x1002"


def read_driver_files(place: Place) -> dict[str, Value | None]:
    """Return what the PCI bus, the kernel and the device nodes show; nothing is opened or started."""
    vendors = _display_vendors(place)
    modules = place.text("/proc/modules")
    loaded = {line.split(" ", 1)[0] for line in modules.splitlines()} if modules is not None else None
    version = place.text("/proc/driver/nvidia/version") or place.text("/sys/module/nvidia/version") or ""
    kernel_module = re.search(r"(\d{3}\.\d+(?:\.\d+)?)", version)
    facts: dict[str, Value | None] = {
        "gpu_on_pci": _NVIDIA in vendors if vendors is not None else None,
        "kernel_module": kernel_module[1]
        if kernel_module
        else ("none" if place.exists("/proc/version") else None),
        "nouveau": "nouveau" in loaded if loaded is not None else None,
        "secure_boot": _secure_boot(place),
        "gpu_vendor": _vendor(vendors),
    }
    return facts | (_nodes(place) if place.exists("/dev/null") else {})


def _display_vendors(place: Place) -> set[str] | None:
    """PCI vendors of display controllers (class 03) and accelerators (class 12); ``None`` without a PCI bus to read."""
    if not place.exists("/sys/bus/pci/devices"):
        return None
    found: set[str] = set()
    for name in place.names("/sys/bus/pci/devices"):
        kind = (place.text(f"/sys/bus/pci/devices/{name}/class") or "").strip()
        if kind.startswith(("0x03", "0x12")):
            found.add((place.text(f"/sys/bus/pci/devices/{name}/vendor") or "").strip())
    return found


def _vendor(vendors: set[str] | None) -> str | None:
    if vendors is None:
        return None
    if _NVIDIA in vendors:
        return "nvidia"
    return "amd" if _AMD in vendors and vendors == {_AMD} else None


def _nodes(place: Place) -> dict[str, Value | None]:
    nodes = [name for name in place.names("/dev") if re.fullmatch(r"nvidia(\d+|ctl|-uvm)", name)]
    cards = [name for name in nodes if re.fullmatch(r"nvidia\d+", name)]
    reachable = (
        all(os.access(place.root / "dev" / name, os.R_OK | os.W_OK) for name in nodes) if nodes else None
    )
    return {"dev_nvidia": bool(cards), "dev_uvm": "nvidia-uvm" in nodes, "dev_access": reachable}


def _secure_boot(place: Place) -> bool | None:
    folder = "/sys/firmware/efi/efivars"
    name = next((n for n in place.names(folder) if n.startswith("SecureBoot-")), None)
    if name is None:
        return None
    try:
        raw = (place.root / folder.lstrip("/") / name).read_bytes()
    except OSError:
        return None
    return len(raw) == 5 and raw[4] == 1  # four bytes of attributes, then the value
