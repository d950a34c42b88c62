"""``fit`` called again and again for one epoch each."""

from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint

_MANY = 3


def _find(fits: Mapping[str, Any]) -> Iterator[Found]:
    if fits["epochs"] != 1:
        return
    single = sum(1 for _ in takewhile(lambda epochs: epochs == 1, reversed(fits["earlier"])))
    if single + 1 >= _MANY:
        yield Found(evidence=f"this is fit number {single + 1} in a row of the same model with one epoch")


def _case(epochs: int, *earlier: int) -> Case:
    return Case(facts={"fits": {"epochs": epochs, "earlier": list(earlier)}})


LINT = Lint(
    kind="fit-in-a-loop",
    title="fit is called in a loop, with one epoch each time.",
    severity="warning",
    consequence=(
        "Each call makes its data iterators, its callbacks and its History anew: early stopping and "
        "learning-rate schedules by epoch never see a second epoch, the last History holds one epoch only, "
        "and the start of each call costs time."
    ),
    fix=(
        "model.fit(x, y, epochs=n, callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=...)])   # one call"
    ),
    needs=("fits",),
    find=_find,
    fires=(_case(1, 1, 1), _case(1, 5, 1, 1)),
    silent=(_case(1), _case(1, 1), _case(5, 1, 1, 1), _case(1, 1, 1, 5)),
)
