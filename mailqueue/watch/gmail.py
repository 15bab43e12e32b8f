"""Inboxes at Gmail: ask for consent, connect what was consented to, revoke it.

A state is used once, within ten minutes, for the person and the address that it was begun for.
"""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

from mailqueue.contract.watch import Inbox, InboxConsent
from mailqueue.core.errors import Conflict, Locked, NotFound, SealBroken, Unauthorized
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.ports.mailbox import ConsentedInbox, InboxConsents
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import MasterKey
from mailqueue.watch import inboxes, secrets, states
from mailqueue.watch.logins import sessions
from mailqueue.watch.model import PendingConsent
from mailqueue.watch.store import consents as store
from mailqueue.webhooks.ids import new_id

CALLBACK_PATH = "/oauth/gmail"
"""Path of the public URL that Google sends the owner of an inbox back to."""
WEBMAIL_URL = "https://mail.google.com/mail/#search/rfc822msgid%3A{message_id}"
PUSH_PATH = "/push/gmail"
"""Path of the public URL that Pub/Sub pushes to."""
MAX_REVOCATIONS = 10
"""Consents of one removal that are revoked at once."""
REVOKING_SECONDS = 20.0
"""Limit of the revocations of one removal."""
_HOST, _PORT = "gmail.googleapis.com", 443
_log = get_logger(__name__)


def callback_of(origin: str) -> str:
    """Return the URL that Google sends people back to, below the public URL. Pure."""
    return f"{origin.rstrip('/')}{CALLBACK_PATH}"


async def begin(
    conn: Conn,
    wanted: PendingConsent,
    *,
    consents: InboxConsents | None,
    origin: str | None,
    by: str,
    session: Secret | None = None,
) -> InboxConsent:
    """Return where the owner of an inbox consents; with a session, in its browser alone.

    Raises:
        InvalidField: a field is invalid.
        Conflict: this installation has no client at Google, or no public URL.
    """
    if consents is None:
        raise Conflict(
            "this installation has no client at Google: set MAILQUEUE_GMAIL_CLIENT_ID and "
            "MAILQUEUE_GMAIL_CLIENT_SECRET"
        )
    if origin is None:
        raise Conflict("Google sends people back to MAILQUEUE_PUBLIC_URL, which is not set")
    state = states.new_state()
    wanted = wanted._replace(webmail_url=wanted.webmail_url or WEBMAIL_URL)
    ends = await store.begin(conn, wanted, state_hash=states.hash_of(state, session), by=by)
    url = consents.url(state, back=callback_of(origin), address=wanted.email_address)
    return InboxConsent(url, ends)


async def take(
    conn: Conn, state: str, cookies: Mapping[str, str], *, is_encrypted: bool
) -> PendingConsent:
    """Use up a state that a browser brings back; return what it was begun for.

    Raises:
        NotFound: it was not begun, or in another browser, was used before, or has ended, as has
            the session that it was begun in.
    """
    for each, session in states.hashes_of(state, cookies, is_encrypted=is_encrypted):
        found = await store.take(conn, each)
        if found is not None and await sessions.is_of(
            conn, found.project_id, found.user_id, session
        ):
            return found
    raise NotFound("consent", "of this state", "it may have ended")


async def connect(
    conn: Conn,
    pending: PendingConsent,
    consented: ConsentedInbox,
    *,
    master: MasterKey | None,
    by: str,
) -> Inbox:
    """Watch an inbox whose owner consented: mail that arrives from now on is reported.

    Raises:
        Unauthorized: the consent is to another inbox.
        Conflict: the person has an inbox of this address that is read otherwise, or there is no
            master key.
        InvalidField: the person was removed, or has too many inboxes.
        Locked: no access to the project's own key is granted.
    """
    if consented.address.lower() != pending.email_address:
        raise Unauthorized("the consent is to another inbox than the one that was asked for")
    project_id = pending.project_id
    async with conn.transaction():
        known = await store.find_inbox(
            conn, project_id, user_id=pending.user_id, email_address=pending.email_address
        )
        inbox_id = known or new_id()
        cell = secrets.password_cell(project_id, inbox_id, _HOST, _PORT)
        sealed = await secrets.sealed(conn, cell, consented.refresh_token, master=master)
        if not await store.connect(conn, inbox_id, pending, sealed=sealed, by=by):
            raise Conflict("this inbox of the inbox user is watched by IMAP already")
    return await inboxes.get(conn, project_id, inbox_id)


async def tokens_of(
    conn: Conn,
    project_id: UUID,
    *,
    inbox_id: UUID | None = None,
    user_id: UUID | None = None,
    master: MasterKey | None,
) -> list[Secret]:
    """Return the refresh tokens of an inbox or of all inboxes of a person, to revoke them.

    Those of addresses that are watched for others, too, are left out, and those that cannot be
    opened. To be called in the transaction that removes them, which two removals take in turns.
    """
    found: list[Secret] = []
    for row in await store.list_tokens(conn, project_id, inbox_id=inbox_id, user_id=user_id):
        cell = secrets.password_cell(project_id, row.id, row.host, row.port)
        if master is None:
            continue
        try:
            found.append(await secrets.opened(conn, cell, row.sealed, master=master))
        except (Locked, SealBroken) as exc:
            _log.warning("inbox.not_revoked", inbox=str(row.id), reason=type(exc).__name__)
    return found


async def revoke(consents: InboxConsents | None, tokens: Sequence[Secret]) -> bool:
    """End consents at Google together, within REVOKING_SECONDS; return whether all have ended.

    What fails is logged, as the tokens are deleted in any case. No transaction may be open.
    """
    if consents is None or not tokens:
        return not tokens
    turns = asyncio.Semaphore(MAX_REVOCATIONS)

    async def revoked(token: Secret) -> str | None:
        async with turns:
            return await consents.revoke(token)

    asked = [asyncio.create_task(revoked(one)) for one in tokens]
    done, late = await asyncio.wait(asked, timeout=REVOKING_SECONDS)
    for task in late:
        task.cancel()
    found = [task.result() for task in done] + ["Google was too slow"] * len(late)
    reasons = [why for why in found if why is not None]
    for why in reasons:
        _log.warning("inbox.not_revoked", reason=why)
    return not reasons


async def unused(conn: Conn, consented: ConsentedInbox) -> Sequence[Secret]:
    """Return the token of a consent that connected nothing, to revoke it.

    None where the address is watched, whose consent Google would end as well.
    """
    is_watched = await store.is_watched(conn, consented.address)
    return () if is_watched else (consented.refresh_token,)


async def note(conn: Conn, project_id: UUID, subject: UUID, *, result: str, by: str) -> None:
    """Write to the audit log what became of a consent: refused, revoked or not_revoked."""
    await store.note_consent(conn, project_id, subject, result=result, by=by)


async def wake(conn: Conn, address: str) -> None:
    """Scan the inboxes of an address at once, unless they are paused or wait after an error."""
    await store.wake(conn, address)
