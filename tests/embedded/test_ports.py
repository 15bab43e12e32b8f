"""A chosen port is still free when a server starts to listen on it."""

import socket
from pathlib import Path

import pytest

from mailqueue.embedded import ports
from mailqueue.embedded.ports import HOST, free_port, is_free


@pytest.fixture
def ephemeral(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The range of ports that the system uses for outgoing connections, if it is known."""
    said = tmp_path / "ip_local_port_range"
    monkeypatch.setattr(ports, "_EPHEMERAL", said)
    return said


def test_it_is_none_that_outgoing_connections_are_given(ephemeral: Path) -> None:
    ephemeral.write_text("20000\t60999\n")

    chosen = {free_port() for _ in range(50)}

    assert all(ports.FIRST_PORT <= port < 20_000 for port in chosen)


@pytest.mark.parametrize("said", ["1024\t65535\n", None])
def test_where_all_ports_are_the_systems_it_chooses(ephemeral: Path, said: str | None) -> None:
    if said is not None:
        ephemeral.write_text(said)

    assert is_free(free_port())


def test_a_port_that_is_listened_on_is_not_free() -> None:
    with socket.create_server((HOST, 0)) as server:
        assert not is_free(server.getsockname()[1])
