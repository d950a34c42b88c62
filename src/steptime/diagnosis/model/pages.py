"""The manual page of the lints, which the findings' links point into."""

from collections.abc import Iterable

from steptime.diagnosis.model.rule import Lint

_HEAD = """# Mistakes in model, compile arguments and data

<!-- Made from the lints by scripts/docs: edit src/steptime/diagnosis/model instead. -->

`steptime check my_job.py` builds model and data of a workload, looks at them and trains nothing; it ends with 1 when
there is an error or a warning. `steptime train` says the same before its first step, and `steptime show` repeats it. A
script is looked at by `steptime run`, at each `fit`.

An **error** makes the result wrong, a **warning** is likely wrong or much slower, a **hint** works but could be better.
What could not be looked at is listed as not checked, never as fine. Looking takes less than two seconds: large arrays
are read in part, and the evidence says how many samples were read. It changes nothing: no data set is iterated, no
random state is used, no weight is touched, and a training after it gives the same bits.
"""


def lints_markdown(lints: Iterable[Lint]) -> str:
    """Return the page: one section a lint, in their order.

    Args:
        lints: As ``diagnosis.model.lints.LINTS`` has them.
    """
    lines = [_HEAD]
    for lint in lints:
        lines += [
            f'<a id="{lint.kind}"></a>',
            "",
            f"## {lint.kind} ({lint.severity})",
            "",
            f"**{lint.title}**",
            "",
            lint.consequence,
            "",
            "```python",
            lint.fix,
            "```",
            "",
        ]
    return "\n".join(lines).rstrip() + "\n"
