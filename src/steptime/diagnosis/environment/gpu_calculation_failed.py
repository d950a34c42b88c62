"""The GPU is listed, but a calculation on it fails."""

from steptime.diagnosis.condition import Check, is_
from steptime.diagnosis.environment.commands import DOCTOR, INSTALL
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="gpu-calculation-failed",
    title="TensorFlow lists the GPU, but a calculation on it fails or is wrong.",
    cause=(
        "Being listed proves only that the driver answered; the test of a matrix product, a "
        "convolution with gradient and a compiled step did not pass."
    ),
    remedies=(
        Remedy(
            (
                INSTALL + "   # in a fresh environment; then:",
                DOCTOR,
                "nvidia-smi   # enough free memory? driver 525.60.13 or newer, 570 for Blackwell?",
            )
        ),
    ),
    verify=DOCTOR,
    clues=(Clue(2.0, Check("proof", test=lambda answer: str(answer) not in {"ok", "not run"})),),
    commonness=0,
    clear=(
        "A matrix product, a convolution with gradient and a compiled step ran on the GPU and agree with the CPU.",
        is_("proof", "ok"),
    ),
    decide=DOCTOR,
    fires=(Case(stated=("platform=linux", "proof=convolution: wrong by 0.3")),),
    silent=(Case(stated=("platform=linux", "proof=ok")),),
)
