"""TensorBoard settings that slow the training down."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint

_OFTEN = 100


def _find(
    callbacks: Sequence[Mapping[str, Any]], batch: Mapping[str, Any], parameters: int
) -> Iterator[Found]:
    steps = batch["steps_per_epoch"]
    for board in (callback for callback in callbacks if callback["class"] == "TensorBoard"):
        every = 1 if board["update_freq"] == "batch" else board["update_freq"]
        if isinstance(every, int) and every < _OFTEN:
            count = f", {steps // every:,} times an epoch" if steps else ""
            yield Found(
                evidence=f"TensorBoard(update_freq={board['update_freq']!r}) writes within epochs{count}",
                consequence="Each step ends in Python and writes to the disk; steps can't run in one piece.",
                fix="keras.callbacks.TensorBoard(log_dir, update_freq='epoch')",
            )
        if board["histogram_freq"]:
            images = " and images" if board["write_images"] else ""
            yield Found(
                evidence=(
                    f"TensorBoard(histogram_freq={board['histogram_freq']}) sorts all {parameters:,} "
                    f"parameters into histograms{images} at the end of every {board['histogram_freq']}. epoch"
                ),
                severity=None if parameters > 1_000_000 and board["histogram_freq"] == 1 else "hint",
                consequence="All weights are fetched, sorted and written, while the device waits.",
                fix="keras.callbacks.TensorBoard(log_dir, histogram_freq=0)   # or 10",
            )
        if board["write_steps_per_second"]:
            yield Found(
                evidence="TensorBoard(write_steps_per_second=True) writes in every step",
                fix="keras.callbacks.TensorBoard(log_dir)   # steptime's record holds the step times",
            )


def _case(parameters: int = 100, severity: str = "", name: str = "TensorBoard", **changes: Any) -> Case:
    board: dict[str, Any] = {
        "class": name, "batch_hooks": [], "save_freq": None, "update_freq": "epoch", "histogram_freq": 0,
        "write_images": False, "write_steps_per_second": False,
    }  # fmt: skip
    facts = {"callbacks": [board | changes], "batch": {"steps_per_epoch": 1875}, "parameters": parameters}
    return Case(facts=facts, severity=severity)


LINT = Lint(
    kind="tensorboard-costs",
    title="TensorBoard is set to write more than once an epoch, or all weights.",
    severity="warning",
    consequence="Each step ends in Python and writes to the disk; steps can't run in one piece.",
    fix="keras.callbacks.TensorBoard(log_dir)   # the defaults write once an epoch",
    needs=("callbacks", "batch", "parameters"),
    find=_find,
    fires=(
        _case(update_freq="batch"),
        _case(update_freq=10),
        _case(histogram_freq=1, severity="hint"),
        _case(5_000_000, histogram_freq=1),
        _case(write_steps_per_second=True),
    ),
    silent=(_case(), _case(update_freq=500), _case(name="CSVLogger")),
)
