"""Reads the facts of this machine: files and variables first, then the driver, TensorFlow last."""

import os
from collections.abc import Mapping
from pathlib import Path

from steptime.environment import data_sheet
from steptime.environment.child import ask
from steptime.environment.driver import read_driver_files
from steptime.environment.facts import DOES_NOT_APPLY, Facts, Value, known, merge
from steptime.environment.log import read_log
from steptime.environment.machine import read_machine
from steptime.environment.packages import read_packages, wanted_libraries
from steptime.environment.place import Place
from steptime.environment.sayings import read_sayings
from steptime.environment.several import read_several
from steptime.environment.stated import gpu_facts

ORIGIN = "read here"
_DRIVER_LIMIT_S = 20.0
_TENSORFLOW_LIMIT_S = 180.0


def read_first() -> Facts:
    """Return what can be read without TensorFlow, within about a second; the driver is asked in a child process."""
    place = Place(root=Path("/"), environ=os.environ)
    files = {**read_machine(place), **read_driver_files(place)}
    several, why_not = read_several(place)
    packages = read_packages()
    wanted = wanted_libraries(packages)
    answer = ask("steptime.environment.ask_driver", list(wanted.values()), limit_s=_DRIVER_LIMIT_S)
    driver = _driver(answer.body, files)
    libraries = _libraries(wanted, answer.body.get("libs_missing"))
    unknown = (
        {}
        if answer.state == "ok"
        else dict.fromkeys(("cuinit", "nvml"), f"asking the driver ended with: {answer.state}")
    )
    if isinstance(reason := answer.body.get("nvml_reason"), str):
        unknown["nvml"] = reason
    facts = merge(
        known(files | several, ORIGIN),
        known(driver, ORIGIN),
        known(packages, ORIGIN),
        known(libraries, ORIGIN),
    )
    return merge(Facts(unknown=_why_unknown(facts) | unknown | why_not), facts)


def read_tensorflow(
    first: Facts, *, device: str | None = None, limit_s: float = _TENSORFLOW_LIMIT_S
) -> Facts:
    """Add what TensorFlow itself says, which is asked in a child process.

    Args:
        first: The facts so far.
        device: Device to prove, or ``None`` for the first GPU, if there is one.
        limit_s: Time after which the child is killed.
    """
    if not first.get("tensorflow_packages") and first.get("tensorflow_state") == "absent":
        return first
    if (shadow := first.text("local_shadow")) != "none":
        reason = f"{shadow} in the current folder would be run instead of the package"
        return merge(first, Facts(unknown={"tensorflow_gpus": reason, "proof": reason}))
    answer = ask("steptime.environment.ask_tensorflow", [device] if device else [], limit_s=limit_s)
    lines = read_log(answer.said)
    said = read_sayings("\n".join(lines))
    values: dict[str, Value | None] = {k: said[k] for k in ("cudnn_loaded", "cudnn_built") if k in said}
    values |= {name: _plain(raw) for name, raw in answer.body.items()}
    imported = values.get("tensorflow_state") == "ok"
    if not imported:
        values["tensorflow_state"] = answer.state
    elif answer.state != "ok":  # it listed the devices and then died in the proof
        values["proof"] = f"the calculation ended with: {answer.state}"
    rate = values.get("proof_matmul_tflops")
    names = first.get("gpu")
    if rate is not None and isinstance(names, tuple) and names and device is None:
        values["proof_peak_tflops"] = data_sheet.fp32_tflops(names[0])
    layer = known(values, "said by TensorFlow", lines)
    if not imported:
        reason = f"importing TensorFlow ended with: {answer.state}"
        layer = merge(layer, Facts(unknown={"tensorflow_gpus": reason, "proof": reason}))
    elif not values.get("tensorflow_gpus"):
        layer = merge(layer, Facts(unknown={"proof": "TensorFlow lists no GPU"}))
    return merge(first, layer)


def _plain(raw: object) -> Value | None:
    if isinstance(raw, list):
        return tuple(str(item) for item in raw)
    return raw if isinstance(raw, bool | int | float | str) else None


def _driver(body: Mapping[str, object], files: Mapping[str, Value | None]) -> dict[str, Value | None]:
    names = {"libcuda", "cuinit", "gpu_count", "driver_cuda", "nvml", "smi_works", "gpu_vendor", "driver", "gpu",
    "gpu_cc", "gpu_cc_max",
             "compute_mode", "mig", "gpu_memory_free_share", "gpu_others", "throttle", "pcie_narrow",
             "gpu_links", "gpu_peer"}  # fmt: skip
    driver = {name: _plain(raw) for name, raw in body.items() if name in names}
    if isinstance(opens := body.get("libnccl"), bool):
        driver["nccl"] = (
            "found" if opens else "missing"
        )  # an installed wheel, which the loader may not see, wins
    if isinstance(found := driver.get("gpu"), tuple) and not driver.get("gpu_cc"):
        driver |= {name: value for name, value in gpu_facts(found).items() if value is not None}
    if driver.get("libcuda") == "missing" and files.get("gpu_on_pci") is False and not files.get("wsl"):
        driver["gpu_vendor"] = files.get("gpu_vendor") or "none"
    return driver


def _libraries(wanted: Mapping[str, str], missing: object) -> dict[str, Value | None]:
    if not wanted or not isinstance(missing, list):
        return {}
    absent = tuple(name for name, file in wanted.items() if file in missing)
    cudart = next(name for name in wanted if name.startswith("libcudart"))
    where = "missing" if cudart in absent else "wheel" if "/" in wanted[cudart] else "path"
    return {"cudart": where, "libs_missing": absent}


def _why_unknown(facts: Facts) -> dict[str, str]:
    """Reasons for facts that nobody could read here; a fact that turns out known wins over its reason."""
    person = "only a person or a log can tell"
    reasons = dict.fromkeys(
        ("worked_before", "after_suspend", "works_as_root", "notebook", "gpu_util_low", "nvswitch"), person
    )
    reasons["workers_differ"] = (
        f"{DOES_NOT_APPLY}: that takes facts of several machines (--workers FILE FILE)"
    )
    for name in ("tensorflow_wanted", "image", "cudnn_loaded", "cudnn_built", "driver_capabilities", "keras_backend",
    "cpu_quota",
                 "job_gpus", "cuda_toolkit", "cudnn_wheel", "visible_devices"):  # fmt: skip
        reasons[name] = f"{DOES_NOT_APPLY}: not set or not there"
    for name in ("metal", "directml", "torch", "tf_keras"):
        reasons[name] = f"{DOES_NOT_APPLY}: the package is not installed"
    if facts.get("tensorflow_build") != "cuda":
        reasons |= dict.fromkeys(
            ("cudart", "libs_missing", "ptxas", "libdevice", "tensorflow_cuda"),
            f"{DOES_NOT_APPLY}: this is no CUDA build",
        )
    if facts.get("tensorflow_state") == "absent":
        for name in (
            "tensorflow",
            "tensorflow_build",
            "tensorflow_gpus",
            "bytecode_cached",
            "numpy",
            "protobuf",
        ):
            reasons[name] = "TensorFlow is not installed"
    if facts.get("gpu_vendor") == "none":
        reasons |= dict.fromkeys(
            _OF_GPU, "this machine shows no NVIDIA GPU and no driver library (libcuda.so.1)"
        )
    if facts.get("secure_boot") is None:
        reasons["secure_boot"] = "the firmware's variables can't be read"
    if facts.get("nouveau") is None:
        reasons["nouveau"] = "the kernel's list of modules can't be read"
    return reasons


_OF_GPU = (
    "cuinit", "driver", "driver_cuda", "nvml", "gpu", "gpu_cc", "gpu_cc_max", "gpu_count", "throttle", "pcie_narrow",
    "compute_mode", "mig",
    "gpu_others", "gpu_links", "gpu_peer", "gpu_memory_free_share", "proof", "dev_access", "smi_works",
)  # fmt: skip
