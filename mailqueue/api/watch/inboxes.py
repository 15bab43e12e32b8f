"""Endpoints of watched inboxes."""

from http import HTTPStatus
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.api.http.pagination import page_of
from mailqueue.api.watch.consents import remove_with_consents
from mailqueue.api.watch.people import SOMEBODY
from mailqueue.api.watch.schema import (
    NewInboxBody,
    NewInboxConsent,
    OfUserQuery,
    ReconnectInbox,
)
from mailqueue.contract.page import Page
from mailqueue.contract.watch import Inbox, InboxConsent
from mailqueue.core.paging import key_of
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.projects.model import Scope
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch import gmail, inboxes
from mailqueue.watch.inboxes import InboxAction, NewInbox
from mailqueue.watch.model import PendingConsent

_TAG = "Inbox watch"
INBOXES = "/v1/inboxes"
_INBOX = INBOXES + "/{inbox_id}"


async def list_inboxes(call: RequestContext) -> Page[Inbox]:
    """List watched inboxes."""
    query: OfUserQuery = call.query
    (after,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        found = await inboxes.list_page(
            conn,
            call.caller.project_id,
            user_id=query.user_id,
            after=after,
            limit=query.limit + 1,
        )
    return page_of(found, query.limit, key=lambda one: (one.id,))


async def add_inbox(call: RequestContext) -> Inbox:
    """Watch an inbox."""
    body: NewInboxBody = call.body
    new = NewInbox(
        body.user_id,
        body.email_address,
        body.host,
        Secret(body.password),
        port=body.port,
        tls=body.tls,
        username=body.username,
        folders=body.folders,
        webmail_url=body.webmail_url,
        scan_seconds=body.scan_seconds,
    )
    master, own = master_key_of(call.settings), own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn):
        return await inboxes.add(
            conn,
            call.caller.project_id,
            new,
            allowed=call.settings.allowed_hosts,
            master=master,
            by=call.by,
        )


async def connect_gmail(call: RequestContext) -> InboxConsent:
    """Return where the owner of an inbox at Gmail consents."""
    body: NewInboxConsent = call.body
    wanted = PendingConsent(
        call.caller.project_id,
        body.user_id,
        body.email_address,
        body.folders,
        body.webmail_url,
        body.scan_seconds,
    )
    async with call.connection() as conn:
        return await gmail.begin(
            conn,
            wanted,
            consents=call.services.inbox_consents,
            origin=call.settings.tracking.public_url,
            by=call.by,
        )


async def get_inbox(call: RequestContext) -> Inbox:
    """Return one inbox."""
    async with call.connection() as conn:
        return await inboxes.get(conn, call.caller.project_id, call.id("inbox_id"))


async def pause_inbox(call: RequestContext) -> Inbox:
    """Pause an inbox."""
    return await _switched(call, InboxAction.PAUSE)


async def resume_inbox(call: RequestContext) -> Inbox:
    """Resume an inbox."""
    return await _switched(call, InboxAction.RESUME)


async def scan_inbox(call: RequestContext) -> Inbox:
    """Scan an inbox now."""
    return await _switched(call, InboxAction.SCAN)


async def _switched(call: RequestContext, action: InboxAction) -> Inbox:
    async with call.connection() as conn:
        return await inboxes.switch(
            conn, call.caller.project_id, call.id("inbox_id"), action, by=call.by
        )


async def reconnect_inbox(call: RequestContext) -> Inbox:
    """Replace the credentials of an inbox."""
    body: ReconnectInbox = call.body
    master, own = master_key_of(call.settings), own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn):
        return await inboxes.reconnect(
            conn,
            call.caller.project_id,
            call.id("inbox_id"),
            password=Secret(body.password),
            username=body.username,
            master=master,
            by=call.by,
        )


async def remove_inbox(call: RequestContext) -> None:
    """Stop watching an inbox; the consent to one at Gmail is revoked afterwards."""
    inbox_id = call.id("inbox_id")

    async def remove(conn: Conn) -> None:
        await inboxes.remove(conn, call.caller.project_id, inbox_id, by=call.by)

    await remove_with_consents(call, remove, inbox_id=inbox_id)


INBOX_ENDPOINTS = (
    Endpoint(
        "GET",
        INBOXES,
        Scope.PROJECT_READ,
        "List watched inboxes.",
        list_inboxes,
        query=OfUserQuery,
        response=Page[Inbox],
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        INBOXES,
        Scope.PROJECT_WRITE,
        "Watch an inbox.",
        add_inbox,
        request=NewInboxBody,
        response=Inbox,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={
            "user_id": SOMEBODY,
            "email_address": "ann@example.com",
            "host": "imap.example.com",
            "password": "an application password",
        },
        description="Mail that arrives from now on is reported. At most 20 inboxes for each inbox "
        "user.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{INBOXES}/gmail",
        Scope.PROJECT_WRITE,
        "Connect an inbox at Gmail.",
        connect_gmail,
        request=NewInboxConsent,
        response=InboxConsent,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={"user_id": SOMEBODY, "email_address": "ann@example.com"},
        description="Send the owner of the inbox to `consent_url`, which works once. When the "
        "owner has consented, the inbox is in the list of inboxes, and mail that arrives from then "
        "on is reported; one that was connected before is reconnected.",
        once=Once.NEVER,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        _INBOX,
        Scope.PROJECT_READ,
        "Show a watched inbox.",
        get_inbox,
        response=Inbox,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{_INBOX}/pause",
        Scope.PROJECT_WRITE,
        "Pause an inbox.",
        pause_inbox,
        response=Inbox,
        tag=_TAG,
        description="It is not scanned, and mail that arrives is not reported.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{_INBOX}/resume",
        Scope.PROJECT_WRITE,
        "Resume an inbox.",
        resume_inbox,
        response=Inbox,
        tag=_TAG,
        description="Mail that arrived during the pause is not reported.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{_INBOX}/scan",
        Scope.PROJECT_WRITE,
        "Scan an inbox now.",
        scan_inbox,
        response=Inbox,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{_INBOX}/reconnect",
        Scope.PROJECT_WRITE,
        "Give an inbox new credentials.",
        reconnect_inbox,
        request=ReconnectInbox,
        response=Inbox,
        tag=_TAG,
        example={"password": "another application password"},
        description="An inbox in error is scanned again; mail that arrived meanwhile is not "
        "reported.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        _INBOX,
        Scope.PROJECT_WRITE,
        "Stop watching an inbox.",
        remove_inbox,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        description="Its password and its notifications are deleted, and the consent to an "
        "inbox at Gmail is revoked.",
        test_keys=ForTestKeys.REFUSED,
    ),
)
