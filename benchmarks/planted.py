"""Does `steptime profile` name what slows a job? Small jobs, each slowed in one known way, and each without it.

A job passes when the first finding of the slowed one is the planted kind and the other has no such finding. Where the
remedy is a setting, `--try` measures it. Every run is the command itself, in a process of its own.

    python benchmarks/planted.py --only eager tiny-batch    # a minute or two
    python benchmarks/planted.py                            # all, on a machine that does nothing else
"""

import argparse
import contextlib
import dataclasses
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import machine
from steptime import units
from steptime.record.files import write_bytes, write_json

HERE = Path(__file__).parent
RESULTS = HERE / "results"
TIMEOUT_S = 600
# On a machine that others use this finding is true though nobody planted it; then the next one counts.
NEIGHBOUR = "busy-neighbour"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plant:
    """One way to be slow: a job that reads STEPTIME_PLANTED, settings, or a neighbour."""

    name: str
    job: str
    kind: str  # of the finding that must stand first
    common: tuple[str, ...] = ()
    planted: tuple[str, ...] = ()
    twin: tuple[str, ...] = ()
    neighbour: bool = False
    tried: bool = False


PLANTS = (
    Plant(name="sleeping-map", job="sleeping_map", kind="map-sequential"),
    Plant(name="python-generator", job="python_generator", kind="python-generator"),
    Plant(name="no-prefetch", job="no_prefetch", kind="no-prefetch"),
    Plant(name="sleeping-callback", job="sleeping_callback", kind="callback-share"),
    Plant(
        # Left to itself, steptime takes its XLA loop, in which a step of two samples has little left that is fixed.
        name="tiny-batch", job="small_network", kind="batch-below-saturation", tried=True, common=("loop=graph",),
        planted=("batch_size=2",), twin=("batch_size=4096",),
    ),
    Plant(name="huge-dense", job="huge_dense", kind="huge-dense"),
    Plant(
        name="elementwise-chain", job="elementwise_chain", kind="elementwise-chain", tried=True, common=("loop=graph",),
    ),
    Plant(name="eager", job="eager", kind="run-eagerly"),
    Plant(name="varying-lengths", job="varying_lengths", kind="retracing"),
    Plant(name="long-validation", job="long_validation", kind="validation-share", tried=True),
    Plant(
        name="busy-neighbour", job="wide_network", kind="busy-neighbour", neighbour=True, common=("batch_size=256",),
    ),
    Plant(
        name="too-many-threads", job="wide_network", kind="too-many-threads", tried=True,
        planted=("threads=64", "inter_threads=64"),
    ),
    Plant(name="keras-loop", job="small_network", kind="loop-keras", tried=True, planted=("loop=keras",)),
    Plant(name="float64", job="float64_network", kind="float64", common=("batch_size=256",)),
    Plant(name="saving-callback", job="saving_callback", kind="checkpoint-share"),
)  # fmt: skip


def spin() -> None:
    while True:
        pass


@contextlib.contextmanager
def neighbours(count):
    """Other processes that compute all the time."""
    others = [multiprocessing.Process(target=spin, daemon=True) for _ in range(count)]
    for other in others:
        other.start()
    try:
        yield
    finally:
        for other in others:
            other.terminate()
            other.join()


def profile(plant, runs, *, is_planted, with_trials):
    """Run the command, and return its JSON, or why there is none."""
    settings = plant.common + (plant.planted if is_planted else plant.twin)
    command = [sys.executable, "-m", "steptime", "profile", HERE / "planted" / f"{plant.job}.py"]
    command += ["--device", "cpu", "--epochs", "5", "--json", "--runs", runs]
    command += [word for setting in settings for word in ("--set", setting)]
    if is_planted and plant.tried and with_trials:
        command += ["--try", "--time-budget", "120"]
    count = (os.cpu_count() or 1) if is_planted and plant.neighbour else 0
    with neighbours(count):
        done = subprocess.run(
            command,
            env=os.environ | {"STEPTIME_PLANTED": str(int(is_planted))},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {}
    if "findings" not in answer:
        return {"failed": (done.stderr.strip() or "no output")[-400:], "findings": [], "trials": []}
    return answer


def judge(plant, planted, twin):
    """Return one row of the results."""
    first = next(
        (found for found in planted["findings"] if plant.neighbour or found["kind"] != NEIGHBOUR), {}
    )
    trial = next((trial for trial in planted["trials"] if trial["kind"] == plant.kind), None)
    return {
        "name": plant.name,
        "expected": plant.kind,
        "first": first.get("kind"),
        "step_s": (planted.get("anatomy") or {}).get("step_s"),
        "bound": planted.get("bound"),
        "saves_at_most_share": first.get("saves_share"),
        "saves_at_most_step_s": first.get("saves_step_s"),
        "findings": [(found["kind"], found["saves_share"]) for found in planted["findings"]],
        "twin_findings": [(found["kind"], found["saves_share"]) for found in twin["findings"]],
        "twin_bound": twin.get("bound"),
        "twin_failed": twin.get("failed"),
        "trial": trial,
        "other_work_share": other_work_share(planted),
        "failed": planted.get("failed") or twin.get("failed"),
        "named": first.get("kind") == plant.kind,
        "twin_silent": "failed" not in twin
        and plant.kind not in {found["kind"] for found in twin["findings"]},
    }


def other_work_share(answer):
    """What the sensors saw of others' work: a machine that is shared has a neighbour that nobody planted."""
    return next((use["other_work_share"] for use in (answer.get("record") or {}).get("devices", ())), None)


def as_markdown(rows, about):
    lines = [
        "# Planted bottlenecks",
        "",
        "Made by `benchmarks/planted.py`. Each job is slowed in one known way; its twin is the same job without it.",
        about,
        "",
        "| planted | first finding | share of the step that it costs at most | without the plant | --try |",
        "| --- | --- | ---: | --- | --- |",
    ]
    for row in rows:
        first = row["first"] or "none"
        named = first if row["named"] else f"**{first}** instead of {row['expected']}"
        share = "-" if row["saves_at_most_share"] is None else units.share(row["saves_at_most_share"])
        twin = "no such finding" if row["twin_silent"] else row["twin_failed"] or "**found too**"
        lines.append(f"| {row['name']} | {named} | {share} | {twin} | {tried(row['trial'])} |")
    shared = [row["name"] for row in rows if any(kind == NEIGHBOUR for kind, _ in row["findings"])]
    if shared:
        lines += [
            "",
            f"Others worked on this machine during {', '.join(shared)}.",
            f"There `{NEIGHBOUR}`, which was true, is left out.",
        ]
    good = sum(row["named"] and row["twin_silent"] for row in rows)
    return (
        "\n".join(
            [*lines, "", f"{good} of {len(rows)} are named first, and are not found without the plant."]
        )
        + "\n"
    )


def tried(trial):
    if trial is None:
        return ""
    patch = " ".join(f"{key}={value}" for key, value in trial["patch"].items())
    if trial["saved_s"] is None:
        return f"{patch}: {trial['verdict']}"
    predicted = units.seconds(trial["predicted_s"]) if trial["predicted_s"] is not None else "unknown"
    saved = units.seconds(trial["saved_s"]["value"])
    return f"{patch}: {trial['verdict']}, saved {saved} a step of {predicted} at most"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=[plant.name for plant in PLANTS])
    parser.add_argument("--no-try", action="store_true", help="do not measure the remedies")
    parser.add_argument("--runs", type=Path, help="keep the runs in this folder")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    about = machine.as_text(machine.describe())
    rows = known(options.out)
    with tempfile.TemporaryDirectory() as folder:
        runs = options.runs or Path(folder)
        for plant in PLANTS:
            if options.only and plant.name not in options.only:
                continue
            planted = profile(plant, runs, is_planted=True, with_trials=not options.no_try)
            row = judge(plant, planted, profile(plant, runs, is_planted=False, with_trials=False))
            rows[plant.name] = row
            verdict = "ok" if row["named"] and row["twin_silent"] else "NOT AS PLANTED"
            print(
                f"{plant.name}: {verdict}; {row['findings'][:3]}; twin {row['twin_findings'][:3]} {row['failed'] or ''}"
            )
            ordered = [rows[plant.name] for plant in PLANTS if plant.name in rows]
            write_json(options.out / "planted.json", {"machine": machine.describe(), "rows": ordered})
            write_bytes(options.out / "planted.md", as_markdown(ordered, about).encode())


def known(folder):
    """Rows of an earlier call, so that a run cut short keeps what it has."""
    path = folder / "planted.json"
    return {row["name"]: row for row in json.loads(path.read_text())["rows"]} if path.exists() else {}


if __name__ == "__main__":
    main()
