"""What a real run leaves, looked at from outside."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steptime.plan.codec import to_json
from steptime.record.events import read_events
from steptime.record.store import read_record

POINTS = ("points.py", "--epochs", "2", "--learning-rate", "0.02", "--loop", "keras")
pytestmark = pytest.mark.tensorflow


def test_the_run_ends_well_and_stdout_is_its_record(points: Any) -> None:
    assert points.code == 0, points.err
    assert json.loads(points.out) == points.record
    assert to_json(read_record(points.folder)) == points.record


def test_the_record_knows_plan_job_and_history(points: Any) -> None:
    record = points.record

    assert record["outcome"] == {
        "status": "ok", "phase": "save", "reason": None, "hint": None, "exit_code": 0, "log_tail": [],
        "fault": None,
    }  # fmt: skip
    assert record["plan"]["settings"]["epochs"] == 2
    assert (record["device"], record["device_reason"]) == ("cpu", "as asked")
    job = record["job"]
    assert (job["model"], job["parameters"], job["train_samples"], job["validation_samples"]) == (
        "points",
        195,
        512,
        128,
    )
    assert (job["batch_size"], job["steps_per_epoch"], job["compiled_by"]) == (32, 16, "settings")
    assert job["choices"][0].startswith("loss: sparse categorical cross-entropy, from_logits=True")
    assert [epoch["steps"] for epoch in record["epochs"]] == [16, 16]
    assert set(record["epochs"][0]["logs"]) == {"loss", "accuracy", "val_loss", "val_accuracy"}
    assert record["epochs"][1]["logs"]["accuracy"] > 0.8
    assert record["execution"]["loop"] == "keras"


def test_the_record_knows_the_surroundings_and_no_secrets(points: Any) -> None:
    environment = points.record["environment"]

    assert {"keras", "numpy", "steptime"} <= set(environment["packages"])
    assert environment["flags"]["CUDA_VISIBLE_DEVICES"] == "-1"
    assert len(environment["workload_sha256"]) == 64
    assert "HOME" not in environment["flags"]


def test_phases_and_memory_are_measured(points: Any) -> None:
    record = points.record
    names = [phase["name"] for phase in record["phases"]]

    assert names == [
        "start",
        "import",
        "data",
        "build",
        "compile",
        "inspect",
        "warmup",
        "validate",
        "train",
        "save",
    ]
    assert all(phase["duration_ns"] > 0 for phase in record["phases"])
    assert record["memory"]["peak_process_bytes"] > 50_000_000
    assert record["memory"]["peak_device_bytes"] is None
    assert "memory.peak_device_bytes" in record["unavailable"]


def test_the_proof_shows_every_compute_op_on_the_cpu(points: Any) -> None:
    proof = points.record["proof"]

    assert set(proof["compute_ops"]) == {"CPU:0"}
    assert proof["compute_ops"]["CPU:0"] > 10
    assert any("MatMul" in name for name in proof["heavy_ops"]["CPU:0"])
    assert set(proof["variables"]) == {"CPU:0"}
    assert proof["contradiction"] is None


def test_the_blocks_add_up_to_the_steps(points: Any) -> None:
    with np.load(points.folder / "steps.npz", allow_pickle=False) as blocks:
        assert blocks["steps"].sum() == 32
        assert blocks["samples"].sum() == 1024
        assert (blocks["duration_ns"] > 0).all()
        by_epoch = [int(blocks["duration_ns"][blocks["epoch"] == number].sum()) for number in (0, 1)]
    assert [epoch["train_ns"] for epoch in points.record["epochs"]] == by_epoch


def test_the_person_hears_of_every_phase_and_not_of_tensorflow(points: Any) -> None:
    kinds = {event["kind"] for event in read_events(points.folder)}

    assert {"phase", "device", "note", "epoch", "progress"} <= kinds
    for words in (
        "importing TensorFlow ...",
        "loading data ...",
        "training ...",
        "validating ...",
        "epoch 2/2: ",
    ):
        assert words in points.err
    assert "oneDNN" not in points.err


def test_the_trained_model_loads_and_predicts_as_the_history_says(points: Any) -> None:
    import keras

    model = keras.models.load_model(points.folder / "model.keras")
    copy = points.folder.parents[2] / "copy.keras"
    assert copy.read_bytes() == (points.folder / "model.keras").read_bytes()
    spec = importlib.util.spec_from_file_location("points_job", points.record["plan"]["workload"]["target"])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _, (x, y) = module.load_data()
    accuracy = float((model.predict(x, verbose=0).argmax(axis=1) == y).mean())

    assert accuracy == pytest.approx(points.record["epochs"][-1]["logs"]["val_accuracy"])


def scalars(folder: Path) -> dict[str, list[float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    accumulator = EventAccumulator(str(folder))
    accumulator.Reload()
    return {
        tag: [float(tensor_util.make_ndarray(event.tensor_proto)) for event in accumulator.Tensors(tag)]
        for tag in accumulator.Tags()["tensors"]
        if not tag.startswith("_hparams")
    }


def test_tensorboard_has_curves_speed_and_learning_rate(points: Any) -> None:
    train, validation = scalars(points.folder / "tb" / "train"), scalars(points.folder / "tb" / "validation")
    logs = [epoch["logs"] for epoch in points.record["epochs"]]

    assert set(train) == {
        "epoch/loss", "epoch/accuracy", "steptime/learning_rate", "steptime/samples_per_s", "steptime/step_ms"
    }  # fmt: skip
    assert train["epoch/loss"] == pytest.approx([log["loss"] for log in logs])
    assert validation["epoch/accuracy"] == pytest.approx([log["val_accuracy"] for log in logs])
    assert train["steptime/learning_rate"] == pytest.approx([0.02, 0.02])


def test_tensorboard_shows_the_settings_as_hyper_parameters(points: Any) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams import plugin_data_pb2

    accumulator = EventAccumulator(str(points.folder / "tb" / "train"))
    accumulator.Reload()
    data = plugin_data_pb2.HParamsPluginData()
    data.ParseFromString(accumulator.SummaryMetadata("_hparams_/session_start_info").plugin_data.content)
    hparams = data.session_start_info.hparams

    assert hparams["batch_size"].number_value == 32
    assert hparams["seed"].number_value == 1
    assert hparams["workload"].string_value == "points"


def test_the_same_seed_gives_the_same_history_to_the_last_bit_and_another_another(
    points: Any, train: Any
) -> None:
    same = train(*POINTS, "--seed", "1").record
    other = train(*POINTS, "--seed", "2").record
    logs = [epoch["logs"] for epoch in points.record["epochs"]]

    assert [epoch["logs"] for epoch in same["epochs"]] == logs
    assert [epoch["logs"] for epoch in other["epochs"]] != logs


def test_a_run_whose_proof_contradicts_its_plan_fails(train: Any) -> None:
    run = train("faults.py:model_elsewhere", "--epochs", "1", "--loop", "keras")

    assert run.code == 3
    assert "error: The run must execute on CPU:0. Compute ops ran outside CPU:0: " in run.err
    assert "on CPU:1" in run.err
    assert run.record["outcome"]["status"] == "failed"
    assert run.record["proof"]["compute_ops"]["CPU:1"] >= 1
    assert run.record["model_file"] is None


def test_an_error_in_a_persons_code_names_their_file_and_line(train: Any) -> None:
    run = train("faults.py:model_that_raises")
    error, hint = run.err.splitlines()[-2:]
    target = run.record["plan"]["workload"]["target"]

    assert run.code == 3
    assert error == (
        "error: create_model() failed: LookupError: no such layer: the person's own words "
        f"({target}, line {line_of(target, 'raise LookupError')})"
    ).replace("create_model()", "model_that_raises()")
    assert hint == "hint: The whole traceback is in worker.log; --debug prints it."
    assert run.record["outcome"]["phase"] == "build"
    assert "Traceback" in (run.folder / "worker.log").read_text()


def line_of(path: str, text: str) -> int:
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


@pytest.mark.parametrize(("model", "loop"), [("create_model", "keras"), ("eager_model", "auto")])
def test_ctrl_c_keeps_record_history_and_model(train: Any, model: str, loop: str) -> None:
    """Also where checkpoints are on, and the training is handed to Keras' own fit, which writes none."""
    import keras

    run = train(
        f"faults.py:{model},endless_data", "--epochs", "3", "--steps-per-epoch", "300", "--loop", loop
    )
    record = run.record

    assert run.code == 130
    assert record["outcome"]["status"] == "interrupted"
    assert run.err.splitlines()[-1] == "stopped by a signal; what was trained until then is kept"
    assert [epoch["epoch"] for epoch in record["epochs"]] == [0, 1]
    assert record["epochs"][0]["steps"] == 300
    assert 0 < record["epochs"][1]["steps"] < 300
    assert record["proof"]["contradiction"] is None
    assert keras.models.load_model(run.folder / "model.keras").count_params() == 27


def test_the_record_says_what_the_processor_did_while_it_trained(points: Any) -> None:
    (use,) = points.record["devices"]

    assert use["name"] == "cpu"
    assert use["samples"] >= 2
    assert 0 < use["memory_peak_bytes"] < 2**40
    assert points.record["sampling_s"] < points.record["phases"][-2]["duration_ns"] / 1e9 + 1
    with np.load(points.folder / "device.npz", allow_pickle=False) as columns:
        times_ns = columns["cpu.t_ns"]
        assert len(times_ns) == use["samples"]
        assert (np.diff(times_ns) > 0).all()
        # From the start of the process, as everything else: before the last epoch ended, and not before it began.
        assert 0 < times_ns[0] < points.record["epochs"][-1]["end_ns"]
