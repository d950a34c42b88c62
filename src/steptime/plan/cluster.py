"""A process' place in a group, as TensorFlow reads it from the variable TF_CONFIG."""

import json
from dataclasses import dataclass
from typing import Any

from steptime.errors import UsageError

CLUSTER_VARIABLE = "TF_CONFIG"
# Tasks of these kinds train; the first kind that there is comes first in the order of ranks.
_TRAINING_KINDS = ("chief", "master", "worker")
_HINT = 'For example {"cluster": {"worker": ["a:2222", "b:2222"]}, "task": {"type": "worker", "index": 0}}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a process stands in its group.

    Attributes:
        addresses: "host:port" of every worker, in the order of their ranks; empty for a process on its own.
        rank: Number of this one, from 0; 0 is the chief.
    """

    addresses: tuple[str, ...] = ()
    rank: int = 0

    @property
    def workers(self) -> int:
        """Processes in the group."""
        return max(len(self.addresses), 1)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of this process."""
        host, _, port = self.addresses[self.rank].rpartition(":")
        return host, int(port)

    def text(self) -> str:
        """Return the value of TF_CONFIG that says this."""
        task = {"type": "worker", "index": self.rank}
        return json.dumps({"cluster": {"worker": list(self.addresses)}, "task": task})


def read_place(text: str | None) -> Place:
    """Return the place that a value of TF_CONFIG names; a group of one is no group.

    Raises:
        UsageError: It is not what TensorFlow reads.
    """
    if not text:
        return Place()
    try:
        content = json.loads(text)
        cluster = content.get("cluster", {})
        kinds = [kind for kind in _TRAINING_KINDS if cluster.get(kind)]
        addresses = tuple(str(address) for kind in kinds for address in cluster[kind])
        if len(addresses) <= 1:
            return Place()
        place = Place(addresses=addresses, rank=_rank(cluster, content["task"], kinds))
        _ = place.address
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise UsageError(
            f"{CLUSTER_VARIABLE} must hold a cluster and this task's place in it. "
            f"Received: {text[:200]!r} ({type(error).__name__}: {error})",
            hint=_HINT,
        ) from None
    return place


def _rank(cluster: dict[str, Any], task: dict[str, Any], kinds: list[str]) -> int:
    kind, index = str(task["type"]), int(task["index"])
    if kind not in kinds or not 0 <= index < len(cluster[kind]):
        raise ValueError(f"the cluster has no {kind} {index}")
    return sum(len(cluster[before]) for before in kinds[: kinds.index(kind)]) + index
