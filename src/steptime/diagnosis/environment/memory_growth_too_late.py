"""Memory growth is set after the GPU was initialised."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.commands import TRAIN_STEP
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="memory-growth-too-late",
    title="A device option such as memory growth is set too late.",
    cause="Options of a GPU must be set before the first operation uses it, and alike for all GPUs.",
    remedies=(
        Remedy(("set TF_FORCE_GPU_ALLOW_GROWTH=true   # instead of the call; before the start",), WINDOWS),
        Remedy(
            (
                "export TF_FORCE_GPU_ALLOW_GROWTH=true   # instead of the call; before the start",
                "# or put this at the very top of the program:",
                (
                    "for gpu in tf.config.list_physical_devices('GPU'): "
                    "tf.config.experimental.set_memory_growth(gpu, True)"
                ),
            )
        ),
    ),
    verify="TF_FORCE_GPU_ALLOW_GROWTH=true " + TRAIN_STEP,
    clues=(
        Clue(
            3,
            Says(
                r"(physical|virtual|logical) devices cannot be modified after being initialized",
                r"memory growth cannot differ between gpu devices",
                r"cannot set memory growth on device when virtual devices configured",
                r"devices? cannot be modified after being initialized",
                r"visible devices cannot be modified",
                r"must be set before gpus have been initialized",
                r"(intra|inter) op parallelism cannot be modified after initialization",
            ),
        ),
    ),
    commonness=2,
    decide="Does the same program run with TF_FORCE_GPU_ALLOW_GROWTH=true and without the call?",
    fires=(Case(log="RuntimeError: Physical devices cannot be modified after being initialized"),),
    silent=(Case(log="OOM when allocating tensor with shape[10,10]"),),
)
