"""The checkpoint that a training goes on from: found, compared with what is trained now, and put back."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import keras

from steptime.engine.assembly import Engine
from steptime.engine.checkpoints import callbacks as memories
from steptime.engine.checkpoints import format as files
from steptime.engine.checkpoints import snapshot
from steptime.engine.checkpoints.identity import Identity, accumulation_of, differences
from steptime.engine.checkpoints.policy import Checkpoints
from steptime.engine.checkpoints.state import LoopState, Position, TrainingState
from steptime.engine.checkpoints.values import decode
from steptime.engine.checkpoints.variables import variables_of
from steptime.engine.checkpoints.voice import Voice
from steptime.engine.distribution.engine import GroupEngine
from steptime.engine.distribution.group import Group
from steptime.engine.distribution.sameness import check_same
from steptime.engine.feeds.arrays import ArrayFeed
from steptime.engine.feeds.stream import StreamFeed
from steptime.errors import RecordError, UsageError
from steptime.plan.codec import from_json


class Former:
    """A checkpoint of the training that goes on now.

    Args:
        stored: Its files.
        policy: What the person asked for.
        identity: What is trained now.
        voice: Says what differs.
        group: Who trains together; None for one device.

    Raises:
        UsageError: Something has changed, and `allow_different` was not said.
        RecordError: The state is not that of a checkpoint of this version.
    """

    def __init__(
        self,
        stored: files.Stored,
        policy: Checkpoints,
        identity: Identity,
        voice: Voice,
        group: Group | None = None,
    ) -> None:
        self._stored = stored
        self._allow_different = policy.allow_different
        self._identity = identity
        self._voice = voice
        self._group = group
        self._versions = snapshot.versions(1 if group is None else group.replicas)
        self._state = _check(stored, identity, policy, voice, self._versions)

    @property
    def start(self) -> Position:
        """Where the training goes on."""
        return self._state.position

    @property
    def loops(self) -> LoopState | None:
        """Which loops ran; None where something has changed, so that they must be tried anew."""
        state = self._state
        unchanged = not differences(state.identity, self._identity, state.learning_rate)
        return state.loops if unchanged and state.versions == self._versions else None

    def put_back(
        self,
        model: keras.Model,
        engine: Engine | GroupEngine,
        feed: ArrayFeed | StreamFeed,
        callbacks: Sequence[keras.callbacks.Callback],
    ) -> Any:
        """Gives variables, callbacks and data what they held; this can be done once.

        Returns:
            Loss and metrics of the epoch so far.

        Raises:
            UsageError: The model has other variables.
            RecordError: The content is not that of a checkpoint of this version.
        """
        state, arrays = self._state, self._stored.arrays
        # Between epochs metrics are empty, and reading those of a group takes all its processes.
        variables = variables_of(model, engine.touched, metrics=self._group is None)
        for text in snapshot.put_back_variables(
            state, arrays, variables, allow_different=self._allow_different
        ):
            self._voice.warn(text)
        snapshot.scale_iterations(variables, accumulation_of(self._identity), accumulation_of(state.identity))
        try:
            logs = decode(state.logs, arrays)
            notes = memories.put_back(callbacks, state.callbacks, arrays)
            if not self._put_back_data(feed):
                model.reset_metrics()
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise RecordError(
                f"{self._stored.path} must hold what this version writes. {type(error).__name__}: {error}",
                hint="Start anew in another folder.",
            ) from error
        for text in notes:
            self._voice.warn(text)
        arrays.clear()
        return logs

    def _put_back_data(self, feed: ArrayFeed | StreamFeed) -> bool:
        position = self._state.position
        iterator = self._stored.path / "iterator" if self._stored.has_iterator else None
        start_s = time.perf_counter()
        if isinstance(feed, StreamFeed) and self._state.identity.get("data") != self._identity["data"]:
            self._voice.warn("the data come in another way: their order is that of a new training")
            if position.phase == "steps":
                self._voice.warn(f"epoch {position.epoch + 1} begins again")
                feed.begin_epoch()
            return False
        found = feed.go_on(self._state.feed, iterator, inside_epoch=position.phase == "steps")
        if not found:
            self._voice.warn(
                f"epoch {position.epoch + 1} begins again: its position means nothing in other batches"
            )
        if isinstance(feed, StreamFeed) and feed.read_again:
            seconds = time.perf_counter() - start_s
            self._voice.say(f"{feed.read_again} batches were read again in {seconds:.1f} s")
        return found


def find_former(
    policy: Checkpoints, identity: Identity, voice: Voice, group: Group | None = None
) -> Former | None:
    """The checkpoint to go on from; None where the training begins.

    Raises:
        UsageError: Something has changed since, the folder is not as the policy says, or the processes of a group
            see different ones.
        RecordError: There are checkpoints, and none is whole.
    """
    stored = _find(policy, voice)
    if group is not None:
        check_same(group, {"newest checkpoint": "none" if stored is None else stored.path.name})
    return None if stored is None else Former(stored, policy, identity, voice, group)


def best_of(folder: Path) -> tuple[str, float] | None:
    """Name and score of the best checkpoint there is."""
    best: tuple[str, float] | None = None
    for path in files.listed(folder):
        try:
            score = files.read_state(path).get("score")
        except RecordError:
            continue
        if isinstance(score, float) and (best is None or score > best[1]):
            best = (path.name, score)
    return best


def _find(policy: Checkpoints, voice: Voice) -> files.Stored | None:
    """The newest checkpoint that is whole; what is wrong with newer ones is said.

    Raises:
        UsageError: Checkpoints are there and must not be, or are not and must be.
        RecordError: There are checkpoints, and none is whole.
    """
    folder = Path(policy.folder)
    there = files.listed(folder)
    if there and policy.resume is False:
        raise UsageError(
            f"{folder} must hold no checkpoint. Received: {there[-1].name}",
            hint="Choose another folder, or resume='auto' to go on.",
        )
    if not there and policy.resume is True:
        raise UsageError(
            f"{folder} must hold a checkpoint. There is none.",
            hint="resume='auto' starts anew where there is none.",
        )
    stored, problems = files.newest_whole(folder)
    for problem in problems:
        voice.warn(problem)
    if there and stored is None:
        raise RecordError(
            f"{folder} must hold a checkpoint that is whole. {problems[0]}",
            hint="Remove the folder to start anew.",
        )
    return stored


def _check(
    stored: files.Stored, identity: Identity, policy: Checkpoints, voice: Voice, now: Mapping[str, str]
) -> TrainingState:
    """Reads a checkpoint's state and compares it with what is trained now, by the versions `now`.

    Raises:
        UsageError: Something has changed, and `allow_different` was not said.
        RecordError: The state is not that of a checkpoint of this version.
    """
    state = from_json(TrainingState, stored.state, str(stored.path / files.STATE))
    different = differences(state.identity, identity, state.learning_rate)
    if different and not policy.allow_different:
        raise UsageError(
            f"The training must be the one that was interrupted. {'; '.join(different)}",
            hint="Change it back, start anew in another folder, or go on all the same with "
            "--allow-different (allow_different=True).",
        )
    for text in different:
        voice.warn(f"different since the checkpoint: {text}")
    for name in sorted(now.keys() | state.versions.keys()):
        if now.get(name) != state.versions.get(name):
            voice.warn(
                f"{name} was {state.versions.get(name)} and is {now.get(name)}: the training goes on, and bits "
                "may differ from an uninterrupted one"
            )
    where = state.position
    voice.say(
        f"goes on at epoch {where.epoch + 1}, step {where.step}, after {where.steps_done} trained steps "
        f"(checkpoint {stored.path.name})"
    )
    return state
