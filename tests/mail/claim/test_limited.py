"""OpenWorld: limits that providers name, and unrecognized refusals, in the database."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.send.store import claims as claims_store
from tests import make
from tests.mail.claim.steps import claim, lane, rest_is_over, sent
from tests.mail.routing.test_circuits import circuit, waits

pytestmark = pytest.mark.anyio


async def limited(
    conn: Conn, account: int, *, wait: timedelta | None = None, is_quota: bool = False
) -> int:
    """Report a limit that a provider named; return the wait in seconds."""
    await claims_store.rest_sender_for(conn, account, "quota used up", wait=wait, is_quota=is_quota)
    return round(await waits(conn, account))


@pytest.mark.parametrize(
    ("is_quota", "expected"),
    [
        (False, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]),
        (True, [60, 120, 240, 480, 960, 1920, 3600, 3600]),
    ],
)
async def test_where_no_time_is_named_the_pause_grows(
    conn: Conn, is_quota: bool, expected: Sequence[int]
) -> None:
    account = await make.sender_account(conn)
    found = []
    for _ in expected:
        found.append(await limited(conn, account, is_quota=is_quota))
        await rest_is_over(conn)

    assert found == expected


async def test_an_account_rests_until_the_time_named_a_day_at_most(conn: Conn) -> None:
    account = await make.sender_account(conn)

    assert await limited(conn, account, wait=timedelta(hours=7)) == 7 * 3600
    assert await limited(conn, account, wait=timedelta(minutes=1)) == 7 * 3600
    assert await limited(conn, account, wait=timedelta(days=400)) == 24 * 3600


async def test_a_limited_lane_says_so_and_one_mail_tries_when_the_time_is_over(conn: Conn) -> None:
    """Why."""
    account = await make.sender_account(conn, name="main")
    email = await make.queued_email(conn)
    await make.queued_emails(conn, 3)
    worker = await make.worker(conn)
    await limited(conn, account, wait=timedelta(hours=7))

    assert await claim(conn, worker) == []
    assert await lane(conn) == (False, "limited")
    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", email)
    assert "sender account main waits until" in why
    assert why.endswith(
        "its provider limits it: quota used up; to see its health: mailqueue sender health main"
    )
    assert await make.rows(
        conn, "SELECT reason FROM mailqueue.queue_blocked WHERE project = 'default'"
    ) == [("the provider limits the sender account",)]
    actions = "SELECT action FROM mailqueue.audit_events WHERE action LIKE 'sender.%%'"
    assert await make.rows(conn, actions) == [("sender.limited",)]

    await rest_is_over(conn)
    probe = await claim(conn, worker)
    assert len(probe) == 1
    await sent(conn, probe)
    assert await circuit(conn, account) == "closed"


async def test_a_connection_that_is_accepted_ends_no_limit(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await limited(conn, account, is_quota=True)

    await claims_store.sender_answered(conn, account)

    assert await circuit(conn, account) == "open"
    assert round(await waits(conn, account)) == 60


async def test_a_process_of_the_version_before_says_the_same(conn: Conn) -> None:
    account = await make.sender_account(conn)

    await conn.execute("SELECT mailqueue.rest_sender_for(%s, 'slow', interval '90 s')", (account,))
    await conn.execute(
        "SELECT mailqueue.report_failures(%s, '{account}', '{a.example}', '{no}')", (account,)
    )

    assert round(await waits(conn, account)) == 90


async def refuse(conn: Conn, account: int, email: UUID, refusal: str | None = "418") -> None:
    """Report an unrecognized refusal."""
    await claims_store.report_failures(
        conn,
        account,
        kinds=["unrecognized"],
        domains=[None],
        details=["teapot"],
        emails=[email],
        refusals=[refusal],
    )


async def mail(conn: Conn, to: str, text: str) -> UUID:
    return await make.queued_email(conn, recipient_email=f"{to}@example.com", text_body=text)


@pytest.mark.parametrize(
    ("second", "refusal", "expected"),
    [
        (("bob", "two"), "418", "open"),
        (("bob", "one"), "418", "closed"),  # the content may be at fault
        (("ann", "two"), "418", "closed"),  # or the recipient
        (("ANN", "two"), "418", "closed"),
        (("bob", "two"), "499", "closed"),  # or each for another reason
        (("bob", "two"), None, "closed"),
    ],
)
async def test_an_account_rests_when_two_mails_with_nothing_in_common_are_refused_alike(
    conn: Conn, second: tuple[str, str], refusal: str | None, expected: str
) -> None:
    account = await make.sender_account(conn)
    first, other = await mail(conn, "ann", "one"), await mail(conn, *second)

    await refuse(conn, account, first)
    assert await circuit(conn, account) == "closed"
    await refuse(conn, account, first)
    assert await circuit(conn, account) == "closed"
    await refuse(conn, account, other, refusal)

    assert await circuit(conn, account) == expected


async def test_what_was_sent_since_the_first_speaks_for_the_account(conn: Conn) -> None:
    account = await make.sender_account(conn)
    first, other = await mail(conn, "ann", "one"), await mail(conn, "bob", "two")
    await refuse(conn, account, first)
    await make.queued_email(conn)
    await sent(conn, await claim(conn, await make.worker(conn)))

    await refuse(conn, account, other)
    assert await circuit(conn, account) == "closed"
    await refuse(conn, account, first)
    assert await circuit(conn, account) == "open"


async def test_refusals_of_one_mailing_are_one_refusal(conn: Conn) -> None:
    """However many recipients it has: its content may be at fault."""
    account = await make.sender_account(conn)
    emails = [await mail(conn, f"n{number}", "one") for number in range(30)]
    for email in emails:
        await refuse(conn, account, email)

    assert await circuit(conn, account) == "closed"
    await refuse(conn, account, await mail(conn, "zoe", "two"))
    assert await circuit(conn, account) == "open"


async def test_a_probe_that_is_refused_for_no_known_reason_keeps_the_circuit_open(
    conn: Conn,
) -> None:
    account = await make.sender_account(conn)
    first, other = await mail(conn, "ann", "one"), await mail(conn, "bob", "two")
    await refuse(conn, account, first)
    await refuse(conn, account, other)
    assert round(await waits(conn, account)) == 30
    await rest_is_over(conn)

    await refuse(conn, account, other)

    assert round(await waits(conn, account)) == 60


async def test_other_accounts_are_not_concerned(conn: Conn) -> None:
    account, other = await make.sender_account(conn), await make.sender_account(conn)
    await refuse(conn, account, await mail(conn, "ann", "one"))

    await refuse(conn, other, await mail(conn, "bob", "two"))

    assert await circuit(conn, account) == await circuit(conn, other) == "closed"
