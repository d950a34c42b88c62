"""Does the proof of placement agree with the plan? Pure; the worker collects the proof."""

from collections.abc import Mapping


def contradiction(
    planned_device: str,
    compute_ops: Mapping[str, int],
    heavy_ops: Mapping[str, tuple[str, ...]],
    variables: Mapping[str, int],
) -> str | None:
    """Return how the executed step contradicts the planned device, or None when it agrees.

    Small floating-point ops may lie on the host beside a GPU (loss scaling, learning-rate schedules); the
    heavy ones and the weights may not. A CPU run allows nothing elsewhere.

    Args:
        planned_device: ``CPU:0``, ``GPU:1`` and so on; several are joined by ", " and all must compute.
        compute_ops: Executed floating-point ops by device.
        heavy_ops: Names of matrix products, convolutions and XLA programs by device.
        variables: Number of variables by device.
    """
    if not sum(compute_ops.values()):
        return "no executed compute op was found in the training step"
    planned = planned_device.split(", ")
    elsewhere = {device: count for device, count in compute_ops.items() if device not in planned}
    heavy_elsewhere = {device: ops for device, ops in heavy_ops.items() if device not in planned and ops}
    variables_elsewhere = sum(count for device, count in variables.items() if device not in planned)
    idle = [device for device in planned if not compute_ops.get(device)]
    if idle:
        ran = sorted(device for device in compute_ops if device not in idle)
        return f"no compute op ran on {', '.join(idle)}; they ran on {', '.join(ran)}"
    if planned_device.startswith("CPU") and elsewhere:
        counts = ", ".join(f"{count} on {device}" for device, count in sorted(elsewhere.items()))
        return f"compute ops ran outside {planned_device}: {counts}"
    if heavy_elsewhere:
        places = "; ".join(
            f"{', '.join(ops[:3])} on {device}" for device, ops in sorted(heavy_elsewhere.items())
        )
        return f"heavy ops ran outside {planned_device}: {places}"
    planned_variables = sum(variables.get(device, 0) for device in planned)
    if variables_elsewhere > planned_variables:
        return f"{variables_elsewhere} of {variables_elsewhere + planned_variables} variables lie outside it"
    return None
