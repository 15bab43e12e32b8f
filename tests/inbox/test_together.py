"""Many deliveries at once, some of them rolled back: one mail for each event, and one answer."""

import asyncio
import random
from collections import defaultdict
from uuid import UUID, uuid4

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.inbox import events
from tests.inbox.events import consume, rule

pytestmark = pytest.mark.anyio

CONSUMERS = 6
MESSAGES = 40


async def test_events_delivered_up_to_three_times_at_once_make_one_mail_each(
    database: DatabaseSettings,
) -> None:
    chance = random.Random(81)
    messages = [uuid4() for _ in range(MESSAGES)]
    deliveries = [one for one in messages for _ in range(chance.randint(1, 3))]
    chance.shuffle(deliveries)
    answers: defaultdict[UUID, set[str]] = defaultdict(set)
    async with connect(database) as owner:
        await rule(owner, await events.project_with_template(owner))

    async def consumer() -> None:
        async with connect(database) as conn:
            while deliveries:
                message = deliveries.pop()
                for lost in (chance.random() < 0.3, False):
                    async with conn.transaction(force_rollback=lost):
                        done = await consume(conn, message=message)
                answers[message].update(done["email_ids"])

    await asyncio.gather(*(consumer() for _ in range(CONSUMERS)))

    assert {len(found) for found in answers.values()} == {1}
    async with connect(database) as owner:
        made = await make.rows(
            owner, "SELECT custom_data ->> 'message_id', id::text FROM mailqueue.email_queue"
        )
    assert sorted(made) == sorted((str(one), *found) for one, found in answers.items())
    assert len(made) == MESSAGES
