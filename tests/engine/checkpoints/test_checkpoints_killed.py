"""A training that is killed and resumed ends as if nothing had happened: a trial of `benchmarks/resume.py`."""

import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
# What keeps most: callbacks' states, an order of samples, random seeds. The benchmark runs the rest.
TRIALS = {13: ("early-stopping", "graph", "writing")}


@pytest.fixture
def resume(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import resume

    return resume


def test_any_number_of_trials_covers_all_kinds_and_jobs_evenly(resume: Any) -> None:
    made = [resume.trial("steptime", index) for index in range(62)]

    for place, least in ((0, 6), (1, 12), (2, 10)):
        counts = [sum(item[place] == name for item in made) for name in {item[place] for item in made}]
        assert min(counts) >= least
    assert made == [resume.trial("steptime", index) for index in range(62)]


def test_a_difference_in_the_last_bit_is_a_difference(resume: Any) -> None:
    left_alone = {"weights": "a", "history": {"loss": [0.1]}, "epochs": [0], "batches": 3}

    assert all(resume.compare(left_alone, dict(left_alone)).values())
    changed = left_alone | {
        "history": {"loss": [0.1 + 2**-56]},
        "epochs": [0, 1],
        "batches": 4,
        "weights": "b",
    }
    assert not any(resume.compare(left_alone, changed).values())


@pytest.mark.tensorflow
@pytest.mark.skipif(not hasattr(sys, "abiflags"), reason="needs fork")
def test_a_killed_training_ends_as_if_nothing_had_happened(resume: Any, tmp_path: Path) -> None:
    nursery = resume.Nursery([sys.executable, str(BENCHMARKS / "resume_jobs.py")])
    found = [resume.run_trial(nursery, "steptime", index, tmp_path) for index in TRIALS]
    nursery.close()

    assert [(item["job"], item["loop"], item["kind"]) for item in found] == list(TRIALS.values())
    assert all(item["killed"] for item in found)
    assert [item.get("failed") or item["equal"] for item in found] == [
        {"weights": True, "history": True, "batches": True, "stopped at": True}
    ] * len(TRIALS)
