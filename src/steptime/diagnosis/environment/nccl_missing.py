"""NCCL, which exchanges gradients between GPUs, is not installed."""

from steptime.diagnosis.condition import All, Check, is_, more
from steptime.diagnosis.environment.places import ONE_GPU
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="nccl-missing",
    title="NCCL is not installed, and several GPUs exchange gradients with it.",
    cause=(
        "TensorFlow opens libnccl.so.2 when a strategy first exchanges gradients. Neither the wheel nvidia-nccl-cu12 "
        "nor a library of the system is there."
    ),
    remedies=(
        Remedy(
            (
                "pip install 'tensorflow[and-cuda]'   # brings the NCCL that fits",
                "# or: tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())",
            )
        ),
    ),
    verify="pip list | grep -i nccl",
    clues=(
        Clue(
            2.2,
            All(
                more("gpu_count", 1),
                is_("os", "linux"),
                is_("tensorflow_build", "cuda"),
                is_("nccl", "missing"),
            ),
        ),
    ),
    commonness=1,
    unless=(ONE_GPU,),
    clear=("NCCL is installed.", Check("nccl", test=lambda found: found != "missing")),
    fires=(Case(stated=("gpu_count=2", "platform=Ubuntu", "tensorflow_build=cuda", "nccl=missing")),),
    silent=(
        Case(stated=("gpu_count=2", "platform=Ubuntu", "tensorflow_build=cuda", "nccl=2.32.3")),
        Case(stated=("gpu_count=1", "platform=Ubuntu", "tensorflow_build=cuda", "nccl=missing")),
    ),
)
