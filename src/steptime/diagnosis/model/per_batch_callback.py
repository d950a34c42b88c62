"""Callbacks that run in every step."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint

_SAVES_PER_EPOCH = 10


def _find(callbacks: Sequence[Mapping[str, Any]], batch: Mapping[str, Any]) -> Iterator[Found]:
    steps = batch["steps_per_epoch"]
    often = f"{steps:,} times an epoch" if steps else "every step"
    for callback in callbacks:
        if callback["class"] == "TensorBoard":
            continue  # Its settings have a lint of their own.
        save_freq = callback["save_freq"]
        if callback["batch_hooks"]:
            yield Found(
                evidence=f"{callback['class']}.{', '.join(callback['batch_hooks'])} is called {often}",
                severity="hint" if steps is not None and steps < 10 else None,
            )
        elif save_freq and save_freq > 0 and steps and steps / save_freq > _SAVES_PER_EPOCH:
            yield Found(
                evidence=(
                    f"{callback['class']}(save_freq={save_freq}) saves {steps // save_freq:,} times an epoch"
                ),
                consequence="Training stands still while the whole model is written to the disk.",
                fix=f"keras.callbacks.{callback['class']}(..., save_freq='epoch')",
            )


def _case(steps: int | None, severity: str = "", name: str = "Printer", **changes: Any) -> Case:
    callback = {"class": name, "batch_hooks": [], "save_freq": None} | changes
    return Case(facts={"callbacks": [callback], "batch": {"steps_per_epoch": steps}}, severity=severity)


LINT = Lint(
    kind="per-batch-callback",
    title="A callback is called in every step.",
    severity="warning",
    consequence=(
        "Each step ends in Python, with the loss and metrics fetched from the device, so steps can't run in "
        "one piece: small models lose most of their speed."
    ),
    fix="def on_epoch_end(self, epoch, logs=None): ...   # in place of on_train_batch_end",
    needs=("callbacks", "batch"),
    find=_find,
    fires=(
        _case(1875, batch_hooks=["on_train_batch_end"]),
        _case(4, "hint", batch_hooks=["on_train_batch_begin"]),
        _case(1875, name="ModelCheckpoint", save_freq=100),
    ),
    silent=(
        _case(1875),
        _case(1875, name="ModelCheckpoint", save_freq=1000),
        _case(1875, name="ModelCheckpoint", save_freq=0),
        _case(1875, name="TensorBoard", batch_hooks=["on_train_batch_end"]),
        Case(facts={"callbacks": [], "batch": {"steps_per_epoch": 5}}),
    ),
)
