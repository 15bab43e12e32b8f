"""The number of mails that a connection marks and sends as one group."""

import pytest

from mailqueue.mail.send.concurrency import Slots
from tests.mail.claims import loaded
from tests.mail.send.scripted import RecordedContext, ScriptedServer, introduce, sender_to, until

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("pace", "connections", "group"),
    [
        pytest.param(0.0001, 4, 48, id="a quick server's take all that one line may have"),
        pytest.param(0.0025, 4, 20, id="a slower one's take what is sent in a moment"),
        pytest.param(0.1, 4, 12, id="a slow one's share it"),
        pytest.param(0.1, 10, 5, id="however many they are"),
        pytest.param(0.1, 100, 1, id="and each takes one"),
    ],
)
async def test_how_many_mails_a_connection_takes_follows_its_server(
    pace: float, connections: int, group: int
) -> None:
    recorded, server = RecordedContext(slots=Slots(64)), ScriptedServer()
    async with sender_to(server, recorded, max_connections=connections) as line:
        await introduce(line, recorded)
        line._seconds_per_email = pace
        line.waiting.extend([loaded() for _ in range(100)])

        assert await line._send_group(server, 1000) == group

        assert server.groups[-1] == group


async def test_the_pace_of_a_server_is_what_a_mail_took_last() -> None:
    recorded, server = RecordedContext(), ScriptedServer(pause=0.01)
    async with sender_to(server, recorded) as line:
        line.add([loaded()])
        await until(lambda: len(recorded.settled) == 1 and line._seconds_per_email > 0)

        assert line._seconds_per_email >= 0.01
