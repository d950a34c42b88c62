"""Facts of several devices and machines."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.environment.facts import DOES_NOT_APPLY, known
from steptime.environment.place import Place
from steptime.environment.several import differences, read_several, tf_config_fault


def config(*workers: str, index: Any = 0, kind: str = "worker") -> str:
    return json.dumps({"cluster": {"worker": list(workers)}, "task": {"type": kind, "index": index}})


def test_without_tf_config_there_is_nothing_to_check(tmp_path: Path) -> None:
    facts, unknown = read_several(Place(root=tmp_path, environ={}))

    assert facts == {"shm_mib": None}
    assert all(reason.startswith(DOES_NOT_APPLY) for reason in unknown.values())
    assert set(unknown) == {"shm_mib", "tf_config", "tf_config_port"}


def test_the_size_of_shared_memory_is_read_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "dev/shm").mkdir(parents=True)
    facts, _ = read_several(Place(root=tmp_path, environ={}))

    assert isinstance(facts["shm_mib"], int)
    assert facts["shm_mib"] > 0


def test_a_port_is_free_until_somebody_listens_there(tmp_path: Path) -> None:
    def state(address: str) -> Any:
        return read_several(Place(root=tmp_path, environ={"TF_CONFIG": config(address, "other:1")}))[0]

    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert state(address)["tf_config_port"] == f"{address} is in use"
    assert state(address)["tf_config_port"] == "free"
    assert state(address)["tf_config"] == "ok"


def test_an_address_of_another_machine_is_told(tmp_path: Path) -> None:
    # 192.0.2.0/24 is set aside for documentation (RFC 5737) and belongs to no machine.
    place = Place(root=tmp_path, environ={"TF_CONFIG": config("192.0.2.1:2222")})

    assert read_several(place)[0]["tf_config_port"] == "192.0.2.1:2222 is no address of this machine"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "not JSON"),
        ("[]", "needs the objects cluster and task"),
        ("{}", "needs the objects cluster and task"),
        (config(), "no tasks of type 'worker'"),
        (config("a:1", kind="chief"), "no tasks of type 'chief'"),
        (config("a:1", index=1), "task 1 is none of the 1"),
        (config("a:1", index="0"), "task '0' is none of the 1"),
        (config("a:1", index=True), "task True is none of the 1"),
        (config("a:1", "b"), "'b' is no host:port"),
        (config("a:1", "b:99999"), "'b:99999' is no host:port"),
        (config("a:1", "a:1"), "a:1 is named twice"),
    ],
)
def test_each_fault_of_tf_config_is_named(text: str, fault: str) -> None:
    assert fault in str(tf_config_fault(text))


@given(
    st.text(max_size=40)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["cluster", "task", "worker", "type", "index"]), inner, max_size=3
            )
        ),
    ).map(json.dumps)
)
def test_no_text_at_all_makes_the_check_fail(text: str) -> None:
    assert tf_config_fault(text) is None or isinstance(tf_config_fault(text), str)


def test_what_must_be_alike_and_is_not_is_named_with_its_machines() -> None:
    here = known({"keras": "3.15.1", "python": "3.11.7", "os": "linux"}, "read there")
    there = known({"keras": "3.14.0", "python": "3.11.7", "os": "windows"}, "read there")

    assert differences({"a": here, "b": there}) == ("keras: 3.15.1 (a), 3.14.0 (b)",)
    assert differences({"a": here, "b": here}) == ()


def test_what_one_machine_does_not_know_differs_too() -> None:
    found = differences({"a": known({"nccl": "2.32.3"}, ""), "b": known({}, "")})

    assert found == ("nccl: 2.32.3 (a), not known (b)",)
