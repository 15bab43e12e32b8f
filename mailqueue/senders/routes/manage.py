"""Add, list, remove and test routing rules."""

from mailqueue.contract.senders import Candidate, Route
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.projects.ids import project_id_of
from mailqueue.senders.routes import store as routes_store
from mailqueue.senders.routes.model import NewRoute


async def add(conn: Conn, project: str, *, new: NewRoute, by: str | None = None) -> Route:
    """Add a rule: matching mail that names no account is sent by the rule's accounts, in order.

    Raises:
        InvalidField: a field at fault, with the value.
        NotFound: there is no such project.
    """
    await project_id_of(conn, project)
    rule_id = await routes_store.add_route(conn, project, new=new, by=by)
    found = await routes_store.list_routes(conn, project)
    return next(route for route in found if route.rule_id == rule_id)


async def remove(conn: Conn, project: str, *, rule_id: int, by: str | None = None) -> None:
    """Remove a rule; its queued mail is sent by the accounts of mail without a rule.

    Raises:
        NotFound: there is no such project, or no such rule in it.
    """
    await project_id_of(conn, project)
    if not await routes_store.remove_route(conn, project, rule_id=rule_id, by=by):
        raise NotFound("routing rule", f"{rule_id} in project {project}")


async def list_all(conn: Conn, *, project: str | None = None) -> list[Route]:
    """Return rules in the order they are matched; None: those of every project.

    Raises:
        NotFound: there is no such project.
    """
    if project is not None:
        await project_id_of(conn, project)
    return await routes_store.list_routes(conn, project)


async def candidates(
    conn: Conn, project: str, *, recipient: str, category: str, tags: list[str]
) -> list[Candidate]:
    """Return the accounts that would send such a mail if it names none, in order.

    Raises:
        InvalidField: the recipient is not an address.
        NotFound: there is no such project.
    """
    try:
        parse_address(recipient)
    except InvalidAddress as exc:
        raise InvalidField("recipient", str(exc)) from exc
    await project_id_of(conn, project)
    return await routes_store.test_route(
        conn, project, recipient=recipient, category=category, tags=tags
    )
