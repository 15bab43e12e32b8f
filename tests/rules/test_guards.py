"""Tests connect to nothing beyond this machine, and see no settings of its user."""

import asyncio
import os
import socket

import pytest

pytestmark = pytest.mark.anyio


async def test_a_socket_to_elsewhere_is_refused() -> None:
    with pytest.raises(PermissionError, match=r"tests stay on loopback, not 192\.0\.2\.1"):
        await asyncio.open_connection("192.0.2.1", 25)


def test_a_datagram_to_elsewhere_is_refused() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
        pytest.raises(PermissionError),
    ):
        sender.sendto(b"x", ("192.0.2.1", 53))


def test_no_name_server_is_asked() -> None:
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("www.example.com", 25)


def test_the_callers_settings_do_not_decide_what_is_tested() -> None:
    ours = [name for name in os.environ if name.startswith(("MAILQUEUE_", "PG"))]

    assert set(ours) <= {"MAILQUEUE_TEST_DSN"}
    assert "DATABASE_URL" not in os.environ
