"""The trained model, as a file."""

from pathlib import Path

import keras

from steptime.record.files import replacing


def save_model(model: keras.Model, path: Path) -> str | None:
    """Write the model; what was there before stays until the new file is whole.

    Returns:
        Why Keras cannot save it; None when it is saved.
    """
    try:
        with replacing(path) as part:
            model.save(part)
    except (ValueError, TypeError, NotImplementedError) as error:
        return f"Keras cannot save this model: {' '.join(str(error).split())[:200]}"
    return None
