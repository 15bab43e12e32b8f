"""A shop with what the tasks of its people are about, some of it named by a hostile hand."""

from datetime import UTC, datetime

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.projects.actor import act_for
from mailqueue.projects.keys.manage import issue_key, revoke_key
from mailqueue.templates.model import NewText
from tests import make
from tests.console.watch.test_watch import FAILED
from tests.console.webhooks.test_webhooks import URL
from tests.contacts import people
from tests.mail.claim.steps import claim, settle
from tests.sequences import running
from tests.templates.making import published, put_in_force, version_of
from tests.watch import watching
from tests.webhooks import delivering

HOSTILE = "<img src=x onerror=\"document.title='pwned'\">"
WRONG_PRICE = f"Wrong price {HOSTILE}"
REPLY = "550 mailbox <b>full</b>"
_LOG = """
INSERT INTO mailqueue.send_logs (sent_at, email_id, project_id, sender_account_id, attempt, status,
    recipient_email, response_ms)
SELECT clock_timestamp() - n * interval '20 s', gen_random_uuid(), a.project_id, a.id, 1, 'sent',
       'ann@example.com', CASE a.name WHEN 'slow' THEN 2500 ELSE 80 END
  FROM mailqueue.sender_accounts AS a, generate_series(1, 30) AS n WHERE a.project_id = %s
"""


async def open_shops(conn: Conn, *names: str) -> None:
    """Make projects with mail that failed, a revoked key, deliveries that failed, and so on."""
    for name in names:
        project = await make.project(conn, name)
        for account, provider in (("quick", "smtp"), ("slow", "postmark")):
            await make.sender_account(conn, project_id=project, name=account, provider=provider)
        await make.queued_email(
            conn,
            project_id=project,
            subject=f"Your order {HOSTILE}",
            recipient_email=f"late@{name}.com",
        )
    claimed = await claim(conn, await make.worker(conn))
    await settle(conn, claimed, Ending.FAILED, log=LogStatus.REJECTED, reason=REPLY, reply=REPLY)
    for name in names:
        await _furnish(conn, name)


async def _furnish(conn: Conn, name: str) -> None:
    project = await make.project_named(conn, name)
    await conn.execute(_LOG.encode(), (project,))
    bounced = f"bounced@{name}.com"
    await conn.execute(
        "INSERT INTO mailqueue.bounce_list (project, email, bounce_type) VALUES (%s, %s, 'hard')",
        (name, bounced),
    )
    await make.queued_email(conn, project_id=project, subject="Your bill", recipient_email=bounced)
    for subject, campaign in ((WRONG_PRICE, None), ("Spring", f"spring {HOSTILE}")):
        await make.queued_email(conn, project_id=project, subject=subject, campaign_id=campaign)
    for key in ("lost", "web"):
        await issue_key(conn, name, key, is_test=False)
    async with conn.transaction():
        await act_for(conn, project, by="ben (console)")
        await revoke_key(conn, name, "lost", reason=HOSTILE)
    template = await published(conn, project, slug="receipt", name=f"Receipt {HOSTILE}")
    newer = await version_of(conn, template, NewText("A mistake", "<p>A mistake</p>", "A mistake"))
    await put_in_force(conn, template, newer)
    await _webhook(conn, name)
    await _notification(conn, name)
    await _drip(conn, name)
    await make.inserted(
        conn,
        "dkim_keys",
        {
            "project_id": project,
            "domain": f"{name}.com",
            "selector": "s1",
            "algorithm": "ed25519-sha256",
            "public_key": "A" * 44,
            "private_key": b"sealed",
        },
    )


async def _webhook(conn: Conn, name: str) -> None:
    project = await make.project_named(conn, name)
    made = await delivering.webhook(conn, URL, project_id=project)
    await delivering.told(conn, 2, project_id=project)
    await conn.execute(
        "UPDATE mailqueue.webhook_deliveries SET status = 'failed', attempts = 7, last_code = 503,"
        " last_error = '503 <busy>', finished_at = now() WHERE webhook_id = %s",
        (made,),
    )


async def _notification(conn: Conn, name: str) -> None:
    person = await watching.user(conn, f"watched@{name}.com", project=name)
    inbox = await watching.inbox(conn, person, 993, project=name)
    channel = await watching.channel(conn, person, project=name)
    told = await watching.queued(conn, person, inbox, channel, 7)
    await conn.execute(FAILED.encode(), (told,))


async def _drip(conn: Conn, name: str) -> None:
    project = await make.project_named(conn, name)
    await running.template(conn, project)
    await running.sequence(conn, project, {"name": "tips", "template": "hello", "delay": "2d"})
    contact = await people.put(conn, project, f"reader@{name}.com", first_name=HOSTILE)
    assert contact is not None
    await running.enroll(conn, project, contact["id"], at=datetime.now(UTC))
