"""What a log and a person tell together: the facts of ``steptime doctor --log FILE --fact KEY=VALUE``."""

from collections.abc import Sequence

from steptime.environment.facts import Facts, Value, known, merge
from steptime.environment.sayings import read_sayings
from steptime.environment.stated import gpu_facts, read_stated


def read_told(lines: Sequence[str], stated: Sequence[str]) -> Facts:
    """Join the facts that a log's lines tell with those a person states; what is stated wins.

    Args:
        lines: Clean lines, as ``log.read_log`` returns them.
        stated: ``KEY=VALUE`` statements.
    """
    values: dict[str, Value | None] = dict(read_sayings("\n".join(lines)))
    names = values.get("gpu")
    if isinstance(names, tuple):
        values |= gpu_facts(names)
    person = read_stated(stated)
    if person.get("os") == "windows":
        values.pop("wsl", None)
        values.pop("container", None)
    return merge(
        known(values, "read in the log"),
        person,
        known(_conclusions(merge(known(values, ""), person)), "implied"),
    )


def _conclusions(facts: Facts) -> dict[str, Value | None]:
    """Facts that follow from others without any doubt."""
    implied: dict[str, Value | None] = {}
    if facts.get("container") not in {None, "none"} or facts.get("hosted") or facts.get("jetson"):
        implied["os"] = facts.get("os") or "linux"
    if facts.get("jetson"):
        implied["arch"] = "aarch64"
    if facts.get("nvml") or facts.get("driver") or facts.get("kernel_module") not in {None, "none"}:
        implied["gpu_vendor"] = facts.get("gpu_vendor") or "nvidia"
    return implied
