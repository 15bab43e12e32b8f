"""Dear work of one project keeps neither the mail of another nor the health check waiting.

`python -m bench.neighbour` has all attacks, and measures the delays.
"""

import pytest

from bench.attacks import ATTACKS
from bench.neighbour import attacked
from bench.sink import own_sink
from mailqueue.settings.environment import DatabaseSettings

pytestmark = pytest.mark.anyio

SECONDS = 2.0
MAILS = 4
"""Of the neighbour, in this time."""


@pytest.mark.parametrize(
    "name",
    [
        # The next one begins with it.
        pytest.param("a template that is dear to escape", marks=pytest.mark.soak),
        "sources of a dear mail",
        "differences of long texts",
        "bodies that are dear to track",
    ],
)
async def test_mail_of_another_project_is_sent_while_one_project_has_dear_work_done(
    database: DatabaseSettings, name: str
) -> None:
    (attack,) = (one for one in ATTACKS if one.name == name)
    async with own_sink() as sink:
        seen = await attacked(database, attack, port=sink.port, seconds=SECONDS)

    assert (len(seen.mails), seen.unsent) == (MAILS, 0)
    assert seen.healths, "the health check was answered"
    assert seen.answers or attack.name.startswith("bodies"), "the project had work done"
