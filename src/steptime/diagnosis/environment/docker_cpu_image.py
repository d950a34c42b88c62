"""The CPU image of TensorFlow was started."""

from steptime.diagnosis.condition import All, Check, Says, Unknown, is_
from steptime.diagnosis.environment.commands import BUILD_INFO, DOCKER_RUN
from steptime.diagnosis.environment.places import CONTAINER
from steptime.diagnosis.environment.signs import NO_GPU_LISTED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

_PLAIN_TAG = (
    r"tensorflow/tensorflow(:(latest|nightly|devel|\d\.\d{1,2}(\.\d)?)(-py3)?(-jupyter)?)"
    r"?(?![\w.:-]{0,24}(gpu|rocm))(?![/\w.-])"
)


RULE = Rule(
    kind="docker-cpu-image",
    title="The image holds the CPU build of TensorFlow.",
    cause="The tags of tensorflow/tensorflow without -gpu hold the CPU build.",
    remedies=(Remedy(("docker run --rm -it --gpus all tensorflow/tensorflow:latest-gpu bash",)),),
    verify=DOCKER_RUN,
    clues=(
        Clue(
            3,
            Says(
                r"docker run .{0,80}tensorflow/tensorflow(:latest|:\d\.\d{1,2}\.\d)?(-jupyter|-py3)?(?![:\w./-])",
                _PLAIN_TAG + r"( |$|\()",
                r"image (tag )?tensorflow/tensorflow:(latest|\d\.\d{1,2}\.\d)(-jupyter)?(?!-gpu|-jupyter|\.|\d)",
                r"(no|without) -gpu",
            ),
        ),
        Clue(2.5, All(CONTAINER, is_("tensorflow_build", "cpu"))),
        Clue(
            1.5,
            Check(
                "image",
                test=lambda name: (
                    "tensorflow/tensorflow:" in str(name)
                    and "gpu" not in str(name)
                    and "rocm" not in str(name)
                    and "devel" not in str(name)
                ),
            ),
        ),
        Clue(2.2, All(CONTAINER, is_("smi_works", True), NO_GPU_LISTED, Unknown("cuda_toolkit"))),
    ),
    commonness=1,
    unless=(
        is_("gpu_vendor", "none", "amd"),
        is_("arch", "aarch64"),
        Says(r"tensorflow/tensorflow:([\d.]{1,10}(rc\d)?|latest|nightly|devel)(-py3)?-(gpu|rocm)"),
    ),
    consequences=(
        "docker-no-gpus-flag",
        "cuda-libs-not-installed",
        "tensorflow-cpu-build",
        "docker-image-cuda-mismatch",
    ),
    decide="Which image tag? " + BUILD_INFO,
    fires=(
        Case(
            log=(
                "docker run --gpus all -it tensorflow/tensorflow:2.16.1 python -c 'import tensorflow as tf; "
                "print(tf.config.list_physical_devices())'"
            ),
            stated=("platform=docker",),
        ),
    ),
    silent=(
        Case(
            log="docker run --gpus all -it tensorflow/tensorflow:2.16.1-gpu bash", stated=("platform=docker",)
        ),
    ),
)
