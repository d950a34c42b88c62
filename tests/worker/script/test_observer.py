"""Trouble of the measurement never reaches the training."""

from typing import Any

from steptime.worker.script.observer import CarefulWatch


class Broken:
    """A watch whose disk is full from the second block on."""

    origin_ns = 0

    def __init__(self) -> None:
        self.blocks = 0
        self.epoch_end_ns: dict[int, int] = {}

    def on_block(self, **fields: Any) -> None:
        self.blocks += 1
        if self.blocks > 1:
            raise OSError("no space left")

    def on_validation(self, *, epoch: int, duration_ns: int) -> None: ...

    def on_decision(self, text: str) -> None: ...


def test_what_fails_is_noted_once_and_the_training_goes_on() -> None:
    broken = Broken()
    watch = CarefulWatch(broken)  # type: ignore[arg-type]

    for _ in range(4):
        watch.on_block(epoch=0)
    watch.on_validation(epoch=0, duration_ns=1)
    watch.on_decision("graph")

    assert broken.blocks == 2
    assert watch.problem is not None
    assert "no space left" in watch.problem


def test_an_epoch_ends_with_the_last_thing_told_of_it() -> None:
    broken = Broken()
    watch = CarefulWatch(broken)  # type: ignore[arg-type]

    watch.on_block(epoch=0)
    after_block = broken.epoch_end_ns[0]
    watch.on_validation(epoch=0, duration_ns=1)

    assert 0 < after_block <= broken.epoch_end_ns[0]
