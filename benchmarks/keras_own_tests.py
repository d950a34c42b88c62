"""Run Keras' own tests of fit, callbacks and trainers twice: with stock Keras and with ``steptime.install()``.

Keras' tests are not part of this project. Get the sources of the installed version first::

    python -c "import keras; print(keras.__version__)"
    git clone --depth 1 --branch v3.15.1 https://github.com/keras-team/keras /tmp/keras-repo
    pip install jax
    python benchmarks/keras_own_tests.py --repo /tmp/keras-repo

(``trainer_test.py`` imports jax whatever the backend; without it that file is reported as not collected.)
Each arm is one fresh process that runs the same test files. A test that kills or hangs its process is noted as
such and the rest goes on in a new process. The results are ``benchmarks/results/keras_own_tests.{md,json}``.
This file is also the pytest plugin that both processes load: it notes outcomes, and installs steptime in one arm.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
import time
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


# ---- the pytest plugin -------------------------------------------------------------------------------------


def noted() -> list[dict[str, Any]]:
    path = Path(os.environ[NOTES_FILE])
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def note(**what: Any) -> None:
    with Path(os.environ[NOTES_FILE]).open("a") as file:
        file.write(json.dumps(what) + "\n")


def pytest_configure(config: Any) -> None:
    if ARM not in os.environ:
        return
    config.stash_loops = collections.Counter()
    if os.environ[ARM] == "steptime":
        import keras

        import steptime

        steptime.install()
        installed = keras.Model.fit

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


def compare(stock: Arm, ours: Arm) -> dict[str, Any]:
    def count(arm: Arm) -> dict[str, int]:
        return dict(collections.Counter(entry["outcome"] for entry in arm.outcomes.values()))

    broken = []
    for test, entry in sorted(stock.outcomes.items()):
        other = ours.outcomes.get(test, {"outcome": "not run", "message": ""})
        if entry["outcome"] == "passed" and other["outcome"] != "passed":
            why = next((text for part, text in WHY.items() if part in test), None)
            broken.append(
                {"test": test, "outcome": other["outcome"], "message": other["message"], "why": why}
            )
    failed_in_both = [
        t for t, e in sorted(stock.outcomes.items()) if e["outcome"] not in ("passed", "skipped")
    ]
    return {
        "stock": {**count(stock), "wall_s": round(stock.wall_s, 1)},
        "steptime": {**count(ours), "wall_s": round(ours.wall_s, 1), "fits_by_loop": ours.fits},
        "pass in stock, fail with steptime": broken,
        "do not pass in stock either": failed_in_both,
    }


def as_markdown(result: dict[str, Any]) -> str:
    lines = [
        "# Keras' own tests, with stock Keras and with steptime installed",
        "",
        f"Keras {result['keras']}, TensorFlow {result['tensorflow']}, backend tensorflow.",
        "How to run it: the first lines of `benchmarks/keras_own_tests.py`.",
        "",
        "| | " + " | ".join(COLUMNS) + " |",
        "| ---" * (len(COLUMNS) + 1) + " |",
    ]
    for arm in ("stock", "steptime"):
        counts = result[arm]
        cells = [str(counts.get(key, 0)) for key in COLUMNS]
        lines.append(f"| {arm} | " + " | ".join(cells) + " |")
    fits = ", ".join(
        f"{number} in `{loop}`" for loop, number in sorted(result["steptime"]["fits_by_loop"].items())
    )
    lines += ["", f"Calls of `fit` by the loop that trained last: {fits or 'none'}.", ""]
    broken = result["pass in stock, fail with steptime"]
    lines += [f"## Pass in stock Keras and not with steptime: {len(broken)}", ""]
    for entry in broken:
        first_line = re.sub(r"\s+", " ", entry["message"])[:300]
        lines += [
            f"* `{entry['test']}` ({entry['outcome']}): {entry['why'] or 'not explained yet'}",
            f"  `{first_line}`",
        ]
    failing = result["do not pass in stock either"]
    lines += [
        "",
        f"## Do not pass in stock Keras here either: {len(failing)}",
        "",
        *(f"* `{t}`" for t in failing),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repo", type=Path, required=True, help="checkout of Keras at the installed version")
    parser.add_argument(
        "--files", nargs="*", default=list(FILES), help="test files or ids, relative to the checkout"
    )
    parser.add_argument("--arm", choices=["stock", "steptime", "both"], default="both")
    parser.add_argument(
        "--quiet-s", type=float, default=300.0, help="a test that takes longer counts as hung"
    )
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    from importlib.metadata import version

    cloned = re.search(r'__version__ = "(.+?)"', (options.repo / "keras/src/version.py").read_text())
    if cloned is None or cloned[1] != version("keras"):
        sys.exit(
            f"the checkout is Keras {cloned and cloned[1]}, installed is {version('keras')}: check out that one"
        )
    files = [name for name in options.files if (options.repo / name.split("::")[0]).exists()]
    tensorflow = next((v for n in ("tensorflow", "tensorflow-cpu") if (v := installed_version(n))), None)
    arms = ["stock", "steptime"] if options.arm == "both" else [options.arm]
    done = {arm: run_arm(arm, options.repo.resolve(), files, options.quiet_s) for arm in arms}
    if options.arm != "both":
        for test, entry in sorted(done[options.arm].outcomes.items()):
            if entry["outcome"] not in ("passed", "skipped"):
                print(f"{entry['outcome']} {test}\n    {entry['message'][:600]}")
        print(
            collections.Counter(e["outcome"] for e in done[options.arm].outcomes.values()),
            done[options.arm].fits,
        )
        return 0
    result = {
        "keras": version("keras"),
        "tensorflow": tensorflow,
        "files": files,
        **compare(done["stock"], done["steptime"]),
    }
    options.results.mkdir(parents=True, exist_ok=True)
    (options.results / "keras_own_tests.json").write_text(json.dumps(result, indent=1) + "\n")
    text = as_markdown(result)
    (options.results / "keras_own_tests.md").write_text(text)
    print(text)
    return 1 if result["pass in stock, fail with steptime"] else 0


def installed_version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
