"""The password of the broker is printed by a program that runs beside the event loop."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mailqueue.adapters.rabbitmq.connection import RabbitConnection
from mailqueue.core.secret import Secret
from mailqueue.ports.broker import BrokerUnavailable
from mailqueue.settings.commands import SecretCommand
from mailqueue.settings.rabbitmq import RabbitSettings
from tests.bridge.server import RabbitServer
from tests.concurrency.running import until

pytestmark = [pytest.mark.anyio, pytest.mark.rabbitmq]

PRINTS = """
import pathlib, sys, time
folder, password = pathlib.Path(sys.argv[1]), sys.argv[2]
with (folder / "runs").open("a") as runs:
    runs.write("x")
while not (folder / "go").exists():
    time.sleep(0.01)
print(password)
"""


def printing(url: str, folder: Path, password: str) -> RabbitSettings:
    argv = (sys.executable, "-c", PRINTS, str(folder), password)
    return RabbitSettings(
        url=Secret(url), password_command=SecretCommand("RABBITMQ_PASSWORD_COMMAND", argv)
    )


async def test_each_connection_asks_for_it_while_the_event_loop_goes_on(
    rabbit: RabbitServer, tmp_path: Path
) -> None:
    parts = urlsplit(rabbit.url)
    wrong = rabbit.url.replace(f":{parts.password}@", ":wrong@")
    assert wrong != rabbit.url
    connection = RabbitConnection(printing(wrong, tmp_path, str(parts.password)), name="test")

    async def opened() -> None:
        async with connection.channel():
            pass

    opening = asyncio.create_task(opened())

    async def is_running() -> bool:
        return (tmp_path / "runs").exists()

    await until(is_running)
    (tmp_path / "go").touch()  # the program ends only if this process goes on beside it
    await opening
    await opened()
    assert (tmp_path / "runs").read_text() == "x"

    await connection.close()
    await opened()
    await connection.close()
    assert (tmp_path / "runs").read_text() == "xx"


async def test_while_the_program_fails_the_broker_is_away(rabbit: RabbitServer) -> None:
    failing = SecretCommand("RABBITMQ_PASSWORD_COMMAND", ("sh", "-c", "echo hidden; exit 3"))
    given = replace(RabbitSettings(url=Secret(rabbit.url)), password_command=failing)

    with pytest.raises(
        BrokerUnavailable, match="PASSWORD_COMMAND: ended with exit code 3"
    ) as found:
        async with RabbitConnection(given, name="test").channel():
            pass

    assert "hidden" not in str(found.value)
