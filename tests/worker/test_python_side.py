"""What a Python function of a step belongs to."""

import contextlib
import time

import pytest

from steptime.worker.python_side import part_of, python_costs


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("/v/site-packages/keras/src/utils/python_utils.py", "pythonify_logs", "Keras: reading the logs"),
        ("/v/site-packages/keras/src/callbacks/callback_list.py", "on_batch", "Keras: callbacks"),
        ("/v/site-packages/keras/src/backend/tensorflow/trainer.py", "function", "Keras: trainer"),
        ("/v/site-packages/keras/src/ops/numpy.py", "add", "Keras: the rest"),
        ("/v/site-packages/tensorflow/python/data/ops/iterator_ops.py", "x", "TensorFlow: data"),
        ("/v/site-packages/tensorflow/python/eager/context.py", "x", "TensorFlow: calling functions"),
        ("~", "<built-in method TFE_Py_ExecuteCancelable>", "TensorFlow: executing operations"),
        ("~", "<method '_numpy_internal' of 'EagerTensor' objects>", "waiting for the device"),
        ("~", "<built-in method builtins.len>", "Python: built-in functions"),
        (contextlib.__file__, "__enter__", "Python: standard library"),
        ("/home/me/job.py", "augment", "the job's own code"),
    ],
)
def test_a_function_belongs_to_the_package_its_file_lies_in(path: str, name: str, expected: str) -> None:
    assert part_of(path, name) == expected


class Steps:
    """Steps that cost Python something."""

    def run(self, steps: int) -> int:
        for _ in range(steps):
            time.sleep(0.0001)
            sum(range(5000))
        return steps


def test_parts_add_up_to_the_step_that_python_did_not_watch() -> None:
    costs = python_costs(Steps(), step_s=0.002)

    assert sum(cost.step_s for cost in costs) == pytest.approx(0.002, rel=0.05)
    assert {cost.part for cost in costs} >= {"Python: built-in functions"}
