"""Rules and events for tests of the inbox."""

from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make
from tests.templates import making

CONSUMER = UUID("00000000-0000-4000-8000-000000000001")
ORDER: dict[str, Any] = {
    "orderId": "81",
    "total": 120.5,
    "customer": {"name": "Ann Lee", "email": "ann@example.com"},
}


async def project_with_template(conn: Conn, name: str = "default") -> UUID:
    """Return the id of a project that has the template `welcome` and a sender account."""
    found = await make.scalar(conn, "SELECT id FROM mailqueue.projects WHERE name = %s", name)
    project = found or await make.project(conn, name)
    await make.sender_account(conn, project_id=project)
    await making.published(conn, project)
    return UUID(str(project))


async def rule(
    conn: Conn, project: UUID, name: str = "placed", *, is_new: bool = True, **given: object
) -> None:
    """Add an enabled rule that mails the customer of an order, or one of the given fields."""
    fields = {
        "event_type": "OrderPlaced",
        "template": "welcome",
        "recipient": "$.customer.email",
        "variables": {"name": "$.customer.name"},
        "is_enabled": True,
    }
    if given.get("action") == "cancel":
        fields = {"event_type": "OrderPlaced", "is_enabled": True}
    found = await make.rows(
        conn,
        "SELECT name FROM mailqueue.put_event_rule(%s, %s, %s, %s, 'tests')",
        project,
        name,
        Jsonb(fields | given if is_new else given),
        is_new,
    )
    assert found == [(name,)]


async def consume(
    conn: Conn,
    payload: object = ORDER,
    *,
    message: UUID | None = None,
    type_: str = "OrderPlaced",
    headers: object = None,
    project: str = "default",
) -> dict[str, Any]:
    """Deliver one event; return what became of it."""
    raw = isinstance(payload, str)
    found: dict[str, Any] = await make.scalar(
        conn,
        "SELECT mailqueue.consume(%s, %s, %s, %s, %s, %s)",
        message or uuid4(),
        CONSUMER,
        type_,
        payload if raw else Jsonb(payload),
        (headers or "{}") if raw else Jsonb({} if headers is None else headers),
        project,
    )
    return found
