"""What workers get of a cluster, decided without one; and what is said when there is none."""

import builtins
import functools
import os
import secrets
import sys
from importlib.util import find_spec
from typing import Any

import pytest

from steptime.errors import UsageError
from steptime.launch.ray_cluster import (
    JOB_VARIABLE,
    Cluster,
    Resources,
    choose_gpus,
    connected,
    guard_variables,
    job_variables,
)
from steptime.plan.workload import parse_workload

CLUSTER = Cluster(is_local=False, cpus=32.0, gpus=4.0)
NO_GPUS = Cluster(is_local=True, cpus=2.0, gpus=0.0)


@pytest.mark.parametrize(
    ("cluster", "asked", "workers", "given", "gpus", "device"),
    [
        (CLUSTER, "auto", 4, None, 1.0, "gpu:0"),
        (CLUSTER, "auto", 5, None, 0.0, "cpu"),
        (CLUSTER, "gpu", 4, None, 1.0, "gpu:0"),
        (CLUSTER, "gpu", 2, 2.0, 2.0, "gpu:0"),
        (CLUSTER, "cpu", 4, None, 0.0, "cpu"),
        (CLUSTER, "auto", 4, 0.0, 0.0, "cpu"),
        (NO_GPUS, "auto", 2, None, 0.0, "cpu"),
    ],
)
def test_each_worker_gets_a_gpu_where_there_are_enough(
    cluster: Cluster, asked: str, workers: int, given: float | None, gpus: float, device: str
) -> None:
    resources, placement = choose_gpus(cluster, asked, "1", workers, Resources(gpus=given))

    assert resources.gpus == gpus
    assert placement.device == device
    assert (placement.visible_devices == "-1") == (device == "cpu")
    assert placement.reason


@pytest.mark.parametrize(
    ("cluster", "asked", "workers", "given", "error"),
    [
        (CLUSTER, "gpu", 5, None, "5 workers with 1 GPUs each need 5. The cluster has 4"),
        (NO_GPUS, "gpu", 2, None, "The cluster has 0"),
        (CLUSTER, "cpu", 2, 1.0, "Workers on CPUs get no GPU"),
    ],
)
def test_what_a_cluster_has_not_is_refused(
    cluster: Cluster, asked: str, workers: int, given: float | None, error: str
) -> None:
    with pytest.raises(UsageError, match=error):
        choose_gpus(cluster, asked, "1", workers, Resources(gpus=given))


def connect() -> None:
    with connected(parse_workload("mnist-cnn"), 2, Resources()):
        pytest.fail("there is nothing to connect to")


def test_a_client_s_address_is_refused_with_the_way_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "ray://head:10001")

    with pytest.raises(UsageError, match="must be the address of a node") as caught:
        connect()
    assert "ray job submit" in caught.value.hint


@pytest.mark.ray
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_a_job_that_brought_files_may_bring_the_workload_s() -> None:
    from ray._private.worker import RAY_JOB_CONFIG_JSON_ENV_VAR
    from ray.runtime_env.runtime_env import RuntimeEnv, _merge_runtime_env

    assert RAY_JOB_CONFIG_JSON_ENV_VAR == JOB_VARIABLE
    needed = job_variables({JOB_VARIABLE: "{}"})
    merged = _merge_runtime_env(
        RuntimeEnv(working_dir="gcs://of_the_job.zip", env_vars={"XLA_FLAGS": "a"}),
        RuntimeEnv(working_dir="gcs://of_the_workload.zip", env_vars={"XLA_FLAGS": "b"}),
        override=needed.get("RAY_OVERRIDE_JOB_RUNTIME_ENV") == "1",
    )
    assert merged is not None
    assert merged["working_dir"] == "gcs://of_the_workload.zip"
    assert job_variables({}) == {}


def test_a_ray_for_trying_lets_nobody_else_in_and_the_token_stays_for_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("steptime.launch.ray_cluster._token", functools.cache(lambda: secrets.token_hex(32)))
    monkeypatch.setitem(sys.modules, "ray", None)
    assert guard_variables() == {}, "who imported Ray before decides"
    monkeypatch.delitem(sys.modules, "ray")

    first = guard_variables()

    assert first["RAY_AUTH_MODE"] == "token"
    assert len(first["RAY_AUTH_TOKEN"]) == 64
    monkeypatch.setitem(sys.modules, "ray", None)
    assert guard_variables() == first


@pytest.mark.parametrize("address", ["", "192.0.2.1:6379"])
def test_the_token_is_there_when_ray_is_imported_and_gone_afterwards(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    seen: list[str | None] = []
    ordinary = builtins.__import__

    def look(name: str, *rest: Any) -> Any:
        if name == "ray":
            seen.append(os.environ.get("RAY_AUTH_TOKEN"))
            raise ImportError(name)
        return ordinary(name, *rest)

    monkeypatch.setenv("RAY_ADDRESS", address)
    monkeypatch.setattr("steptime.launch.ray_cluster.guard_variables", lambda: {"RAY_AUTH_TOKEN": "secret"})
    monkeypatch.setattr(builtins, "__import__", look)

    with pytest.raises(UsageError, match="not installed here"):
        connect()

    assert seen == [None if address else "secret"]
    assert "RAY_AUTH_TOKEN" not in os.environ


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    ordinary = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name == "ray":
            raise ImportError(name)
        return ordinary(name, *rest)

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)

    with pytest.raises(UsageError, match="not installed here") as caught:
        connect()
    assert "steptime[ray]" in caught.value.hint


def test_the_devices_of_a_worker_are_its_gpus_or_parts_of_its_cpu() -> None:
    resources, placement = choose_gpus(CLUSTER, "auto", "2", 2, Resources())
    assert (resources.gpus, placement.devices, placement.visible_devices) == (2.0, 2, "0,1")
    resources, placement = choose_gpus(NO_GPUS, "auto", "2", 2, Resources())
    assert (resources.gpus, placement.devices, placement.device) == (0.0, 2, "cpu")


@pytest.mark.parametrize(("asked", "devices"), [("gpu:1", "1"), ("gpu", "all")])
def test_which_devices_is_the_cluster_s_choice(asked: str, devices: str) -> None:
    with pytest.raises(UsageError, match="the cluster chooses"):
        choose_gpus(CLUSTER, asked, devices, 2, Resources())
