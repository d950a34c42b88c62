"""Sets TensorFlow up as the plan says, and takes the device it names."""

import keras
import tensorflow as tf

from steptime.errors import DeviceError
from steptime.plan.plan import Placement
from steptime.plan.settings import Settings


def set_up(settings: Settings) -> None:
    """Apply seeds, precision, TF32, threads and determinism; before any op runs."""
    tf.config.threading.set_intra_op_parallelism_threads(settings.threads or 0)
    tf.config.threading.set_inter_op_parallelism_threads(settings.inter_threads or 0)
    tf.config.experimental.enable_tensor_float_32_execution(settings.tf32)
    keras.utils.set_random_seed(settings.seed)
    if settings.deterministic:
        tf.config.experimental.enable_op_determinism()
    keras.config.set_dtype_policy(settings.precision)


def take_device(asked: str, placement: Placement) -> tuple[Placement, str]:
    """Return the placement as it turned out, and TensorFlow's name of the device.

    With ``auto`` a GPU that the driver shows but TensorFlow cannot use leads to the CPU, and the reason says
    so; a GPU that was asked for by name leads to an error instead.

    Raises:
        DeviceError: A GPU was asked for and TensorFlow sees none.
    """
    gpus = tf.config.list_physical_devices("GPU")
    if placement.device == "cpu":
        if gpus:
            raise DeviceError(
                f"A CPU run must hide every GPU. TensorFlow still sees {len(gpus)}",
                hint="Unset CUDA_VISIBLE_DEVICES in site-wide start-up files.",
            )
        return placement, "CPU:0"
    if gpus:
        for gpu in gpus:
            # Memory is then taken as needed, so that its peak says what the training needed.
            tf.config.experimental.set_memory_growth(gpu, True)
        return placement, "GPU:0"
    built = tf.sysconfig.get_build_info().get("is_cuda_build")
    why = (
        "this TensorFlow is built without CUDA"
        if not built
        else "TensorFlow could not load its CUDA libraries (see worker.log)"
    )
    if asked == "auto":
        reason = f"{placement.device} is there, but {why}"
        return Placement(device="cpu", reason=reason, visible_devices=placement.visible_devices), "CPU:0"
    raise DeviceError(
        f"TensorFlow must see {placement.device}. It sees no GPU: {why}",
        hint="Install the GPU build: pip install 'tensorflow[and-cuda]', in a fresh environment.",
    )
