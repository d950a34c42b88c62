"""What a device can do at best, measured: ceilings.json beside the profile that is set against it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from steptime.plan.codec import to_json
from steptime.record.documented import described
from steptime.record.files import write_json
from steptime.record.versioned import read_versioned

CEILINGS_FILE = "ceilings.json"
CEILINGS_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """The best that was seen on a device, by TensorFlow's own operations."""

    schema_version: int = described("version of this schema")
    device: str = described("cpu or gpu:N")
    name: str = described("what the driver or the system calls it")
    key: str = described("machine and versions for which it holds")
    measured: str = described("when, UTC, ISO 8601")
    flops_per_s: Mapping[str, float] = described(
        "floating-point operations a second of a large matrix product: float32, tf32, bfloat16, float16, float64"
    )
    memory_bytes_per_s: float | None = described(
        "bytes read and written a second by a copy in the device's memory"
    )
    host_to_device_bytes_per_s: float | None = described("bytes a second from host memory; null on a CPU")
    launch_s: float | None = described("seconds to start one small operation from a graph")
    unavailable: Mapping[str, str] = described("what could not be measured, and why", default_factory=dict)


SECTIONS: tuple[type, ...] = (Ceilings,)


def write_ceilings(path: Path, ceilings: Ceilings) -> None:
    """Write them to a file, by rename."""
    write_json(path, to_json(ceilings))


def read_ceilings(path: Path) -> Ceilings | None:
    """Return the ceilings in a file; None when there is none.

    Raises:
        RecordError: The file is damaged, or another version wrote it.
    """
    return read_versioned(Ceilings, path, CEILINGS_VERSION)
