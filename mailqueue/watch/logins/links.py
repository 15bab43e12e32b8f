"""Links by which persons set a password: an invitation of the project, a reset by the person."""

from datetime import UTC, datetime, timedelta
from urllib.parse import quote
from uuid import UUID

from mailqueue.contract.watch import InboxInvitation
from mailqueue.core.errors import Conflict, NotFound, TooManyRequests
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.acceptance import accept_one
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.projects.keys import text as keys_text
from mailqueue.watch.logins import store
from mailqueue.watch.logins.mails import invitation_mail, reset_mail
from mailqueue.watch.logins.model import LinkKind, PersonsProject

PATH = "/inbox"
"""Path of the public URL below which the pages of each project stand."""
LINK_PREFIX = "mq_inbox_"
INVITATION_LASTS = timedelta(days=7)
"""How long an invitation can set a password."""
RESET_LASTS = timedelta(hours=1)
"""How long a link that a person asked for can set a password."""
MAX_LINK_CHARACTERS = 100
NO_LINK = ("valid link", "at this address: it was used, or is too old")


def home_url(origin: str, project: str) -> str:
    """Return the address of the pages of a project. Pure."""
    return f"{origin.rstrip('/')}{PATH}/{quote(project)}"


def link_url(origin: str, project: str, token: Secret) -> str:
    """Return a link as a person opens it. Pure."""
    return f"{home_url(origin, project)}/welcome?link={token.reveal()}"


async def invite(
    conn: Conn,
    project_id: UUID,
    user_id: UUID,
    *,
    project: str,
    origin: str | None,
    by_mail: bool,
    by: str,
) -> InboxInvitation:
    """Make a link by which a person sets a password, and mail it or return it.

    The link is in the mail alone, or in the answer alone. Links that were made before still work.

    Raises:
        NotFound: there is no such person.
        Conflict: the public URL, at which persons open their pages, is not set.
        TooManyRequests: too many invitations were mailed to the person, or by the project.
        InvalidField: the project cannot send the mail.
    """
    token, until = keys_text.new_secret(LINK_PREFIX), datetime.now(UTC) + INVITATION_LASTS
    async with conn.transaction():
        email = await store.invite(
            conn,
            project_id,
            user_id,
            token=keys_text.hash_of(token.reveal()),
            until=until,
            by=by,
        )
        if email is None:
            raise NotFound("inbox user", user_id)
        if origin is None:
            raise Conflict("persons open their pages at MAILQUEUE_PUBLIC_URL, which is not set")
        url = link_url(origin, project, token)
        if not by_mail:
            return InboxInvitation(email, until, url, None)
        await _take_mail(conn, project_id, email, "invitation")
        named = await find_project(conn, project)
        shown = project if named is None else named.display_name
        mail = invitation_mail(email, shown, url, until)
        return InboxInvitation(email, until, None, await _queued(conn, mail, project))


async def ask_reset(conn: Conn, project: PersonsProject, email: str, *, origin: str) -> bool:
    """Mail a link to the person with an address; return whether one was mailed.

    Nothing is mailed where no person who logs in has the address, and while three links that were
    mailed are in force.

    Raises:
        TooManyRequests: too many were mailed to the person, or by the project.
        InvalidField: the project cannot send the mail.
    """
    token, until = keys_text.new_secret(LINK_PREFIX), datetime.now(UTC) + RESET_LASTS
    async with conn.transaction():
        found = await store.ask_reset(
            conn, project.id, email, token=keys_text.hash_of(token.reveal()), until=until
        )
        if found is None:
            return False
        await _take_mail(conn, project.id, found, "reset")
        url = link_url(origin, project.name, token)
        await _queued(conn, reset_mail(found, project.display_name, url), project.name)
        return True


async def find_project(conn: Conn, name: str) -> PersonsProject | None:
    """Return the project whose pages stand below a name; None if there is none."""
    return await store.find_project(conn, name)


async def email_of_link(conn: Conn, project_id: UUID, token: str) -> str:
    """Return the address of the person who may set a password by a link, which stays valid.

    Raises:
        NotFound: the link was used, or has ended.
    """
    found = None
    if is_link(token):
        found = await store.find_link(conn, project_id, keys_text.hash_of(token))
    if found is None:
        raise NotFound(*NO_LINK)
    return found


def is_link(token: str) -> bool:
    """Return whether a text has the form of a link's token. Pure."""
    return (
        len(token) < MAX_LINK_CHARACTERS
        and token.isascii()
        and token.startswith(LINK_PREFIX)
        and keys_text.has_checksum(token)
    )


async def _take_mail(conn: Conn, project_id: UUID, email: str, kind: LinkKind) -> None:
    turn = await store.take_mail(conn, project_id, email, kind=kind)
    if turn.refusal is not None and turn.wait is not None:
        raise TooManyRequests(turn.refusal, turn.wait)


async def _queued(conn: Conn, mail: NewEmail, project: str) -> UUID:
    sent = await accept_one(conn, mail, project=project)
    return sent.id
