"""Finds the checkpoint to go on from, and checks that it is one of this training."""

from collections.abc import Mapping
from pathlib import Path

from steptime.engine.checkpoints import format as files
from steptime.engine.checkpoints.identity import Identity, differences
from steptime.engine.checkpoints.policy import Checkpoints
from steptime.engine.checkpoints.state import TrainingState
from steptime.engine.checkpoints.voice import Voice
from steptime.errors import RecordError, UsageError
from steptime.plan.codec import from_json


def find(policy: Checkpoints, voice: Voice) -> files.Stored | None:
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


def check(
    stored: files.Stored, identity: Identity, policy: Checkpoints, voice: Voice, now: Mapping[str, str]
) -> TrainingState:
    """Reads a checkpoint's state and compares it with what is trained now, with the versions `now`.

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


def is_same(state: TrainingState, identity: Identity, now: Mapping[str, str]) -> bool:
    """Whether the very same training goes on with the same programs, so that its loops can be trusted."""
    unchanged = not differences(state.identity, identity, state.learning_rate)
    return unchanged and state.versions == now


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
