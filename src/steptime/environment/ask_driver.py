"""Asks the NVIDIA driver itself, in a process of its own: loading it may crash or hang. Run as a module; prints JSON.

    python -m steptime.environment.ask_driver libcudart.so.12 libcudnn.so.9 ...

The arguments are libraries to open; what can't be opened is listed under ``libs_missing``.
"""

import ctypes
import json
import re
import sys
from pathlib import Path

# CUresult values: cuda.h of the CUDA toolkit.
_CODES = {
    0: "ok", 1: "cuda_error_invalid_value", 2: "cuda_error_out_of_memory", 3: "cuda_error_not_initialized",
    34: "cuda_error_stub_library",
    46: "cuda_error_device_unavailable", 100: "cuda_error_no_device", 101: "cuda_error_invalid_device",
    304: "cuda_error_operating_system",
    802: "cuda_error_system_not_ready", 803: "cuda_error_system_driver_mismatch",
    804: "cuda_error_compat_not_supported_on_device",
    999: "cuda_error_unknown",
}  # fmt: skip
# Reasons for lower clocks, by bit: nvml.h, nvmlClocksEventReasons.
_POWER_CAP = 0x4
_THROTTLE = {0x8 | 0x20 | 0x40: "thermal", 0x80: "power brake"}

# nvml.h: nvmlGpuP2PCapsIndex_t, nvmlGpuP2PStatus_t and nvmlGpuTopologyLevel_t.
_READ, _NVLINK = 0, 2
_P2P_OK = 0
_HOST_BRIDGE, _BETWEEN_SOCKETS = 30, 50
_WAYS = ("nvlink", "pcie", "host", "sockets")  # from fast to slow


def ask(libraries: list[str]) -> dict[str, object]:
    """Load libcuda and call cuInit, ask NVML, and try to open libraries.

    Args:
        libraries: Names or paths for ``dlopen``.
    """
    facts: dict[str, object] = {}
    facts |= _cuda()
    facts |= _nvml()
    facts["libnccl"] = _opens("libnccl.so.2")
    facts["libs_missing"] = [name for name in libraries if not _opens(name)]
    return facts


def _opens(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _cuda() -> dict[str, object]:
    try:
        cuda = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError as error:
        return {"libcuda": "missing", "libcuda_error": str(error)}
    loaded = _loaded("libcuda.so")
    version = re.search(r"libcuda\.so\.(\d{3}\.\d+(?:\.\d+)?)", loaded)
    library = "stub" if "/stubs/" in loaded else version[1] if version else "found"
    code = int(cuda.cuInit(0))
    facts: dict[str, object] = {"libcuda": library, "cuinit": _CODES.get(code, f"error {code}")}
    if code == 0:
        count, driver = ctypes.c_int(0), ctypes.c_int(0)
        if cuda.cuDeviceGetCount(ctypes.byref(count)) == 0:
            facts["gpu_count"] = count.value
        if cuda.cuDriverGetVersion(ctypes.byref(driver)) == 0:
            facts["driver_cuda"] = f"{driver.value // 1000}.{driver.value % 1000 // 10}"
    return facts


def _loaded(name: str) -> str:
    """Path of a library as the process has mapped it; links are followed, so that the name carries the version."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return ""
    path = next((line.split(maxsplit=5)[-1] for line in lines if name in line), "")
    return str(Path(path).resolve()) if path else ""


def _nvml() -> dict[str, object]:
    try:
        import pynvml
    except ImportError:
        return {"nvml_reason": "the package nvidia-ml-py is not installed"}
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return {
            "nvml": _nvml_error(str(error)),
            "smi_works": False if "not found" not in str(error).lower() else None,
        }
    facts: dict[str, object] = {
        "nvml": "ok",
        "smi_works": True,
        "gpu_vendor": "nvidia",
        "driver": pynvml.nvmlSystemGetDriverVersion(),
    }
    handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
    facts["gpu"] = [pynvml.nvmlDeviceGetName(handle) for handle in handles]
    if not handles:
        return facts | {"smi_works": False}
    _each(facts, handles, pynvml)
    return facts


def _nvml_error(message: str) -> str:
    lowered = message.lower()
    words = (("mismatch", "mismatch"), ("permission", "permissions"), ("blocked", "blocked"), ("not loaded",
    "not loaded"),
             ("not found", "not found"), ("unknown error", "unknown"))  # fmt: skip
    return next((short for long, short in words if long in lowered), lowered)


def _each(facts: dict[str, object], handles: list[object], nvml: object) -> None:
    """Ask every GPU; a question that a GPU or driver does not know is left out."""
    capabilities = [
        f"{major}.{minor}" for major, minor in _answers(nvml, "nvmlDeviceGetCudaComputeCapability", handles)
    ]
    facts["gpu_cc"] = min(capabilities, key=float, default=None)
    facts["gpu_cc_max"] = max(capabilities, key=float, default=None)
    modes = _answers(nvml, "nvmlDeviceGetComputeMode", handles)
    if modes:
        facts["compute_mode"] = {0: "default", 1: "exclusive", 2: "prohibited", 3: "exclusive"}.get(
            max(modes), "default"
        )
    facts["mig"] = any(current == 1 for current, _ in _answers(nvml, "nvmlDeviceGetMigMode", handles))
    memory = _answers(nvml, "nvmlDeviceGetMemoryInfo", handles)
    facts["gpu_memory_free_share"] = min((m.free / m.total for m in memory), default=None)
    processes = [
        p for found in _answers(nvml, "nvmlDeviceGetComputeRunningProcesses", handles) for p in found
    ]
    facts["gpu_others"] = [f"process {p.pid}: {(p.usedGpuMemory or 0) >> 20} MiB" for p in processes]
    facts["throttle"] = _throttle(nvml, handles)
    facts["pcie_narrow"] = _narrow(nvml, handles)
    facts |= _between(nvml, handles)


def _throttle(nvml: object, handles: list[object]) -> str:
    """Heat and power brakes; a reached power limit, normal at work, counts only if it was set below the card's own."""
    reasons = 0
    for bits in _answers(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons", handles):
        reasons |= bits
    limits = _answers(nvml, "nvmlDeviceGetEnforcedPowerLimit", handles)
    usual = _answers(nvml, "nvmlDeviceGetPowerManagementDefaultLimit", handles)
    lowered = any(limit < 0.95 * default for limit, default in zip(limits, usual, strict=False))
    if reasons & _POWER_CAP and lowered:
        return "power"
    return next((word for mask, word in _THROTTLE.items() if reasons & mask), "none")


def _narrow(nvml: object, handles: list[object]) -> str:
    """Width only, and the generation the slot allows: an idle GPU lowers its current generation to save power."""
    widths = _answers(nvml, "nvmlDeviceGetCurrPcieLinkWidth", handles)
    most = _answers(nvml, "nvmlDeviceGetMaxPcieLinkWidth", handles)
    narrow = [f"{now} of {best} lanes" for now, best in zip(widths, most, strict=False) if now < best]
    able = _answers(nvml, "nvmlDeviceGetGpuMaxPcieLinkGeneration", handles)
    allowed = _answers(nvml, "nvmlDeviceGetMaxPcieLinkGeneration", handles)
    narrow += [
        f"generation {slot} of {card}" for slot, card in zip(allowed, able, strict=False) if slot < card
    ]
    return ", ".join(narrow) or "none"


def _between(nvml: object, handles: list[object]) -> dict[str, object]:
    """How GPUs reach each other: the slowest pair decides, as it does in a ring."""
    pairs = [(a, b) for i, a in enumerate(handles) for b in handles[i + 1 :]]
    ways = []
    for a, b in pairs:
        if _answers(nvml, "nvmlDeviceGetP2PStatus", [a], b, _NVLINK) == [_P2P_OK]:
            ways.append("nvlink")
        else:
            ways += [_way(level) for level in _answers(nvml, "nvmlDeviceGetTopologyCommonAncestor", [a], b)]
    peers = [status for a, b in pairs for status in _answers(nvml, "nvmlDeviceGetP2PStatus", [a], b, _READ)]
    return {
        "gpu_links": max(ways, key=_WAYS.index) if pairs and len(ways) == len(pairs) else None,
        "gpu_peer": all(status == _P2P_OK for status in peers) if peers else None,
    }


def _way(level: int) -> str:
    return "pcie" if level < _HOST_BRIDGE else "host" if level < _BETWEEN_SOCKETS else "sockets"


def _answers(nvml: object, function: str, handles: list[object], *more: object) -> list:  # type: ignore[type-arg]  # NVML has no types
    found = []
    for handle in handles:
        try:
            found.append(getattr(nvml, function)(handle, *more))
        except (nvml.NVMLError, AttributeError):  # type: ignore[attr-defined]
            continue
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(ask(sys.argv[1:])))
