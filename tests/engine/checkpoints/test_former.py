"""What a training goes on from: compared, refused by name, allowed with a note."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from steptime.engine.checkpoints import format as files
from steptime.errors import RecordError, UsageError

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),  # in Keras
]

keras = pytest.importorskip("keras")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"model": {"units": 7}}, "units: 6 in the checkpoint, 7 now"),
        ({"model": {"dropout": 0.5}}, "rate: 0.3 in the checkpoint, 0.5 now"),
        ({"model": {"rate": 0.02}}, "learning_rate: "),
        ({"batch_size": 25}, "batch_size: 16 in the checkpoint, 25 now"),
        ({"samples": 75, "shift": 1.0}, "data.content"),
        ({"samples": 60, "shift": 0.0}, "data.samples: 75 in the checkpoint, 60 now"),
        ({"shuffle": False}, "shuffle: true in the checkpoint, false now"),
        ({"seed": 6}, "seed: 5 in the checkpoint, 6 now"),
        ({"validation_data": None}, "validated"),
    ],
)
def test_what_has_changed_is_refused_by_name(
    job: Any, kept: Path, changes: dict[str, Any], named: str
) -> None:
    arguments = dict(changes)
    model = job.build(**arguments.pop("model", {}))
    if "samples" in changes:
        samples = arguments.pop("samples")
        arguments |= {"x": job.X[:samples] + arguments.pop("shift"), "y": job.Y[:samples]}

    with pytest.raises(UsageError) as refused:
        job.train("arrays", "graph", kept, model=model, **arguments)

    assert named in refused.value.message
    assert "--allow-different" in refused.value.hint


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
def test_data_in_other_batches_begin_the_epoch_again_and_it_is_said(job: Any, tmp_path: Path) -> None:
    said: list[str] = []
    job.interrupt("dataset", "graph", tmp_path, 7, policy={"every": "1steps"})

    _, history, _ = job.train(
        "dataset",
        "graph",
        tmp_path,
        x=job.batches().rebatch(8),
        policy={"allow_different": True, "tell": said.append},
    )

    assert {
        "the data come in another way: their order is that of a new training",
        "epoch 2 begins again",
    } <= set(said)
    assert history.epoch == [0, 1, 2, 3]


def test_other_shapes_are_refused_even_where_differences_are_allowed(job: Any, kept: Path) -> None:
    with pytest.raises(
        UsageError, match=r"dense/kernel: float32\[5, 6\] in the checkpoint, float32\[5, 7\] now"
    ):
        job.train("arrays", "graph", kept, model=job.build(units=7), policy={"allow_different": True})


def copied(kept: Path, folder: Path) -> Path:
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    return folder


def test_with_another_batch_size_the_same_samples_come_next(job: Any, kept: Path, tmp_path: Path) -> None:
    said: list[str] = []
    folder = copied(kept, tmp_path)
    position = files.read_state(files.listed(folder)[-1])["position"]

    _, history, _ = job.train(
        "arrays", "graph", folder, batch_size=8, policy={"allow_different": True, "tell": said.append}
    )

    first = history.steptime.segments[0]
    assert (first.epoch, first.first_step) == (position["epoch"], 2 * position["step"])
    assert any("batch_size: 16 in the checkpoint, 8 now" in text for text in said)


def test_a_torn_checkpoint_is_named_and_the_one_before_it_is_used(
    job: Any, kept: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    folder = copied(kept, tmp_path)
    (folder / files.listed(folder)[-1] / files.VARIABLES).write_bytes(b"torn")

    resumed = job.train("arrays", "graph", folder, policy={"tell": said.append})

    assert "is not whole: variables.npz" in said[0]
    assert job.end_of(resumed) == job.end_of(job.train("arrays", "graph", None))


def test_if_none_is_whole_nothing_is_trained(job: Any, kept: Path, tmp_path: Path) -> None:
    folder = copied(kept, tmp_path)
    for path in files.listed(folder):
        (path / files.MANIFEST).unlink()

    with pytest.raises(RecordError, match="must hold a checkpoint that is whole"):
        job.train("arrays", "graph", folder)


def test_a_foreign_state_is_refused_in_a_sentence(job: Any, kept: Path, tmp_path: Path) -> None:
    path = files.listed(kept)[-1]
    stored = files.read(path)
    for name, value in (
        ("position", 7),
        ("feed", {}),
        ("callbacks", [["EarlyStopping", {"dict": 3}]]),
        ("logs", [1]),
    ):
        folder = tmp_path / name
        files.write(folder, path.name, stored.arrays, {**stored.state, name: value})
        with pytest.raises(RecordError):
            job.train("arrays", "graph", folder)


def test_another_version_goes_on_with_a_note(job: Any, kept: Path, tmp_path: Path) -> None:
    said: list[str] = []
    stored = files.read(files.listed(kept)[-1])
    state = {**stored.state, "versions": {**stored.state["versions"], "keras": "3.0.0"}}
    files.write(tmp_path, stored.path.name, stored.arrays, state)

    job.train("arrays", "graph", tmp_path, policy={"tell": said.append})

    assert any("keras was 3.0.0" in text and "bits may differ" in text for text in said)
