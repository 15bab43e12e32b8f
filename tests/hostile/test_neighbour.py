"""Dear work of one project keeps neither the mail of another nor the health check waiting.

`python -m bench.neighbour` measures the delays of each attack on an installation of its own.
"""

import pytest

from bench.attacks import ATTACKS
from bench.neighbour import MAIL_SECONDS, installed
from bench.sink import own_sink
from mailqueue.settings.environment import DatabaseSettings

pytestmark = pytest.mark.anyio

MAILS = 2
"""Of the neighbour, during each attack: one is tracked."""
MAX_MAIL_SECONDS = 50.0
MAX_HEALTH_SECONDS = 10.0
"""Ten times what the docs say, for machines that do other work too."""


async def test_mail_of_another_project_is_sent_while_one_project_has_dear_work_done(
    database: DatabaseSettings,
) -> None:
    async with own_sink() as sink, installed(database, port=sink.port) as installation:
        for attack in ATTACKS[1:]:
            seen = await installation.attacked(attack, seconds=MAIL_SECONDS)

            assert (len(seen.mails), seen.unsent) == (MAILS, 0), attack.name
            assert max(seen.mails) < MAX_MAIL_SECONDS, attack.name
            assert max(seen.healths) < MAX_HEALTH_SECONDS, attack.name
            assert not [code for code in seen.answers if code >= 500 and code != 503], seen.refusals
