"""Every access to what Keras does not promise to keep, in one place.

A test asks each function for what it needs, so that a Keras that moved something fails there, by name, and
not in the middle of somebody's training.
"""

from steptime.engine.private_keras.arrays import (
    Arrays,
    are_arrays,
    as_arrays,
    split_for_validation,
    with_batch_size,
)
from steptime.engine.private_keras.callbacks import callback_list, steps_until_save, writes_every_batch
from steptime.engine.private_keras.distribution import NotDistributed
from steptime.engine.private_keras.epochs import KerasEpochs
from steptime.engine.private_keras.graph import (
    Graph,
    Node,
    changed_trainable,
    forget_losses,
    graph_of,
    logits_behind,
)
from steptime.engine.private_keras.layers import flatten_layers, optimizer_slots
from steptime.engine.private_keras.results import has_several_losses, is_independent_of_batches
from steptime.engine.private_keras.trainer import (
    cache_validation,
    epoch_logs,
    evaluate_cached,
    filter_traceback,
    forget_validation,
    has_strategy,
    in_metric_order,
    initial_epoch,
    is_determinism_enabled,
    is_foreign_function,
    limit_epochs,
    limit_steps,
    make_function,
    make_predict_function,
    overrides,
    own_or_stock,
    own_strategy,
    python_logs,
    should_evaluate,
    stock,
)

__all__ = [
    "Arrays",
    "Graph",
    "KerasEpochs",
    "Node",
    "NotDistributed",
    "are_arrays",
    "as_arrays",
    "cache_validation",
    "callback_list",
    "changed_trainable",
    "epoch_logs",
    "evaluate_cached",
    "filter_traceback",
    "flatten_layers",
    "forget_losses",
    "forget_validation",
    "graph_of",
    "has_several_losses",
    "has_strategy",
    "in_metric_order",
    "initial_epoch",
    "is_determinism_enabled",
    "is_foreign_function",
    "is_independent_of_batches",
    "limit_epochs",
    "limit_steps",
    "logits_behind",
    "make_function",
    "make_predict_function",
    "optimizer_slots",
    "overrides",
    "own_or_stock",
    "own_strategy",
    "python_logs",
    "should_evaluate",
    "split_for_validation",
    "steps_until_save",
    "stock",
    "with_batch_size",
    "writes_every_batch",
]
