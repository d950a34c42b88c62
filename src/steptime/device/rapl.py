"""Energy of the processors, counted by the hardware (RAPL), read from Linux' ``/sys/class/powercap``.

Layout: the kernel's document ``power/powercap/powercap.rst``. A package's counter includes its cores but not
the memory beside it, so the zones ``package-*`` and ``dram`` are summed and all others left out. Counters
wrap at ``max_energy_range_uj``. Since CVE-2020-8694 most systems let only root read them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True, kw_only=True)
class _Zone:
    counter: Path
    range_uj: int
    last_uj: int


class Rapl:
    """Sum of the energy counters of a machine's processor packages and memory."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._total_uj = 0
        self._zones: list[_Zone] = []
        self.unavailable: str | None = None
        folder = root / "sys/class/powercap"
        try:
            self._zones = [_open(zone) for zone in _zones(folder)]
        except PermissionError:
            self.unavailable = "the energy counters under /sys/class/powercap can be read by root only"
        except (OSError, ValueError) as error:
            self.unavailable = f"the energy counters under /sys/class/powercap cannot be read: {error}"
        else:
            if not self._zones:
                self.unavailable = "no energy counter (RAPL) under /sys/class/powercap"

    def energy_j(self) -> float | None:
        """Return the joules counted since this object was made, or ``None`` without a readable counter."""
        if not self._zones:
            return None
        try:
            for zone in self._zones:
                now_uj = int(zone.counter.read_text(encoding="ascii"))
                self._total_uj += (now_uj - zone.last_uj) % zone.range_uj
                zone.last_uj = now_uj
        except (OSError, ValueError):
            return None
        return self._total_uj / 1e6


def _zones(folder: Path) -> Iterator[Path]:
    for zone in sorted(folder.glob("intel-rapl:*")):
        name = (zone / "name").read_text(encoding="ascii").strip()
        if name.startswith("package") or name == "dram":
            yield zone


def _open(zone: Path) -> _Zone:
    counter = zone / "energy_uj"
    return _Zone(
        counter=counter,
        # The range is the greatest value, so a full turn is one more.
        range_uj=int((zone / "max_energy_range_uj").read_text(encoding="ascii")) + 1,
        last_uj=int(counter.read_text(encoding="ascii")),
    )
