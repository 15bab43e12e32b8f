"""What changes after it was counted changes the counts, once."""

from datetime import timedelta
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.privacy import erasing, persons
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics import folding
from tests.events.sent_mail import NOON, event, left, told

pytestmark = pytest.mark.anyio

ORIGIN = {
    "country": "DE",
    "city": "Berlin",
    "client": "Thunderbird",
    "system": "Linux",
    "device": "desktop",
}


def click(mail: UUID, *, ago: int = 0, is_machine: bool = False, **more: str) -> object:
    data = {"link": "aa" * 12, **ORIGIN, **more, **({"is_machine": True} if is_machine else {})}
    return event(
        Type.CLICKED,
        source="tracking",
        email_id=mail,
        occurred_at=NOON - timedelta(minutes=ago),
        data=data,
    )


async def counts_of_clicks(conn: Conn) -> tuple[int, int, int, int]:
    return (
        await folding.total(conn, "clicks"),
        await folding.total(conn, "unique_clicks"),
        await folding.total(conn, "machine_clicks"),
        await folding.total(conn, "unique_machine_clicks"),
    )


@pytest.mark.parametrize("is_counted_before", [True, False])
async def test_clicks_that_turn_out_to_be_made_by_a_program_are_counted_as_such(
    is_counted_before: bool, database: DatabaseSettings
) -> None:
    async with connect(database) as conn:
        mail = await left(conn)
        await told(conn, click(mail), click(mail, ago=40))  # type: ignore[arg-type]
        if is_counted_before:
            await folding.caught_up(conn)
            assert await counts_of_clicks(conn) == (2, 1, 0, 0)
        query = "SELECT mailqueue.judge_clicks(ARRAY[%s::uuid], interval '3 h', 'burst')"
        assert await make.scalar(conn, query, mail) == 2
        await told(conn, click(mail))  # type: ignore[arg-type]
        await folding.caught_up(conn)

        assert await counts_of_clicks(conn) == (1, 1, 2, 1)
        for dimension, value in (("city", "Berlin, DE"), ("client", "Thunderbird")):
            of_value = {"dimension": dimension, "value": value}
            assert await folding.total(conn, "clicks", **of_value) == 1
            assert await folding.total(conn, "machine_clicks", **of_value) == 2
        assert await folding.differences(conn) == []


@pytest.mark.parametrize("is_counted_before", [True, False])
async def test_mail_that_is_queued_again_counts_with_its_last_outcome_alone(
    is_counted_before: bool, database: DatabaseSettings
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        mail = await make.queued_email(conn, campaign_id="spring")
        cancel = "SELECT count(*) FROM mailqueue.cancel_emails(%s, ARRAY[%s::uuid], 'x')"
        again = "SELECT count(*) FROM mailqueue.requeue_emails(%s, ARRAY[%s::uuid])"
        await make.scalar(conn, cancel, project, mail)
        if is_counted_before:
            await folding.caught_up(conn)
            assert await folding.total(conn, "cancelled") == 1
        assert await make.scalar(conn, again, project, mail) == 1
        if is_counted_before:
            await folding.caught_up(conn)
            assert await folding.total(conn, "accepted") == 0
        await make.scalar(conn, cancel, project, mail)
        await folding.caught_up(conn)

        assert await folding.total(conn, "cancelled") == 1
        assert await folding.total(conn, "accepted", dimension="campaign", value="spring") == 1
        assert await folding.differences(conn) == []


async def test_erasing_a_person_moves_their_domain_to_the_placeholder_and_changes_no_other_count(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        mail = await left(conn, recipient_email="ann@ann-smith.example", campaign_id="spring")
        await left(conn, recipient_email="bob@example.com")
        await told(conn, click(mail, agent="x"), event(Type.OPENED, email_id=mail))  # type: ignore[arg-type]
        await folding.caught_up(conn)
        assert await folding.total(conn, "clicks", dimension="domain", value="ann-smith.example")
        before = await whole(conn)

        spellings = persons.spellings_of("ann@ann-smith.example")
        begun = await erasing.begin(persons.lending(conn), project, spellings, by="tests")
        erased = await make.scalar(conn, "SELECT changed FROM mailqueue.erase_mail(%s, 100)", begun)
        assert erased
        await folding.caught_up(conn)

        assert await whole(conn) == before
        query = "SELECT data FROM mailqueue.email_events WHERE type = 'clicked' AND email_id = %s"
        assert await make.scalar(conn, query, mail) == {"link": "aa" * 12, **ORIGIN}
        for metric, count in (("sent", 1), ("clicks", 1), ("opens", 1)):
            for value, expected in (("ann-smith.example", 0), ("erased.invalid", count)):
                found = await folding.total(conn, metric, dimension="domain", value=value)
                assert found == expected
        assert await folding.differences(conn) == []


async def whole(conn: Conn) -> list[tuple[object, ...]]:
    """Return every count by dimension, without the values of domains."""
    return await make.rows(
        conn,
        "SELECT dimension, CASE WHEN dimension ~ 'domain' THEN '' ELSE value END, is_test,"
        " started_at, sum(sent), sum(accepted), sum(opens), sum(clicks), sum(unique_clicks)"
        " FROM mailqueue.stats_minutes GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
    )


async def test_an_address_in_a_campaign_or_tag_has_no_row_of_its_own(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        await left(conn, campaign_id="welcome-ann@example.com")
        await left(conn, campaign_id="welcome-ann%40example.com")
        await left(conn, campaign_id="welcome")
        await folding.caught_up(conn)

        assert await folding.total(conn, "sent", dimension="campaign", value="welcome") == 1
        assert await folding.total(conn, "sent", dimension="campaign", value="") == 2
        query = "SELECT count(*) FROM mailqueue.stats_values WHERE value LIKE '%%ann%%'"
        assert await make.scalar(conn, query) == 0
        assert await folding.differences(conn) == []


async def test_values_beyond_the_bound_of_a_day_are_counted_together(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        for number in range(510):
            await left(conn, campaign_id=f"c{number:03}")
        await folding.caught_up(conn)

        query = "SELECT count(DISTINCT value) FROM mailqueue.stats_minutes WHERE dimension = %s"
        assert await make.scalar(conn, query, "campaign") == 501
        assert await folding.total(conn, "sent", dimension="campaign", value="") == 10
        assert await folding.total(conn, "sent") == 510
        assert await folding.differences(conn) == []
