"""Options for workers on Ray."""

import argparse

import pytest

from steptime.cli.raying import add_ray_options, ray_resources
from steptime.errors import UsageError
from steptime.launch.ray_cluster import Resources


def given(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_ray_options(parser)
    return parser.parse_args(arguments)


def test_without_a_word_a_worker_gets_one_cpu_and_the_cluster_decides_on_gpus() -> None:
    assert ray_resources(given(), is_ray=True) == Resources(cpus=1.0, gpus=None, spread=False)
    assert ray_resources(given(), is_ray=False) is None


def test_what_is_said_holds() -> None:
    said = given("--cpus-per-worker", "8", "--gpus-per-worker", "2", "--spread")

    assert ray_resources(said, is_ray=True) == Resources(cpus=8.0, gpus=2.0, spread=True)
    with pytest.raises(
        UsageError, match="--cpus-per-worker, --gpus-per-worker, --spread is for workers on Ray"
    ):
        ray_resources(said, is_ray=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--cpus-per-worker", "0"),
        ("--cpus-per-worker", "nan"),
        ("--cpus-per-worker", "inf"),
        ("--gpus-per-worker", "-1"),
        ("--gpus-per-worker", "0.5"),
        ("--gpus-per-worker", "inf"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        ray_resources(given(*arguments), is_ray=True)
