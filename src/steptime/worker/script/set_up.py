"""What the person asked of TensorFlow, applied right after the script imported it and before it does anything."""

from collections.abc import Callable

import tensorflow as tf
from tensorflow.python.eager import context as tf_context

from steptime.errors import DeviceError
from steptime.plan.plan import Plan


def set_up(plan: Plan) -> None:
    """Apply threads, TF32 and determinism where they were asked for; what nobody asked for stays as it is.

    Raises:
        DeviceError: A GPU was asked for by name, and TensorFlow sees none.
    """
    settings = plan.settings
    if settings.threads is not None:
        tf.config.threading.set_intra_op_parallelism_threads(settings.threads)
    if settings.inter_threads is not None:
        tf.config.threading.set_inter_op_parallelism_threads(settings.inter_threads)
    if not settings.tf32:
        tf.config.experimental.enable_tensor_float_32_execution(False)
    if settings.deterministic:
        tf.config.experimental.enable_op_determinism()
    if settings.device.startswith("gpu") and not tf.config.list_physical_devices("GPU"):
        raise DeviceError(
            f"--device {settings.device} needs a GPU that TensorFlow can use. It sees none",
            hint="`steptime doctor` says why, and what to do.",
        )


def when_initialised(then: Callable[[], None]) -> None:
    """Call a function as soon as TensorFlow has taken its devices.

    Before that a script may still choose them (memory growth, visible and logical devices), and whatever touches
    TensorFlow's runtime would take that choice away.
    """
    context = tf_context.context()
    ensure = context.ensure_initialized

    def ensure_and_tell() -> None:
        ensure()
        if "ensure_initialized" in vars(context):
            del context.ensure_initialized  # back to the method of its class
            then()

    context.ensure_initialized = ensure_and_tell
