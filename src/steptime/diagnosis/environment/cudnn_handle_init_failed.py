"""A cuDNN or cuBLAS handle can't be made."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="cudnn-handle-init-failed",
    title="TensorFlow can't make a cuDNN or cuBLAS handle.",
    cause=(
        "This error follows from another one: no GPU memory is left, cuDNN does not fit, or the "
        "driver is too old. The line before it names the cause."
    ),
    remedies=(
        Remedy(
            (
                "set TF_FORCE_GPU_ALLOW_GROWTH=true",
                "nvidia-smi   # is the memory full? end the other process",
            ),
            WINDOWS,
        ),
        Remedy(
            (
                "export TF_FORCE_GPU_ALLOW_GROWTH=true   # rules memory out",
                "nvidia-smi   # is the memory full? end the other process",
                "# if it stays: read the first line with E before this one",
            )
        ),
    ),
    verify=(
        'python -c "import tensorflow as tf; print(tf.nn.conv2d(tf.ones((1, 8, 8, 1)), tf.ones((3, '
        "3, 1, 1)), 1, 'SAME').device)\""
    ),
    clues=(
        Clue(
            2.5,
            Says(
                r"could not create cudnn handle",
                r"could not destroy cudnn handle",
                r"failed to create cu(blas|dnn|solver)\w{0,6} handle",
                r"cudnn_status_(not_initialized|internal_error)",
                r"cublas_status_not_initialized",
                r"failed to get convolution algorithm",
                r"cudnn failed to initialize",
                r"cudnncreate.{0,30}fail",
                r"attempting to perform blas operation using streamexecutor without blas support",
                r"cublas launch failed",
                r"blas (gemm|xgemm\w{0,10}) launch failed",
            ),
        ),
        Clue(2.05, Says(r"dnn library is not found", r"dnn library initialization failed")),
    ),
    commonness=3,
    consequences=("gpu-calculation-failed",),
    decide="Which line with E stands before it? Free GPU memory at that time: nvidia-smi",
    fires=(
        Case(
            log=(
                "E tensorflow/stream_executor/cuda/cuda_dnn.cc:329] Could not create cudnn handle: "
                "CUDNN_STATUS_INTERNAL_ERROR"
            ),
            stated=("platform=linux", "tensorflow=2.1"),
        ),
    ),
    silent=(
        Case(
            log=(
                "Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0.\nDNN library "
                "initialization failed. Look at the errors above for more details."
            )
        ),
    ),
)
