"""``steptime scale``: when a second GPU or machine pays, by arithmetic with its assumptions stated."""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from steptime.cli import options as shared
from steptime.cli import output
from steptime.errors import UsageError

if TYPE_CHECKING:
    from steptime.analysis.scaling import Link, Work
    from steptime.record.schema import RunRecord

_MOST_DEVICES = 100_000
_BUSY_SHARE = 0.5
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be said."""
    parser.add_argument(
        "workload", nargs="?", metavar="MODEL",
        help="whose gradients: mnist-cnn, a Python file, or a module (default: the run's, or mnist-cnn)",
    )  # fmt: skip
    parser.add_argument(
        "--run", action="append", default=[], dest="run_names", metavar="RUN",
        help="take the step time from this run on one device; two runs with different batch sizes tell which part of"
        " a step does not shrink with the batch",
    )  # fmt: skip
    parser.add_argument("--step-time", type=float, metavar="SECONDS", help="time of a step on one device")
    parser.add_argument("--parameters", metavar="N", help="trainable parameters in float32, such as 25.6M")
    parser.add_argument("--devices", default="2,4,8", metavar="N,N", help="numbers of devices (2,4,8)")
    parser.add_argument(
        "--bandwidth", type=float, metavar="GB/S",
        help="add a link of your own: bus bandwidth as nccl-tests measure it",
    )  # fmt: skip
    shared.add_runs_option(parser)
    shared.add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Print the tables."""
    from steptime.analysis.scaling import scale
    from steptime.plan.codec import to_json
    from steptime.report.pages.scale import scale_page
    from steptime.report.render.text import render_text

    counts = _counts(options.devices)
    records = _records(options)
    links = _links(options, is_cpu=bool(records) and records[0].device == "cpu")
    step_s, fixed_s, origin, cautions = _step_time(options, records)
    work, name, more = _work(options, records, step_s, fixed_s)
    cautions = [*more, *cautions]
    scalings = scale(work, counts, links)
    if options.json:
        parts = {"name": name, "work": to_json(work), "scalings": to_json(scalings), "cautions": cautions}
        output.out_json(parts)
    else:
        output.out(render_text(scale_page(f"{name}; {origin}", work, scalings, cautions)))
    return 0


def _records(options: argparse.Namespace) -> "list[RunRecord]":
    from steptime.record.store import find_run, read_record

    if len(options.run_names) > 2 or (options.run_names and options.step_time is not None):
        raise UsageError(
            "The step time must come from one run, two runs, or --step-time.",
            hint="For example: steptime scale --run last",
        )
    runs = shared.runs_folder(options)
    records = [read_record(find_run(runs, text)) for text in options.run_names]
    _check_alike(records)
    return records


def _check_alike(records: "list[RunRecord]") -> None:
    """The arithmetic begins with one device, and takes what two runs differ in for the batch."""
    for record in records:
        replicas = int((record.group or {}).get("replicas", 1))
        if replicas > 1:
            raise UsageError(
                f"The step time must be that of one device. Received: {record.run_id} on {replicas} devices",
                hint="Train once on one device, or give --step-time SECONDS.",
            )
    if len(records) < 2:
        return
    first, second = records
    pairs = {
        "workload": tuple((item.plan.workload.kind, item.plan.workload.target) for item in records),
        "device": (first.device, second.device),
        "loop": tuple((item.execution or {}).get("loop") for item in records),
    }
    unlike = [name for name, (one, other) in pairs.items() if one != other]
    if unlike:
        raise UsageError(
            f"Two runs must differ in batch size only. Received: runs with another {' and another '.join(unlike)}",
            hint="Train the same twice: --batch-size 32 and --batch-size 128, with the same --loop and --device.",
        )


def _step_time(
    options: argparse.Namespace, records: "list[RunRecord]"
) -> tuple[float | None, float, str, list[str]]:
    """Return the step time, its fixed part, where it comes from in words, and cautions."""
    from steptime import units
    from steptime.analysis.scaling import fixed_part_s

    if not records:
        given = options.step_time
        if given is None:
            return None, 0.0, "no step time given, so no efficiency: --run RUN or --step-time SECONDS", []
        if not 0 < given < math.inf:
            raise UsageError(
                f"--step-time must be a positive number of seconds. Received: {given!r}",
                hint="For example: --step-time 0.12",
            )
        return given, 0.0, f"a step of {units.seconds(given)}, as given", []
    steps_s = [_measured_s(record) for record in records]
    first, step_s = records[0], steps_s[0]
    origin = f"a step of {units.seconds(step_s)} on {first.device}, by run {first.run_id}"
    if len(records) == 1:
        return step_s, 0.0, origin, _cautions(first)
    batches = [record.job.batch_size if record.job else None for record in records]
    fixed_s = None
    if batches[0] and batches[1]:
        fixed_s = fixed_part_s(batches[0], steps_s[0], batches[1], steps_s[1])
    if fixed_s is None:
        raise UsageError(
            "The two runs must differ in batch size, and the larger batch must take longer. Received: batches of"
            f" {batches[0]} and {batches[1]} in {units.seconds(steps_s[0])} and {units.seconds(steps_s[1])}",
            hint="Train twice with steady step times: --batch-size 32 and --batch-size 128.",
        )
    return step_s, min(fixed_s, step_s), origin, _cautions(first)


def _measured_s(record: "RunRecord") -> float:
    if record.steps is None or not record.steps.step_ns:
        raise UsageError(
            f"The run must hold a steady step time. Received: {record.run_id}, {record.outcome.status}",
            hint="Train longer, or give --step-time SECONDS.",
        )
    return record.steps.step_ns / 1e9


def _cautions(record: "RunRecord") -> list[str]:
    """What in a record makes the arithmetic doubtful."""
    from steptime import units

    on_cpu = (
        "The step was timed on a CPU, so a device here is another machine like it. A GPU's step is shorter, and its"
        " link matters more: give its time, --step-time SECONDS."
    )
    if record.device == "cpu":
        return [on_cpu]
    busy = next((use.utilisation_share for use in record.devices if use.name.startswith("gpu")), None)
    if busy is None or busy >= _BUSY_SHARE:
        return []
    waiting = (
        f"The GPU was busy {units.share(busy)} of the time: it waits for Python or for data, and so would a second"
        " one. Make the first one busy first."
    )
    return [waiting]


def _work(
    options: argparse.Namespace, records: "list[RunRecord]", step_s: float | None, fixed_s: float
) -> "tuple[Work, str, list[str]]":
    """Return the work, its name, and what to know about its gradients."""
    from steptime import units
    from steptime.analysis.scaling import Work
    from steptime.launch.model_size import ask_model_size
    from steptime.plan.workload import parse_workload

    if options.parameters is not None:
        count = _number(options.parameters)
        work = Work(gradient_bytes=4 * count, step_s=step_s, fixed_s=fixed_s)
        return work, f"{count:,} parameters, {units.size_bytes(4 * count)} of gradients a step", []
    workload = records[0].plan.workload if records else parse_workload("mnist-cnn")
    if options.workload is not None:
        workload = parse_workload(options.workload)
    elif workload.kind == "file" and not Path(workload.target).is_file():
        raise UsageError(
            f"The run's workload must still exist to count its parameters. Received: {workload.target!r}",
            hint="Name another file, or give --parameters N.",
        )
    shared.check_tensorflow()
    output.say(f"building {workload.name} to count its gradients; this imports TensorFlow")
    size = ask_model_size(workload)
    cautions = []
    if size.embedding_bytes:
        cautions.append(
            f"{units.size_bytes(size.embedding_bytes)} of the gradients belong to embeddings. They are exchanged whole,"
            " however few of their rows a batch used."
        )
    name = f"{workload.name}: {units.size_bytes(size.gradient_bytes)} of gradients a step"
    return Work(gradient_bytes=size.gradient_bytes, step_s=step_s, fixed_s=fixed_s), name, cautions


def _counts(text: str) -> list[int]:
    items = [item.strip() for item in text.split(",")]
    counts = [int(item) for item in items if item.isdecimal() and len(item) < 9]
    if len(counts) != len(items) or not all(2 <= count <= _MOST_DEVICES for count in counts):
        raise UsageError(
            f"--devices must be whole numbers from 2 to {_MOST_DEVICES}, joined by commas. Received: {text!r}",
            hint="For example: --devices 2,4,8",
        )
    return sorted(set(counts))


def _links(options: argparse.Namespace, *, is_cpu: bool) -> "tuple[Link, ...]":
    from steptime.analysis.scaling import LINKS, Link

    known = tuple(link for link in LINKS if not is_cpu or link.between == "machines")
    given = options.bandwidth
    if given is None:
        return known
    if not 0 < given < math.inf:
        raise UsageError(
            f"--bandwidth must be a positive number of GB/s. Received: {given!r}",
            hint="all_reduce_perf of nccl-tests prints it as busbw.",
        )
    own = Link(
        name="yours",
        between="machines",
        bytes_per_s=given * 1e9,
        usable_share=1.0,
        latency_s=30e-6,
        source="yours: as given; the latency is assumed",
    )
    return (own, *known)


def _number(text: str) -> int:
    unit = text[-1:] if text[-1:] in ("k", "M", "G") else ""
    try:
        count = float(text.removesuffix(unit).replace("_", "").replace(",", "")) * _UNITS[unit]
    except ValueError:
        count = math.nan
    if not 1 <= count < 1e15:
        raise UsageError(
            f"--parameters must be a positive number. Received: {text!r}", hint="For example: 25.6M"
        )
    return round(count)
