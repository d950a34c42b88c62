"""A comparison with everything in it: several arms, a failure, sensors, names full of markup."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from steptime.analysis.comparison import Comparison, compare
from steptime.analysis.target import parse_target
from steptime.plan.arm import Arm, parse_arm, settings_of
from steptime.plan.settings import Settings
from steptime.record.schema import Outcome
from steptime.record.stored import StoredRun
from steptime.record.study import Study, StudyRun
from steptime.report.pages.compare import compare_page
from steptime.report.render.html import render_html
from steptime.testing import make_plan, make_record, make_run

MARKUP = "<script>alert('x')</script> & \"q\" | `tick` $\\alpha$ *b*"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Compared:
    """A comparison as the pages take it."""

    comparison: Comparison
    study: Study
    runs: dict[str, list[StoredRun]]


def make_compared(fast: Arm | None = None, *, has_failure: bool = True, **changes: object) -> Compared:
    """Compare a slow arm, a fast one, and one that ran out of memory."""
    arms = [parse_arm("cpu,loop=keras"), fast or parse_arm("cpu")]
    pairs = [(arms[0], _runs(arms[0], [0.0151, 0.0152])), (arms[1], _runs(arms[1], [0.0080, 0.0081]))]
    if has_failure:
        lost = Outcome(status="failed", phase="train", reason="out of memory: 2 GiB wanted", exit_code=3)
        arms.append(parse_arm("cpu,batch_size=60000"))
        pairs.append((arms[2], _runs(arms[2], [0.1], outcome=lost, epochs=(), steps=None)))
    comparison = compare(pairs, arms[0].name, parse_target("val_accuracy=0.98"))
    study = Study(
        arms=tuple(arms),
        baseline=arms[0].name,
        command=("steptime", "compare", "mnist-cnn", "--target", "val_accuracy=0.98"),
        runs=tuple(StudyRun(arm=arm.name, folder=f"{arm.name}-1") for arm in arms),
        target="val_accuracy >= 0.98",
        stop="the answer was clear after 2 runs of each arm",
        no_gpu_reason="no NVIDIA driver: /proc/driver/nvidia/version is missing",
    )
    return Compared(comparison=comparison, study=study, runs={arm.name: runs for arm, runs in pairs})


@pytest.fixture(scope="session")
def compared() -> Compared:
    return make_compared()


@pytest.fixture(scope="session")
def page(compared: Compared) -> str:
    """The whole report, rendered once: drawing takes a second."""
    return render_html(compare_page(compared.comparison, compared.study, compared.runs))


def _runs(arm: Arm, steps_s: Sequence[float], **changes: object) -> list[StoredRun]:
    runs = []
    for repeat, step_s in enumerate(steps_s):
        plan = dataclasses.replace(
            make_plan(epochs=2), arm=arm, settings=settings_of(arm, Settings(device="cpu", epochs=2), repeat)
        )
        run = make_run(_record(plan, repeat, **changes), step_s=step_s, seed=repeat)
        blocks = len(run.steps["steps"])
        times = np.arange(6, 6 + 60 * 25 * step_s, 0.2)
        devices = {
            "cpu.t_ns": (times * 1e9).astype(np.int64),
            "cpu.utilisation_share": 0.9 + 0.05 * np.sin(times),
            "cpu.memory_used_bytes": np.full(len(times), 9e8),
        }
        steps = {**run.steps, "logs.accuracy": 1 - 0.9 * np.exp(-np.arange(blocks) / 12)}
        is_lost = "outcome" in changes
        runs.append(
            dataclasses.replace(run, steps={} if is_lost else steps, devices={} if is_lost else devices)
        )
    return runs


def _record(plan, repeat: int, **changes: object):
    record = make_record(plan)
    epochs = tuple(
        dataclasses.replace(
            epoch,
            logs={
                **epoch.logs,
                "val_loss": 0.06 / (epoch.epoch + 1) + 0.001 * repeat,
                "val_accuracy": 0.975 + 0.01 * epoch.epoch + 0.0005 * repeat,
            },
        )
        for epoch in record.epochs
    )
    known = {key: value for key, value in changes.items() if key != "steps"}
    return dataclasses.replace(record, **({"epochs": epochs} | known))
