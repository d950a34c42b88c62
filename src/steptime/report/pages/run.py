"""One record as a page, and the summary that ends a training."""

import shlex
from collections.abc import Mapping
from typing import Any

from steptime import units
from steptime.record.schema import DeviceUse, Proof, RunRecord
from steptime.report.document import Code, Document, Heading, Part, Table, Text

UNKNOWN = "-"
_PLAIN = ("", "")


def run_summary(record: RunRecord) -> Document:
    """Return what a person wants to know when a training has ended: results, speed, place."""
    return Document(title="", parts=(Table(columns=_PLAIN, rows=_main_rows(record)),))


def run_page(record: RunRecord) -> Document:
    """Return everything a record holds that a person may want to read."""
    outcome = record.outcome
    ended = f"ended: {outcome.status}" + (
        f" in phase {outcome.phase}: {outcome.reason}" if outcome.reason else ""
    )
    parts: list[Part] = [
        Text(text=f"{record.plan.workload.name}, planned {record.created}, {ended}"),
        Table(columns=_PLAIN, rows=_main_rows(record)),
    ]
    if outcome.log_tail:
        parts += [Heading(text="Last lines of worker.log"), Code(text="\n".join(outcome.log_tail))]
    if record.phases:
        rows = tuple((phase.name, units.seconds(phase.duration_ns / 1e9)) for phase in record.phases)
        parts += [Heading(text="Phases"), Table(columns=_PLAIN, rows=rows, right=(1,))]
    if record.epochs:
        parts += [Heading(text="Epochs"), _epoch_table(record)]
    kept = record.execution and record.execution.get("checkpoints")
    if kept:
        parts += [Heading(text="Checkpoints"), Text(text=checkpoint_sentence(kept))]
    if record.proof:
        parts += [Heading(text="Proof of placement"), Table(columns=_PLAIN, rows=_proof_rows(record.proof))]
    if record.devices:
        rows = tuple((use.name, device_sentence(use)) for use in record.devices)
        parts += [Heading(text="Devices during the training"), Table(columns=_PLAIN, rows=rows)]
    if record.environment:
        parts += [Heading(text="Environment"), Table(columns=_PLAIN, rows=environment_rows(record))]
    if record.unavailable:
        parts += [Heading(text="Not measured"), Table(columns=_PLAIN, rows=tuple(record.unavailable.items()))]
    if record.plan.command:
        parts += [Heading(text="Command"), Code(text=shlex.join(record.plan.command))]
    return Document(title=record.run_id, parts=tuple(parts))


def shown(value: float | None) -> str:
    """Return a metric with four decimals; the record's null stands for NaN or infinity."""
    return "NaN" if value is None else f"{value:.4f}"


def _main_rows(record: RunRecord) -> tuple[tuple[str, str], ...]:
    rows = []
    if record.device:
        rows.append(("device", f"{record.device} ({record.device_reason})"))
    if record.proof:
        rows.append(("proof", proof_sentence(record.proof)))
    if record.execution and record.execution.get("reason"):
        rows.append(("loop", str(record.execution["reason"])))
    if record.epochs:
        last = record.epochs[-1]
        results = "  ".join(f"{key} {shown(value)}" for key, value in last.logs.items())
        rows.append((f"epoch {last.epoch + 1} of {record.plan.settings.epochs}", results))
    steps = record.steps
    if steps and steps.step_ns:
        speed = f", {units.rate(steps.samples_per_s, 'samples')}" if steps.samples_per_s else ""
        rows.append(("steady state", f"{units.seconds(steps.step_ns / 1e9)} a step{speed}"))
    if steps and steps.first_block_ns:
        rows.append(
            ("first steps", f"{units.seconds(steps.first_block_ns / 1e9)} with tracing and compiling")
        )
    if record.phases:
        total_ns = sum(phase.duration_ns for phase in record.phases)
        trained_ns = sum(phase.duration_ns for phase in record.phases if phase.name == "train")
        rows.append(
            ("time", f"{units.seconds(total_ns / 1e9)}, {units.seconds(trained_ns / 1e9)} in training")
        )
    if record.memory and record.memory.peak_process_bytes:
        device = record.memory.peak_device_bytes
        on_device = f", {units.size_bytes(device)} on the device" if device else ""
        rows.append(("peak memory", units.size_bytes(record.memory.peak_process_bytes) + on_device))
    rows += [(f"start {item.number}", f"{item.reason}: {item.then}") for item in record.attempts]
    if record.model_file:
        rows.append(("model", record.model_file))
    return tuple(rows)


def checkpoint_sentence(cost: Mapping[str, Any]) -> str:
    """Return what checkpoints cost in the process that wrote the record, in one line."""
    if not cost["written"]:
        return "none was written"
    return (
        f"{cost['written']} written, the last of {units.size_bytes(cost['bytes'])}; training stood still for "
        f"{units.seconds(cost['stall_s'])} ({units.share(cost['share'])})"
    )


def device_sentence(use: DeviceUse) -> str:
    """Return what a device did while the run trained, in one line; what is not known is left out."""
    own, other = use.own_utilisation_share, use.other_work_share
    found = (
        (use.utilisation_share, lambda value: f"busy {units.share(value)}"),
        (own, lambda value: f"{units.share(value)} by this run"),
        (other, lambda value: f"{units.share(value)} by others"),
        (use.memory_peak_bytes, lambda value: f"{units.size_bytes(value)} of memory"),
        (use.power_mean_w, units.watts),
        (use.energy_j, lambda value: f"{units.joules(value)} ({use.energy_source})"),
        (use.temperature_peak_c, lambda value: f"{value:.0f} °C at most"),
        (use.clock_mean_mhz, lambda value: f"{value:.0f} MHz"),
        (use.throttled_share or None, lambda value: f"slowed down {units.share(value)} of the time"),
    )
    return ", ".join(text(value) for value, text in found if value is not None)


def proof_sentence(proof: Proof) -> str:
    """Return where ops and variables were, in one line."""
    ops = ", ".join(f"{count} compute ops on {device}" for device, count in sorted(proof.compute_ops.items()))
    variables = ", ".join(
        f"{count} variables on {device}" for device, count in sorted(proof.variables.items())
    )
    return f"{ops}; {variables}" + (
        f"; CONTRADICTS the plan: {proof.contradiction}" if proof.contradiction else ""
    )


def _proof_rows(proof: Proof) -> tuple[tuple[str, str], ...]:
    rows = [("planned device", proof.planned_device), ("executed", proof_sentence(proof))]
    rows += [(f"heavy ops on {device}", ", ".join(ops)) for device, ops in sorted(proof.heavy_ops.items())]
    return tuple(rows)


def _epoch_table(record: RunRecord) -> Table:
    names = tuple(record.epochs[0].logs)
    rows = tuple(
        (
            str(epoch.epoch + 1),
            str(epoch.steps),
            units.seconds(epoch.train_ns / 1e9),
            units.seconds(epoch.validate_ns / 1e9) if epoch.validate_ns else UNKNOWN,
            *(shown(epoch.logs[name]) if name in epoch.logs else UNKNOWN for name in names),
        )
        for epoch in record.epochs
    )
    columns = ("epoch", "steps", "training", "validation", *names)
    return Table(columns=columns, rows=rows, right=tuple(range(len(columns))))


def environment_rows(record: RunRecord) -> tuple[tuple[str, str], ...]:
    """Return machine, GPUs, versions and flags; none when the record has no environment."""
    environment = record.environment
    if environment is None:
        return ()
    host = environment.host
    rows = [
        ("machine", f"{host.get('cpu_model')}, {host.get('physical_cores')} cores, {host.get('os_release')}"),
        (
            "GPUs",
            ", ".join(str(gpu.get("name")) for gpu in environment.gpus) or str(environment.no_gpu_reason),
        ),
        (
            "versions",
            f"Python {environment.python}, " + ", ".join(f"{k} {v}" for k, v in environment.packages.items()),
        ),
    ]
    if environment.flags:
        rows.append(("flags", ", ".join(f"{key}={value}" for key, value in environment.flags.items())))
    return tuple(rows)
