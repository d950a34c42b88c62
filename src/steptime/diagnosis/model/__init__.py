"""Mistakes in what is passed to ``fit``: model, compile arguments, data. One lint a file, listed in ``LINTS``."""

from steptime.diagnosis.model.rule import LintReport
from steptime.record.model_facts import ModelFacts


def lint(facts: ModelFacts) -> LintReport:
    """Apply all lints.

    Args:
        facts: What ``engine.inspection`` read, for example ``record.model_facts.read_model_facts(folder)``.
    """
    from steptime.diagnosis.model.evaluate import evaluate
    from steptime.diagnosis.model.lints import LINTS

    return evaluate(LINTS, facts)
