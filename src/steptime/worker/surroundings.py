"""Gathers what a run ran on and with, for its record."""

import dataclasses
import hashlib
import importlib.metadata
import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

import psutil
import tensorflow as tf

from steptime.device.find import find_gpus
from steptime.device.host import describe_host
from steptime.record.schema import Environment

# Packages whose version can change a result or its speed.
_PACKAGES = (
    "steptime tensorflow tensorflow-cpu tensorflow-intel tf-nightly keras tf-keras numpy tensorboard h5py"
    " ml-dtypes protobuf nvidia-cudnn-cu12 nvidia-cublas-cu12 nvidia-cuda-runtime-cu12 nvidia-nccl-cu12"
).split()
# Variables that change how TensorFlow runs; no others are kept, since others may hold paths or secrets.
_FLAGS = re.compile(
    r"TF_(CPP|CUDNN|DETERMINISTIC|DISABLE|ENABLE|FORCE|GPU|NUM|SET|USE|XLA)_?\w*"
    r"|XLA_FLAGS|CUDA_(VISIBLE_DEVICES|DEVICE_ORDER|DEVICE_MAX_CONNECTIONS|LAUNCH_BLOCKING|FORCE_PTX_JIT)"
    r"|NCCL_\w+|OMP_NUM_THREADS|MKL_NUM_THREADS|KMP_\w+|KERAS_BACKEND|NVIDIA_TF32_OVERRIDE"
)


def describe_surroundings(workload_source: Path | None) -> Environment:
    """Return versions, machine, GPUs and flags; never names of people or hosts."""
    search = find_gpus()
    return Environment(
        python=platform.python_version(),
        packages=_versions(),
        host=dataclasses.asdict(describe_host()),
        gpus=tuple(dataclasses.asdict(gpu.facts) for gpu in search.gpus),
        no_gpu_reason=search.reason,
        flags={key: value for key, value in sorted(os.environ.items()) if _FLAGS.fullmatch(key)},
        tensorflow_build={key: _plain(value) for key, value in tf.sysconfig.get_build_info().items()},
        workload_sha256=hashlib.sha256(workload_source.read_bytes()).hexdigest() if workload_source else None,
    )


def peak_process_bytes() -> int:
    """Return the peak resident memory of this process (getrusage(2): KiB on Linux, bytes on macOS)."""
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource  # does not exist on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def peak_device_bytes(device: str) -> tuple[int | None, str | None]:
    """Return the peak memory that TensorFlow allocated on ``GPU:0``, or None and why it is not known."""
    if not device.startswith("GPU"):
        return None, "TensorFlow keeps no account of a CPU's memory; see peak_process_bytes"
    try:
        return int(tf.config.experimental.get_memory_info(device)["peak"]), None
    except (ValueError, RuntimeError, NotImplementedError) as error:
        return None, str(error).splitlines()[0]


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, type(None))) else [str(item) for item in value]
