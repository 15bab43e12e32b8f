"""Revokes consents at Google after what they were for is removed."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch import gmail

RemoveRows = Callable[[Conn], Awaitable[None]]


async def remove_with_consents(
    call: RequestContext,
    remove: RemoveRows,
    *,
    inbox_id: UUID | None = None,
    user_id: UUID | None = None,
) -> None:
    """Remove an inbox, or a person with all inboxes; then end the consents to them at Google."""
    consents, project_id = call.services.inbox_consents, call.caller.project_id
    tokens: list[Secret] = []
    async with call.connection() as conn:
        if consents is not None:
            master, own = master_key_of(call.settings), own_key_of(call.request)
            async with unlocked(call, own, conn):
                tokens = await gmail.tokens_of(
                    conn, project_id, inbox_id=inbox_id, user_id=user_id, master=master
                )
        await remove(conn)
    if not tokens:
        return
    result = "revoked" if await gmail.revoke(consents, tokens) else "not_revoked"
    subject = inbox_id or user_id
    if subject is not None:
        async with call.connection() as conn:
            await gmail.note(conn, project_id, subject, result=result, by=call.by)
