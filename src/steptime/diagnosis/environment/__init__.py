"""Why TensorFlow does not use the GPU of a machine, or not well: one rule a file, listed in ``rules.RULES``."""

from collections.abc import Sequence

from steptime.diagnosis.rule import Diagnosis
from steptime.environment.facts import Facts


def diagnose(facts: Facts, lines: Sequence[str] = ()) -> Diagnosis:
    """Weigh all rules of the doctor.

    Args:
        facts: What is known about the machine.
        lines: Clean lines of a log, as ``environment.log.read_log`` returns them.
    """
    from steptime.diagnosis.environment.rules import RULES
    from steptime.diagnosis.evaluate import evaluate

    return evaluate(RULES, facts, lines)


def why_no_gpu(facts: Facts, lines: Sequence[str] = ()) -> tuple[str, str] | None:
    """Return why the GPU can't be used and what to do, one line each, or ``None`` when nothing speaks against it.

    Args:
        facts: What is known, for example ``environment.read.read_first()``.
        lines: Lines that TensorFlow printed, if there are any.
    """
    diagnosis = diagnose(facts, lines)
    finding = next((found for found in diagnosis.findings if not found.slow), None)
    if finding is not None:
        steps = [step for step in finding.fix if not step.startswith("#")] or list(finding.fix)
        return finding.title, steps[0].split("   #")[0].removeprefix("# ")
    if facts.get("gpu_vendor") in {"none", "intel"}:
        return "This machine shows no NVIDIA GPU.", "use --device cpu, or a machine with an NVIDIA GPU"
    return None
