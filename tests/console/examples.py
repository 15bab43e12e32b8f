"""A path for each page of the table: the rows that it shows, and the query that it needs.

A page whose path has a new variable gets its row made in `seed`; then every test that visits
all pages visits it too.
"""

from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import UUID

from mailqueue.admin.users import manage
from mailqueue.db.fetch import Conn
from mailqueue.inbox import rules
from mailqueue.operations import background
from mailqueue.projects.keys.manage import issue_key
from mailqueue.senders.routes import manage as manage_routes
from mailqueue.senders.routes.model import NewRoute
from mailqueue.sequences import enrollments
from mailqueue.templates import writing
from mailqueue.templates.model import PartKind
from mailqueue.timed_events import events
from tests import make
from tests.analytics.ab_tests import steps
from tests.bridge.keeping import note_queue, unhandled
from tests.contacts import people
from tests.publishing import outboxes
from tests.schedules import turning
from tests.sequences import running
from tests.templates.making import published
from tests.templates.pictures import drawing
from tests.watch import watching
from tests.webhooks import delivering

QUERIES: Mapping[str, str] = {
    "/console/welcome": "link={link}",
    "/console/recipient": "address=ann@example.com",
    **{
        f"/console/projects/{{project}}/recipient{part}": "address=ann@example.com"
        for part in ("", "/erasure", "/suppress", "/lift", "/export", "/erase")
    },
    **{
        f"{one}/preview{part}": "variables=%7B%22name%22%3A%22Ann%22%7D"
        for one in (
            "/console/templates/{platform_template}",
            "/console/projects/{project}/templates/{template}",
        )
        for part in ("", "/html")
    },
    "/console/projects/{project}/pauses/end": "kind=campaign&name=spring",
    "/console/infrastructure/drain": "worker=1",
    "/console/projects/{project}/incidents": "domain=example.com",
    "/console/projects/{project}/incidents/cancel": "domain=example.com",
    "/console/find": "q=ann@example.com",
    "/console/find/suggestions": "q=ann@example.com",
}
"""The query that a page needs, by its path in the table."""
BILL = {
    "filename": "bill.pdf",
    "content_type": "application/pdf",
    "content": b64encode(b"%PDF-1.4 bill").decode(),
}
"""A file of the email."""


async def seed(conn: Conn, project: str, *, subject: str) -> dict[str, str]:
    """Make a project with a row for each variable of paths; return the variables' values."""
    project_id = await make.project(conn, project)
    email = await make.queued_email(
        conn,
        project_id=project_id,
        subject=subject,
        recipient_email="ann@example.com",
        attachments=[BILL],
        campaign_id=subject[:200],
    )
    made = await manage.add(
        conn, f"invited-to-{project[:20]}", role="viewer", projects=[project], by="tests"
    )
    user = await manage.find(conn, made.name)
    template = await published(conn, project_id, slug="news", name=subject[:100])
    shared = await published(conn, None, slug=f"shared-by-{project}")
    part, platform_part = [
        await _part(conn, owner, f"part-of-{project}"[:90], subject) for owner in (project_id, None)
    ]
    key = await issue_key(conn, project, subject[:100], is_test=False)
    operation = await background.begin(
        conn,
        project_id,
        verb=background.OperationVerb.HOLD,
        where={"subject": subject[:998]},
        reason=subject[:500],
        by="tests",
    )
    webhook = await delivering.webhook(conn, "https://app.example.com/hooks", project_id=project_id)
    await delivering.told(conn, project_id=project_id)
    delivery = "SELECT id FROM mailqueue.webhook_deliveries WHERE webhook_id = %s"
    domain = f"{project[:40]}.example.com"
    dkim_key = await make.inserted(
        conn,
        "dkim_keys",
        {
            "project_id": project_id,
            "domain": domain,
            "selector": "s1",
            "algorithm": "ed25519-sha256",
            "public_key": "A" * 44,
            "private_key": b"sealed",
        },
    )
    sender = await make.sender_account(conn, project_id=project_id, name="relay")
    routed = NewRoute(("relay",), tag=subject[:200], note=subject[:500])
    route = await manage_routes.add(conn, project, new=routed)
    public_id = "SELECT public_id FROM mailqueue.sender_accounts WHERE id = %s"
    event = "SELECT max(id) FROM mailqueue.audit_events WHERE project_id = %s"
    schedule = await turning.put(
        conn,
        subject[:100],
        project=project,
        schedule_type="cron",
        cron_expression="0 9 * * *",
        payload={"to": ["ann@example.com"], "subject": subject, "text_body": "Hello"},
    )
    await turning.turn(conn)
    contact = await people.put(
        conn, project_id, "ann@example.com", first_name=subject[:100], attributes={"note": subject}
    )
    assert contact is not None
    contacts = f"of-{project}"[:63]
    members = [UUID(contact["id"])]
    await people.list_of(conn, project_id, contacts, members=members, description=subject[:500])
    sequence = f"for-{project}"[:63]
    await running.sequence(conn, project_id, {"name": "welcome", "template": "news"}, name=sequence)
    enrolled = await enrollments.enroll(
        conn,
        project_id,
        sequence=sequence,
        email="ann@example.com",
        variables={},
        is_test=False,
        source=subject[:100],
    )
    timed = await events.put(
        conn,
        project_id,
        kind="renewal",
        at=datetime(2030, 5, 1, tzinfo=UTC),
        payload={},
        template="news",
        recipient="ann@example.com",
        idempotency_key=subject[:100],
        is_test=False,
        by="tests",
    )
    export = await make.inserted(
        conn,
        "exports",
        {
            "project_id": project_id,
            "kind": "emails",
            "format": "csv",
            "filter": {"campaign": subject[:300]},
            "requested_by": subject[:200],
            "status": "done",
            "finished_at": datetime.now(UTC),
        },
    )
    imported = await make.inserted(
        conn,
        "imports",
        {
            "project_id": project_id,
            "kind": "contacts",
            "options": {"list": contacts},
            "file_name": subject[:200],
            "encoding": "utf-8",
            "lines_read": 1,
            "refused": 1,
            "refusals": [{"line": 2, "column": "email", "reason": subject}],
            "requested_by": subject[:200],
            "status": "done",
            "finished_at": datetime.now(UTC),
        },
    )
    ab_test = await steps.created(
        conn,
        project,
        name=subject[:200],
        variants=[
            {"name": "A", "share": 50, "subject": subject[:998]},
            {"name": "B", "share": 50, "subject": "Hello"},
        ],
    )
    rule = f"on-{project}"[:63]
    await rules.add(
        conn,
        project_id,
        rule,
        given={
            "event_type": subject[:200],
            "action": "mail",
            "template": "news",
            "recipient": "$.email",
            "variables": {"name": subject[:100]},
        },
        by="tests",
    )
    outbox = f"of-{project}"[:63]
    await outboxes.add(conn, outbox, webhook, project=project)
    await note_queue(conn, project, reason=subject[:500])
    letter = await unhandled(conn, project, subject)
    person = await watching.user(conn, f"{project[:40]}@example.com", project=project)
    watched = await watching.inbox(conn, person, 993, project=project)
    connected = await watching.channel(conn, person, project=project)
    told = await watching.queued(conn, person, watched, connected, 1)
    named = "UPDATE mailqueue.notifications SET subject = %s, sender_name = %s WHERE id = %s"
    await conn.execute(named, (subject, subject, told))
    return {
        "project": project,
        "inbox_user_id": str(person),
        "inbox_id": str(watched),
        "channel_id": str(connected),
        "notification_id": str(told),
        "rule": rule,
        "route_id": str(route.rule_id),
        "outbox": outbox,
        "letter_id": str(letter),
        "ab_test_id": str(ab_test.id),
        "variant": "B",
        "export_id": str(export),
        "import_id": str(imported),
        "contact_id": contact["id"],
        "list": contacts,
        "sequence": sequence,
        "enrollment_id": str(enrolled.enrollment_id),
        "timed_event_id": str(timed.event.id),
        "schedule_id": str(schedule),
        "email_id": str(email),
        "template": str(template.id),
        "platform_template": str(shared.id),
        "part_id": part,
        "language": "ar",
        "picture_id": str(await drawing.stored(conn, project_id)),
        "platform_part": platform_part,
        "version": "1",
        "number": "0",
        "user": str(user.id),
        "member": str(user.id),
        "link": made.token.reveal(),
        "key_id": str(key.record.id),
        "operation_id": str(operation.id),
        "domain": domain,
        "dkim_key": str(dkim_key),
        "webhook_id": str(webhook),
        "delivery_id": str(await make.scalar(conn, delivery, webhook)),
        "sender": str(await make.scalar(conn, public_id, sender)),
        "event_id": str(await make.scalar(conn, event, project_id)),
    }


async def _part(conn: Conn, project_id: UUID | None, name: str, source: str) -> str:
    """Store a partial; return its id."""
    await writing.put_part(
        conn, project_id, name=name, kind=PartKind.PARTIAL, source=source, by=source[:100]
    )
    found = await writing.list_parts(conn, project_id)
    return next(str(each.id) for each in found if each.name == name)


def path_of(path: str, values: Mapping[str, str | UUID]) -> str:
    """Return the path of the table with its variables filled in, and the query that it needs."""
    query = QUERIES.get(path)
    filled = f"{path}?{query}" if query else path
    for name, value in values.items():
        filled = filled.replace(f"{{{name}}}", str(value))
    assert "{" not in filled, f"add the variable of {path} to tests/console/examples.py"
    return filled
