"""Options that several commands share, and how they become settings."""

import argparse
import os
from collections.abc import Container
from pathlib import Path
from typing import Any, NoReturn

from steptime.errors import UsageError
from steptime.plan.project_file import find_project_file, read_project_settings
from steptime.plan.settings import Settings, change, parse_pairs

# Flag -> setting, for the settings that have a flag of their own.
_SETTING_FLAGS: dict[str, tuple[str, str]] = {
    "--device": ("device", "auto, cpu, gpu or gpu:N"),
    "--epochs": ("epochs", "passes over the data"),
    "--batch-size": ("batch_size", "samples per step"),
    "--steps-per-epoch": ("steps_per_epoch", "steps that make an epoch"),
    "--seed": ("seed", "seed of weights, data order and dropout"),
    "--loop": ("loop", "auto, keras, graph or xla: how steps are executed"),
    "--precision": ("precision", "float32, mixed_float16 or mixed_bfloat16"),
    "--learning-rate": ("learning_rate", "when steptime compiles the model"),
    "--checkpoint-every": (
        "checkpoint_every",
        "5m, 200steps, 1epoch or none: how often the training is kept",
    ),
    "--name": ("name", "name of the run"),
}


def add_workload_argument(parser: argparse.ArgumentParser) -> None:
    """Add the workload, which may be left out."""
    parser.add_argument(
        "workload",
        nargs="?",
        default="mnist-cnn",
        help="mnist-cnn (default), mnist-mlp, mnist-lstm, a Python file, or a module",
    )


def add_runs_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--runs DIR``."""
    parser.add_argument(
        "--runs", metavar="DIR", default=None, help="folder of the runs (default: STEPTIME_RUNS, or runs)"
    )


def add_json_option(parser: argparse._ActionsContainer) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON on stdout, and nothing else there")


def add_setting_options(parser: argparse.ArgumentParser, only: Container[str] | None = None) -> None:
    """Add a flag for each common setting, and ``--set`` for all of them.

    Args:
        parser: Takes them.
        only: The settings that get a flag; all of them when left out.
    """
    for flag, (key, meaning) in _SETTING_FLAGS.items():
        if only is None or key in only:
            parser.add_argument(flag, dest=f"setting_{key}", metavar=key.upper(), help=meaning)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="pairs",
        help="any setting; `steptime settings` lists them",
    )


def runs_folder(options: argparse.Namespace) -> Path:
    """Return the folder of the runs: the flag, the variable, or ``runs``."""
    return Path(options.runs or os.environ.get("STEPTIME_RUNS") or "runs")


def read_settings(options: argparse.Namespace, start: Settings | None = None) -> Settings:
    """Return the settings: the project's file, then ``--set``, then the flags.

    Args:
        options: What was given on the command line.
        start: What holds where nobody says anything; the declared defaults when left out.

    Raises:
        UsageError: An unknown key or a value outside its limits.
    """
    settings = start or Settings()
    project_file = find_project_file(Path.cwd())
    if project_file is not None:
        settings = change(settings, read_project_settings(project_file), str(project_file))
    settings = change(settings, parse_pairs(options.pairs, "--set"), "--set")
    return change(settings, flags_of(options), "a flag")


def flags_of(options: argparse.Namespace) -> dict[str, str]:
    """Return the settings that were given by a flag of their own."""
    given = {key: getattr(options, f"setting_{key}", None) for key, _ in _SETTING_FLAGS.values()}
    return {key: value for key, value in given.items() if value is not None}


def check_tensorflow() -> None:
    """Say at once what a worker would find out after seconds.

    Raises:
        UsageError: TensorFlow is not installed.
    """
    import importlib.util

    if importlib.util.find_spec("tensorflow") is None or importlib.util.find_spec("keras") is None:
        raise UsageError(
            "Training needs TensorFlow and Keras. They are not installed here",
            hint="pip install 'steptime[cpu]', or 'steptime[gpu]' beside an NVIDIA driver.",
        )


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors like all others, and which takes no abbreviated flags.

    A flag that a script may shorten is one that no later flag may resemble.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Report wrong use.

        Raises:
            UsageError: Always.
        """
        raise UsageError(f"{self.prog}: {message}", hint=f"`{self.prog} --help` lists what can be said.")
