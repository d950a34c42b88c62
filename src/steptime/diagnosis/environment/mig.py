"""MIG slices the GPU."""

from steptime.diagnosis.condition import Says, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="mig",
    title="The GPU is divided by MIG: a process sees one slice only.",
    cause="CUDA gives a process one MIG instance, however many exist, and index numbers do not name slices.",
    remedies=(
        Remedy(
            (
                "nvidia-smi -L   # lists MIG-<uuid> of each slice",
                "export CUDA_VISIBLE_DEVICES=MIG-...   # one process for each slice",
                "# the whole GPU again, on the host, nothing running: sudo nvidia-smi -mig 0",
            )
        ),
    ),
    verify="CUDA_VISIBLE_DEVICES=MIG-... " + LIST_GPUS,
    clues=(
        Clue(2.2, is_("mig", True)),
        Clue(
            2.2,
            Says(
                r"mig-(gpu-)?[0-9a-f]{8}",
                r"mig \d\w{0,2}\.\d{1,2}gb",
                r"mig (devices?|slices?|instances?|mode|enabled)",
                r"multi-instance gpu",
            ),
        ),
        Clue(0.4, Says(r"device_count\(\) ?(==|is|=) ?1", r"only one (slice|device|gpu)")),
    ),
    commonness=0,
    slow=False,
    decide="nvidia-smi -L   # are there lines with MIG?",
    clear=("MIG is off.", is_("mig", False)),
    fires=(
        Case(
            log=(
                "GPU 0: A100-SXM4-40GB (UUID: GPU-1)\n  MIG 1g.5gb Device 0: (UUID: MIG-aaaaaaaa-1)\n  MIG "
                "1g.5gb Device 1: (UUID: MIG-bbbbbbbb-1)"
            )
        ),
    ),
    silent=(Case(stated=("gpu=A100",)),),
)
