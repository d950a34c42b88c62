"""The GPU's compute mode admits one process, or none."""

from steptime.diagnosis.condition import Says, is_
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="gpu-exclusive-mode",
    title="The GPU's compute mode admits only one process, or none.",
    cause=(
        "Compute mode EXCLUSIVE_PROCESS lets one process use the GPU; a second one gets an error. "
        "PROHIBITED lets none."
    ),
    remedies=(Remedy(("sudo nvidia-smi -c DEFAULT   # on a shared cluster ask the administrator",)),),
    verify="nvidia-smi --query-gpu=compute_mode --format=csv",
    clues=(
        Clue(2.3, is_("compute_mode", "exclusive", "prohibited")),
        Clue(
            2.6,
            Says(
                r"cuda_error_device_unavailable",
                r"cuda-capable devices?(\(s\))? (is/are |are |is )?busy or unavailable",
                r"cudaerrordevicesunavailable",
            ),
        ),
    ),
    commonness=1,
    slow=True,
    decide="nvidia-smi --query-gpu=compute_mode --format=csv",
    clear=("The GPU's compute mode is the default one.", is_("compute_mode", "default")),
    fires=(Case(stated=("compute_mode=exclusive",)),),
    silent=(Case(stated=("compute_mode=default",)),),
)
