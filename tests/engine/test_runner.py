"""Which loop runs how many steps, and who is told."""

import functools

import pytest

pytestmark = pytest.mark.tensorflow

pytest.importorskip("keras")

from steptime.engine.choice import Choice  # noqa: E402
from steptime.engine.feeds.feed import Claim  # noqa: E402
from steptime.engine.loops.loop import Outcome  # noqa: E402
from steptime.engine.prior import Prior  # noqa: E402
from steptime.engine.runner import Runner  # noqa: E402
from steptime.engine.verification import Verdict  # noqa: E402

GRAPH = Prior(loop="graph", over="keras", saved_s=1.0, likely=True, margin_share=-1e9)


class FakeLoop:
    def __init__(self, name, calls, short_by=0):
        self.name = name
        self._calls = calls
        self._short_by = short_by

    def run(self, claim):
        self._calls.append((self.name, claim.position, claim.steps))
        return Outcome(steps=claim.steps - self._short_by, logs={"loss": 1.0})


class FakeVerifier:
    def __init__(self, accepted=True):
        self._accepted = accepted

    def first_step(self, loop, claim):
        return Verdict(outcome=loop.run(claim), accepted=self._accepted, text="compared")


class Notes:
    def __init__(self):
        self.blocks, self.decisions = [], []

    def on_block(self, **block):
        self.blocks.append(block)

    def on_validation(self, **validation):
        raise AssertionError

    def on_decision(self, text):
        self.decisions.append(text)


def make(choice, calls, accepted=True, whole_batch_steps=None, observer=None):
    names = ("keras", "graph", "xla")
    loops = {name: functools.partial(FakeLoop, name, calls) for name in names}
    return Runner(
        choice, loops, FakeVerifier(accepted), whole_batch_steps=whole_batch_steps, observer=observer
    )


def train(runner, steps, limit=None):
    done = 0
    while done < steps:
        n = min(runner.plan(limit, done, steps - done), steps - done)
        done += runner.run(0, Claim(first=done, position=done, steps=n)).steps


def test_every_step_is_run_once_and_in_order():
    calls = []
    runner = make(Choice([Prior(loop="keras"), GRAPH], total_steps=500), calls)
    train(runner, 500)
    positions = [p for _, first, n in calls for p in range(first, first + n)]
    assert positions == list(range(500))
    assert {name for name, _, _ in calls} == {"keras", "graph"}


def test_segments_join_what_the_same_loop_ran():
    runner = make(Choice([Prior(loop="graph")], total_steps=50, asked=True), [])
    train(runner, 50)
    (segment,) = runner.segments
    assert (segment.first_step, segment.n_steps, segment.loop) == (0, 50, "graph")


def test_a_rejected_loop_is_dropped_with_the_reason_and_its_step_counts_as_keras():
    choice = Choice([Prior(loop="graph"), Prior(loop="keras")], total_steps=50, asked=True)
    runner = make(choice, [], accepted=False)
    train(runner, 50)
    assert choice.dropped == {"graph": "compared"}
    assert {s.loop for s in runner.segments} == {"keras"}


def test_the_limit_of_the_callbacks_is_kept():
    calls = []
    runner = make(Choice([Prior(loop="graph")], total_steps=40, asked=True), calls)
    train(runner, 40, limit=3)
    assert max(n for _, _, n in calls) <= 3


def test_xla_leaves_the_partial_batch_to_another_loop():
    calls = []
    runner = make(Choice([Prior(loop="xla")], total_steps=10, asked=True), calls, whole_batch_steps=9)
    train(runner, 10)
    assert calls[-1] == ("keras", 9, 1)
    assert sum(n for name, _, n in calls if name == "xla") == 9


def test_the_observer_hears_of_every_block_and_of_the_decision():
    notes = Notes()
    runner = make(Choice([Prior(loop="keras"), GRAPH], total_steps=500), [], observer=notes)
    train(runner, 500)
    assert sum(b["n_steps"] for b in notes.blocks) == 500
    assert [b["loop"] for b in notes.blocks if b["compiled"]] == ["keras", "graph"]
    assert all(b["duration_ns"] > 0 for b in notes.blocks)
    assert len(notes.decisions) == 1
    assert notes.decisions[0].startswith("graph: ")
