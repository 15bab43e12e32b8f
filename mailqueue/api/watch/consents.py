"""Revokes consents at Google before what they are for is removed."""

from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch import gmail


async def revoke_consents(
    call: RequestContext, *, inbox_id: UUID | None = None, user_id: UUID | None = None
) -> None:
    """End the consents to an inbox, or to all inboxes of a person, at Google."""
    consents = call.services.inbox_consents
    if consents is None:
        return
    master, own = master_key_of(call.settings), own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn):
        tokens = await gmail.tokens_of(
            conn, call.caller.project_id, inbox_id=inbox_id, user_id=user_id, master=master
        )
    await gmail.revoke(consents, tokens)
