"""Where the workers of a group listen."""

import socket

import pytest

from steptime.launch import ports
from steptime.launch.ports import free_addresses, free_port


def test_addresses_differ_and_lie_below_the_ports_of_outgoing_connections() -> None:
    addresses = free_addresses(50)
    numbers = [int(address.removeprefix("127.0.0.1:")) for address in addresses]
    assert len(set(numbers)) == 50
    assert all(20_000 <= number < 32_000 for number in numbers)


def test_a_port_on_which_somebody_listens_on_another_interface_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as listener:
        taken = free_port()
        listener.bind(("127.0.0.2", taken))
        listener.listen()
        offered = iter([taken, taken, free_port()])
        monkeypatch.setattr(ports.random, "choice", lambda numbers: next(offered))
        assert free_port() != taken
