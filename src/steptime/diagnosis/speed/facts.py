"""What the rules may ask, from what was measured of a run; what was not is unknown, with the command for it."""

import math
from collections.abc import Mapping

from steptime.analysis.anatomy import Anatomy
from steptime.diagnosis.speed.catalogue import SPEED_FACTS
from steptime.diagnosis.speed.facts_of_model import model_facts
from steptime.diagnosis.speed.facts_of_pipeline import pipeline_facts
from steptime.environment.facts import Facts, Value
from steptime.record.ceilings import Ceilings
from steptime.record.operations import Operations
from steptime.record.profile import CallbackCost, Profile
from steptime.record.schema import DeviceUse, RunRecord

Known = Mapping[str, Value | None]

_NOT_PROFILED = "this run was not profiled: `steptime profile {job}` measures it"
# A batch that is more than so many times as large is another training.
_LARGEST_STEP = 16
# A loss changes little between epochs: so seldom is enough, as long as there is one validation at all.
_VALIDATE_EVERY = 5
_PARTS = {
    "input_s": ("input",),
    "host_s": ("python", "launch"),
    "compute_s": ("compute",),
    "memory_s": ("memory",),
}


def speed_facts(
    record: RunRecord,
    anatomy: Anatomy,
    profile: Profile | None = None,
    operations: Operations | None = None,
    ceilings: Ceilings | None = None,
) -> Facts:
    """Return the facts about a run.

    Args:
        record: The run.
        anatomy: Where its step's time goes.
        profile: Its timings; None for a run that was not profiled.
        operations: The digest of its trace; None without one.
        ceilings: What the device can do at best; None when not measured.
    """
    values: dict[str, Value | None] = {**_of_record(record), **_of_step(anatomy)}
    if profile is not None:
        values |= _of_profile(profile, anatomy)
        values |= pipeline_facts(profile, record)
        values |= model_facts(profile, operations, ceilings, anatomy, record)
    if operations is not None:
        values |= _of_trace(operations, ceilings)
    values |= _of_plan(values)
    known = {name: value for name, value in values.items() if value is not None}
    origin = "measured" if profile is not None else "in the record"
    return Facts(
        values=known,
        origins=dict.fromkeys(known, origin),
        unknown=_reasons(record, profile, operations, known),
        catalogue=SPEED_FACTS,
    )


def _of_record(record: RunRecord) -> Known:
    settings, job = record.plan.settings, record.job
    asked: Known = {
        "epochs": settings.epochs,
        "loop_asked": settings.loop,
        "validation_freq": settings.validation_freq,
        "precision": settings.precision,
        "device": record.device.partition(":")[0] if record.device else None,
    }
    told: Known = {
        "batch_size": job.batch_size if job else None,
        "steps_per_epoch": job.steps_per_epoch if job else None,
        "parameters": job.parameters if job else None,
        "optimizer": job.optimizer if job else None,
        "compiled_by": job.compiled_by if job else None,
        "loop": _loop(record),
    }
    return {**asked, **told, **_of_host(record), **_of_devices(record), **_of_epochs(record)}


def _loop(record: RunRecord) -> str | None:
    chosen = (record.execution or {}).get("loop")
    return str(chosen) if chosen else None


def _of_host(record: RunRecord) -> Known:
    host = record.environment.host if record.environment else {}
    usable, quota = host.get("usable_cores"), host.get("cpu_quota_cores")
    cores = min(float(usable), float(quota or usable)) if usable else None
    settings = record.plan.settings
    return {
        "cores_usable": cores,
        "physical_cores": host.get("physical_cores"),
        # Left to itself, TensorFlow starts as many threads as the process may run on processors.
        "threads": settings.threads or usable,
        "threads_next": max(1, math.floor(cores)) if cores else None,
        "inter_threads": settings.inter_threads or usable,
    }


def _of_devices(record: RunRecord) -> Known:
    # "gpu:1" is sampled as gpu1, or as gpu1mig0 where it is a part of one.
    device = (record.device or "").replace(":", "")
    use = next((use for use in record.devices if use.name.partition("mig")[0] == device), None)
    if use is None:
        return {}
    return {
        "other_work_share": use.other_work_share,
        "own_work_share": use.own_utilisation_share,
        "throttled_share": use.throttled_share,
        "throttle_reasons": _reasons_of_throttling(use),
    }


def _reasons_of_throttling(use: DeviceUse) -> tuple[str, ...]:
    return tuple(sorted(use.throttle_shares, key=lambda reason: -use.throttle_shares[reason]))


def _of_epochs(record: RunRecord) -> Known:
    """Times of epochs that were trained whole."""
    validated = [epoch for epoch in record.epochs if epoch.validate_ns]
    if not validated:
        return {}
    return {
        "validation_s": sum(epoch.validate_ns or 0 for epoch in validated) / len(validated) / 1e9,
        "train_epoch_s": sum(epoch.train_ns for epoch in record.epochs) / len(record.epochs) / 1e9,
    }


def _of_step(anatomy: Anatomy) -> Known:
    """The step and its parts; a part that cannot be told from nothing is nothing."""
    if anatomy.step_s is None:
        return {}
    found = {
        name: sum(part.step_s.value for part in anatomy.parts if part.kind in kinds and part.step_s.low > 0)
        for name, kinds in _PARTS.items()
        if any(part.kind in kinds for part in anatomy.parts)
    }
    return {"step_s": anatomy.step_s.value, **found}


def _of_profile(profile: Profile, anatomy: Anatomy) -> Known:
    loop, steps = profile.loop, profile.steps_per_epoch
    resident_s = _middle(profile.timings.resident.step_s)
    tracing, validation = profile.tracing, profile.validation
    step_s = anatomy.step_s.value if anatomy.step_s else None
    return {
        "epochs": profile.epochs,
        "batch_size": profile.batch_size,
        "batch_size_next": _next_batch(profile.batch_size, anatomy.doubling_ratio),
        "steps_per_epoch": steps,
        "precision": profile.precision,
        "optimizer": profile.optimizer,
        "variables": profile.variables,
        "loop": loop.name.partition("+")[0],
        "exact_kernels_used": loop.name.endswith("+kernels"),
        "eager": loop.run_eagerly,
        "xla": loop.name == "xla" or loop.jit_compile,
        "layers_without_xla": tuple(
            f"{layer.name} ({layer.kind})" for layer in profile.layers if not layer.supports_xla
        ),
        "resident_step_s": resident_s,
        # Compared round by round: on a busy machine the medians of two timings may be of unlike rounds.
        "doubled_step_s": resident_s * anatomy.doubling_ratio
        if resident_s and anatomy.doubling_ratio
        else None,
        "retraces": tracing.count if tracing else None,
        "retrace_s": tracing.time_s if tracing else None,
        "retrace_shapes": (tracing.shapes[:4] or ("not seen",)) if tracing else None,
        "validation_s": validation.epoch_s if validation else None,
        "train_epoch_s": step_s * steps if step_s and steps and validation else None,
        **_of_callbacks(profile.callbacks, steps),
    }


def _of_callbacks(callbacks: tuple[CallbackCost, ...], steps: int | None) -> Known:
    def between_s(cost: CallbackCost | None) -> float:
        return (cost.epoch_s or 0.0) / steps if cost and steps else 0.0

    def step_s(cost: CallbackCost | None) -> float:
        return (cost.step_s if cost else 0.0) + between_s(cost)

    own = [cost for cost in callbacks if cost.by == "person"]
    saving = max((cost for cost in own if cost.saves), key=step_s, default=None)
    slowest = max((cost for cost in own if not cost.saves), key=step_s, default=None)
    return {
        # Without callbacks of the person's the answer is known: they take no time.
        "slowest_callback": slowest.name if slowest else "none",
        "slowest_callback_s": step_s(slowest),
        "slowest_callback_epoch_s": between_s(slowest),
        "checkpoint": saving.name if saving else "none",
        "checkpoint_s": step_s(saving),
        "checkpoint_epoch_s": between_s(saving),
        "callbacks_epoch_s": sum(between_s(cost) for cost in own),
    }


def _of_trace(operations: Operations, ceilings: Ceilings | None) -> Known:
    gpu = next((busy for busy in operations.busy if busy.device.startswith("gpu")), None)
    copies = [
        copy for copy in operations.copies if copy.kind == "host to device" and copy.memory == "pageable"
    ]
    told = gpu is not None and all(copy.memory for copy in operations.copies if copy.kind == "host to device")
    return {
        "launches": round(gpu.launches) if gpu else None,
        "launch_s": ceilings.launch_s if ceilings else None,
        "pageable_copy_s": sum(copy.time_s for copy in copies) if told else None,
        "pageable_copy_bytes": sum(copy.bytes for copy in copies) if told else None,
    }


def _next_batch(batch_size: int | None, doubling_ratio: float | None) -> int | None:
    """The first doubling with which the part of a step that does not grow takes less than a quarter of it."""
    if batch_size is None or doubling_ratio is None:
        return None
    fixed_share, growing_share = max(2 - doubling_ratio, 0.0), max(doubling_ratio - 1, 0.0)
    times = 2
    while times < _LARGEST_STEP and fixed_share > 0.25 * (fixed_share + times * growing_share):
        times *= 2
    return batch_size * times


def _of_plan(values: Known) -> Known:
    steps, epochs = values.get("steps_per_epoch"), values.get("epochs")
    if not isinstance(epochs, int):
        return {}
    return {
        "run_steps": steps * epochs if isinstance(steps, int) else None,
        "validation_freq_next": min(_VALIDATE_EVERY, epochs),
    }


def _middle(times_s: tuple[float, ...]) -> float | None:
    ordered = sorted(times_s)
    half = len(ordered) // 2
    return None if not ordered else (ordered[half] + ordered[-half - 1]) / 2


def _reasons(
    record: RunRecord, profile: Profile | None, operations: Operations | None, known: Mapping[str, Value]
) -> dict[str, str]:
    """Why each fact that is missing is missing."""
    job = record.plan.workload.name
    if profile is None:
        why = _NOT_PROFILED.format(job=job)
    elif operations is None:
        why = f"there is no trace: {profile.unavailable.get('trace', f'`steptime profile {job}` makes one')}"
    else:
        why = ""
    reasons = {name: why for name in SPEED_FACTS if name not in known and why}
    if profile is not None and profile.validation is None and "validation_s" not in known:
        reasons |= dict.fromkeys(("validation_s", "train_epoch_s"), "does not apply: there is no validation")
    return reasons
