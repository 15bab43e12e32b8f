"""The rows of a project of medium size, and each operation on its mail."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

from mailqueue.db.fetch import Conn
from mailqueue.events.model import ReportedEvent, Type
from mailqueue.events.store import record_events
from mailqueue.mail.accept.raw import RawEmail
from mailqueue.mail.accept.store import batches as batches_store
from mailqueue.mail.accept.store import enqueue as enqueue_store
from mailqueue.mail.model import ClaimedEmail, Ending, LogStatus, NewBatch, RecipientOutcome
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.queue import store as kernel
from tests import make
from tests.mail.accept.intakes import WAYS, plain
from tests.mail.accept.messages import accept_raw, simple
from tests.mail.claim.steps import LEASE, SILENCE, beat, claim, due_now, lose, mark, sent, settle
from tests.operations.pausing import pause
from tests.webhooks.delivering import webhook

Act = Callable[[Conn], Awaitable[object]]
AGAIN = 7  # more than a session needs to settle on a plan
MANY = 12
MAILS, PROJECTS = 4_000, 40
LISTED = "listed@example.com"
PAUSED = "winter"
_PLAIN: tuple[str, dict[str, Any]] = ("example.com", {})
_SEVERAL = ("example.com", {"cc": ["cy@example.com"]})
_RATED = ("slow.example.com", dict[str, Any]())
_MESSAGE = {"recipient": "ann@example.com", "subject": "Hello", "text": "Hello"}


async def set_up(conn: Conn) -> None:
    """Create the rows that accepting and sending look up."""
    project = await make.project_named(conn)
    await make.sender_account(conn, name="main")
    await conn.execute(
        "INSERT INTO mailqueue.suppressions (project_id, address, reason)"
        " VALUES (%s, %s, 'manual')",
        (project, LISTED),
    )
    await webhook(
        conn, "https://hooks.example.com/", event_types=["email.queued", "email.delivered"]
    )
    await conn.execute("SELECT mailqueue.add_route('default', ARRAY['main'], p_tag => 'ruled')")
    await conn.execute(
        "INSERT INTO mailqueue.domain_rates (domain, rate_per_second, burst)"
        " VALUES ('slow.example.com', 1000, 1000)"
    )
    await pause(conn, "campaign", PAUSED)


async def grow(conn: Conn) -> None:
    """Queue many mails, suppress many addresses, and run ANALYZE."""
    for _ in range(PROJECTS):
        await make.project(conn)
    messages = [_MESSAGE | {"recipient": f"p{n}@example.com"} for n in range(MAILS)]
    for n in range(0, MAILS, 500):
        await enqueue_store.enqueue_batch(conn, "default", messages[n : n + 500])
    await conn.execute(
        "INSERT INTO mailqueue.suppressions (project_id, address, reason)"
        " SELECT p.id, 'gone' || n || '@example.com', 'manual'"
        " FROM mailqueue.projects AS p, generate_series(1, 100) AS n"
    )
    worker = await make.worker(conn)
    await sent(conn, await claim(conn, worker, limit=500))
    await kernel.stop_worker(conn, worker)
    await conn.execute("ANALYZE")


def _again(way: str, columns: Mapping[str, Any]) -> Act:
    async def act(conn: Conn) -> None:
        for _ in range(AGAIN):
            await WAYS[way](conn, **plain(**columns))

    return act


async def _copied(conn: Conn) -> None:
    names = b"recipient_email, subject, text_body"
    async with (
        conn.cursor() as cursor,
        cursor.copy(b"COPY mailqueue.email_queue (" + names + b") FROM STDIN") as copy,
    ):
        for n in range(MANY):
            await copy.write_row((f"p{n}@example.com", "Hello", "Hello"))


async def _batch(conn: Conn) -> None:
    for _ in range(AGAIN):
        message = _MESSAGE | {"to": ["bo@example.com", LISTED]}
        await enqueue_store.enqueue_batch(conn, "default", [_MESSAGE, message] * MANY)


async def _shared(conn: Conn) -> None:
    for _ in range(AGAIN):
        await batches_store.enqueue_shared(
            conn,
            "default",
            NewBatch(
                [{"subject": "Hello", "text": "Hello"}],
                {},
                [{"recipient": f"p{n}@example.com"} for n in range(MANY)],
            ),
            is_strict=False,
            by="test",
        )


async def _finished_messages(conn: Conn) -> None:
    for _ in range(AGAIN):
        await accept_raw(conn, RawEmail(simple(), ("ann@example.com",)), project="default")


async def _held(conn: Conn, **columns: object) -> tuple[int, list[ClaimedEmail]]:
    """Queue mails of several kinds, and claim them for a worker."""
    for domain, more in (_PLAIN, _SEVERAL, _RATED):
        to = f"{uuid4().hex}@{domain}"  # none that was refused before
        await make.queued_emails(conn, MANY // 3, priority=1, recipient_email=to, **more, **columns)
    await due_now(conn)
    await make.highest_class_first(conn)
    worker = await make.worker(conn)
    return worker, await claim(conn, worker, limit=10 * MANY)


async def _worker(conn: Conn) -> None:
    worker, emails = await _held(conn)
    await kernel.park(conn, "email_queue", worker)
    await beat(conn, worker)
    await claims_store.take(conn, worker, limit=1, lease=LEASE, avoid=[1], may_mark=True)
    await claims_store.find_claims(conn, worker, after=0)
    days = sorted({email.content_on for email in emails})
    await claims_store.read_contents(conn, [email.content_id for email in emails], days=days)
    await claims_store.read_recipients(conn, [email.id for email in emails])
    await kernel.stop_worker(conn, worker)


async def _marks(conn: Conn) -> None:
    worker, emails = await _held(conn, campaign_id=PAUSED)
    for _ in range(AGAIN):
        await mark(conn, worker, emails[:5], opened=emails[5:])


def _settles(ending: Ending, **more: Any) -> Act:
    async def act(conn: Conn) -> None:
        worker, emails = await _held(conn)
        await settle(conn, emails, ending, **more)
        await kernel.stop_worker(conn, worker)

    return act


async def _settles_recipients(conn: Conn) -> None:
    gone = RecipientOutcome("cy@example.com", "failed", "no such user", "5.1.1", hard=True)
    _, emails = await _held(conn)
    for email in emails:
        if email.recipients > 1:
            await settle(conn, [email], spent=1, log=LogStatus.SENT, recipients=(gone,))


async def _rescues(conn: Conn) -> None:
    worker, emails = await _held(conn)
    await mark(conn, worker, emails[:5])
    await lose(conn, worker)
    await kernel.rescue(conn, silence=SILENCE)


async def _events(conn: Conn) -> None:
    worker, emails = await _held(conn)
    await sent(conn, emails)
    await kernel.stop_worker(conn, worker)
    for kind in Type:
        await record_events(
            conn,
            [
                ReportedEvent("test", kind, email_id=email.id, event_id=uuid4().hex)
                for email in emails
            ],
        )


_RICH = {
    "cc": ["cy@example.com"],
    "headers": {"X-One": "1"},
    "tags": ["ruled"],
    "custom_data": {"a": 1},
    "campaign_id": "spring",
    "from_email": "sender@example.com",
}
_REFUSED = {"log": LogStatus.BOUNCED, "code": "550", "enhanced": "5.1.1", "hard": True}

_ALL_OF_IT = {"lane_by_rules", "store_recipients"}
_ACCEPTING = {way: {"accept_rows" if way == "batch" else "email_queue_accept"} for way in WAYS}

ACTS: Mapping[str, tuple[Act, set[str]]] = {
    **{f"{way} one": (_again(way, {}), _ACCEPTING[way]) for way in WAYS},
    **{f"{way} all of it": (_again(way, _RICH), _ALL_OF_IT) for way in WAYS},
    "insert suppressed": (_again("insert", {"recipient_email": LISTED}), {"retire_emails"}),
    "insert again": (_again("insert", {"idempotency_key": "k"}), {"take_idempotency_key"}),
    "copy many": (_copied, {"email_queue_accept"}),
    "batch": (_batch, {"accept_batch", "accept_rows", "suppress_new"}),
    "shared": (_shared, {"enqueue_shared", "accept_rows"}),
    "finished messages": (_finished_messages, {"accept_raw"}),
    "claim": (
        _worker,
        {"gather_lanes", "claim_emails", "pick_emails", "reserve_all", "move_rated"},
    ),
    "mark": (_marks, {"mark_emails", "set_aside_claimed"}),
    "settle sent": (_settles(Ending.SENT, log=LogStatus.SENT), {"settle_sent", "settle_limits"}),
    "settle failed": (_settles(Ending.FAILED, **_REFUSED), {"settle_emails", "refused_emails"}),
    "settle retry": (_settles(Ending.RETRY, log=LogStatus.DEFERRED), {"retry_wait", "next_lane"}),
    "settle defer": (_settles(Ending.DEFER), {"settle_emails", "settle_limits"}),
    "settle unknown": (_settles(Ending.UNKNOWN, log=LogStatus.UNKNOWN), {"settle_emails"}),
    "settle recipients": (_settles_recipients, {"settle_recipients", "refused_recipients"}),
    "rescue": (_rescues, {"rescue_emails", "return_claims"}),
    "events": (_events, {"record_events", "match_events", "apply_events"}),
}
