"""How to bring a mail into each state that `mailqueue.why` explains."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from tests import make
from tests.mail.claim.refusing import refused
from tests.mail.claim.steps import claim, lose, mark
from tests.mail.limits.held_back.marketing import HELD_BACK
from tests.mail.limits.low_priority.windows import outside_window
from tests.operations.pausing import pause, paused_as_a_whole
from tests.operations.steps import finished
from tests.queue.kernel.kinds import KINDS

Build = Callable[[Conn], Awaitable[UUID]]
SOON = timedelta(hours=1)


async def shop_mail(conn: Conn, **account: object) -> UUID:
    """Return a mail of project shop."""
    project = await make.project(conn, "shop")
    if account:
        await make.sender_account(conn, project_id=project, name="relay", **account)
    return await make.queued_email(conn, project="shop")


async def run(conn: Conn, statement: str, *values: object) -> None:
    await conn.execute(statement.encode(), values)


def ended(ending: Ending) -> Build:
    async def build(conn: Conn) -> UUID:
        await make.sender_account(conn)
        return await finished(conn, ending)

    return build


async def cancelled(conn: Conn) -> UUID:
    email = await shop_mail(conn)
    project = await make.project_named(conn, "shop")
    await run(conn, "SELECT mailqueue.cancel_emails(%s, %s, 'recalled')", project, [email])
    return email


async def suppressed(conn: Conn) -> UUID:
    await run(
        conn,
        "INSERT INTO mailqueue.suppressions (project_id, address, reason)"
        " VALUES (%s, 'ann@example.com', 'complaint')",
        await make.project_named(conn),
    )
    return await make.queued_email(conn)


async def held(conn: Conn) -> UUID:
    email = await shop_mail(conn)
    project = await make.project_named(conn, "shop")
    await run(conn, "SELECT mailqueue.hold_emails(%s, %s, 'legal')", project, [email])
    return email


async def in_doubt(conn: Conn) -> UUID:
    await make.sender_account(conn)
    email = await make.queued_email(conn, delivery="hold")
    worker = await make.worker(conn)
    await mark(conn, worker, await claim(conn, worker))
    await lose(conn, worker)
    return email


async def assigned(conn: Conn) -> UUID:
    await make.sender_account(conn)
    email = await make.queued_email(conn)
    assert await claim(conn, await make.worker(conn))
    return email


async def silent(conn: Conn) -> UUID:
    email = await assigned(conn)
    await make.silent(conn, await make.scalar(conn, "SELECT max(id) FROM mailqueue.workers"))
    return email


async def suspect(conn: Conn) -> UUID:
    email = await make.queued_email(conn)
    await run(
        conn, "UPDATE mailqueue.email_queue SET crashes = 1, last_error = 'x' WHERE id = %s", email
    )
    return email


async def retried(conn: Conn) -> UUID:
    email = await assigned(conn)
    claimed = await make.rows(
        conn, "SELECT id, claim_no FROM mailqueue.email_queue WHERE id = %s", email
    )
    await run(
        conn,
        "SELECT mailqueue.settle_emails(%s, %s, '{retry}', '{later}', '{5 min}', '{0}', '{1}',"
        " '{deferred}', '{NULL}', '{NULL}', '{451}', '{NULL}', '{later}', '{7}', '{f}')",
        [claimed[0][0]],
        [claimed[0][1]],
    )
    return email


async def not_due(conn: Conn) -> UUID:
    return await make.queued_email(conn, run_at=datetime.now(UTC) + SOON)


async def no_worker(conn: Conn) -> UUID:
    return await shop_mail(conn, daily_limit=5)


async def its_turn(conn: Conn) -> UUID:
    await make.worker(conn)
    await shop_mail(conn, daily_limit=5)  # it is sent first
    return await make.queued_email(conn, project="shop")


def own_server(*, is_attended: bool) -> Build:
    async def build(conn: Conn) -> UUID:
        async with KINDS["custom-smtp"](conn, 1) as rows:
            [row] = rows.ids[:1]
        if is_attended:
            await make.worker(conn, kind="custom-smtp", queues=["custom-smtp"])
        email: UUID = await make.scalar(
            conn, "SELECT email_id FROM mailqueue.custom_smtp_servers WHERE id = %s", row
        )
        return email

    return build


def paused(kind: str, value: str) -> Build:
    async def build(conn: Conn) -> UUID:
        await make.project(conn, "shop")
        email = await make.queued_email(conn, project="shop", campaign_id="Ann's sale")
        await pause(conn, kind, value, project="shop")
        return email

    return build


async def restored(conn: Conn) -> UUID:
    await run(
        conn,
        "UPDATE mailqueue.server_identity SET identity = 'another server',"
        " installation_id = mailqueue.uuidv7()",
    )
    return await shop_mail(conn)


async def braked(conn: Conn) -> UUID:
    await run(conn, "SELECT mailqueue.set_max_send_rate(1)")
    await run(
        conn,
        "UPDATE mailqueue.limit_counters SET tokens = 0, tokens_at = clock_timestamp() +"
        " interval '1 min' WHERE limit_id = 0",
    )
    return await shop_mail(conn)


async def domain_rate(conn: Conn) -> UUID:
    await make.sender_account(conn)
    await run(
        conn,
        "INSERT INTO mailqueue.domain_rates (domain, rate_per_second, burst)"
        " VALUES ('example.com', 0.01, 1)",
    )
    worker = await make.worker(conn)
    await make.queued_emails(conn, 5)
    for _ in range(3):
        await claim(conn, worker)
        await look_again(conn)
    return await left(conn)


async def look_again(conn: Conn) -> None:
    await run(conn, "UPDATE mailqueue.lanes SET blocked_until = now() WHERE blocked_until > now()")


async def left(conn: Conn) -> UUID:
    """Return a mail that was not claimed."""
    query = "SELECT min(id::text)::uuid FROM mailqueue.email_queue WHERE status = 'pending'"
    email: UUID = await make.scalar(conn, query)
    return email


async def no_sender(conn: Conn) -> UUID:
    return await shop_mail(conn)


def project_limit(assignment: str) -> Build:
    async def build(conn: Conn) -> UUID:
        email = await shop_mail(conn, daily_limit=5)
        await run(conn, f"UPDATE mailqueue.projects SET {assignment} WHERE name = 'shop'")
        return email

    return build


def limit(assignment: str, *, of_account: bool) -> Build:
    async def build(conn: Conn) -> UUID:
        email = await shop_mail(conn, daily_limit=5)
        await run(
            conn,
            f"UPDATE mailqueue.limits SET {assignment} WHERE (sender_account_id IS NOT NULL) = %s"
            " AND project_id = (SELECT id FROM mailqueue.projects WHERE name = 'shop')",
            of_account,
        )
        return email

    return build


def used_up(**columns: object) -> Build:
    """Return what builds a mail behind one that has used up a limit of the account."""

    async def build(conn: Conn) -> UUID:
        project = await make.project(conn, "shop")
        await make.sender_account(conn, project_id=project, name="relay", **columns)
        await make.queued_emails(conn, 2, project="shop")
        await claim(conn, await make.worker(conn), limit=1)
        return await left(conn)

    return build


async def too_many(conn: Conn) -> UUID:
    project = await make.project(conn, "shop")
    await make.sender_account(conn, project_id=project, name="relay", daily_limit=1)
    return await make.queued_email(conn, project="shop", cc=["bob@example.com"])


async def no_project_rate(conn: Conn) -> UUID:
    email = await shop_mail(conn, daily_limit=5)
    of = "(SELECT id FROM mailqueue.limits WHERE sender_account_id IS NULL AND project_id ="
    of += " (SELECT id FROM mailqueue.projects WHERE name = 'shop'))"
    rate = "rate_per_second = 1, burst = 1, capacity = 1"
    await run(conn, f"UPDATE mailqueue.limits SET {rate} WHERE id = {of}")
    await run(
        conn,
        "UPDATE mailqueue.limit_counters SET tokens = 0, tokens_at = clock_timestamp() +"
        f" interval '1 min' WHERE limit_id = {of}",
    )
    return email


MAIL: dict[tuple[str, str], Build] = {
    **{("history", one.value): ended(one) for one in (Ending.SENT, Ending.FAILED, Ending.EXPIRED)},
    ("history", "cancelled"): cancelled,
    ("history", "suppressed"): suppressed,
    ("installation", "paused"): paused_as_a_whole,
    ("queue", "held"): held,
    ("queue", "in_doubt"): in_doubt,
    ("queue", "assigned"): assigned,
    ("queue", "silent"): silent,
    ("queue", "suspect"): suspect,
    ("queue", "refused"): refused,
    ("queue", "retry"): retried,
    ("queue", "not_due"): not_due,
    **{("queue", why): build for why, build in HELD_BACK.items()},
    ("queue", "pending"): its_turn,
    ("queue", "own_server"): own_server(is_attended=True),
    ("queue", "no_own_worker"): own_server(is_attended=False),
    ("queue", "no_worker"): no_worker,
    ("pause", "campaign"): paused("campaign", "Ann's sale"),
    ("pause", "domain"): paused("domain", "example.com"),
    ("installation", "restored"): restored,
    ("installation", "brake"): braked,
    ("domain", "domain_rate"): domain_rate,
    ("project", "no_sender"): no_sender,
    ("project", "daily_limit"): project_limit("daily_limit = 0"),
    ("project", "rate"): no_project_rate,
    ("project", "outside_window"): outside_window,
    ("project", "paused"): project_limit("status = 'paused'"),
    ("project", "suspended"): project_limit("status = 'suspended'"),
    ("project", "locked"): limit("locked_from = '-infinity'", of_account=False),
    ("account", "daily_limit"): used_up(daily_limit=1),
    ("account", "warm_up"): used_up(daily_limit=9, warm_up=[1, 2]),
    ("account", "hourly_limit"): used_up(hourly_limit=1),
    ("account", "minute_limit"): used_up(minute_limit=1),
    ("account", "rate"): used_up(rate_per_second=0.01, burst=1),
    ("account", "recipients"): too_many,
    ("account", "locked"): limit("locked_from = '-infinity'", of_account=True),
    ("account", "half_open"): limit(
        "circuit_opened_at = now(), circuit_held_until = 'infinity'", of_account=True
    ),
    **{
        ("account", reason): limit(
            f"blocked_reason = '{reason}', blocked_until = 'infinity'", of_account=True
        )
        for reason in ("paused", "suspended", "unreachable", "limited", "circuit")
    },
}
