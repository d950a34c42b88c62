"""What the record of a script as a whole says of its training."""

import gc
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from steptime.record.schema import Proof, RunRecord
from steptime.record.store import STEPS_FILE
from steptime.worker.proof import make_proof
from steptime.worker.script.measuring import default_device


def of_calls(calls: Sequence[RunRecord], folder: Path) -> dict[str, Any]:
    """Return the fields that speak for the calls: those of the call that trained most steps, the first of equals.

    So that scripts are compared like any other run, its block times are copied beside the script's record.

    Args:
        calls: Records of the calls, at least one.
        folder: Run folder of the script.
    """
    main = max(calls, key=lambda record: sum(epoch.steps for epoch in record.epochs))
    shutil.copyfile(folder.with_name(main.run_id) / STEPS_FILE, folder / STEPS_FILE)
    return {name: getattr(main, name) for name in ("plan", "job", "epochs", "steps", "proof", "execution")}


def proof_without_calls(graphs: Iterable[Any]) -> tuple[Proof | None, str | None]:
    """Return where the functions of a script ran that trains in a loop of its own; or None and why not.

    Args:
        graphs: Graphs of the ``tf.function``s that were executed.
    """
    variables = [item for item in gc.get_objects() if issubclass(type(item), tf.Variable)]
    proof = make_proof(graphs, variables, default_device())
    if not proof.compute_ops and not proof.variables:
        return None, "the script executed no tf.function and keeps no variable"
    return proof, None
