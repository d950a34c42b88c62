"""What any device can tell: fixed facts once, and a sample of its sensors again and again.

Every quantity that a device cannot tell is ``None``, and ``DeviceFacts.unavailable`` says why. Zero always
means a measured zero.
"""

from dataclasses import dataclass, field
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One reading of a device's sensors.

    Attributes:
        t_ns: When it was taken, on the clock of ``time.perf_counter_ns``.
        utilisation_share: Busy share of the device since the last sample (CPU: of all logical processors;
            GPU: of the time, with at least one kernel running, which does not mean that the GPU was full).
        own_utilisation_share: The part of it that the measured process and its children caused.
        memory_used_bytes: Memory in use; ``DeviceFacts.scope`` says by whom.
        power_w: Power drawn at present, or since the last sample where it comes from an energy counter.
        energy_j: Energy counted by the hardware since the device was opened.
        temperature_c: Temperature in degrees Celsius.
        clock_mhz: Clock of the cores (CPU: mean; GPU: streaming multiprocessors).
        throttle_reasons: Why the clock is held back at present; empty if it is not.
    """

    t_ns: int
    utilisation_share: float | None = None
    own_utilisation_share: float | None = None
    memory_used_bytes: int | None = None
    power_w: float | None = None
    energy_j: float | None = None
    temperature_c: float | None = None
    clock_mhz: float | None = None
    throttle_reasons: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFacts:
    """What does not change while a run lasts.

    Attributes:
        kind: Processor or graphics card.
        index: Number of the GPU as nvidia-smi counts (order of the PCI bus); ``None`` for the CPU.
        mig_index: Number of the MIG slice inside that GPU; ``None`` for a whole card.
        name: Name of the model.
        uuid: Identifier that is valid in ``CUDA_VISIBLE_DEVICES``.
        memory_bytes: Memory of the device (CPU: of the machine, or less where a container limits it).
        driver: Version of the driver.
        cuda_version: Highest CUDA version that the driver supports, not the one that is installed.
        compute_capability: Such as ``"8.0"``.
        power_limit_w: Limit that holds now.
        power_limit_default_w: Limit of the factory; a lower limit in force means a slower card.
        pcie_generation: Greatest generation that card and slot reach together.
        pcie_width: Greatest number of lanes that card and slot reach together.
        pci_bus_id: Place on the PCI bus.
        mig_mode: Whether the card is split into slices.
        compute_mode: Who may use the card.
        max_clock_mhz: Highest clock of the cores.
        max_memory_clock_mhz: Highest clock of the memory.
        scope: For each sensor, what its reading covers: process, card or machine.
        unavailable: For each field of this class or of `Sample` that is ``None``, the reason.
    """

    kind: Literal["cpu", "gpu"]
    index: int | None = None
    mig_index: int | None = None
    name: str | None = None
    uuid: str | None = None
    memory_bytes: int | None = None
    driver: str | None = None
    cuda_version: str | None = None
    compute_capability: str | None = None
    power_limit_w: float | None = None
    power_limit_default_w: float | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    pci_bus_id: str | None = None
    mig_mode: Literal["enabled", "disabled"] | None = None
    compute_mode: Literal["default", "exclusive_process", "prohibited"] | None = None
    max_clock_mhz: int | None = None
    max_memory_clock_mhz: int | None = None
    scope: dict[str, str] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)


class Device(Protocol):
    """A device that can be described and sampled.

    ``sample`` never raises for a sensor that fails: the field is then ``None``.
    """

    @property
    def name(self) -> str:
        """Short name, unique in a run and fit for a file's key: ``cpu``, ``gpu0``, ``gpu0mig1``."""

    def describe(self) -> DeviceFacts:
        """Return the fixed facts, and the reasons for what is unknown."""

    def sample(self) -> Sample:
        """Read the sensors once."""

    def close(self) -> None:
        """Let go of the driver."""
