"""A container's shared memory is small for several GPUs."""

from steptime.diagnosis.condition import All, less, more
from steptime.diagnosis.environment.places import KUBERNETES, ONE_GPU
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

# Docker's default; NCCL's manual asks for more, since its buffers between GPUs that cannot reach each other lie there.
_DEFAULT_MIB = 64

RULE = Rule(
    kind="shm-small",
    title="Shared memory (/dev/shm) is too small for several GPUs.",
    cause=(
        "NCCL keeps its buffers there when GPUs cannot read each other's memory. Docker gives a container 64 MiB; "
        "with several GPUs NCCL then fails with 'unhandled system error' or 'No space left on device'."
    ),
    remedies=(
        Remedy(
            (
                "# in the pod: an emptyDir volume with medium: Memory, mounted at /dev/shm",
                "kubectl explain pod.spec.volumes.emptyDir.medium",
            ),
            KUBERNETES,
        ),
        Remedy(
            (
                "docker run --gpus all --shm-size=1g IMAGE   # or --ipc=host",
                "# without Docker: mount -o remount,size=1G /dev/shm",
            )
        ),
    ),
    verify="df -h /dev/shm",
    clues=(Clue(2.1, All(more("gpu_count", 1), less("shm_mib", _DEFAULT_MIB + 1))),),
    commonness=1,
    unless=(ONE_GPU,),
    clear=("Shared memory is large enough for NCCL.", more("shm_mib", _DEFAULT_MIB)),
    fires=(Case(stated=("gpu_count=2", "shm_mib=64")),),
    silent=(
        Case(stated=("gpu_count=2", "shm_mib=1024")),
        Case(stated=("gpu_count=1", "shm_mib=64")),
    ),
)
