"""Facts that matter only with several devices or machines: shared memory, TF_CONFIG, and what differs between them."""

import errno
import json
import os
import socket
from collections.abc import Mapping
from typing import Any

from steptime.environment.facts import DOES_NOT_APPLY, Facts, Value
from steptime.environment.place import Place

# Facts that must be alike on all machines of a training: another version may compute or exchange something else.
_ALIKE = (
    "python", "tensorflow", "tensorflow_build", "tensorflow_cuda", "keras", "numpy", "nccl",
    "gpu", "gpu_count", "driver",
)  # fmt: skip
_NOT_SET = f"{DOES_NOT_APPLY}: TF_CONFIG is not set"


def read_several(place: Place) -> tuple[dict[str, Value | None], dict[str, str]]:
    """Return the facts, and the reasons for those that are not known."""
    shm_mib = _shared_memory_mib(place)
    facts: dict[str, Value | None] = {"shm_mib": shm_mib}
    unknown = {} if shm_mib is not None else {"shm_mib": f"{DOES_NOT_APPLY}: there is no /dev/shm"}
    text = place.environ.get("TF_CONFIG", "").strip()
    if not text:
        return facts, unknown | {"tf_config": _NOT_SET, "tf_config_port": _NOT_SET}
    fault = tf_config_fault(text)
    facts["tf_config"] = fault or "ok"
    if fault:
        return facts, unknown | {"tf_config_port": "TF_CONFIG cannot be read"}
    facts["tf_config_port"] = _own_port(json.loads(text))
    return facts, unknown


def tf_config_fault(text: str) -> str | None:
    """Return what is wrong with the text of TF_CONFIG; None when TensorFlow can use it.

    The form: TensorFlow's guide "Distributed training", section on TF_CONFIG.
    """
    try:
        config = json.loads(text)
    except ValueError as error:
        return f"not JSON: {error}"
    cluster = config.get("cluster") if isinstance(config, dict) else None
    task = config.get("task") if isinstance(config, dict) else None
    if not isinstance(cluster, dict) or not isinstance(task, dict):
        return "it needs the objects cluster and task"
    kind, index = task.get("type"), task.get("index")
    addresses = cluster.get(kind) if isinstance(kind, str) else None
    if not isinstance(addresses, list) or not addresses:
        return f"the cluster has no tasks of type {kind!r}"
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(addresses):
        return f"task {index!r} is none of the {len(addresses)} of type {kind!r}"
    every = [address for group in cluster.values() if isinstance(group, list) for address in group]
    wrong = [address for address in every if _port(address) is None]
    if wrong:
        return f"{wrong[0]!r} is no host:port"
    twice = sorted({address for address in every if every.count(address) > 1})
    return f"{twice[0]} is named twice" if twice else None


def differences(machines: Mapping[str, Facts]) -> tuple[str, ...]:
    """Return the facts in which machines of one training must agree and do not, in words.

    Args:
        machines: Name of each machine, such as its file, and its facts.
    """
    found = []
    for name in _ALIKE:
        values = {machine: facts.text(name) or "not known" for machine, facts in machines.items()}
        if len(set(values.values())) > 1:
            told = ", ".join(f"{value} ({machine})" for machine, value in values.items())
            found.append(f"{name}: {told}")
    return tuple(found)


def _shared_memory_mib(place: Place) -> int | None:
    try:
        size = os.statvfs(place.root / "dev/shm")
    except (OSError, AttributeError):
        return None
    return size.f_blocks * size.f_frsize >> 20


def _port(address: Any) -> int | None:
    host, colon, port = str(address).rpartition(":")
    return int(port) if host and colon and port.isdecimal() and 0 < int(port) < 65536 else None


def _own_port(config: Mapping[str, Any]) -> str:
    """Whether this task could listen where the cluster expects it: free, in use, or another machine's."""
    task = config["task"]
    address = str(config["cluster"][task["type"]][task["index"]])
    host, _, port = address.rpartition(":")
    try:
        places = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    except OSError:
        return f"{address} cannot be resolved"
    for family, kind, protocol, _, place in places:
        try:
            with socket.socket(family, kind, protocol) as probe:
                # As TensorFlow's server does: a port that waits after its last use is free.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(place)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return f"{address} is in use"
            continue
        return "free"
    return f"{address} is no address of this machine"
