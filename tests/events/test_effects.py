"""Consequences of events: suppressions, and the failures counted for accounts."""

from datetime import timedelta

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.events.model import RecordResult, Suppress, Type
from tests import make
from tests.events.sent_mail import NOON, also_to, event, left, suppressed, told

pytestmark = pytest.mark.anyio
ANN = "ann@example.com"


async def bounces(conn: Conn) -> list[tuple[object, ...]]:
    return await make.rows(
        conn,
        "SELECT email, bounce_type, bounce_code, bounce_count FROM mailqueue.bounce_list"
        " ORDER BY email",
    )


async def test_a_hard_bounce_suppresses_its_address_and_says_by_which_mail(conn: Conn) -> None:
    account = await make.sender_account(conn)
    mail = await left(conn, account, recipient_email="Ann@Example.com")

    await told(conn, event(Type.HARD_BOUNCE, account=account, email_id=mail, code="5.1.1"))

    assert await suppressed(conn) == [(ANN, "", "hard_bounce")]
    assert await bounces(conn) == [(ANN, "hard", "5.1.1", 1)]
    assert await make.scalar(conn, "SELECT email_id FROM mailqueue.suppressions") == mail
    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", mail)
    assert "bounced for good at" in why
    assert "ann@example.com has been suppressed since" in why
    assert f"because of mail {mail}" not in why
    later = await make.queued_email(conn, recipient_email=ANN)
    assert await make.status_of(conn, later) == "suppressed"
    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", later)
    assert f"hard_bounce, because of mail {mail}" in why


async def test_a_complaint_suppresses_and_its_project_hears_of_it_once(conn: Conn) -> None:
    account = await make.sender_account(conn)
    mail = await left(conn, account)

    await told(conn, *(event(Type.COMPLAINT, account=account, email_id=mail) for _ in range(3)))

    assert await suppressed(conn) == [(ANN, "", "complaint")]
    found = await make.rows(
        conn, "SELECT kind, email_id, sender_account_id, seen_at FROM mailqueue.notices"
    )
    assert found == [("complaint", mail, account, None)]


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        ("5.7.1", "message refused"),
        ("5.7.26", "DMARC"),
        (None, "550 5.7.1 refused by policy"),
        (None, "554 your IP is listed"),
        ("550", "blocked as spam"),
        ("5.7.1", "550 5.7.1 sender verify failed: user unknown"),
        ("5.7.1", "550 5.7.1 relaying to unknown user denied"),
        ("5.7.1", "550 5.7.1 user unknown, or blocked by our policy"),
        ("5.7.26", "550 5.7.26 user unknown"),
    ],
)
@pytest.mark.parametrize("kind", [Type.HARD_BOUNCE, Type.SOFT_BOUNCE])
async def test_a_bounce_about_the_sending_side_never_suppresses_the_recipient(
    conn: Conn, kind: Type, code: str | None, detail: str
) -> None:
    await conn.execute("UPDATE mailqueue.projects SET soft_bounce_limit = 1")
    account = await make.sender_account(conn)
    mail = await left(conn, account)

    await told(conn, event(kind, account=account, email_id=mail, code=code, detail=detail))

    assert await suppressed(conn) == []
    assert await bounces(conn) == []
    [row] = await make.rows(
        conn,
        "SELECT hard_bounces, soft_bounces, about_us FROM mailqueue.sender_rates"
        " WHERE sender_account_id = %s",
        account,
    )
    assert row == (0, 0, 1)


@pytest.mark.parametrize("code", ["5.1.1", "5.7.13", "5.7.17", "5.1.10"])
async def test_an_address_that_is_gone_is_so_whatever_words_are_used(conn: Conn, code: str) -> None:
    mail = await left(conn)
    await told(
        conn, event(Type.HARD_BOUNCE, email_id=mail, code=code, detail="see our spam policy")
    )
    assert await suppressed(conn) == [(ANN, "", "hard_bounce")]


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        ("5.7.1", "550 5.7.1 <ann@example.com>: Recipient address rejected: User unknown"),
        ("5.7.0", "No such user here"),
        ("5.7.1", "553 Invalid recipient ann@example.com (Mode: normal)"),
        ("5.7.1", "550 5.7.1 The mailbox for ann@example.com does not exist"),
        (None, "User ann (ann@example.com) not listed in the directory"),
        (None, "550 No such user: <spam.policy@example.com>"),
    ],
)
async def test_plain_words_for_no_such_user_go_before_a_code_for_anything(
    conn: Conn, code: str | None, detail: str
) -> None:
    mail = await left(conn)
    await told(conn, event(Type.HARD_BOUNCE, email_id=mail, code=code, detail=detail))
    assert await suppressed(conn) == [(ANN, "", "hard_bounce")]


async def test_so_many_soft_bounces_within_so_many_days_suppress(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.projects SET soft_bounce_limit = 3, soft_bounce_days = 7")
    mail = await left(conn)

    async def bounce(*days: int) -> None:
        await told(
            conn,
            *(
                event(
                    Type.SOFT_BOUNCE,
                    email_id=mail,
                    code="5.2.2",
                    occurred_at=NOON - timedelta(days=day),
                )
                for day in days
            ),
        )

    await bounce(0, 8, 16)
    assert await suppressed(conn) == []
    await bounce(10)
    assert await suppressed(conn) == []
    await bounce(13)
    assert await suppressed(conn) == [(ANN, "", "soft_bounce_threshold")]

    await conn.execute("DELETE FROM mailqueue.suppressions")
    await bounce(1)
    assert await suppressed(conn) == [], "somebody has mail go to it again"


async def test_without_a_limit_soft_bounces_never_suppress(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.projects SET soft_bounce_limit = 0")
    mail = await left(conn)
    await told(conn, *(event(Type.SOFT_BOUNCE, email_id=mail) for _ in range(20)))
    assert await suppressed(conn) == []
    assert await bounces(conn) == [(ANN, "soft", None, 20)]


async def test_what_a_provider_suppresses_is_mirrored_with_its_reason(conn: Conn) -> None:
    for number, reason in enumerate(Suppress):
        mail = await left(conn, recipient_email=f"p{number}@example.com", category="marketing")
        await told(conn, event(Type.FAILED, email_id=mail, suppress=reason))
    assert await suppressed(conn) == [
        ("p0@example.com", "", "hard_bounce"),
        ("p1@example.com", "", "soft_bounce_threshold"),
        ("p2@example.com", "", "complaint"),
        ("p3@example.com", "marketing", "unsubscribed"),
        ("p4@example.com", "", "manual"),
    ]


async def test_an_unsubscribe_at_the_provider_never_stops_mail_that_was_asked_for(
    conn: Conn,
) -> None:
    account = await make.sender_account(conn)
    mail = await left(conn, account, category="transactional")
    await told(conn, event(Type.UNSUBSCRIBED, account=account, email_id=mail))
    assert await suppressed(conn) == [(ANN, "marketing", "unsubscribed")]


async def test_of_several_recipients_only_the_one_that_is_named_is_suppressed(conn: Conn) -> None:
    mail = await left(conn)
    await also_to(conn, mail, ANN, "bob@example.com")

    await told(conn, event(Type.HARD_BOUNCE, email_id=mail))
    await told(conn, event(Type.HARD_BOUNCE, email_id=mail, recipient="cara@example.com"))
    assert await suppressed(conn) == []
    await told(conn, event(Type.HARD_BOUNCE, email_id=mail, recipient="BOB@example.com"))

    assert await suppressed(conn) == [("bob@example.com", "", "hard_bounce")]


async def test_deferrals_and_deliveries_suppress_no_address(conn: Conn) -> None:
    mail = await left(conn)
    quiet = (Type.SENT, Type.DEFERRED, Type.DELIVERED, Type.OPENED, Type.CLICKED, Type.FAILED)
    assert set(await told(conn, *(event(one, email_id=mail) for one in quiet))) == {
        RecordResult.RECORDED
    }
    assert await suppressed(conn) == []


async def sent(conn: Conn, account: int, count: int) -> None:
    await conn.execute(
        "UPDATE mailqueue.limit_counters AS c SET sent = %s, day = (now() AT TIME ZONE 'UTC')::date"
        " FROM mailqueue.limits AS m WHERE m.id = c.limit_id AND m.sender_account_id = %s",
        (count, account),
    )


async def status(conn: Conn, account: int) -> tuple[str, str | None]:
    [row] = await make.rows(
        conn, "SELECT status, status_reason FROM mailqueue.sender_accounts WHERE id = %s", account
    )
    return row[0], row[1]


async def complained(conn: Conn, account: int, kind: Type, count: int) -> None:
    for number in range(count):
        mail = await left(conn, account, recipient_email=f"{kind}{number}@example.com")
        await told(conn, event(kind, account=account, email_id=mail))


@pytest.mark.parametrize(
    ("kind", "count", "warned"),
    [(Type.HARD_BOUNCE, 5, 2), (Type.COMPLAINT, 3, 1)],
)
async def test_an_account_is_warned_of_and_then_paused(
    conn: Conn, kind: Type, count: int, warned: int
) -> None:
    account = await make.sender_account(conn)
    await sent(conn, account, 100 if kind is Type.HARD_BOUNCE else 1000)

    await complained(conn, account, kind, warned - 1)
    assert await make.scalar(conn, "SELECT mailqueue.watch_rates()") == 0
    rates = "SELECT count(*) FROM mailqueue.notices WHERE kind <> 'complaint'"
    assert await make.scalar(conn, rates) == 0
    for number in range(warned - 1, count):
        mail = await left(conn, account, recipient_email=f"more{number}@example.com")
        await told(conn, event(kind, account=account, email_id=mail))
        paused = await make.scalar(conn, "SELECT mailqueue.watch_rates()")
        assert paused == (1 if number == count - 1 else 0)
    state, reason = await status(conn, account)
    assert state == "paused"
    assert reason is not None
    assert reason.startswith("too many ")
    assert await make.scalar(conn, rates) == 2
    audit = "SELECT count(*) FROM mailqueue.audit_events WHERE action = 'sender.paused_for_rates'"
    assert await make.scalar(conn, audit) == 1
    [health] = await make.rows(
        conn,
        "SELECT state, found FROM mailqueue.health WHERE name = 'bounce and complaint rates'",
    )
    assert health[0] == "alarm"
    assert reason in health[1]


async def test_a_resumed_account_is_counted_anew(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await sent(conn, account, 100)
    await complained(conn, account, Type.HARD_BOUNCE, 5)
    assert await make.scalar(conn, "SELECT mailqueue.watch_rates()") == 1
    await conn.execute(
        "UPDATE mailqueue.sender_accounts SET status = 'active', status_reason = NULL"
        " WHERE id = %s",
        (account,),
    )
    mail = await left(conn, account, recipient_email="z@example.com")
    await told(conn, event(Type.HARD_BOUNCE, account=account, email_id=mail, occurred_at=None))

    assert await make.scalar(conn, "SELECT mailqueue.watch_rates()") == 0
    assert (await status(conn, account))[0] == "active"
    [row] = await make.rows(
        conn,
        "SELECT sent, hard_bounces FROM mailqueue.sender_rates WHERE sender_account_id = %s",
        account,
    )
    assert row == (0, 1)


async def test_little_mail_pauses_no_account_and_zero_is_never(conn: Conn) -> None:
    few, never = await make.sender_account(conn), await make.sender_account(conn)
    await sent(conn, few, 99)
    await sent(conn, never, 100)
    await conn.execute(
        "UPDATE mailqueue.sender_accounts SET bounce_pause = 0, bounce_warn = 0 WHERE id = %s",
        (never,),
    )
    await complained(conn, few, Type.HARD_BOUNCE, 20)
    await complained(conn, never, Type.HARD_BOUNCE, 20)
    assert await make.scalar(conn, "SELECT mailqueue.watch_rates()") == 0
