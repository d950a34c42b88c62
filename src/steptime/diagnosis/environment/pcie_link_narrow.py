"""The PCIe link of the GPU is narrow or slow."""

from steptime.diagnosis.condition import Check, is_
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="pcie-link-narrow",
    title="The PCIe link of the GPU is narrower or of an older generation than the card can use.",
    cause=(
        "The card sits in a slot with fewer lanes, shares them with another device, or the firmware "
        "limits the link; copies between host and GPU take longer."
    ),
    remedies=(
        Remedy(
            (
                (
                    "nvidia-smi --query-gpu=pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,"
                    "pcie.link.width.max --format=csv   # under load"
                ),
                "# put the card into the slot with all lanes, seat it again, update the firmware",
            )
        ),
    ),
    verify="nvidia-smi -q -d PCIE 2>/dev/null || nvidia-smi -q | grep -A12 'GPU Link Info'",
    clues=(Clue(2.2, Check("pcie_narrow", test=lambda words: str(words) != "none")),),
    commonness=1,
    slow=True,
    clear=("The PCIe link has its full width.", is_("pcie_narrow", "none")),
    fires=(Case(stated=("pcie_narrow=4 of 16 lanes",)),),
    silent=(Case(stated=("pcie_narrow=none",)),),
)
