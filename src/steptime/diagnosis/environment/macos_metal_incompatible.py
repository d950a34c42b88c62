"""tensorflow-metal does not fit TensorFlow or macOS."""

from steptime.diagnosis.condition import All, Check, Says, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.environment.places import MACOS
from steptime.diagnosis.environment.signs import NO_GPU_LISTED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.versions import compare

RULE = Rule(
    kind="macos-metal-incompatible",
    title="tensorflow-metal does not fit the installed TensorFlow or macOS.",
    cause=(
        "The plugin is a closed binary tied to TensorFlow's C interface; its last release 1.2.0 is "
        "documented up to TensorFlow 2.18 and has wheels up to Python 3.12, for Apple silicon with "
        "macOS 12.1 or newer."
    ),
    remedies=(
        Remedy(
            (
                "python3.12 -m venv ~/tf-metal && source ~/tf-metal/bin/activate",
                "python -m pip install tensorflow==2.18.1 tensorflow-metal==1.2.0",
                "# or use the CPU with the newest TensorFlow: python -m pip uninstall -y tensorflow-metal",
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(
            3,
            Says(
                r"libmetal_plugin\.dylib",
                r"could not find registered platform with id",
                r"registered platform with id",
                r"_tf_\w{1,40}.{0,40}(metal|not found)",
                r"metal_plugin",
                r"tensorflow-plugins/.{0,80}\.dylib",
                r"tensorflow[-_]metal.{0,120}(error|not found|fails|crash|incompatible)",
                r"mpsgraph\w{0,40}",
            ),
        ),
        Clue(2.4, All(MACOS, Check("metal", "tensorflow", test=lambda _, tf: compare(str(tf), "2.19") >= 0))),
        Clue(2.1, All(MACOS, Check("metal", test=lambda _: True), NO_GPU_LISTED)),
    ),
    commonness=2,
    unless=(is_("os", "linux", "windows"),),
    consequences=("two-tf-packages", "python-unsupported", "op-not-on-gpu", "tensorflow-import-failed"),
    decide="python -m pip show tensorflow-metal",
    fires=(
        Case(
            log=(
                "NotFoundError: "
                "dlopen(/opt/venv/lib/python3.12/site-packages/tensorflow-plugins/libmetal_plugin.dylib, "
                "0x0006): Symbol not found"
            ),
            stated=("platform=macos", "tensorflow=2.20"),
        ),
    ),
    silent=(Case(stated=("platform=macos", "tensorflow=2.21", "gpu=M2")),),
)
