"""What a process reports to systemd: ready, alive while its loop turns, stopping; once each."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailqueue.telemetry.supervisor import supervised

pytestmark = pytest.mark.anyio


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    """The socket of a service manager."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        sock.setblocking(False)
        yield sock


def address(manager: socket.socket) -> str:
    name: str = manager.getsockname()
    return name


async def heard(manager: socket.socket) -> str:
    loop = asyncio.get_running_loop()
    return (await asyncio.wait_for(loop.sock_recv(manager, 100), 30)).decode()


def unheard(manager: socket.socket) -> list[str]:
    """Return all messages that were not read yet."""
    found = []
    while True:
        try:
            found.append(manager.recv(100).decode())
        except BlockingIOError:
            return found


async def test_it_hears_of_readiness_and_of_the_stop_once(manager: socket.socket) -> None:
    stop = asyncio.Event()
    async with supervised(stop, address=address(manager), watchdog_us=0) as tell_ready:
        assert unheard(manager) == []
        tell_ready()
        assert await heard(manager) == "READY=1"
        stop.set()
        assert await heard(manager) == "STOPPING=1"

    assert unheard(manager) == []


async def test_a_process_that_ends_by_itself_says_so(manager: socket.socket) -> None:
    async with supervised(asyncio.Event(), address=address(manager), watchdog_us=0):
        pass

    assert unheard(manager) == ["STOPPING=1"]


async def test_it_hears_of_life_from_readiness_on(manager: socket.socket) -> None:
    async with supervised(asyncio.Event(), address=address(manager), watchdog_us=2000) as ready:
        ready()
        assert [await heard(manager) for _ in range(4)] == ["READY=1", *["WATCHDOG=1"] * 3]


async def test_without_a_service_manager_nothing_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)

    async with supervised(asyncio.Event()) as tell_ready:
        tell_ready()


async def test_a_missing_service_manager_stops_no_process(tmp_path: Path) -> None:
    gone = str(tmp_path / "nobody")

    async with supervised(asyncio.Event(), address=gone, watchdog_us=0) as tell_ready:
        tell_ready()
