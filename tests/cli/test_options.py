"""Flags, --set, steptime.toml and variables, and which of them wins."""

import argparse
from pathlib import Path

import pytest

from steptime.cli import options
from steptime.errors import UsageError
from steptime.plan.settings import Settings


def parsed(*arguments: str) -> argparse.Namespace:
    parser = options.Parser(prog="steptime x")
    options.add_setting_options(parser)
    options.add_runs_option(parser)
    return parser.parse_args(arguments)


def test_a_flag_wins_over_set_and_that_over_the_file(here: Path) -> None:
    (here / "steptime.toml").write_text("[settings]\nepochs = 2\nseed = 2\nbatch_size = 2\n")
    settings = options.read_settings(parsed("--epochs", "4", "--set", "epochs=3", "--set", "seed=3"))

    assert settings == Settings(epochs=4, seed=3, batch_size=2)


def test_an_error_in_the_file_names_the_file(here: Path) -> None:
    (here / "steptime.toml").write_text("[settings]\nepoch = 2\n")

    with pytest.raises(UsageError, match=r"steptime\.toml must name a setting\. Received: 'epoch'") as caught:
        options.read_settings(parsed())
    assert caught.value.hint == "Did you mean 'epochs'?"


def test_every_flag_of_a_setting_reaches_it(here: Path) -> None:
    settings = options.read_settings(
        parsed(
            *(
                "--device",
                "gpu:1",
                "--epochs",
                "2",
                "--batch-size",
                "8",
                "--steps-per-epoch",
                "5",
                "--seed",
                "7",
            ),
            *("--loop", "xla", "--precision", "mixed_float16", "--learning-rate", "0.5", "--name", "n"),
        )
    )

    assert settings == Settings(
        device="gpu:1",
        epochs=2,
        batch_size=8,
        steps_per_epoch=5,
        seed=7,
        loop="xla",
        precision="mixed_float16",
        learning_rate=0.5,
        name="n",
    )


def test_the_folder_of_the_runs_is_the_flags_the_variables_or_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STEPTIME_RUNS", raising=False)
    assert options.runs_folder(parsed()) == Path("runs")
    monkeypatch.setenv("STEPTIME_RUNS", "/elsewhere")
    assert options.runs_folder(parsed()) == Path("/elsewhere")
    assert options.runs_folder(parsed("--runs", "mine")) == Path("mine")


def test_a_flag_cannot_be_shortened() -> None:
    with pytest.raises(UsageError, match="unrecognized arguments: --epoch"):
        parsed("--epoch", "3")
