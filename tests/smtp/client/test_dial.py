"""The address that was checked is the one that is connected to."""

import asyncio
import errno
import os
import socket
from ipaddress import ip_network
from typing import Any

import pytest

from mailqueue.core.verdict import Fault, Rejected, Stage
from mailqueue.smtp.client.dial import dial

pytestmark = pytest.mark.anyio


class CountingListener:
    """Counts who connects to loopback."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.port = self.socket.getsockname()[1]

    def heard(self) -> bool:
        try:
            self.socket.accept()[0].close()
        except BlockingIOError:
            return False
        return True


@pytest.fixture
def listener() -> Any:
    made = CountingListener()
    yield made
    made.socket.close()


def names(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Let the name server of this loop return these addresses, one list for each query."""
    asked: list[str] = []
    left = list(answers)
    real = asyncio.get_running_loop().getaddrinfo

    async def getaddrinfo(host: str, port: int, **_: object) -> list[Any]:
        if host[0].isdigit():  # some loops ask about the address they are given
            return await real(host, port)
        asked.append(host)
        return [
            (socket.AF_INET6 if ":" in address else socket.AF_INET, 1, 6, "", (address, port))
            for address in left.pop(0)
        ]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    return asked


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "0.0.0.0"])
async def test_an_inside_host_is_refused_without_a_connection(
    listener: CountingListener, host: str
) -> None:
    found = await dial(host, listener.port)

    assert isinstance(found, Rejected)
    assert (found.kind, found.stage) == (Fault.ACCOUNT, Stage.CONNECT)
    assert not listener.heard()


@pytest.mark.parametrize("host", ["0x7f.1", "2130706433", "127.1", "127\u3002\uff10.0.1", ""])
async def test_an_odd_spelling_of_an_inside_host_is_refused_even_where_inside_is_allowed(
    listener: CountingListener, host: str
) -> None:
    found = await dial(host, listener.port, allow_private=True)

    assert isinstance(found, Rejected)
    assert found.kind is Fault.ACCOUNT
    assert not listener.heard()


async def test_the_refusal_is_the_same_whether_or_not_something_listens(
    listener: CountingListener,
) -> None:
    there = await dial("127.0.0.1", listener.port)
    listener.socket.close()
    gone = await dial("127.0.0.1", listener.port)

    assert there == gone


@pytest.mark.parametrize("address", ["::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"])
async def test_an_address_that_wraps_an_inside_one_is_refused(
    listener: CountingListener, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    names(monkeypatch, [address])

    found = await dial("mx.example.com", listener.port)

    assert isinstance(found, Rejected)
    assert found.kind is Fault.ACCOUNT
    assert not listener.heard()


async def test_one_inside_address_among_several_refuses_the_name(
    listener: CountingListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, ["8.8.8.8", "127.0.0.1"])

    found = await dial("mx.example.com", listener.port)

    assert isinstance(found, Rejected)
    assert found.kind is Fault.ACCOUNT
    assert "127" not in found.detail


async def test_a_name_is_asked_once_and_what_was_checked_is_connected_to(
    listener: CountingListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second answer of a rebinding name server is never requested."""
    asked = names(monkeypatch, ["127.0.0.1"], ["127.0.0.2"])

    found = await dial("mx.example.com", listener.port, allowed=(ip_network("127.0.0.1/32"),))

    assert isinstance(found, socket.socket)
    assert asked == ["mx.example.com"]
    assert found.getpeername() == ("127.0.0.1", listener.port)
    found.close()


async def test_the_next_address_is_tried_when_the_first_refuses(
    listener: CountingListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, ["127.0.0.2", "127.0.0.1"])

    found = await dial("mx.example.com", listener.port, allow_private=True)

    assert isinstance(found, socket.socket)
    assert found.getpeername()[0] == "127.0.0.1"
    found.close()


async def test_a_refused_connection_is_a_temporary_fault(listener: CountingListener) -> None:
    listener.socket.close()

    found = await dial("localhost", listener.port, allow_private=True)

    assert isinstance(found, Rejected)
    assert found.kind is Fault.TRANSIENT
    assert "127.0.0.1" not in found.detail


async def test_an_unknown_host_name_is_a_temporary_fault() -> None:
    found = await dial("nowhere.invalid", 25)

    assert found == Rejected(Fault.TRANSIENT, "", "cannot resolve nowhere.invalid", Stage.CONNECT)


async def test_a_name_server_that_does_not_answer_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def getaddrinfo(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)

    found = await dial("mx.example.com", 25, timeout_s=0.05)

    assert isinstance(found, Rejected)
    assert found.kind is Fault.TRANSIENT


async def test_a_server_that_does_not_answer_is_given_up_and_the_next_gets_its_share(
    listener: CountingListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, ["127.0.0.3", "127.0.0.1"])
    loop = asyncio.get_running_loop()
    connect = loop.sock_connect

    async def slow(sock: socket.socket, address: Any) -> None:
        if address[0] == "127.0.0.3":
            await asyncio.Event().wait()
        await connect(sock, address)

    monkeypatch.setattr(loop, "sock_connect", slow)

    found = await dial("mx.example.com", listener.port, allow_private=True, timeout_s=2)

    assert isinstance(found, socket.socket)
    found.close()


async def test_a_process_without_descriptors_says_so_and_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none_left(*_: object) -> socket.socket:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("mailqueue.smtp.client.dial.socket.socket", none_left)

    refused = await dial("127.0.0.1", 2525, allow_private=True)

    assert isinstance(refused, Rejected)
    assert (refused.kind, refused.stage) == (Fault.TRANSIENT, Stage.CONNECT)
    assert "Too many open files" in refused.detail
