"""Batches come as float64."""

from steptime.diagnosis.condition import Check, is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="float64-input",
    title="Batches come as float64, and a step waits {input_s} for input.",
    cause=(
        "`x / 255.0` makes float64 of a NumPy array: twice the bytes of float32 and eight times those of uint8, "
        "which are made, copied, and then cast to float32 in every step."
    ),
    # Keras casts arrays once, before the first step.
    applies=is_("source", "dataset", "generator", "pydataset"),
    when=Check("input_dtypes", test=lambda dtypes: "float64" in dtypes),
    saving=Saving(
        names=("input_s", "float64_share"),
        calculate=lambda input_s, share: input_s * share / 2,
        how="half of what a step waits for input ({input_s}), as float32 has half the bytes, for {float64_share} of"
        " the batch",
    ),
    ways=(
        Way(
            lines=(
                "x = x.astype('float32') / 255  # or keep uint8, and begin the model with Rescaling(1 / 255)",
            )
        ),
    ),
    clear="No batch comes as float64.",
    fires=(
        {
            "source": "dataset",
            "input_dtypes": ("float64", "int64"),
            "float64_share": 0.99,
            "input_s": 0.004,
            "step_s": 0.01,
        },
    ),
    silent=(
        {
            "source": "generator",
            "input_dtypes": ("float32", "int64"),
            "float64_share": 0.0,
            "input_s": 0.004,
            "step_s": 0.01,
        },
        {
            "source": "dataset",
            "input_dtypes": ("float32", "float64"),
            "float64_share": 0.01,
            "input_s": 0.004,
            "step_s": 0.01,
        },
        {
            "source": "arrays",
            "input_dtypes": ("float64", "int64"),
            "float64_share": 0.99,
            "input_s": 0.004,
            "step_s": 0.01,
        },
    ),
)
