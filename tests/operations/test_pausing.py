"""What can be paused, how it is reported, and other operations on paused mail."""

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import MarkVerdict
from tests import make
from tests.mail.claim.steps import claim, lane
from tests.operations.pausing import HOUR, pause, resume, set_aside, verdict, why
from tests.operations.steps import aged, audit, matching

pytestmark = pytest.mark.anyio


async def test_accounts_that_come_or_change_later_serve_paused_mail_too(conn: Conn) -> None:
    first = await make.sender_account(conn, name="first")
    worker = await make.worker(conn)
    await make.queued_email(conn, campaign_id="spring")
    await set_aside(conn, await pause(conn, "campaign", "spring"))

    second = await make.sender_account(conn, name="second", priority=1)
    await make.queued_email(conn, campaign_id="spring", sender="second")
    await conn.execute(
        "UPDATE mailqueue.sender_accounts SET status = 'paused' WHERE id = %s", (first,)
    )
    assert await verdict(conn, worker) is MarkVerdict.PAUSED
    assert await claim(conn, worker) == [], "a change of accounts does not end a pause"
    await resume(conn, "campaign", "spring")

    assert {each.assigned_to for each in await claim(conn, worker)} == {second}


async def test_paused_mail_can_be_moved_cancelled_and_asked_for(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    first, second = await make.queued_emails(conn, 2, campaign_id="spring", priority=3)
    await aged(conn, second, "2 days")
    await set_aside(conn, await pause(conn, "campaign", "spring"))

    assert await matching(conn, "reprioritise", "critical", newer_than="1 day") == 1
    assert await matching(conn, "cancel", lane="low") == 1

    assert await claim(conn, worker) == [], "another priority does not end a pause"
    await resume(conn, "campaign", "spring")
    assert [each.id for each in await claim(conn, worker)] == [first]
    assert await make.status_of(conn, second) == "cancelled"


async def test_mail_to_a_domain_with_a_rate_is_paused_and_keeps_its_rate(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await conn.execute(
        "INSERT INTO mailqueue.domain_rates (domain, rate_per_second) VALUES ('example.com', 1)"
    )
    await make.queued_emails(conn, 3, campaign_id="spring")
    assert await claim(conn, worker) == [], "they move to the lane of their domain"

    assert await set_aside(conn, await pause(conn, "campaign", "spring")) == 3
    assert await claim(conn, worker) == []
    await resume(conn, "campaign", "spring")

    for _ in range(2):
        taken = await claim(conn, worker)
    assert len(taken) == 1


async def test_a_producer_cannot_choose_the_lane_of_paused_mail(conn: Conn) -> None:
    await make.sender_account(conn)
    await pause(conn, "campaign", "spring")

    with pytest.raises(errors.InvalidParameterValue, match="sender: this project has no"):
        await make.queued_email(conn, sender="|campaign:spring")


async def test_a_project_waits_for_a_time_with_a_reason(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    email = await make.queued_email(conn)
    await pause(conn, "project", "default", wait=HOUR, reason="moving house")
    assert await claim(conn, worker) == []
    assert await lane(conn) == (False, "paused")
    assert (await why(conn, email)).endswith(
        ": it is paused: moving house; to resume it: mailqueue resume project default"
    )

    await resume(conn, "project", "default")

    assert len(await claim(conn, worker)) == 1


async def test_a_sender_account_waits_for_a_time_with_a_reason(conn: Conn) -> None:
    await make.sender_account(conn, name="relay")
    worker = await make.worker(conn)
    email = await make.queued_email(conn)
    await pause(conn, "sender", "relay", wait=HOUR, reason="on holiday")
    assert await claim(conn, worker) == []
    assert (await why(conn, email)).endswith(
        ": it is paused: on holiday; to resume it: mailqueue sender resume relay"
    )

    await resume(conn, "sender", "relay")

    assert len(await claim(conn, worker)) == 1


async def test_the_view_says_what_is_paused_by_whom_and_why(conn: Conn) -> None:
    await make.sender_account(conn, name="relay")
    for kind, name in (("campaign", "spring"), ("domain", "a.example"), ("sender", "relay")):
        await pause(conn, kind, name, wait=HOUR, reason="r")
    await pause(conn, "project", "default", reason="r")

    found = await make.rows(conn, "SELECT kind, name, reason FROM mailqueue.paused ORDER BY kind")

    assert found == [
        ("campaign", "spring", "r"),
        ("domain", "a.example", "r"),
        ("project", "default", "r"),
        ("sender", "relay", "r"),
    ]
    told = await make.rows(conn, "SELECT actor, since IS NOT NULL FROM mailqueue.paused")
    assert [(actor.endswith(" (ann)"), is_dated) for actor, is_dated in told] == [(True, True)] * 4


@pytest.mark.parametrize("table", ["projects", "sender_accounts"])
async def test_a_pause_by_sql_names_its_login_until_it_ends(conn: Conn, table: str) -> None:
    await make.sender_account(conn, name="relay")
    for kind, name in (("sender", "relay"), ("project", "default")):
        await pause(conn, kind, name, reason="r")
        await resume(conn, kind, name)
    noted = f"SELECT DISTINCT paused_by, paused_at IS NULL FROM mailqueue.{table}"
    assert await make.rows(conn, noted) == [(None, True)]

    await conn.execute(f"UPDATE mailqueue.{table} SET status = 'paused'".encode())

    assert await make.rows(conn, noted) == [
        (await make.scalar(conn, "SELECT session_user::text"), False)
    ]


async def test_pausing_and_resuming_are_written_down(conn: Conn) -> None:
    await make.queued_emails(conn, 2, campaign_id="spring")
    await set_aside(conn, await pause(conn, "campaign", "spring", reason="wrong price"))
    await resume(conn, "campaign", "spring")

    paused, resumed = await audit(conn)

    assert paused[:2] == ("campaign.paused", "campaign spring")
    assert (paused[2]["reason"], paused[2]["emails"]) == ("wrong price", 2)
    assert resumed[:2] == ("campaign.resumed", "campaign spring")
    assert not await resume(conn, "campaign", "spring"), "there is none any more"


@pytest.mark.parametrize(
    ("kind", "name", "project", "words"),
    [
        ("campain", "x", "default", "kind: project, sender, campaign or domain"),
        ("campaign", "x", "nowhere", "project: there is no project"),
        ("campaign", "", "default", "name: the campaign to pause is needed"),
        ("sender", "x", "default", "name: this project has no sender account"),
    ],
)
async def test_what_cannot_be_paused_is_refused_in_words(
    conn: Conn, kind: str, name: str, project: str, words: str
) -> None:
    with pytest.raises(errors.InvalidParameterValue, match=words):
        await pause(conn, kind, name, project=project)


async def test_a_pause_that_is_over_before_it_begins_is_refused(conn: Conn) -> None:
    with pytest.raises(errors.InvalidParameterValue, match="until: must be in the future"):
        await pause(conn, "campaign", "spring", wait=-HOUR)
