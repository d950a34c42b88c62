"""``validation_split`` of data that are sorted by class."""

from collections.abc import Iterator, Mapping
from typing import Any

from steptime import units
from steptime.diagnosis.model.rule import Case, Found, Lint

# Targets that are no classes: where they follow time, their end is what is to be predicted.
_OF_NUMBERS = (
    "For a time series this is right: it is validated on its end. Data that are sorted by their target are validated "
    "on values they never train on."
)


def _find(split: Mapping[str, Any]) -> Iterator[Found]:
    unseen, distance = split["unseen_share"], split["distance"]
    held = f"validation_split={split['share']:g} holds back the last {split['samples']} samples, unshuffled"
    if unseen is not None and unseen >= 0.2:
        yield Found(
            evidence=f"{held}: {units.share(unseen)} of them belong to classes that the rest never shows"
        )
    elif distance is not None and distance >= 0.5:
        evidence = f"{held}: their labels' distribution is {units.share(distance)} away from that of the rest"
        if unseen is None:
            yield Found(evidence=evidence, severity="hint", consequence=_OF_NUMBERS, confidence="medium")
        else:
            yield Found(evidence=evidence, severity="warning", confidence="medium")


def _case(unseen: float | None, distance: float | None, severity: str = "") -> Case:
    facts = {"share": 0.2, "samples": 12000, "unseen_share": unseen, "distance": distance}
    return Case(facts={"split": facts}, severity=severity)


LINT = Lint(
    kind="split-of-sorted-data",
    title="validation_split takes the end of data that are sorted by label.",
    severity="error",
    consequence=(
        "Keras cuts off the last part before it shuffles: the model is validated on classes it never trains "
        "on, and never trains on classes it should know."
    ),
    fix="order = np.random.default_rng(0).permutation(len(x)); x, y = x[order], y[order]   # before fit",
    needs=("split",),
    find=_find,
    fires=(_case(1.0, 1.0), _case(0.0, 0.7, "warning"), _case(None, 0.9, "hint")),
    silent=(_case(0.0, 0.02), _case(0.01, 0.3), _case(None, None)),
)
