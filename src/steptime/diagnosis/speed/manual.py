"""The manual page of ``steptime profile``: how it works, what is sure, and a section for each finding."""

from collections.abc import Iterable, Iterator

from steptime.diagnosis.speed.catalogue import SPEED_FACTS
from steptime.diagnosis.speed.evaluate import WORTH_SHARE
from steptime.diagnosis.speed.rule import SpeedRule, Way

_HEAD = """\
# Where does a step's time go, and what would help?

<!-- Made from the rules by scripts/docs: edit src/steptime/diagnosis/speed instead. -->

`steptime profile` trains a job for some seconds in a process of its own and says what bounds a step, what would
make it faster, and by how much at most.

```
steptime profile                       # the built-in job
steptime profile my_job.py             # a job of your own
steptime profile --script train.py     # the first fit of a program that you have
steptime profile RUN                   # a run that exists, as far as its record goes
steptime profile my_job.py --try       # and measure those remedies that are settings
steptime profile my_job.py --json      # bound, shares, findings (what would save most stands first)
```

## How a step is taken apart

Five short timings, taken in turns so that a drift of the machine meets all alike, are compared:

| timing | what it leaves out | what the difference tells |
| --- | --- | --- |
| as it is | nothing | |
| one batch from memory, again and again | the input pipeline, the callbacks | what a step waits for input |
| the input pipeline alone | the training | whether it could keep up if it ran beside the step |
| the step alone, in one compiled loop | Python between the steps as well | what Python and dispatch cost |
| the step alone, with twice the batch | | what of it does not grow with the batch |

The parts are shown to scale and add up to the measured step; a page whose parts miss it by more than 3 % says
so. One of `input`, `host`, `compute` and `memory` is the answer when it alone makes up most of the step; else,
and when the timings spread too much to tell, it is `mixed`. It is `unknown` where they were not made or leave much of
the step unexplained.

A trace of a few steady steps by TensorFlow's profiler gives the time of each type of operation and of each
layer. It is digested in the worker into `ops.json`, so that reading it later needs no TensorFlow; the whole
trace stays beside it for `steptime board`. Tracing disturbs: the page says by how much when it is more than 5
%. Times of operations are therefore used as shares, and scaled to the time that the step takes without the
profiler.

The machine's own ceilings (matrix products in each precision, a copy in memory, a copy to the device, the start
of one operation) are measured once and kept; `--remeasure` measures them again, as when the machine was busy the
first time. They are what TensorFlow reached here, not what a data sheet says.

## What a price means

A finding's saving is a limit: no more than that can be gained by this remedy. Savings of several findings do
not add up, since two remedies may remove the same wait. Each finding says how its limit was derived. What would
save less than
"""

_MIDDLE = """\
of the training (steps and validations) is not reported as a finding; a part of the step that
cannot be told from nothing counts as nothing.

`--try` replaces the limit by a measurement, for remedies that are settings. The run as it is and one arm for
each remedy take turns in fresh processes, exactly as in `steptime compare`; the answer has an interval, and
losses and metrics are compared. A remedy that changes results by more than rounding (another batch size,
another precision) says so.

A fact that is missing leads to "not checked", with the reason, never to "fine".

## What was never run on a GPU

This program was built on a machine without a GPU. The following is tested on recorded or made-up traces and
records only: device planes of a trace (kernels, launches, gaps, copies and their kind of memory), NVML's
readings (throttling, other processes), ceilings of tensor cores, and the findings that rest on them: GPU_KINDS.
What they say on a real GPU should be believed only as far as `--try` or `steptime compare` confirms it.
"""


def profile_markdown(rules: Iterable[SpeedRule]) -> str:
    """Return the manual page.

    Args:
        rules: The rules, as ``diagnosis.speed.rules.RULES`` has them.
    """
    every = sorted(rules, key=lambda rule: rule.kind)
    on_gpu = ", ".join(f"`{rule.kind}`" for rule in every if _is_about_gpus(rule))
    lines = [f"{_HEAD.rstrip()} {WORTH_SHARE:.0%} {_MIDDLE.replace('GPU_KINDS', on_gpu)}", "## Findings", ""]
    for rule in every:
        lines += _section(rule)
    return "\n".join(lines).rstrip() + "\n"


def _is_about_gpus(rule: SpeedRule) -> bool:
    return any(case.get("device") == "gpu" for case in rule.fires) or rule.kind in ("throttled", "precision")


def _section(rule: SpeedRule) -> Iterator[str]:
    yield from (
        f'<a id="{rule.kind}"></a>',
        "",
        f"### {rule.kind}",
        "",
        f"**{_with_meanings(rule.title)}**",
        "",
    )
    yield from (rule.cause, "", f"Saves at most: {_with_meanings(rule.saving.how)}.", "")
    for way in rule.ways:
        yield from ("```", *_way(way), "```", "")
        if way.changes_results:
            yield from ("This changes results: compare the loss.", "")
    if rule.source:
        yield from (f"Source: {rule.source}.", "")


def _way(way: Way) -> Iterator[str]:
    patch = " ".join(f"--set {key}={value}" for key, value in way.patch.items())
    for line in (patch, *way.lines):
        if line:
            yield _with_names(line)


def _with_meanings(text: str) -> str:
    """Write the name of a fact as code where a run has its value."""
    for name in SPEED_FACTS:
        text = text.replace(f"{{{name}}}", f"`{name}`")
    return text


def _with_names(text: str) -> str:
    for name in SPEED_FACTS:
        text = text.replace(f"{{{name}}}", name.upper())
    return text
