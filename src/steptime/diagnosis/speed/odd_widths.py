"""Widths that tensor cores cannot use whole."""

from steptime.diagnosis.condition import All, Check, is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="odd-widths",
    title="Widths are no multiple of 8 in {odd_widths}.",
    cause="Tensor cores multiply tiles of 8 by 8 and larger; a width in between is padded or takes a slower kernel.",
    applies=is_("device", "gpu"),
    when=All(is_("tensor_cores", True), Check("odd_widths", test=bool)),
    saving=Saving(
        names=("odd_widths_waste_s",),
        calculate=lambda part: part,
        how="{odd_widths_s} of a step in these layers, of which padding to a multiple of 8 wastes"
        " {odd_widths_waste_s}",
    ),
    ways=(
        Way(
            lines=("# round units, filters and vocabulary sizes up to a multiple of 8, better of 64",),
            changes_results=True,
        ),
    ),
    clear="All widths suit the device.",
    source="NVIDIA, Deep Learning Performance: Matrix Multiplication Background, tensor core requirements",
    fires=(
        {
            "device": "gpu",
            "tensor_cores": True,
            "odd_widths": ("dense (250)",),
            "odd_widths_s": 0.006,
            "odd_widths_waste_s": 0.0006,
            "step_s": 0.01,
        },
    ),
    silent=(
        {"device": "gpu", "tensor_cores": True, "odd_widths": (), "step_s": 0.01},
        {"device": "cpu", "tensor_cores": False, "odd_widths": ("dense (250)",), "step_s": 0.01},
    ),
)
