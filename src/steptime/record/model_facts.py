"""What was read of a model and its data before a fit: ``model_facts.json`` in the run folder, plain JSON.

A fact that could not be read is absent and has a reason in ``unknown``; it is never guessed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steptime.errors import RecordError
from steptime.record.files import write_json
from steptime.record.store import read_json

MODEL_FACTS_FILE = "model_facts.json"
FORMAT = "steptime-model-facts-1"
DOES_NOT_APPLY = "does not apply"
"""Beginning of a reason that says that there is nothing to look at, such as the split where there is none."""

# Fact -> what it holds. Readers may supply these and no others; rules may ask for these and no others.
FACTS: dict[str, str] = {
    "heads": (
        "each output: name, units, rank, dtype, activation (null when it cannot be told), softmax_over (units that a "
        "softmax runs over), rescued (whether Keras takes the logits behind a softmax or sigmoid), after (layers "
        "behind it), loss, from_logits, policy"
    ),
    "labels": (
        "each target, in the order of the outputs: shape of one label, dtype, low, high, low_counted and high_counted "
        "(of labels of a weight other than 0; null where that is not known), is_whole, is_one_hot, read and samples "
        "(how many were read of how many)"
    ),
    "inputs": (
        "each input: name, dtype, low, high, mean, std, finite_share, read, samples; and the way to the first layer "
        "with weights: reaches (its class), low_there, high_there, rescaled (layers that scale by a constant)"
    ),
    "arrays": "each array or element of a tf.data pipeline: name, dtype, bytes (null for a stream), shape",
    "validation": (
        "validation against training data: same (object, values, or null), overlap_share, compared, samples, numbers"
    ),
    "split": (
        "validation_split: share, samples, classes, unseen_share (null where the loss takes no classes), distance (of "
        "the label distributions)"
    ),
    "label_order": (
        "order of the labels as they will be fed: samples, classes, changes, expected_changes; only for tf.data"
    ),
    "pipeline": "the transformations of a tf.data pipeline from its source on, each with op and its numbers",
    "source": "what feeds the training: kind (arrays, tf.data, PyDataset, generator), class, workers, ...",
    "batch": "size, samples, steps_per_epoch, epochs, total_steps, earlier_steps, last (samples in the last batch)",
    "batch_norms": (
        "each trainable batch normalisation: layer, momentum, is_fresh (its averages are still initial), positions "
        "(values that one sample gives a channel; null where the shape does not say)"
    ),
    "trainable": "layers whose trainable flag changed after the first step was compiled: frozen, unfrozen",
    "without_gradient": "trainable variables that the loss does not depend on: variable, parameters",
    "parameters": "number of parameters of the model",
    "flat_dense": "each Dense behind a Flatten: layer, inputs, units, parameters, behind",
    "embeddings": "each trainable Embedding: layer, rows, width, bytes; with ids_per_batch where it is known",
    "optimizer": "class, is_scaled (loss scaling), float16_layers, momentum",
    "rnns": "each recurrent layer: layer, class, why_not (what excludes cuDNN's kernel)",
    "xla": "used, blocking (layers that switch XLA off)",
    "gpus": "number of GPUs that TensorFlow sees",
    "eager": "run_eagerly, functions, data_debug_mode",
    "callbacks": "each callback: class, batch_hooks, save_freq, and TensorBoard's settings",
    "fits": "earlier: passes of each earlier fit of this model in this process, oldest first; passes of this one",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What is known about a model, how it was compiled, and what was passed to ``fit``.

    Attributes:
        values: Fact (see ``FACTS``) to value, JSON data only.
        unknown: Fact to the reason why it could not be read.
        gathered_s: What reading them took.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)
    gathered_s: float = 0.0


def write_model_facts(folder: Path, facts: ModelFacts) -> None:
    """Write ``model_facts.json``, by rename."""
    write_json(
        folder / MODEL_FACTS_FILE,
        {
            "format": FORMAT,
            "facts": dict(facts.values),
            "unknown": dict(facts.unknown),
            "gathered_s": facts.gathered_s,
        },
    )


def read_model_facts(folder: Path) -> ModelFacts | None:
    """Read the facts of a run; ``None`` when it left none.

    Raises:
        RecordError: The file is damaged or of another format.
    """
    path = folder / MODEL_FACTS_FILE
    if not path.is_file():
        return None
    content = read_json(path)
    facts, unknown = content.get("facts"), content.get("unknown")
    if content.get("format") != FORMAT or not isinstance(facts, dict) or not isinstance(unknown, dict):
        raise RecordError(
            f"{path} must hold facts of the format {FORMAT}. Received: {content.get('format')!r}",
            hint="Another version of steptime wrote it: run the training again.",
        )
    taken = content.get("gathered_s")
    return ModelFacts(
        values={name: value for name, value in facts.items() if name in FACTS},
        unknown={str(name): str(reason) for name, reason in unknown.items()},
        gathered_s=taken if isinstance(taken, int | float) else 0.0,
    )
