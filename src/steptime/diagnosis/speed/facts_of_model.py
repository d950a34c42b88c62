"""Facts about the model's layers and arithmetic: which take the time, and what other arithmetic would take."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from steptime.analysis.anatomy import Anatomy
from steptime.environment.facts import Value
from steptime.record.ceilings import Ceilings
from steptime.record.operations import LayerTime, Operations
from steptime.record.profile import Layer, Profile
from steptime.record.schema import RunRecord

Known = Mapping[str, Value | None]

_OPTIMIZER = "(optimizer)"
# What is no layer and no part of the step: the input pipeline's own ops, and those that wait for it.
_WAITING = ("(input)", "(other)")
_TILE = 8
# "Slower on CPUs without AMX": tensorflow.org/guide/mixed_precision.
_HALF_FEATURES = {"amx_tile", "avx512_bf16"}
# Volta and later have tensor cores: NVIDIA, CUDA C++ Programming Guide, compute capabilities.
_TENSOR_CORES_FROM = 7.0
_TF32_FROM = 8.0
# Where it was not measured: a vector register of a processor holds half as many numbers of 64 bits.
_FLOAT64_SLOWDOWN_CPU = 2.0


def model_facts(
    profile: Profile,
    operations: Operations | None,
    ceilings: Ceilings | None,
    anatomy: Anatomy,
    record: RunRecord,
) -> Known:
    """Return the facts about layers, optimizer and precision."""
    is_half = "16" in profile.precision
    gpu_capability = _gpu_capability(record)
    fits = gpu_capability is not None and gpu_capability >= (_TENSOR_CORES_FROM if is_half else _TF32_FROM)
    largest = max(
        (layer for layer in profile.layers if layer.kind == "Dense"),
        key=lambda layer: layer.parameters,
        default=None,
    )
    odd = [layer for layer in profile.layers if layer.width and layer.width % _TILE]
    return {
        "parameters": sum(layer.parameters for layer in profile.layers) or None,
        "batch_norms": sum(layer.kind == "BatchNormalization" for layer in profile.layers),
        "largest_dense": largest.name if largest else None,
        "largest_dense_parameters": largest.parameters if largest else None,
        "odd_widths": tuple(f"{layer.name} ({layer.width})" for layer in odd),
        "tensor_cores": fits if gpu_capability is not None else None,
        "float_type": _float_type(profile),
        **_of_ceilings(ceilings, record),
        **(_of_operations(profile, operations, anatomy, largest, odd) if operations else {}),
    }


def _waste_share(layer: Layer) -> float:
    """Share of a layer's time that goes into padding its width."""
    width = layer.width or _TILE
    return 1 - width / (-(-width // _TILE) * _TILE)


def _float_type(profile: Profile) -> str:
    used = {profile.floatx, *(layer.dtype for layer in profile.layers)}
    return next((name for name in ("float64", "float32") if name in used), profile.floatx)


def _of_ceilings(ceilings: Ceilings | None, record: RunRecord) -> Known:
    if ceilings is None or not ceilings.flops_per_s.get("float32"):
        return {}
    rates = ceilings.flops_per_s
    base = max(rates["float32"], rates.get("tf32", 0.0))
    half = "bfloat16" if rates.get("bfloat16", 0.0) >= rates.get("float16", 0.0) else "float16"
    speedup = rates.get(half, 0.0) / base if _multiplies_half(record) else 0.0
    double = rates.get("float64")
    slowdown = rates["float32"] / double if double else None
    return {
        "half_precision": f"mixed_{half}" if speedup > 1 else "none",
        "half_speedup": speedup,
        "float64_slowdown": slowdown or (_FLOAT64_SLOWDOWN_CPU if record.device == "cpu" else None),
    }


def _gpu_capability(record: RunRecord) -> float | None:
    """Compute capability of the GPU that was trained on."""
    if record.environment is None or not (record.device or "").startswith("gpu"):
        return None
    try:
        return float(str(_trained_on(record, record.environment.gpus).get("compute_capability")))
    except ValueError:
        return None


def _trained_on(record: RunRecord, gpus: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The GPU that the worker was shown, else the one of the device's number."""
    placement = record.plan.placement
    visible = placement.visible_devices.partition(",")[0] if placement else ""
    shown = (gpu for gpu in gpus if visible and visible in (gpu.get("uuid"), str(gpu.get("index"))))
    number = int((record.device or "").partition(":")[2] or 0)
    return next(shown, gpus[number] if number < len(gpus) else {})


def _multiplies_half(record: RunRecord) -> bool:
    """Whether a processor has instructions for it; without them a rate that looks better is noise."""
    host = record.environment.host if record.environment else {}
    return record.device != "cpu" or bool(_HALF_FEATURES & set(host.get("cpu_features") or ()))


def _of_operations(
    profile: Profile, operations: Operations, anatomy: Anatomy, largest: Layer | None, odd: list[Layer]
) -> Known:
    traced_s = sum(
        time.forward_s + time.backward_s for time in operations.layers if time.layer not in _WAITING
    )
    on_device_s = sum(part.step_s.value for part in anatomy.parts if part.kind in ("compute", "memory"))
    if not traced_s or not on_device_s:
        return {}
    # Ops that ran at once were both counted; scaled, they add up to the time on the device.
    scale = on_device_s / traced_s

    def of(wanted: Callable[[LayerTime], bool]) -> float:
        return scale * sum(time.forward_s + time.backward_s for time in operations.layers if wanted(time))

    optimizer_s = of(lambda time: time.layer == _OPTIMIZER)
    parameters = sum(layer.parameters for layer in profile.layers)
    update_s = optimizer_s * largest.parameters / parameters if largest and parameters else 0.0
    wasted = {layer.name: _waste_share(layer) for layer in odd}
    single = [
        node
        for node in operations.nodes
        if node.group == "elementwise" and node.role in ("forward", "backward")
    ]
    return {
        "optimizer_s": optimizer_s,
        "batch_norm_s": of(lambda time: time.kind == "BatchNormalization"),
        "largest_dense_s": of(lambda time: time.layer == largest.name) + update_s if largest else None,
        "odd_widths_s": of(lambda time: time.layer in wasted),
        "odd_widths_waste_s": scale
        * sum((time.forward_s + time.backward_s) * wasted.get(time.layer, 0.0) for time in operations.layers),
        "elementwise_s": scale * sum(node.time_s for node in single),
        "elementwise_ops": round(sum(node.count for node in single)),
    }
