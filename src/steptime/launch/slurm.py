"""A process' place in a group, from the variables that Slurm's srun gives each task."""

import re
from collections.abc import Mapping

from steptime.errors import UsageError
from steptime.plan.cluster import Place

_FIRST_PORT = 15000
_PORTS = 15000
_HINT = (
    "Start it as `srun steptime train ... --slurm` inside a job; `srun env | grep SLURM` shows the variables."
)


def slurm_place(variables: Mapping[str, str]) -> Place:
    """Return where this task stands among the tasks of its job step.

    Ports are those that Slurm reserved for the step (``--resv-ports``), or else follow from the number of the job,
    so that every task finds the same and two jobs on one node hardly meet.

    Args:
        variables: The environment of the task.

    Raises:
        UsageError: The variables are missing, or say that tasks are not laid out node by node.
    """
    rank, tasks = (
        _number(variables, "SLURM_PROCID"),
        _number(variables, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
    )
    nodes = expand_nodes(_text(variables, "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"))
    counts = expand_counts(_text(variables, "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"))
    if len(counts) != len(nodes) or sum(counts) != tasks:
        raise UsageError(
            f"Slurm's variables must agree. Received: {tasks} tasks, {len(nodes)} nodes, tasks per node {counts}",
            hint=_HINT,
        )
    ports = _ports(variables, max(counts))
    hosts = [(node, local) for node, count in zip(nodes, counts, strict=True) for local in range(count)]
    own = variables.get("SLURMD_NODENAME", hosts[rank][0])
    if own != hosts[rank][0]:
        raise UsageError(
            f"Tasks must be laid out node by node. Received: task {rank} on {own}, not on {hosts[rank][0]}",
            hint="Give srun --distribution=block.",
        )
    if tasks == 1:
        return Place()
    return Place(addresses=tuple(f"{node}:{ports[local]}" for node, local in hosts), rank=rank)


def expand_nodes(text: str) -> tuple[str, ...]:
    """Return the nodes of a list in Slurm's short form, such as ``gpu[01-03,7],login`` .

    Raises:
        UsageError: It is not in that form.
    """
    nodes: list[str] = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\][^,\[]*)*", text):
        nodes += _expand(part)
    if not nodes:
        raise UsageError(f"Slurm's list of nodes must name some. Received: {text!r}", hint=_HINT)
    return tuple(nodes)


def _expand(part: str) -> list[str]:
    match = re.search(r"\[([^\]]*)\]", part)
    if match is None:
        return [part]
    names = []
    for piece in match[1].split(","):
        first, _, last = piece.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            raise UsageError(f"Slurm's list of nodes must hold numbers. Received: {part!r}", hint=_HINT)
        numbers = range(int(first), int(last or first) + 1)
        # Leading zeros are part of the name.
        names += [
            f"{part[: match.start()]}{number:0{len(first)}d}{part[match.end() :]}" for number in numbers
        ]
    return [name for expanded in names for name in _expand(expanded)]


def expand_counts(text: str) -> tuple[int, ...]:
    """Return tasks by node from Slurm's short form, such as ``2(x3),1``.

    Raises:
        UsageError: It is not in that form.
    """
    counts: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part.strip())
        if match is None:
            raise UsageError(f"Slurm's tasks per node must be numbers. Received: {text!r}", hint=_HINT)
        counts += [int(match[1])] * int(match[2] or 1)
    return tuple(counts)


def _ports(variables: Mapping[str, str], count: int) -> list[int]:
    reserved = variables.get("SLURM_STEP_RESV_PORTS", "")
    match = re.fullmatch(r"(\d+)-(\d+)", reserved)
    if match is not None and int(match[2]) - int(match[1]) + 1 >= count:
        return [int(match[1]) + local for local in range(count)]
    job = _number(variables, "SLURM_JOB_ID", "SLURM_JOBID")
    step = variables.get("SLURM_STEP_ID", "0")
    first = _FIRST_PORT + (job * 64 + 8 * int(step if step.isdigit() else 0)) % _PORTS
    return [first + local for local in range(count)]


def _text(variables: Mapping[str, str], *names: str) -> str:
    for name in names:
        if variables.get(name):
            return variables[name]
    raise UsageError(f"--slurm needs the variable {names[0]}. It is not set", hint=_HINT)


def _number(variables: Mapping[str, str], *names: str) -> int:
    text = _text(variables, *names)
    if not text.isdigit():
        raise UsageError(f"{names[0]} must be a number. Received: {text!r}", hint=_HINT)
    return int(text)
