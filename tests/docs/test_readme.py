"""What the pages tell a person to type works."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("README*.md"), *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARKED_PYTHON = re.compile(
    r"<!-- run: tests/docs/test_readme\.py -->\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL
)

# In this order, in one empty folder: what is shown is what was trained before.
HERE = (
    "steptime new my_job.py",
    "steptime train my_job.py --device cpu --epochs 3 --set batch_size=128",
    "steptime check my_job.py",
    "steptime runs",
    "steptime show last",
    "steptime settings",
    "steptime train --device cpu --epochs 1",
)
# Command -> the test that runs it.
ELSEWHERE = {
    "scripts/demo": "tests/scripts/test_setup.py::*",
    "scripts/test": "tests/scripts/test_test.py::*",
    "steptime compare": (
        "tests/cli/commands/test_compare.py"
        "::test_without_a_gpu_the_default_arms_are_two_loops_on_the_cpu_and_the_page_says_why"
    ),
    **dict.fromkeys(
        (
            "steptime run train.py",
            "steptime run train.py --epochs 5 data/",
            "steptime run --loop keras train.py",
            "steptime run --device cpu train.py",
        ),
        (
            "tests/cli/commands/test_run.py"
            "::test_options_before_the_script_are_ours_and_those_after_it_are_its_own"
        ),
    ),
    "steptime compare --script train.py --arm cpu,loop=keras --arm cpu": (
        "tests/cli/commands/test_compare_script.py::test_a_script_is_trained_in_turns_with_its_own_arguments"
    ),
    "steptime doctor": "tests/cli/commands/test_doctor.py::test_a_live_finding_that_only_slows_down_leaves_0",
    "steptime scale my_job.py --run last": (
        "tests/cli/commands/test_scale.py::test_a_run_on_a_cpu_is_compared_over_networks_only_and_says_so"
    ),
    "steptime scale --run last": (
        "tests/cli/commands/test_scale.py::test_a_gpu_that_waits_is_to_be_made_busy_first"
    ),
    "steptime train my_job.py --devices all": (
        "tests/launch/test_local_group.py"
        "::test_two_devices_of_one_process_both_compute_and_the_learning_rate_grows_only_when_asked"
    ),
    "steptime train my_job.py --workers 2 --local": (
        "tests/launch/test_local_group.py::test_a_killed_worker_is_named_and_the_group_goes_on_by_itself"
    ),
    "steptime compare --arm gpu,devices=1 --arm gpu,devices=2": (
        "tests/analysis/test_efficiency.py::test_a_comparison_says_how_well_devices_scale"
    ),
    "steptime doctor --workers a.json b.json": (
        "tests/cli/commands/test_doctor.py::test_what_differs_between_the_machines_of_a_training_is_found"
    ),
    "steptime train my_job.py --workers 4 --ray": (
        "tests/launch/test_ray_launcher.py::test_two_workers_on_ray_train_one_model_and_end_equal"
    ),
    "steptime train my_job.py --retries 3": (
        "tests/worker/test_faults_survived.py::test_a_killed_worker_is_started_again_and_goes_on_from_its_checkpoint"
    ),
    "steptime train my_job.py --batch-size 512 --on-oom halve": (
        "tests/worker/test_faults_survived.py::test_memory_that_runs_out_halves_the_batch_in_a_new_process"
    ),
    "steptime resume last": (
        "tests/worker/test_training_resumed.py::test_a_run_that_was_asked_to_stop_goes_on_and_ends_as_if_nothing_had_happened"
    ),
    "steptime profile": (
        "tests/cli/commands/test_profile_planted.py"
        "::test_the_built_in_job_is_taken_apart_and_the_page_says_what_would_help"
    ),
    "steptime board": (
        "tests/cli/commands/test_board.py::test_tensorboard_answers_at_the_printed_address_on_this_machine_only"
    ),
}


def commands() -> Iterator[str]:
    """Every command of steptime that stands in a sh or console block of a page."""
    for page in PAGES:
        for kind, body in BLOCK.findall(page.read_text(encoding="utf-8")):
            if kind not in ("sh", "console"):
                continue
            for line in body.splitlines():
                if kind == "console" and not line.startswith("$ "):
                    continue
                command = re.sub(r"\s+#.*", "", line.removeprefix("$ ")).strip()
                if command.startswith(("steptime", "scripts/")):
                    yield command


def steptime(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program, *arguments = command.split()
    return subprocess.run(
        [Path(sys.executable).with_name(program), *arguments],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key != "STEPTIME_RUNS"},
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_every_command_of_the_pages_is_run_here_or_by_a_named_test() -> None:
    assert set(commands()) == {*HERE, *ELSEWHERE}


@pytest.mark.parametrize("place", ELSEWHERE.values())
def test_the_named_tests_exist(place: str) -> None:
    path, _, name = place.partition("::")
    names = re.findall(r"^def (test_\w+)", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)

    assert names if name == "*" else name in names


def test_every_link_to_a_file_leads_somewhere() -> None:
    broken = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#:\s]+)\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]

    assert broken == []


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("pages")
    return {command: steptime(command, folder) for command in HERE}


@pytest.mark.tensorflow
@pytest.mark.parametrize("command", HERE)
def test_the_command_ends_well(answers: dict[str, subprocess.CompletedProcess[str]], command: str) -> None:
    done = answers[command]

    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.tensorflow
def test_the_example_shows_what_the_command_prints_now(
    answers: dict[str, subprocess.CompletedProcess[str]],
) -> None:
    def names(text: str) -> list[str]:
        """The first column of a summary."""
        return re.findall(r"^  (\w[\w ]*?)  ", text, re.MULTILINE)

    command = "steptime train --device cpu --epochs 1"
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = next(body for kind, body in BLOCK.findall(page) if kind == "console" and f"$ {command}" in body)

    assert names(shown) == names(answers[command].stdout)


@pytest.mark.tensorflow
def test_the_tutorials_network_reaches_98_per_cent_in_one_epoch(
    answers: dict[str, subprocess.CompletedProcess[str]],
) -> None:
    accuracy = re.search(
        r"val_accuracy (0\.\d+|1\.0+)", answers["steptime train --device cpu --epochs 1"].stdout
    )

    assert accuracy is not None
    assert float(accuracy[1]) >= 0.98


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if MARKED_PYTHON.search(page.read_text(encoding="utf-8"))]
)
def test_the_marked_python_runs(page: Path, tmp_path: Path) -> None:
    for number, source in enumerate(MARKED_PYTHON.findall(page.read_text(encoding="utf-8"))):
        script = tmp_path / f"block_{number}.py"
        script.write_text(source, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=300
        )

        assert done.returncode == 0, done.stderr
