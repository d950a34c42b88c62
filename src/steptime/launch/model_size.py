"""Asks a child process to build a workload's model and count what its gradients weigh."""

import json
from dataclasses import dataclass

from steptime.environment.child import Answer, ask
from steptime.errors import RunError, UsageError
from steptime.launch.placement import HIDE_EVERY_GPU
from steptime.plan.codec import from_json, to_json
from steptime.plan.workload import Workload

_LIMIT_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSize:
    """What a model weighs.

    Attributes:
        model: Name of the Keras model.
        parameters: Number of weights, trainable or not.
        gradient_bytes: Size of the gradients of one step, as if all were dense.
        gradients: Number of trainable weight tensors.
        embedding_bytes: The part of ``gradient_bytes`` that belongs to embeddings, whose gradients are sparse.
    """

    model: str
    parameters: int
    gradient_bytes: int
    gradients: int
    embedding_bytes: int


def ask_model_size(workload: Workload, limit_s: float = _LIMIT_S) -> ModelSize:
    """Build the model in a child process on the CPU and return its size.

    Args:
        workload: Whose model.
        limit_s: Seconds after which the child is ended.

    Raises:
        UsageError: The workload is not what it must be.
        RunError: The person's code or the child failed.
    """
    environ = {"CUDA_VISIBLE_DEVICES": HIDE_EVERY_GPU, "KERAS_BACKEND": "tensorflow"}
    text = json.dumps(to_json(workload))
    answer = ask("steptime.worker.parameters", [text], limit_s=limit_s, environ=environ)
    if answer.state == "ok":
        return from_json(ModelSize, dict(answer.body), "the size of the model")
    raise _failure(answer)


def _failure(answer: Answer) -> UsageError | RunError:
    if {"error", "hint", "exit_code"} <= set(answer.body):
        kind = UsageError if answer.body["exit_code"] == UsageError.exit_code else RunError
        return kind(str(answer.body["error"]), hint=str(answer.body["hint"]))
    words = answer.said.decode(errors="replace").strip().splitlines()
    return RunError(
        f"The model must be built to be counted. The process that did so ended with: {answer.state}"
        + (f" ({words[-1].strip()[:200]})" if words else ""),
        hint="Give its number of parameters instead: --parameters N",
    )
