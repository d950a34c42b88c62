"""GPUs of different kinds in one machine."""

from steptime.diagnosis.condition import Check
from steptime.diagnosis.environment.places import ONE_GPU
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="gpus-unequal",
    title="The GPUs are of different kinds: in one training all wait for the slowest.",
    cause=(
        "Each device computes the same share of a batch, so a step takes as long as on the slowest GPU, and the batch "
        "must fit into the smallest memory."
    ),
    remedies=(
        Remedy(
            (
                "nvidia-smi -L   # which is which",
                "CUDA_VISIBLE_DEVICES=0,1 steptime train   # those that are alike",
            )
        ),
    ),
    verify="nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c",
    clues=(Clue(2.0, Check("gpu", test=lambda names: isinstance(names, tuple) and len(set(names)) > 1)),),
    commonness=0,
    unless=(ONE_GPU,),
    slow=True,
    clear=(
        "The GPUs are of one kind.",
        Check("gpu", test=lambda names: isinstance(names, tuple) and len(names) > 1 and len(set(names)) == 1),
    ),
    fires=(Case(stated=("gpu=RTX 4090 + RTX 3060",)),),
    silent=(Case(stated=("gpu=2x RTX 4090", "gpu_count=2")),),
)
