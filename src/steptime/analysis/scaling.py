"""When another GPU or machine pays: data-parallel step times by arithmetic, with every assumption stated.

Nothing here is measured. A step on N devices costs the time of its own share of the batch plus what cannot be
hidden of the ring all-reduce of the gradients. The result is a range: from gradients that are exchanged after
the backward pass to gradients that are exchanged while it goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# A backward pass is two of the three matrix products of a layer (input gradient, weight gradient).
BACKWARD_SHARE = 2 / 3
# A second device "pays" when it brings at least this share of what a perfect one would.
WORTH_SHARE = 0.75
_GIGA = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What gradients travel over.

    Attributes:
        name: What people call it.
        between: ``GPUs`` of one machine, or ``machines``.
        bytes_per_s: Nominal rate of one device in one direction.
        usable_share: The part of it that an all-reduce reaches.
        latency_s: Time of one message without content.
        source: Where the rate and the share come from.
    """

    name: str
    between: str
    bytes_per_s: float
    usable_share: float
    latency_s: float
    source: str

    @property
    def usable_bytes_per_s(self) -> float:
        """What an all-reduce reaches ("bus bandwidth" in nccl-tests)."""
        return self.bytes_per_s * self.usable_share


def _inside(name: str, rate: float, share: float, source: str) -> Link:
    # nccl-tests report 10 to 20 us for the smallest all-reduce of two GPUs, which is two messages.
    return Link(
        name=name, between="GPUs", bytes_per_s=rate * _GIGA, usable_share=share, latency_s=8e-6, source=source
    )


def _network(gigabits: float) -> Link:
    return Link(
        name=f"{gigabits:g} GbE",
        between="machines",
        bytes_per_s=gigabits / 8 * _GIGA,
        usable_share=0.8,
        latency_s=30e-6,
        source="networks: rate by its name; share and latency assumed (0.85 with RDMA, nccl-tests issue 119)",
    )


_NVLINK = (
    "half of NVIDIA's two-way rate; share as A100 reach 208 to 233 of 300 GB/s (nccl-tests issues 178, 175)"
)
_PCIE = "PCIe: 16 lanes, 128b/130b coding; share as PCIe 4 reaches 20 of 31.5 GB/s (nccl-tests issue 178)"
LINKS: tuple[Link, ...] = (
    _inside("NVLink 5 (B200)", 900, 0.7, _NVLINK),
    _inside("NVLink 4 (H100, H200)", 450, 0.7, _NVLINK),
    _inside("NVLink 3 (A100)", 300, 0.7, _NVLINK),
    _inside("NVLink 2 (V100)", 150, 0.7, _NVLINK),
    _inside("PCIe 5 x16", 63.0, 0.63, _PCIE),
    _inside("PCIe 4 x16", 31.5, 0.63, _PCIE),
    _inside("PCIe 3 x16", 15.75, 0.63, _PCIE),
    *map(_network, (400, 200, 100, 25, 10, 1)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One training step on one device.

    Attributes:
        gradient_bytes: What is exchanged each step: the trainable weights, in their own dtype.
        step_s: How long it takes; None when nobody knows.
        fixed_s: The part of it that a smaller batch does not shorten: launches, Python, waiting for input.
    """

    gradient_bytes: int
    step_s: float | None = None
    fixed_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """Shares of a perfect speed-up, 1 being perfect.

    Attributes:
        low: When the exchange begins after the backward pass.
        high: When it goes on during the backward pass.
    """

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """One link and one number of devices.

    Attributes:
        link: The slowest link of the ring.
        devices: Number of devices, each with the whole model.
        all_reduce_s: Time of exchanging the gradients.
        growing: Efficiency when each device keeps the batch of one; None without a step time.
        same: Efficiency when the batch is divided among the devices; None without a step time.
        worth_from_s: Steps of one device from which its like pays, with the batch growing: (hidden, not hidden).
    """

    link: Link
    devices: int
    all_reduce_s: float
    growing: Efficiency | None
    same: Efficiency | None
    worth_from_s: tuple[float, float]


def all_reduce_s(gradient_bytes: float, devices: int, link: Link) -> float:
    """Return the time of a ring all-reduce.

    A ring sends 2 (N - 1) messages one after the other, each of 1/N of the data: Patarasuk and Yuan, "Bandwidth
    optimal all-reduce algorithms for clusters of workstations", J. Parallel Distrib. Comput. 69 (2009); the
    same factor defines the bus bandwidth of NVIDIA's nccl-tests. Gradients count as one message: TensorFlow
    packs them.

    Args:
        gradient_bytes: Size of all gradients.
        devices: Number of devices in the ring; at least 1.
        link: The slowest link between neighbours.
    """
    messages = 2 * (devices - 1)
    return messages * (link.latency_s + gradient_bytes / devices / link.usable_bytes_per_s)


def scale(work: Work, devices: Sequence[int], links: Sequence[Link] = LINKS) -> tuple[Scaling, ...]:
    """Return what each link makes of each number of devices, link by link.

    Args:
        work: One step on one device; ``fixed_s`` must not exceed ``step_s``.
        devices: Numbers of devices, each at least 2.
        links: What may connect them.
    """
    return tuple(_scaling(work, count, link) for link in links for count in devices)


def worth_from_s(exchange_s: float) -> tuple[float, float]:
    """Return the shortest steps that keep ``WORTH_SHARE``, if the exchange is hidden and if it is not.

    With e the share, b the backward part and c the exchange: T / (T + c) = e gives T = c e / (1 - e);
    T / (T + c - b T) = e gives T = c e / (1 - e + b e).
    """
    share = WORTH_SHARE
    return exchange_s * share / (1 - share + BACKWARD_SHARE * share), exchange_s * share / (1 - share)


def fixed_part_s(batch_a: int, step_a_s: float, batch_b: int, step_b_s: float) -> float | None:
    """Return the part of a step that does not depend on the batch, from two batch sizes on one device.

    The step is taken as a straight line over the batch; None when the larger batch is not the slower one.
    """
    if batch_a == batch_b or (step_b_s - step_a_s) * (batch_b - batch_a) <= 0:
        return None
    slope = (step_b_s - step_a_s) / (batch_b - batch_a)
    return max(0.0, step_a_s - slope * batch_a)


def _scaling(work: Work, devices: int, link: Link) -> Scaling:
    exchange_s = all_reduce_s(work.gradient_bytes, devices, link)
    growing = same = None
    if work.step_s is not None:
        growing = _efficiency(work.step_s, work.step_s, exchange_s)
        share_s = work.fixed_s + (work.step_s - work.fixed_s) / devices
        same = _efficiency(work.step_s / devices, share_s, exchange_s)
    return Scaling(
        link=link,
        devices=devices,
        all_reduce_s=exchange_s,
        growing=growing,
        same=same,
        worth_from_s=worth_from_s(exchange_s),
    )


def _efficiency(perfect_s: float, computing_s: float, exchange_s: float) -> Efficiency:
    exposed_s = max(0.0, exchange_s - BACKWARD_SHARE * computing_s)
    return Efficiency(low=perfect_s / (computing_s + exchange_s), high=perfect_s / (computing_s + exposed_s))
