"""An operation can't be placed on the GPU that was asked for."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.commands import LIST_GPUS, TRAIN_STEP
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="op-not-on-gpu",
    title="An operation was pinned to a device that is absent or has no kernel for it.",
    cause=(
        "Hard placement (tf.device with soft placement off) fails when the GPU is not visible to "
        "TensorFlow, or when the operation has no GPU kernel; the message lists the devices that "
        "there are."
    ),
    remedies=(
        Remedy(
            (
                LIST_GPUS + "   # empty: repair that first (steptime doctor)",
                (
                    "# a GPU is listed: tf.config.set_soft_device_placement(True), or take the operation out of "
                    "the tf.device block"
                ),
            )
        ),
    ),
    verify=TRAIN_STEP,
    clues=(
        Clue(
            2.7,
            Says(
                r"could not satisfy (explicit )?device specification",
                r"cannot assign a device for operation",
                r"no (supported|registered) kernel for gpu devices is available",
                r"unknown device.{0,20}gpu",
                r"operation was explicitly assigned to .{0,80}gpu",
                r"no opkernel was registered to support op .{0,120}(gpu|device)",
                r"is neither a registered device nor",
                r"device:gpu:\d unknown device",
                r"invalid device (ordinal|id|name)",
                r"gpu:\d{1,2} unknown",
            ),
        ),
    ),
    commonness=2,
    decide="Does the message list a GPU among 'All available devices'?",
    fires=(
        Case(
            log=(
                "InvalidArgumentError: Could not satisfy device specification "
                "'/job:localhost/replica:0/task:0/device:GPU:0'. enable_soft_placement=0. Supported device "
                "types [CPU]."
            )
        ),
    ),
    silent=(Case(log="Executing op MatMul in device /job:localhost/replica:0/task:0/device:GPU:0"),),
)
