"""Run Keras' own tests of fit, callbacks and trainers with stock Keras and with ``steptime.install()``.

Keras' tests are not part of this project. Get the sources of the installed version first::

    python -c "import keras; print(keras.__version__)"
    git clone --depth 1 --branch v3.15.1 https://github.com/keras-team/keras /tmp/keras-repo
    pip install jax
    python benchmarks/keras_own_tests.py --repo /tmp/keras-repo

(``trainer_test.py`` imports jax whatever the backend; without it that file is reported as not collected.)
There are three arms, each a fresh process that runs the same test files: ``stock``; ``steptime``, as a person gets
it (most tests train too few steps for another loop than Keras' to be worth compiling); and ``steptime-graph``, in
which every fit is asked to run in the graph loop. A test that kills or hangs its process is noted as such and the
rest goes on in a new process. Results: ``benchmarks/results/keras_own_tests.{md,json}``; an arm that is not run
again keeps its last results. This file is also the pytest plugin that notes outcomes and installs steptime.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FILES = (
    "keras/src/trainers/trainer_test.py",
    "keras/src/trainers/epoch_iterator_test.py",
    "keras/src/trainers/compile_utils_test.py",
    "keras/src/trainers/data_adapters/array_data_adapter_test.py",
    "keras/src/trainers/data_adapters/data_adapter_utils_test.py",
    "keras/src/trainers/data_adapters/generator_data_adapter_test.py",
    "keras/src/trainers/data_adapters/py_dataset_adapter_test.py",
    "keras/src/trainers/data_adapters/tf_dataset_adapter_test.py",
    "keras/src/callbacks",
    "keras/src/optimizers/adam_test.py",
    "keras/src/optimizers/lion_test.py",
    "keras/src/optimizers/multi_optimizer_test.py",
    "keras/src/optimizers/muon_test.py",
    "keras/src/optimizers/optimizer_test.py",
    "keras/src/optimizers/schedule_free_adamw_test.py",
    "keras/src/optimizers/loss_scale_optimizer_test.py",
    "keras/src/optimizers/schedules/learning_rate_schedule_test.py",
    "keras/src/models/model_test.py",
    "keras/src/models/functional_test.py",
    "keras/src/models/sequential_test.py",
    "keras/src/models/variable_mapping_test.py",
    "keras/src/distillation/distiller_test.py",
    "keras/src/metrics/confusion_metrics_test.py",
    "keras/src/metrics/iou_metrics_test.py",
    "keras/src/backend/common/remat_test.py",
    "keras/src/backend/tensorflow/distribute_test.py",
    "keras/src/layers/layer_test.py",
    "keras/src/layers/core/dense_test.py",
    "keras/src/layers/core/embedding_test.py",
    "keras/src/layers/normalization/batch_normalization_test.py",
    "keras/src/layers/normalization/spectral_normalization_test.py",
    "keras/src/layers/preprocessing/feature_space_test.py",
    "keras/src/layers/rnn/time_distributed_test.py",
    "keras/src/legacy/saving/legacy_h5_format_test.py",
    "keras/src/saving/saving_lib_test.py",
    "keras/src/utils/summary_utils_test.py",
    "keras/src/wrappers/sklearn_test.py",
)
"""The test files in which ``fit``, ``evaluate`` or ``predict`` is called, or whose subject a fit consists of."""

WHY: dict[str, str] = {}
"""For a test (part of its id) that passes in stock Keras and fails with ours: what it expects and why it is not met."""

COLUMNS = ("passed", "failed", "skipped", "crashed", "hung", "not collected", "wall_s")
NOTES_FILE = "KERAS_OWN_TESTS_NOTES"
ARM = "KERAS_OWN_TESTS_ARM"
ARMS = ("stock", "steptime", "steptime-graph")


# ---- the pytest plugin -------------------------------------------------------------------------------------


def noted() -> list[dict[str, Any]]:
    path = Path(os.environ[NOTES_FILE])
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def note(**what: Any) -> None:
    line = json.dumps(what)
    for folder in (sys.prefix, sys.base_prefix, str(Path.cwd()), tempfile.gettempdir()):
        line = line.replace(folder, "...")  # the results are for everybody: no path of this machine
    with Path(os.environ[NOTES_FILE]).open("a") as file:
        file.write(line + "\n")


def pytest_configure(config: Any) -> None:
    if ARM not in os.environ:
        return
    config.stash_loops = collections.Counter()
    if os.environ[ARM] != "stock":
        import keras

        import steptime
        from steptime.engine.fit import run_fit
        from steptime.engine.request import FitRequest

        steptime.install()
        loop = os.environ[ARM].partition("-")[2] or "auto"

        def installed(self: Any, *args: Any, **kwargs: Any) -> Any:
            """What install() puts in place, with the loop of this arm."""
            return run_fit(self, FitRequest(*args, **kwargs, loop=loop), check_override=False)

        def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
            history = installed(self, *args, **kwargs)
            config.stash_loops[getattr(getattr(history, "steptime", None), "loop", None) or "none"] += 1
            return history

        keras.Model.fit = fit


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    done = {entry["test"] for entry in noted() if "outcome" in entry}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in done])
    items[:] = [item for item in items if item.nodeid not in done]
    note(left=len(items))


def pytest_collectreport(report: Any) -> None:
    """Note a file that could not be imported, as one test that failed."""
    if report.failed:
        note(
            test=report.nodeid, outcome="not collected", message=str(report.longrepr)[-1500:], duration_s=0.0
        )


def pytest_runtest_logstart(nodeid: str) -> None:
    note(started=nodeid)


def pytest_runtest_makereport(item: Any, call: Any) -> None:
    """Note which loops trained, before the next test starts."""
    loops = item.config.stash_loops
    if call.when == "call" and loops:
        note(fits=item.nodeid, loops=dict(loops))
        loops.clear()


def pytest_runtest_logreport(report: Any) -> None:
    """Note the outcome: of the call, or of the set-up or the end where the call was not reached or failed late."""
    if report.when == "call" or report.outcome != "passed":
        crash = getattr(report.longrepr, "reprcrash", None)
        message = crash.message if crash else str(report.longrepr or "")
        note(test=report.nodeid, outcome=report.outcome, message=message[:2000], duration_s=report.duration)


# ---- the two arms ------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    outcomes: dict[str, dict[str, Any]]
    fits: dict[str, int]
    wall_s: float


def run_arm(arm: str, repo: Path, files: list[str], quiet_s: float) -> Arm:
    """Run every test once in processes of one arm; a test that ends its process counts as ``crashed`` or ``hung``."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes.jsonl"
        os.environ[NOTES_FILE] = str(notes)
        while True:
            before = notes.stat().st_size if notes.exists() else 0
            hung, tail = run_process(arm, repo, files, notes, quiet_s)
            entries = noted()
            if notes.exists() and before == notes.stat().st_size:
                raise SystemExit(f"pytest could not start in {repo}:\n{tail}")
            done = {entry["test"] for entry in entries if "outcome" in entry}
            broken = [
                entry["started"] for entry in entries if "started" in entry and entry["started"] not in done
            ]
            if not broken:
                if not done:
                    raise SystemExit(f"no test ran in {repo}:\n{tail}")
                break
            note(
                test=broken[-1],
                outcome="hung" if hung else "crashed",
                message=tail[-1500:],
                duration_s=quiet_s,
            )
    fits: collections.Counter[str] = collections.Counter()
    for entry in entries:
        fits.update(entry.get("loops", {}))
    outcomes: dict[str, dict[str, Any]] = {}
    for entry in entries:
        if "outcome" in entry and outcomes.get(entry["test"], {}).get("outcome") != "failed":
            outcomes[entry["test"]] = entry
    return Arm(outcomes=outcomes, fits=dict(fits), wall_s=time.perf_counter() - begin)


def run_process(arm: str, repo: Path, files: list[str], notes: Path, quiet_s: float) -> tuple[bool, str]:
    """One pytest process; it is ended when no test began or ended for ``quiet_s`` seconds."""
    environment = {
        **os.environ,
        ARM: arm,
        "KERAS_BACKEND": "tensorflow",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "PYTHONPATH": os.pathsep.join(
            filter(None, [str(Path(__file__).resolve().parent), os.environ.get("PYTHONPATH")])
        ),
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        Path(__file__).stem,
        "-q",
        "-p",
        "no:cacheprovider",
        "--continue-on-collection-errors",
        *files,
    ]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command, cwd=repo, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        last, size, hung = time.perf_counter(), -1, False
        while process.poll() is None:
            time.sleep(0.5)
            now = notes.stat().st_size if notes.exists() else 0
            if now != size:
                last, size = time.perf_counter(), now
            elif time.perf_counter() - last > quiet_s:
                process.kill()
                hung = True
        output.seek(0)
        return hung, output.read()[-4000:]


# ---- the report --------------------------------------------------------------------------------------------


def broken(arms: dict[str, Any], arm: str) -> list[dict[str, Any]]:
    """The tests that pass in stock Keras and not in this arm."""
    ours = arms[arm]["outcomes"]
    found = []
    for test, entry in sorted(arms["stock"]["outcomes"].items()):
        other = ours.get(test, {"outcome": "not run", "message": ""})
        if entry["outcome"] == "passed" and other["outcome"] != "passed":
            why = next((text for part, text in WHY.items() if part in test), "not explained yet")
            found.append({**other, "test": test, "why": why})
    return found


def in_one_line(message: str) -> str:
    return re.sub(r"\s+", " ", message)[:200].replace("`", "'")


def as_markdown(result: dict[str, Any]) -> str:
    arms = result["arms"]
    lines = [
        "# Keras' own tests, with stock Keras and with steptime installed",
        "",
        f"Keras {result['keras']}, TensorFlow {result['tensorflow']}, backend tensorflow.",
        "How to run it: the first lines of `benchmarks/keras_own_tests.py`.",
        "",
        "| arm | " + " | ".join(COLUMNS) + " | fits by loop |",
        "| ---" * (len(COLUMNS) + 2) + " |",
    ]
    for name, arm in arms.items():
        counts = collections.Counter(entry["outcome"] for entry in arm["outcomes"].values())
        counts["wall_s"] = round(arm["wall_s"])
        fits = ", ".join(f"{number} {loop}" for loop, number in sorted(arm["fits"].items()))
        lines.append(f"| {name} | " + " | ".join(str(counts[key]) for key in COLUMNS) + f" | {fits} |")
    if "stock" in arms:
        for name in arms.keys() - {"stock"}:
            lost = broken(arms, name)
            lines += ["", f"## Pass in stock Keras and not with {name}: {len(lost)}", ""]
            for entry in lost:
                lines += [f"* `{entry['test']}` ({entry['outcome']}): {entry['why']}"]
                lines += [f"  `{in_one_line(entry['message'])}`"]
        failing = {
            t: e for t, e in arms["stock"]["outcomes"].items() if e["outcome"] not in ("passed", "skipped")
        }
        lines += ["", f"## Do not pass in stock Keras here either: {len(failing)}", ""]
        lines += [f"* `{test}`: {in_one_line(entry['message'])}" for test, entry in sorted(failing.items())]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repo", type=Path, required=True, help="checkout of Keras at the installed version")
    parser.add_argument(
        "--files", nargs="*", default=list(FILES), help="test files, relative to the checkout"
    )
    parser.add_argument("--arms", nargs="*", choices=ARMS, default=list(ARMS))
    parser.add_argument(
        "--quiet-s", type=float, default=300.0, help="a test that takes longer counts as hung"
    )
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    cloned = re.search(r'__version__ = "(.+?)"', (options.repo / "keras/src/version.py").read_text())
    installed = version("keras")
    if cloned is None or cloned[1] != installed:
        sys.exit(
            f"expected a checkout of Keras {installed}, received {cloned and cloned[1]}: git checkout v{installed}"
        )
    files = [name for name in options.files if (options.repo / name.split("::")[0]).exists()]
    options.results.mkdir(parents=True, exist_ok=True)
    stored = options.results / "keras_own_tests.json"
    arms = json.loads(stored.read_text())["arms"] if stored.exists() else {}
    for name in options.arms:
        arms[name] = dataclasses.asdict(run_arm(name, options.repo.resolve(), files, options.quiet_s))
        result = {"keras": installed, "tensorflow": tensorflow_version(), "files": files}
        result["arms"] = {arm: arms[arm] for arm in ARMS if arm in arms}
        stored.write_text(json.dumps(result, indent=1) + "\n")
        stored.with_suffix(".md").write_text(as_markdown(result))
    print(stored.with_suffix(".md").read_text())
    return 1 if "stock" in arms and any(broken(arms, arm) for arm in arms) else 0


def tensorflow_version() -> str:
    for name in ("tensorflow", "tensorflow-cpu"):
        with contextlib.suppress(PackageNotFoundError):
            return version(name)
    return "unknown"


if __name__ == "__main__":
    sys.exit(main())
