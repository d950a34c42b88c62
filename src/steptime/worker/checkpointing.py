"""What is kept on the way of a training, as its settings say."""

from collections.abc import Callable
from pathlib import Path

from steptime.engine.checkpoints.policy import Checkpoints
from steptime.errors import UsageError
from steptime.plan.plan import Plan
from steptime.record.store import CHECKPOINTS_FOLDER, chief_folder


def checkpoints_of(
    plan: Plan, run: Path, *, is_validated: bool, stop: Callable[[], bool] | None, tell: Callable[[str], None]
) -> Checkpoints | None:
    """Return what is kept of the planned training; None for nothing.

    Args:
        plan: The plan.
        run: The run folder.
        is_validated: Whether the data hold a part for validation, whose loss then says which checkpoint is the best.
        stop: Whether somebody asked the training to stop; None when it is stopped in another way.
        tell: Says something to the person.

    Raises:
        UsageError: The folder is a link.
    """
    settings = plan.settings
    # Those of a group's chief are everybody's.
    folder = chief_folder(run) / CHECKPOINTS_FOLDER
    every = settings.checkpoint_every
    if every == "auto" and settings.loop == "keras":
        tell("no checkpoints: loop=keras is Keras' own fit, untouched; name --checkpoint-every to have them")
        return None
    if every == "none":
        return None
    if folder.is_symlink():
        raise UsageError(
            f"{folder} must be a folder. Received: a link",
            hint="Checkpoints stay inside their run's folder.",
        )
    is_validated = is_validated or bool(settings.validation and settings.validation_split)
    automatic = "val_loss" if is_validated else None
    return Checkpoints(
        folder=folder,
        every=every,
        keep=settings.checkpoint_keep,
        best=automatic if settings.checkpoint_best == "auto" else settings.checkpoint_best,
        allow_different=plan.allow_different,
        required=every != "auto",
        stop=stop,
        tell=tell,
    )
