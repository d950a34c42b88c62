"""Proof of placement, from graphs that TensorFlow really executed on several logical CPUs."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.tensorflow

# A fresh process, since logical devices are made before TensorFlow computes anything.
CHILD = """
import dataclasses, json
import keras
import tensorflow as tf
from steptime.worker.proof import GraphRecorder, make_proof

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
proofs = {}


def prove(name, call, variables=lambda: (), **more):
    recorder = GraphRecorder()
    recorder.start()
    call()
    proofs[name] = dataclasses.asdict(make_proof(recorder.stop(), variables(), "CPU:0", **more))
    assert recorder.stop() == (), "a second stop collects nothing"


@tf.function
def one(x):
    return tf.reduce_sum(tf.nn.relu(tf.matmul(x, x)))


@tf.function
def three(x):
    with tf.device("CPU:0"):
        a = tf.matmul(x, x)
    with tf.device("CPU:1"):
        b = tf.matmul(a, x) + 1.0
    with tf.device("CPU:2"):
        return tf.nn.relu(b)


@tf.function
def loop(x):
    with tf.device("CPU:1"):
        return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.matmul(x, x)), (0, x))


@tf.function(jit_compile=True)
def program(x):
    return tf.reduce_sum(tf.matmul(x, x))


@tf.function
def nothing(x):
    return tf.reshape(x, (-1,))


x = tf.random.uniform((8, 8))
prove("one", lambda: one(x))
prove("three", lambda: three(x))
prove("loop", lambda: loop(x))
weight = keras.Variable(x)
prove("program", lambda: program(x), lambda: [weight], is_xla_program=True)
prove("nothing", lambda: nothing(x))

model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(4), keras.layers.Dense(2)])
model.compile(optimizer="adam", loss="mse")
with tf.device("CPU:2"):
    elsewhere = keras.Variable(tf.ones((2,)))
prove(
    "fit",
    lambda: model.fit(x, tf.ones((8, 2)), verbose=0),
    lambda: [*model.variables, *model.optimizer.variables, elsewhere],
)
print(json.dumps(proofs))
"""


@pytest.fixture(scope="module")
def proofs() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def test_a_step_on_one_device_is_counted_there_and_agrees(proofs: dict[str, Any]) -> None:
    proof = proofs["one"]

    assert proof["compute_ops"] == {"CPU:0": 3}
    assert proof["heavy_ops"] == {"CPU:0": ["MatMul x 1"]}
    assert proof["contradiction"] is None


def test_a_step_on_three_devices_is_counted_on_each_and_contradicts(proofs: dict[str, Any]) -> None:
    proof = proofs["three"]

    assert set(proof["compute_ops"]) == {"CPU:0", "CPU:1", "CPU:2"}
    assert proof["heavy_ops"] == {"CPU:0": ["MatMul x 1"], "CPU:1": ["MatMul x 1"]}
    assert proof["contradiction"].startswith("compute ops ran outside CPU:0: ")
    assert "on CPU:1, " in proof["contradiction"]


def test_ops_inside_a_loop_are_seen_where_they_ran(proofs: dict[str, Any]) -> None:
    proof = proofs["loop"]

    assert proof["heavy_ops"] == {"CPU:1": ["MatMul x 1"]}
    assert proof["contradiction"] == "no compute op ran on CPU:0; they ran on CPU:1"


def test_an_xla_program_counts_as_one_heavy_op_where_its_variables_lie(proofs: dict[str, Any]) -> None:
    proof = proofs["program"]

    assert proof["heavy_ops"] == {"CPU:0": ["XLA program x 1"]}
    assert proof["contradiction"] is None


def test_a_step_that_computes_nothing_proves_nothing(proofs: dict[str, Any]) -> None:
    assert proofs["nothing"]["compute_ops"] == {}
    assert proofs["nothing"]["contradiction"] == "no executed compute op was found in the training step"


def test_keras_own_training_step_is_found_with_its_variables(proofs: dict[str, Any]) -> None:
    proof = proofs["fit"]

    assert set(proof["compute_ops"]) == {"CPU:0"}
    assert any(name.startswith("MatMul") or "MatMul" in name for name in proof["heavy_ops"]["CPU:0"])
    assert proof["variables"]["CPU:2"] == 1
    assert proof["variables"]["CPU:0"] >= 4 + 8
    assert proof["contradiction"] is None
