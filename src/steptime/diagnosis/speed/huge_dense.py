"""One Dense layer holds most of the weights and takes most of the step."""

from steptime.diagnosis.condition import All, Check, more
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="huge-dense",
    title="The layer {largest_dense} holds {largest_dense_parameters} of {parameters} weights and takes"
    " {largest_dense_s} of a step.",
    cause=(
        "A Dense layer after Flatten has a weight for each pair of pixel and unit. In every step all of them are "
        "read, their gradients written, and the optimizer reads and writes them several times over."
    ),
    when=All(
        Check("largest_dense_parameters", "parameters", test=lambda one, whole: one > 0.5 * whole),
        more("largest_dense_parameters", 5_000_000),
        Check("largest_dense_s", "step_s", test=lambda part, whole: part > 0.3 * whole),
    ),
    saving=Saving(
        names=("largest_dense_s",),
        calculate=lambda part: part,
        how="all of the time in that layer ({largest_dense_s}), its part of the update included",
    ),
    ways=(
        Way(
            lines=(
                "keras.layers.GlobalAveragePooling2D()  # in place of Flatten, or pool before it; or fewer units",
            ),
            changes_results=True,
        ),
    ),
    clear="No Dense layer dominates the step.",
    explains=("unfused-optimizer", "batch-below-saturation", "xla-off"),
    fires=(
        {
            "largest_dense": "dense",
            "largest_dense_parameters": 20_000_000,
            "parameters": 21_000_000,
            "largest_dense_s": 0.08,
            "step_s": 0.1,
            "optimizer": "Adam",
            "xla": False,
            "exact_kernels_used": False,
            "optimizer_s": 0.05,
            "variables": 8,
        },
    ),
    silent=(
        {
            "largest_dense": "dense",
            "largest_dense_parameters": 90_000,
            "parameters": 93_000,
            "largest_dense_s": 0.001,
            "step_s": 0.01,
        },
    ),
)
