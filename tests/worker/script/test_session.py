"""Scripts that train, looked at from outside: one process each, since TensorFlow takes seconds to import."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from steptime.record.model_facts import read_model_facts
from steptime.record.schema import RunRecord
from steptime.record.store import call_folders, list_runs, read_record

pytestmark = pytest.mark.tensorflow

# Two logical CPUs stand for a CPU and a GPU; the last call fails, and its error is caught.
SCOPES = """
import os, sys, traceback
import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
keras.utils.set_random_seed(1)
x = np.random.default_rng(0).normal(size=(1000, 8)).astype("float32")
y = x.sum(axis=1, keepdims=True)


def build():
    model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


class Trainer:
    def __init__(self, model):
        self.model = model

    def train(self, **given):
        return self.model.fit(x, y, batch_size=50, verbose=0, **given)


plain = Trainer(build()).train(epochs=3, validation_split=0.2)
with tf.device("/CPU:1"):
    inside = Trainer(build()).train(epochs=2)
outside = Trainer(build())
with tf.device("/CPU:1"):
    outside.train(epochs=2)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(100)
model = build()
model.fit(data, epochs=2, verbose=0)
model.fit(data, epochs=1, verbose=0)
again = Trainer(build())
again.train(validation_split=0.2)
print("evaluated", model.evaluate(data, verbose=0) < 1e6, "predicted", model.predict(x, verbose=0).shape)
print("losses", len(plain.history["val_loss"]), plain.steptime.loop)


class Failing(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        raise RuntimeError("mine")


def deep():
    build().predict(x[:, :6], verbose=0)


for failing in (lambda: again.train(callbacks=[Failing()]), deep):
    try:
        failing()
    except Exception:
        print("printed", traceback.format_exc().count(f"{os.sep}steptime{os.sep}"))
for wrong in (
    lambda: model.fit(x, y, no_such_argument=1),
    lambda: model.fit(x, y, loop="keras"),
    lambda: model.evaluate(x, y, no_such_argument=1),
    lambda: model.predict(x, no_such_argument=1),
):
    try:
        wrong()
    except Exception as error:
        print(type(error).__name__, error)
build().fit(x[:, :7], y)
"""

TAPE = """
import tensorflow as tf

tf.config.threading.set_inter_op_parallelism_threads(2)  # only possible before TensorFlow has begun
w = tf.Variable(tf.zeros((8, 1)))
x = tf.random.stateless_normal((256, 8), (1, 2))


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - 1.0) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))


for _ in range(50):
    step()
"""


class Ran(NamedTuple):
    done: subprocess.CompletedProcess[str]
    script: RunRecord
    calls: list[RunRecord]
    folders: tuple[Path, ...]


def run(here: Path, source: str, *options: str) -> Ran:
    (here / "train.py").write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "steptime", "run", "--runs", "runs", *options, "train.py"],
        cwd=here,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    script = next(summary.folder for summary in list_runs(here / "runs"))
    folders = call_folders(script)
    return Ran(done, read_record(script), [read_record(folder) for folder in folders], folders)


def line_of(code: str) -> int:
    """The number of the line of SCOPES that holds the code."""
    (number,) = (n for n, line in enumerate(SCOPES.splitlines(), 1) if code in line)
    return number


@pytest.fixture(scope="module")
def scopes(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run(tmp_path_factory.mktemp("scopes"), SCOPES)


def test_the_script_does_what_it_does_with_python(scopes: Ran) -> None:
    assert scopes.done.returncode == 1
    assert scopes.done.stdout.splitlines() == [
        "evaluated True predicted (1000, 1)",
        f"losses 3 {scopes.calls[0].execution['loop']}" if scopes.calls[0].execution else "",
        "printed 0",
        "printed 0",
        "TypeError TensorFlowTrainer.fit() got an unexpected keyword argument 'no_such_argument'",
        "TypeError TensorFlowTrainer.fit() got an unexpected keyword argument 'loop'",
        "ValueError Arguments not recognized: {'no_such_argument': 1}",
        "TypeError TensorFlowTrainer.predict() got an unexpected keyword argument 'no_such_argument'",
    ]


def test_a_traceback_shows_no_frame_of_ours(scopes: Ran) -> None:
    trace = scopes.done.stderr.partition("script  train")[0]

    assert f'train.py", line {line_of("x[:, :7]")}, in <module>' in trace
    assert "ValueError" in trace
    assert f"{os.sep}steptime{os.sep}" not in trace


def test_each_call_leaves_a_record_of_what_it_was_asked(scopes: Ran) -> None:
    assert [call.call.number for call in scopes.calls if call.call] == [*range(1, 9)]
    assert [call.call.place for call in scopes.calls if call.call][:2] == [
        f"train.py, line {line_of('return self.model.fit')}"
    ] * 2
    assert [len(call.epochs) for call in scopes.calls] == [3, 2, 2, 2, 1, 1, 1, 0]
    first, stream = scopes.calls[0], scopes.calls[3]
    assert first.job is not None
    assert (first.job.train_samples, first.job.validation_samples, first.job.batch_size) == (800, 200, 50)
    assert (first.plan.settings.epochs, first.plan.settings.batch_size) == (3, 50)
    assert set(first.epochs[0].logs) == {"loss", "val_loss"}
    assert all(epoch.validate_ns for epoch in first.epochs)
    assert stream.job is not None
    assert (stream.job.batch_size, stream.job.steps_per_epoch) == (100, 10)
    assert all(call.steps and call.steps.blocks for call in scopes.calls[:5])


def test_what_a_device_scope_really_did_is_proven(scopes: Ran) -> None:
    plain, inside, outside = scopes.calls[:3]

    assert plain.call is not None
    assert plain.call.device_scope is None
    assert plain.proof is not None
    assert plain.proof.contradiction is None
    assert inside.call is not None
    assert inside.call.device_scope == "CPU:1"
    assert inside.proof is not None
    assert set(inside.proof.variables) == {"CPU:1"}
    assert inside.proof.compute_ops.get("CPU:1", 0) > 10
    assert outside.proof is not None
    assert outside.proof.planned_device == "CPU:1"
    assert outside.proof.variables["CPU:0"] >= 4  # the weights; the optimizer makes its own inside
    assert outside.proof.contradiction is not None
    assert 'inside tf.device("/CPU:1"), but that is not where all of it ran' in scopes.done.stderr


def test_a_function_that_was_traced_by_an_earlier_call_is_proven_too(scopes: Ran) -> None:
    of_a_pipeline, of_arrays = scopes.calls[3:5], scopes.calls[5:7]

    for call in (*of_a_pipeline, *of_arrays):
        assert call.proof is not None
        assert call.proof.compute_ops
        assert call.proof.contradiction is None


def test_the_call_that_failed_says_where_and_the_script_too(scopes: Ran) -> None:
    failed = scopes.calls[-1]

    assert failed.outcome.status == "failed"
    assert failed.outcome.reason is not None
    assert failed.outcome.reason.startswith("ValueError: ")
    assert failed.outcome.reason.endswith(f"(train.py, line {line_of('x[:, :7]')})")
    assert scopes.script.outcome.reason == failed.outcome.reason


def test_model_and_data_of_each_call_were_looked_at(scopes: Ran) -> None:
    facts = [read_model_facts(folder) for folder in scopes.folders]

    assert all(found is not None for found in facts)
    assert facts[0] is not None
    assert facts[0].values["parameters"] == 41


def test_the_script_as_a_whole_speaks_for_its_longest_call_and_all_its_time(scopes: Ran) -> None:
    script = scopes.script

    assert script.job == scopes.calls[0].job
    assert script.epochs == scopes.calls[0].epochs
    names = [phase.name for phase in script.phases]
    assert names[:3] == ["start", "import", "script"]
    assert {"warmup", "train", "validate"} <= set(names)
    assert script.environment is not None
    assert script.devices[0].name == "cpu"
    assert "no network" not in json.dumps(script.unavailable)


def test_a_loop_of_ones_own_is_proven_too_and_may_still_set_tensorflow_up(tmp_path: Path) -> None:
    tape = run(tmp_path, TAPE)

    assert tape.done.returncode == 0, tape.done.stderr
    assert tape.calls == []
    proof: Any = tape.script.proof
    assert proof.contradiction is None
    assert set(proof.compute_ops) == {"CPU:0"}
    assert any("MatMul" in op for op in proof.heavy_ops["CPU:0"])
    assert proof.variables == {"CPU:0": 1}
    assert tape.script.devices[0].samples > 0
    assert "no fit" in tape.done.stderr
