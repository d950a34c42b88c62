"""The plan of one run: workload, settings and protocol, complete before anything starts."""

import math
from dataclasses import dataclass, field

from steptime.errors import UsageError
from steptime.plan.arm import Arm
from steptime.plan.settings import Settings
from steptime.plan.workload import Workload

# Environment variable in which a launcher tells the worker when it started it, in ns of time.perf_counter_ns.
LAUNCHED_VARIABLE = "STEPTIME_LAUNCHED_NS"
ON_OOM = ("stop", "halve")


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How long and how closely a run is watched.

    Attributes:
        time_limit_s: A run that takes longer is ended and recorded as a failure; None for no limit.
        sample_interval_s: Seconds between readings of the device.
        retries: How often a worker that was killed or crashed is started again, or a group that lost one.
        on_oom: What happens when memory runs out in training: ``stop``, or ``halve`` to go on with half the batch
            and twice the steps to an update.
        check_only: Model and data are built and looked at, and nothing is trained.
        profile: Whether the run is taken apart by short timings instead of being trained to its end.
        min_workers: Fewest workers to go on with when one is lost again and again; None for all of them.
        silent_limit_s: A worker of a group that gives no sign of life for so long counts as lost.
        stuck_limit_s: A group whose workers live counts as lost when none of them goes on for so long.
    """

    time_limit_s: float | None = None
    sample_interval_s: float = 0.2
    retries: int = 0
    on_oom: str = "stop"
    check_only: bool = False
    profile: bool = False
    min_workers: int | None = None
    silent_limit_s: float = 15.0
    stuck_limit_s: float = 300.0

    def __post_init__(self) -> None:
        if self.on_oom not in ON_OOM:
            raise UsageError(
                f"--on-oom must be one of {', '.join(ON_OOM)}. Received: {self.on_oom!r}",
                hint="halve goes on with half the batch when memory runs out.",
            )
        if self.retries < 0:
            raise UsageError(
                f"--retries must be 0 or more. Received: {self.retries!r}", hint="For example: --retries 3"
            )
        if self.time_limit_s is not None and not 0 < self.time_limit_s < math.inf:
            raise UsageError(
                f"The time limit must be a positive number of seconds. Received: {self.time_limit_s!r}",
                hint="Leave it out for no limit.",
            )
        if self.retries < 0:
            raise UsageError(
                f"Retries must be a number from 0. Received: {self.retries}",
                hint="0 ends the run when a worker is lost.",
            )
        if not self.stuck_limit_s > 0:
            raise UsageError(
                f"--stuck-after must be a positive number of seconds. Received: {self.stuck_limit_s!r}",
                hint="Longer than the slowest callback at the end of an epoch: 300 when nothing is said.",
            )
        if self.min_workers is not None and self.min_workers < 1:
            raise UsageError(
                f"At least one worker must be left. Received: {self.min_workers}",
                hint="Leave --min-workers out to go on with all workers only.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The device taken for a run, decided before its process starts.

    Attributes:
        device: ``cpu`` or ``gpu:N``; the first one where there are several.
        reason: Why that one, in words.
        visible_devices: Value of CUDA_VISIBLE_DEVICES for the worker; ``-1`` hides every GPU.
        devices: How many devices train together in one process.
    """

    device: str
    reason: str
    visible_devices: str
    devices: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything one worker needs to know.

    Attributes:
        workload: What is trained.
        settings: How it is trained.
        protocol: How long and how closely it is watched.
        placement: The device taken; None until a launcher has looked at the machine.
        export: Where the trained model is copied to, beside the run folder; None for nowhere.
        command: The command line that asked for the run, to repeat it.
        arm: The arm of a comparison that the run belongs to; None outside one.
        split: Into how many equal parts each batch is split, with the mean of their gradients making one update:
            more than 1 where whole batches did not fit into memory.
        allow_different: Whether a training goes on from its checkpoint though what it was given has changed.
        joined: Whether this process is one of a group that somebody else started, and cannot start anew from here.
    """

    workload: Workload
    settings: Settings = field(default_factory=Settings)
    protocol: Protocol = field(default_factory=Protocol)
    placement: Placement | None = None
    export: str | None = None
    command: tuple[str, ...] = ()
    arm: Arm | None = None
    split: int = 1
    allow_different: bool = False
    joined: bool = False
