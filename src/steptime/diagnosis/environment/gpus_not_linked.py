"""Several GPUs exchange gradients through the processor."""

from steptime.diagnosis.condition import All, Not, is_
from steptime.diagnosis.environment.places import ONE_GPU
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="gpus-not-linked",
    title="The GPUs have no fast link: gradients go through the processor.",
    cause=(
        "The slowest pair of GPUs is joined neither by NVLink nor by one PCIe switch, or may not read each other's "
        "memory (GeForce cards since the 30 series, virtual machines, IOMMU). Each step then waits for copies through "
        "the host."
    ),
    remedies=(
        Remedy(
            (
                "steptime scale --run last   # whether the steps are long enough for this link",
                "nvidia-smi topo -m   # which pairs are near; hide the far ones with CUDA_VISIBLE_DEVICES",
                "# a larger batch makes the exchange rarer for each sample",
            )
        ),
    ),
    verify="nvidia-smi topo -m; nvidia-smi topo -p2p r",
    clues=(
        Clue(2.1, is_("gpu_links", "host", "sockets")),
        Clue(2.1, is_("gpu_peer", False)),
    ),
    commonness=1,
    unless=(ONE_GPU,),
    slow=True,
    clear=(
        "The GPUs reach each other directly, by NVLink or one PCIe switch.",
        All(is_("gpu_links", "nvlink", "pcie"), Not(is_("gpu_peer", False))),
    ),
    fires=(
        Case(stated=("gpu_count=2", "gpu_links=sockets")),
        Case(stated=("gpu_count=4", "gpu_links=pcie", "gpu_peer=no")),
    ),
    silent=(
        Case(stated=("gpu_count=1", "gpu_links=host")),
        Case(stated=("gpu_count=8", "gpu_links=nvlink", "gpu_peer=yes")),
    ),
)
