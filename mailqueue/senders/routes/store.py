"""SQL of routing rules."""

from dataclasses import asdict

from psycopg.errors import InvalidParameterValue

from mailqueue.contract.senders import Candidate, Route
from mailqueue.core.errors import InvalidField
from mailqueue.core.mailboxes import with_wire_domains
from mailqueue.db.fetch import Conn, many, value
from mailqueue.db.statements.senders import routes as sql
from mailqueue.senders.routes.model import NewRoute


async def add_route(conn: Conn, project: str, *, new: NewRoute, by: str | None) -> int:
    """Add a rule; return its number.

    Raises:
        InvalidField: a field at fault, in the database's words.
    """
    asked = {**with_wire_domains(asdict(new))} | {
        "senders": list(new.accounts),
        "project": project,
        "by": by,
    }
    try:
        async with conn.transaction():
            return await value(conn, sql.ADD_ROUTE, asked, int)
    except InvalidParameterValue as exc:
        field = exc.diag.column_name or "rule"
        said = (exc.diag.message_primary or "").removeprefix(f"{field}: ")
        raise InvalidField(field, said) from exc


async def remove_route(conn: Conn, project: str, *, rule_id: int, by: str | None) -> bool:
    """Remove a rule; return whether it existed."""
    return await value(
        conn, sql.REMOVE_ROUTE, {"project": project, "rule_id": rule_id, "by": by}, bool
    )


async def list_routes(conn: Conn, project: str | None) -> list[Route]:
    """Return the rules of a project, or of all, in the order they are matched."""
    return await many(conn, sql.LIST_ROUTES, {"project": project}, Route)


async def test_route(
    conn: Conn, project: str, *, recipient: str, category: str, tags: list[str]
) -> list[Candidate]:
    """Return the accounts that would send such a mail, in order."""
    asked = {"project": project, "recipient": recipient, "category": category, "tags": tags}
    return await many(conn, sql.TEST_ROUTE, asked, Candidate)
