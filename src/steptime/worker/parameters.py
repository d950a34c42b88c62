"""``python -m steptime.worker.parameters WORKLOAD_JSON``: builds a model and prints how much its gradients weigh.

The last line of standard output is a JSON object: the size, or ``error``, ``hint`` and ``exit_code``.
"""

import json
import math
import sys
import traceback
from typing import Any

import keras
import tensorflow as tf

from steptime.engine.private_keras.layers import flatten_layers
from steptime.errors import RunError, SteptimeError, UsageError
from steptime.plan.codec import from_json
from steptime.plan.settings import Settings
from steptime.plan.workload import Workload
from steptime.worker import job
from steptime.worker.data import slice_of
from steptime.worker.loading import guarded, workload_function
from steptime.worker.suitability import check_model_takes


def measure(workload: Workload) -> dict[str, Any]:
    """Return the size of a workload's model; its data are loaded only if the model does not know its input.

    Raises:
        UsageError: The workload cannot be imported, or makes no Keras model that fits its data.
        RunError: The person's own code failed.
    """
    module = job.bring_in(workload)
    create = workload_function(module, workload.model_function, workload)
    model = guarded(create, f"{workload.model_function}()")
    if not isinstance(model, keras.Model):
        raise UsageError(
            f"{workload.model_function}() must return a keras.Model. Received: {type(model).__name__}",
            hint="tf_keras models are Keras 2: build them with `import keras`.",
        )
    if not model.built:
        data = job.load(module, workload, Settings(batch_size=1))
        if data.x is None:
            raise UsageError(
                "The model must say its input's shape, since the data cannot be looked at without using them up.",
                hint="Begin the model with keras.layers.Input, or give --parameters N.",
            )
        check_model_takes(model, slice_of(data.x, 1))
    trained = model.trainable_variables
    return {
        "model": model.name,
        "parameters": model.count_params(),
        "gradient_bytes": sum(_bytes(variable) for variable in trained),
        "gradients": len(trained),
        "embedding_bytes": sum(
            _bytes(variable)
            for layer in flatten_layers(model)
            if isinstance(layer, keras.layers.Embedding)
            for variable in layer.trainable_variables
        ),
    }


def _bytes(variable: Any) -> int:
    # Mixed precision keeps variables, and so their gradients, in their own dtype: float32.
    size_bytes: int = tf.as_dtype(variable.dtype).size
    return int(math.prod(variable.shape)) * size_bytes


def main(text: str) -> int:
    """Print the answer and return the exit code."""
    try:
        answer: dict[str, Any] = measure(from_json(Workload, json.loads(text), "workload"))
    except SteptimeError as error:
        answer = {"error": error.message, "hint": error.hint, "exit_code": error.exit_code}
    except MemoryError:
        traceback.print_exc()
        answer = {
            "error": "The model must fit into this machine's memory to be counted.",
            "hint": "Give its number of parameters instead: --parameters N",
            "exit_code": RunError.exit_code,
        }
    print(json.dumps(answer))  # noqa: T201 - the parent reads this line
    return int(answer.get("exit_code", 0))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
