"""Members of a project: invite, list and remove them, within the role of who does it."""

from uuid import UUID

from mailqueue.admin.users import manage, store
from mailqueue.admin.users.model import RIGHTS, PasswordLink, Right, Role
from mailqueue.contract.admin import ProjectMember
from mailqueue.core.errors import Forbidden, InvalidField, NotFound
from mailqueue.db.fetch import Conn

MAX_LISTED = 500
"""Members of a project that are listed at most."""


async def list_of(
    conn: Conn, project: UUID, *, after: str | None = None, limit: int = MAX_LISTED
) -> list[ProjectMember]:
    """Return the members of a project by name; `after` is the last name of the page before."""
    return await store.list_members(conn, project, after=after, limit=limit)


async def find(conn: Conn, project: UUID, user: UUID) -> ProjectMember:
    """Return a member of a project.

    Raises:
        NotFound: the project has no such member.
    """
    for each in await store.list_members(conn, project, user=user, limit=1):
        return each
    raise NotFound("member", "with this id")


async def find_by_name(conn: Conn, project: UUID, name: str) -> ProjectMember:
    """Return a member of a project by name.

    Raises:
        NotFound: the project has no such member.
    """
    for each in await store.list_members(conn, project, name=name, limit=1):
        return each
    raise NotFound("member", name[:100])


async def invite(
    conn: Conn, name: str, *, role: str, project: str, within: str, by: str
) -> PasswordLink:
    """Add a user who sees one project; return the link by which the user sets a password.

    `within` is the role of who invites.

    Raises:
        InvalidField: the name is empty or in use, or the role is not one of `roles_within`.
    """
    if role not in roles_within(within):
        raise InvalidField("role", "must not be higher than your own")
    return await manage.add(conn, name, role=role, projects=[project], by=by)


async def remove(conn: Conn, project: UUID, user: UUID, *, within: str, by: str) -> None:
    """Take a project from a member, at once for open sessions.

    Raises:
        NotFound: the project has no such member.
        Forbidden: the member's role is higher than the role `within`.
        InvalidField: the issuer at which the member logs in says which projects it sees.
    """
    member = await find(conn, project, user)
    if member.role not in roles_within(within):
        raise Forbidden("a role as high as the member's")
    if not await store.remove_member(conn, project, user, by=by):
        raise NotFound("member", "with this id")


def roles_within(role: str) -> list[Role]:
    """Return the roles for members that have no right that a role lacks, the highest first. Pure.

    A superadmin sees every project, and is a member of none.
    """
    own = RIGHTS[Role(role)] if role in set(Role) else frozenset[Right]()
    return [each for each in Role if RIGHTS[each] <= own and each is not Role.SUPERADMIN]
