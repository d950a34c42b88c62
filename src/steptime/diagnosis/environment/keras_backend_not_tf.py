"""Keras runs on another backend than TensorFlow."""

from steptime.diagnosis.condition import Says, is_
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="keras-backend-not-tf",
    title="Keras runs on another backend than TensorFlow.",
    cause=(
        "Keras 3 reads its backend once, at the first import, from KERAS_BACKEND or "
        "~/.keras/keras.json; setting it later changes nothing."
    ),
    remedies=(
        Remedy(
            (
                "set KERAS_BACKEND=tensorflow",
                "# before the first import of keras; in a notebook restart the kernel",
            ),
            WINDOWS,
        ),
        Remedy(
            (
                "export KERAS_BACKEND=tensorflow",
                (
                    "# before the first import of keras; in a notebook restart the kernel; also look into "
                    "~/.keras/keras.json"
                ),
            )
        ),
    ),
    verify='python -c "import keras; print(keras.backend.backend())"',
    clues=(
        Clue(3, is_("keras_backend", "jax", "torch", "pytorch", "numpy", "openvino")),
        Clue(
            2.4,
            Says(
                r"keras_backend",
                r"using (jax|pytorch|torch|numpy|theano) backend",
                r"\"backend\": ?\"(jax|torch|numpy|theano)\"",
            ),
        ),
    ),
    commonness=1,
    decide='python -c "import keras; print(keras.backend.backend())"',
    clear=("Keras uses the TensorFlow backend.", is_("keras_backend", "tensorflow")),
    fires=(Case(log="Using JAX backend.\nEpoch 1/5"),),
    silent=(Case(log="Using TensorFlow backend."),),
)
