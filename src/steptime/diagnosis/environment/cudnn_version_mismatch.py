"""cuDNN at run time is older than the one TensorFlow was compiled with."""

from steptime.diagnosis.condition import Check
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.environment.signs import CUDNN_MISMATCH
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.releases import release_of
from steptime.environment.versions import compare, numbers

RULE = Rule(
    kind="cudnn-version-mismatch",
    title="The cuDNN that is loaded is older than the one TensorFlow was compiled with.",
    cause=(
        "TensorFlow needs the same major and an equal or newer minor version of cuDNN. An older copy "
        "is found first: one of the system or of conda, or the exact version that PyTorch pins in "
        "the same environment."
    ),
    remedies=(
        Remedy(
            (
                "# native Windows: put the bin folder of the wanted cuDNN first on PATH; look for older copies:",
                "where cudnn64_8.dll",
            ),
            WINDOWS,
        ),
        Remedy(
            (
                (
                    "python -m pip install --upgrade 'nvidia-cudnn-cu12>=9.3,<10'   # for TensorFlow 2.18 to "
                    "2.21; 2.15 to 2.17: 'nvidia-cudnn-cu12>=8.9,<9'"
                ),
                "echo $LD_LIBRARY_PATH; ldconfig -p | grep libcudnn   # take folders with an older cuDNN away",
                (
                    "# PyTorch and TensorFlow want different versions: give each its own environment; restart "
                    "notebook kernels"
                ),
            )
        ),
    ),
    verify=(
        'python -c "import tensorflow as tf; print(tf.nn.conv2d(tf.ones((1, 8, 8, 1)), tf.ones((3, '
        "3, 1, 1)), 1, 'SAME').device)\""
    ),
    clues=(
        Clue(2.7, CUDNN_MISMATCH),
        Clue(
            2.6,
            Check(
                "cudnn_loaded",
                "cudnn_built",
                test=lambda have, built: (
                    compare(str(have), str(built)) < 0 or numbers(str(have))[0] != numbers(str(built))[0]
                ),
            ),
        ),
        Clue(
            2.2,
            Check(
                "cudnn_wheel",
                "tensorflow",
                test=lambda have, tf: (
                    (release := release_of(str(tf))) is not None and compare(str(have), release.cudnn) < 0
                ),
            ),
        ),
    ),
    commonness=3,
    consequences=(
        "gpu-calculation-failed",
        "cudnn-handle-init-failed",
    ),
    decide="grep -h libcudnn /proc/<pid>/maps | head -1   # which copy is loaded?",
    clear=(
        "The cuDNN wheel is new enough for TensorFlow.",
        Check(
            "cudnn_wheel",
            "tensorflow",
            test=lambda have, tf: (
                (release := release_of(str(tf))) is not None and compare(str(have), release.cudnn) >= 0
            ),
        ),
    ),
    fires=(
        Case(
            log=(
                "E cuda_dnn.cc:522] Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0. "
                " CuDNN library needs to have matching major version"
            ),
            stated=("platform=linux", "tensorflow=2.18"),
        ),
    ),
    silent=(Case(log="I cuda_dnn.cc:529] Loaded cuDNN version 90300", stated=("platform=linux",)),),
)
