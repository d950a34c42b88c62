"""How much may be kept on the device or copied on the host."""

import psutil
import tensorflow as tf

# A GPU needs the rest for weights, activations and workspace.
RESIDENT_SHARE = 0.4


def device_name() -> str:
    """Where an operation that names no device runs now, such as "/GPU:0": there training runs."""
    device = tf.DeviceSpec.from_string(tf.zeros(()).device)
    return f"/{device.device_type}:{device.device_index}"


def free_bytes(device: str) -> int:
    """Memory that TensorFlow can still allocate on `device`, in bytes."""
    if device.startswith("/CPU"):
        return int(psutil.virtual_memory().available)
    from tensorflow.python.client import device_lib

    limits = {d.name: d.memory_limit for d in device_lib.list_local_devices()}
    used = tf.config.experimental.get_memory_info(device.removeprefix("/"))["current"]
    return int(limits.get(f"/device:{device.removeprefix('/')}", 0)) - int(used)


def why_not_resident(size_bytes: int, device: str) -> str | None:
    """Why data of `size_bytes` bytes may not lie on `device`; None when they may."""
    free = free_bytes(device)
    if size_bytes > RESIDENT_SHARE * free:
        return f"data of {size_bytes} bytes exceed {RESIDENT_SHARE:.0%} of the {free} bytes free on {device}"
    return None


def copy_limit_bytes(data_bytes: int, device: str) -> int:
    """Most host memory that copies of a model's state may take while loops are compared, in bytes.

    The process may exceed Keras' own peak by the size of the data; 64 MiB are always allowed. Where the model
    lives on a GPU, host memory is not what training needs, and a tenth of what is free is taken.
    """
    allowed = max(data_bytes, 64 << 20)
    return allowed if device.startswith("/CPU") else max(allowed, free_bytes("/CPU:0") // 10)
