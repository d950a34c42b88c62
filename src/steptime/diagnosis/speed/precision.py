"""The model computes in float32 where half precision is much faster."""

from steptime.diagnosis.condition import All, is_, more
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="precision",
    title="The model computes in float32; this device multiplies {half_speedup} times as fast in {half_precision}.",
    cause=(
        "Tensor cores, and the matrix units of some processors, take half as many bits and give several times the "
        "rate. Weights stay float32."
    ),
    when=All(
        is_("precision", "float32"),
        is_("half_precision", "mixed_bfloat16", "mixed_float16"),
        more("half_speedup", 1.5),
    ),
    saving=Saving(
        names=("compute_s", "half_speedup"),
        calculate=lambda part, speedup: part * (1 - 1 / speedup),
        how="{compute_s} of a step in matrix products and convolutions, at the measured ratio of rates",
    ),
    ways=(
        Way(
            patch={"precision": "{half_precision}"},
            lines=("# give the last layer dtype='float32'; results change by rounding: look at the loss",),
            changes_results=True,
        ),
    ),
    clear="The model computes in the precision that is fast here, or half precision is not faster here.",
    source="NVIDIA DeepLearningExamples: ResNet-50 2.6 times as fast on an A100, BERT 1.7",
    fires=(
        {
            "precision": "float32",
            "half_precision": "mixed_bfloat16",
            "half_speedup": 4.0,
            "compute_s": 0.008,
            "step_s": 0.01,
        },
    ),
    silent=(
        {
            "precision": "float32",
            "half_precision": "none",
            "half_speedup": 0.7,
            "compute_s": 0.008,
            "step_s": 0.01,
        },
        {
            "precision": "float32",
            "half_precision": "mixed_bfloat16",
            "half_speedup": 4.0,
            "compute_s": 0.0002,
            "step_s": 0.01,
        },
    ),
)
