"""Facts about installed packages and TensorFlow's files, read without importing anything."""

import ast
import importlib.util
import os
import re
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from steptime.environment.facts import Value
from steptime.environment.versions import numbers

_TENSORFLOWS = (
    "tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly", "tf-nightly-cpu", "tensorflow-intel",
    "tensorflow-macos",
    "tensorflow-rocm", "tensorflow-cpu-aws", "intel-tensorflow",
)  # fmt: skip
# Libraries that the Linux wheel opens at run time, by CUDA major version, with the wheel folder that holds each.
_LIBRARIES = {
    11: ("cuda_runtime/libcudart.so.11.0", "cublas/libcublas.so.11", "cudnn/libcudnn.so.8", "cufft/libcufft.so.10",
         "cusolver/libcusolver.so.11", "cusparse/libcusparse.so.11"),
    12: ("cuda_runtime/libcudart.so.12", "cublas/libcublas.so.12", "cudnn/libcudnn.so.{cudnn}", "cufft/libcufft.so.11",
         "cusolver/libcusolver.so.11", "cusparse/libcusparse.so.12"),
}  # fmt: skip


def installed(paths: Sequence[str]) -> dict[str, str]:
    """Return the distributions on some import paths, normalised name to version; what stands first wins.

    Reads the names of the ``.dist-info`` and ``.egg-info`` folders, so a damaged package can't break it.
    """
    found: dict[str, str] = {}
    for path in paths:
        try:
            names = sorted(entry.name for entry in Path(path or ".").iterdir())
        except OSError:
            continue
        for name in names:
            match = re.fullmatch(r"(.+?)-(\d[^-]*)(?:-.*)?\.(?:dist|egg)-info", name)
            if match:
                found.setdefault(re.sub(r"[-_.]+", "-", match[1]).lower(), match[2])
    return found


def read_packages(paths: Sequence[str] | None = None) -> dict[str, Value | None]:
    """Return the facts about the packages of this Python.

    Args:
        paths: Import paths, or ``None`` for those of this process.
    """
    search = list(sys.path if paths is None else paths)
    packages = installed(search)
    flows = tuple(name for name in _TENSORFLOWS if name in packages)
    # On Windows tensorflow 2.18 and older pulls in tensorflow-intel on purpose, on a Mac tensorflow-macos.
    if "tensorflow" in flows:
        flows = tuple(name for name in flows if name not in {"tensorflow-intel", "tensorflow-macos"})
    facts: dict[str, Value | None] = {
        "tensorflow_packages": flows,
        "tensorflow": packages.get(flows[0]) if flows else None,
        "nvidia_wheels": tuple(
            f"{n} {v}" for n, v in sorted(packages.items()) if n.startswith("nvidia-") and n != "nvidia-ml-py"
        ),
        "cudnn_wheel": next((v for n, v in packages.items() if n.startswith("nvidia-cudnn-cu")), None),
        "nccl": next((v for n, v in packages.items() if n.startswith("nvidia-nccl-cu")), None),
        "local_shadow": _shadow(),
    }
    for fact, package in (("numpy", "numpy"), ("protobuf", "protobuf"), ("keras", "keras"), ("tf_keras", "tf-keras"),
    ("torch", "torch"),
                          ("metal", "tensorflow-metal"), ("directml", "tensorflow-directml-plugin")):  # fmt: skip
        facts[fact] = packages.get(package)
    folder = tensorflow_folder(search)
    if folder is None:
        return facts | {"tensorflow_state": "absent"}
    return facts | _build(folder) | _bytecode(folder)


def _shadow() -> str:
    for name in ("tensorflow.py", "keras.py", "numpy.py"):
        if Path(name).is_file():
            return name
    return "none"


def tensorflow_folder(paths: Sequence[str]) -> Path | None:
    """Return the folder of the TensorFlow that ``import tensorflow`` would take, without importing it."""
    for path in paths:
        folder = Path(path or ".") / "tensorflow"
        if (folder / "__init__.py").is_file():
            return folder
    return None


def _build(folder: Path) -> dict[str, Value | None]:
    try:
        source = (folder / "python/platform/build_info.py").read_text()
        text = re.search(
            r"^build_info = collections\.OrderedDict\((\[.*\])\)", source, re.MULTILINE | re.DOTALL
        )
        info = dict(ast.literal_eval(text[1])) if text else {}
    except (OSError, ValueError, SyntaxError):
        info = {}
    cuda = info.get("cuda_version")
    build = (
        "cuda"
        if info.get("is_cuda_build")
        else "rocm"
        if info.get("is_rocm_build")
        else "cpu"
        if info
        else None
    )
    facts: dict[str, Value | None] = {
        "tensorflow_build": build,
        "tensorflow_cuda": str(cuda) if cuda else None,
        "tensorflow_cudnn": str(info["cudnn_version"]) if info.get("cudnn_version") else None,
        "tensorflow_ccs": ", ".join(info.get("cuda_compute_capabilities", ())) or None,
    }
    if build == "cuda" and sys.platform == "linux":
        facts |= _tools(folder.parent)
    return facts


def _tools(packages: Path) -> dict[str, Value | None]:
    nvcc = packages / "nvidia/cuda_nvcc"
    elsewhere = [Path("/usr/local/cuda"), Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))]
    on_path = any(os.access(Path(f) / "ptxas", os.X_OK) for f in os.environ.get("PATH", "").split(os.pathsep))
    return {
        "ptxas": on_path or any(os.access(f / "bin/ptxas", os.X_OK) for f in (nvcc, *elsewhere)),
        "libdevice": any((f / "nvvm/libdevice/libdevice.10.bc").is_file() for f in (nvcc, *elsewhere)),
    }


def _bytecode(folder: Path) -> dict[str, Value | None]:
    cached = importlib.util.cache_from_source(str(folder / "__init__.py"))
    place = Path(cached).parent
    writable = os.access(place if place.is_dir() else folder, os.W_OK)
    return {"bytecode_cached": Path(cached).is_file(), "bytecode_writable": writable}


def wanted_libraries(facts: dict[str, Value | None]) -> dict[str, str]:
    """Return the CUDA libraries that this TensorFlow opens: name to the file in the wheels, or to the bare name.

    Args:
        facts: Facts of ``read_packages``; without a CUDA build for Linux nothing is wanted.
    """
    if facts.get("tensorflow_build") != "cuda" or sys.platform != "linux":
        return {}
    major = (numbers(str(facts.get("tensorflow_cuda") or "12")) or (12,))[0]
    cudnn = str(facts.get("tensorflow_cudnn") or "9").split(".")[0]
    packages = Path(sysconfig.get_path("purelib"))
    wanted: dict[str, str] = {}
    for entry in _LIBRARIES.get(major, ()):
        folder, name = entry.format(cudnn=cudnn).split("/")
        file = packages / "nvidia" / folder / "lib" / name
        wanted[name] = str(file) if file.is_file() else name
    return wanted
