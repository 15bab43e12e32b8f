"""Limits of the operating system that a worker sets at its start."""

import subprocess
import sys

import pytest

from tests.rules.source import PACKAGE, files

_ASKS = """
import resource
from mailqueue.process.signals import raise_open_files_limit
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, most))
raise_open_files_limit()
assert resource.getrlimit(resource.RLIMIT_NOFILE) == (most, most)
"""


def test_a_worker_may_have_as_many_connections_as_the_system_allows() -> None:
    asked = subprocess.run(
        [sys.executable, "-c", _ASKS], capture_output=True, text=True, timeout=60, check=False
    )
    assert asked.returncode == 0, asked.stderr


_STOPS = """
import asyncio, os, signal
from mailqueue.process.signals import stop_signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored after a test that ran a worker in it
async def main():
    async with stop_signal() as stop:
        os.kill(os.getpid(), getattr(signal, "{name}"))
        async with asyncio.timeout(30):
            await stop.wait()
asyncio.run(main())
print("in order")
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_process_stops_in_order_on_each_signal_that_asks_it_to(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _STOPS.format(name=name)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("in order\n", 0), done.stderr


def test_every_command_that_runs_for_long_stops_by_the_same_signals() -> None:
    """A command with signal handlers of its own may miss one."""
    handling = [
        path.name
        for path in files(".py")
        if path.is_relative_to(PACKAGE) and "add_signal_handler" in path.read_text("utf-8")
    ]
    assert len(handling) == 1
