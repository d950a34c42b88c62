"""TensorRT is not found."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="harmless-tensorrt",
    title="Could not find TensorRT: harmless.",
    cause="TensorRT is optional, and was dropped from the wheel in 2.18; training does not use it.",
    remedies=(Remedy(("# nothing to do",)),),
    verify=LIST_GPUS,
    clues=(
        Clue(
            3,
            Says(
                r"tf-trt warning: could not find tensorrt",
                r"could not find tensorrt",
                r"cannot dlopen some tensorrt libraries.{0,160}",
                (
                    r"could not load dynamic library '?libnvinfer\w{0,12}\.so[.\d]{0,8}'?(; ?dlerror: "
                    r"libnvinfer\w{0,12}\.so[.\d]{0,8}: cannot open shared object file: no such file or directory)?"
                    r".{0,200}"
                ),
            ),
        ),
    ),
    commonness=3,
    harmless=True,
    fires=(
        Case(
            log="W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT"
        ),
    ),
    silent=(Case(log="ERROR: No matching distribution found for tensorrt-libs==8.6.1"),),
)
