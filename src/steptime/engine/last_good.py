"""Goes back to the last checkpoint whose weights are finite, after a loss that was not."""

from pathlib import Path
from typing import Any

import keras
import numpy as np

from steptime.engine.checkpoints import format as files
from steptime.engine.checkpoints.snapshot import put_back_variables
from steptime.engine.checkpoints.state import TrainingState
from steptime.engine.checkpoints.variables import variables_of
from steptime.engine.infinite import first_bad_layer
from steptime.engine.state import is_real
from steptime.errors import RecordError, UsageError
from steptime.plan.codec import from_json


def go_back(model: keras.Model, folder: Path, batch: Any) -> tuple[str, ...]:
    """Puts the last good weights back and looks at the bad batch with them.

    Args:
        model: Whose weights are not finite.
        folder: Of the checkpoints.
        batch: What the bad step was given; None when it is gone.

    Returns:
        What is found, in words; empty when there is no checkpoint with finite weights.
    """
    for path in reversed(files.listed(folder)):
        try:
            stored = files.read(path)
            state = from_json(TrainingState, stored.state, str(path))
            weights = stored.arrays[: len(state.variables)]
            if not all(np.isfinite(w.astype("float64")).all() for w in weights if is_real(w)):
                continue
            put_back_variables(state, stored.arrays, variables_of(model, ()), allow_different=True)
        except (RecordError, UsageError):
            continue
        place = f"the last checkpoint with finite weights ({path.name})"
        if batch is None:
            return (f"{place} is kept",)
        x = keras.utils.unpack_x_y_sample_weight(batch)[0]
        bad = first_bad_layer(model, x)
        found = (
            f"{bad} for this batch"
            if bad
            else "no layer gives such a value for this batch: they went bad after it"
        )
        return (f"with the weights of {place} {found}",)
    return ()
