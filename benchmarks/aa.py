"""How often is `steptime compare` wrong? Compares an arm with itself, and with itself made 10 % slower.

Every comparison is a real one: fresh processes in turns, the same schedule, the same early stop, the same verdict.
An A/A comparison that finds a difference is wrong; an A/B comparison that does not find the slow-down has missed it.
The results file names what was asked for, the machine, and each comparison.

    python benchmarks/aa.py --comparisons 2 --time-budget 30    # minutes: does it run?
    python benchmarks/aa.py                                     # hours: 40 of each kind
"""

import argparse
import contextlib
import dataclasses
import os
import tempfile
import time
from pathlib import Path

from steptime.analysis.comparison import Comparison, compare
from steptime.analysis.verdict import EARLY_CONFIDENCE
from steptime.device.host import describe_host
from steptime.launch.campaign import Campaign, run_campaign
from steptime.launch.process import ProcessLauncher
from steptime.launch.schedule import DEFAULT_BUDGET_S, Limits
from steptime.plan.arm import Arm
from steptime.plan.plan import Placement, Plan
from steptime.plan.settings import Settings
from steptime.plan.workload import parse_workload
from steptime.record.files import write_bytes, write_json
from steptime.record.stored import read_run
from steptime.record.study import Study, create_study_folder, run_folders

HERE = Path(__file__).parent
SLOWDOWN = 0.1
SLOWED = "slowed"
KINDS = {"aa": ("once", "again"), "ab": ("once", SLOWED)}


class SlowingLauncher:
    """Launches as always, and tells the job of the slowed arm to be slower."""

    def __init__(self):
        self._launcher = ProcessLauncher()

    def launch(self, plan, folder, on_event):
        slowdown = SLOWDOWN if plan.arm.name == SLOWED else 0
        os.environ["STEPTIME_AA_SLOWDOWN"] = str(slowdown)
        return self._launcher.launch(plan, folder, on_event)


@contextlib.contextmanager
def unwatched(*_):
    yield lambda _: None


def compare_once(kind, options, folder):
    arms = tuple(Arm(name=name, changes={"device": "cpu"}) for name in KINDS[kind])
    cpu = Placement(device="cpu", reason="as asked", visible_devices="-1")
    campaign = Campaign(
        base=Plan(
            workload=parse_workload(str(HERE / "aa_job.py")),
            settings=Settings(device="cpu", epochs=options.epochs, loop=options.loop, validation=False),
        ),
        arms=arms,
        placements=(cpu, cpu),
        limits=Limits(repeats=options.repeats, budget_s=options.time_budget),
    )
    folder = create_study_folder(folder, kind)
    study = Study(arms=arms, baseline=arms[0].name, command=("benchmarks/aa.py",))
    study = run_campaign(
        campaign, folder, study, SlowingLauncher(), unwatched,
        lambda so_far: answer(folder, so_far, EARLY_CONFIDENCE).is_clear,
    )  # fmt: skip
    return answer(folder, study), study


def answer(folder, study, *confidence) -> Comparison:
    pairs = [(arm, [read_run(path) for path in run_folders(folder, study, arm.name)]) for arm in study.arms]
    return compare(pairs, study.baseline, None, *confidence)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--comparisons", type=int, default=40, help="of each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument(
        "--repeats", type=int, help="runs of each arm (default: as many as the schedule wants)"
    )
    parser.add_argument(
        "--time-budget", type=float, default=DEFAULT_BUDGET_S, help="seconds for one comparison"
    )
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--loop", default="graph")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.comparisons):
            for kind in options.kinds:
                found.append(row(kind, options, Path(folder)))
                print(f"{number + 1} of {options.comparisons}: {found[-1]}", flush=True)
                write(options, load, found)


def row(kind, options, folder):
    begin_s = time.perf_counter()
    comparison, study = compare_once(kind, options, folder)
    facts = comparison.arms[1]
    ratio = facts.verdict.time_ratio
    return {
        "kind": kind,
        "verdict": facts.verdict.kind,
        "ratio": ratio and [round(value, 4) for value in (ratio.value, ratio.low, ratio.high)],
        "repeats": facts.repeats,
        "stop": study.stop,
        "reasons": facts.verdict.reasons,
        "seconds": round(time.perf_counter() - begin_s, 1),
    }


def write(options, load, found):
    """Write after each comparison, so that a run cut short keeps what it has."""
    host = dataclasses.asdict(describe_host())
    shown = ("cpu_model", "logical_cores", "os_release", "python_version")
    asked = {key: str(value) if isinstance(value, Path) else value for key, value in vars(options).items()}
    write_json(
        options.out / "aa.json",
        {
            "asked": asked,
            "machine": {key: host[key] for key in shown},
            "load_before": load,
            "comparisons": found,
        },
    )
    write_bytes(options.out / "aa.md", page(host, load, found).encode())


def page(host, load, found):
    lines = [
        "# Is it right?",
        "",
        f"{host['cpu_model']}, {host['logical_cores']} logical cores, {host['os_release']}; load before: {load}",
        "",
        "| comparison | number | faster | slower | same | cannot tell | runs of each arm |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    names = {"aa": "an arm with itself", "ab": f"an arm with itself, {SLOWDOWN:.0%} slower"}
    for kind, name in names.items():
        own = [item for item in found if item["kind"] == kind]
        if not own:
            continue
        counts = [
            sum(item["verdict"] == word for item in own)
            for word in ("faster", "slower", "same", "cannot tell")
        ]
        repeats = sum(item["repeats"] for item in own) / len(own)
        lines.append(f"| {name} | {len(own)} | {' | '.join(map(str, counts))} | {repeats:.1f} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
