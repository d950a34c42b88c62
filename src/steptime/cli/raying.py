"""What can be said about workers on a Ray cluster."""

import argparse
import math
from typing import TYPE_CHECKING

from steptime.errors import UsageError

if TYPE_CHECKING:
    from steptime.launch.ray_cluster import Resources


def add_ray_options(parser: argparse._ActionsContainer) -> None:
    """Declare what each worker gets."""
    parser.add_argument(
        "--cpus-per-worker", type=float, metavar="N", help="with --ray: CPUs for each worker (1)"
    )
    parser.add_argument(
        "--gpus-per-worker",
        type=float,
        metavar="N",
        help="with --ray: GPUs for each worker (as --devices, where the cluster has enough)",
    )
    parser.add_argument(
        "--spread",
        action="store_true",
        help="with --ray: workers on as many machines as possible, not as few",
    )


def ray_resources(options: argparse.Namespace, *, is_ray: bool) -> "Resources | None":
    """Return what each worker on Ray gets; None where there is no Ray.

    Raises:
        UsageError: A number that makes no sense, or any of them without ``--ray``.
    """
    if not is_ray:
        _refuse(options)
        return None
    from steptime.launch.ray_cluster import Resources

    cpus, gpus = options.cpus_per_worker, options.gpus_per_worker
    if cpus is not None and not 0 < cpus < math.inf:
        raise UsageError(f"--cpus-per-worker must be above 0. Received: {cpus}", hint="For example: 4")
    if gpus is not None and not (0 <= gpus < math.inf and gpus == int(gpus)):
        raise UsageError(
            f"--gpus-per-worker must be a whole number from 0. Received: {gpus}",
            hint="Training shares no GPU between workers.",
        )
    return Resources(cpus=1.0 if cpus is None else cpus, gpus=gpus, spread=options.spread)


def _refuse(options: argparse.Namespace) -> None:
    given = {
        "--cpus-per-worker": options.cpus_per_worker is not None,
        "--gpus-per-worker": options.gpus_per_worker is not None,
        "--spread": options.spread,
    }
    wrong = [flag for flag, is_given in given.items() if is_given]
    if wrong:
        raise UsageError(
            f"{', '.join(wrong)} is for workers on Ray. Received: a run without",
            hint="Leave it out; `steptime train --workers N --ray` starts a run on Ray.",
        )
