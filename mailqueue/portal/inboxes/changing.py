"""Add, reconnect and remove a person's inbox."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from mailqueue.contract.watch import Inbox, InboxProvider
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.portal.frame.context import PortalContext, SentBefore
from mailqueue.portal.frame.forms import PortalAct, PortalForm, Question, fault_of, form_pages
from mailqueue.portal.frame.page import PortalPage
from mailqueue.watch import gmail, inboxes, owned
from mailqueue.watch.inboxes import DEFAULT_FOLDERS, DEFAULT_SCAN_SECONDS, NewInbox
from mailqueue.watch.model import PendingConsent
from mailqueue.web.forms import text_of
from mailqueue.web.schemas import Choices, FormSchema, SecretText, TextLines

ONE = "/inboxes/{inbox_id}"
_TLS = {
    "implicit": "TLS from the start (port 993)",
    "starttls": "STARTTLS (port 143)",
    "none": "none, only in a network that the operator allowed",
}
InboxPassword = Annotated[str, Field(min_length=1, max_length=1000), SecretText()]
FolderLines = Annotated[str, Field(max_length=2000), TextLines()]


class ImapForm(FormSchema):
    """An inbox that is read by IMAP."""

    email_address: Annotated[str, Field(min_length=3, max_length=320)]
    """Address of the inbox"""
    host: Annotated[str, Field(min_length=1, max_length=255)]
    """Server
    Its IMAP host, such as imap.example.com."""
    port: Annotated[int, Field(ge=1, le=65535)] = 993
    """Port"""
    tls: Annotated[Literal["implicit", "starttls", "none"], Choices(_TLS)] = "implicit"
    """Encryption"""
    username: Annotated[str, Field(max_length=320)] = ""
    """Login name
    Empty: the address."""
    password: InboxPassword
    """Password
    Best one for this application alone. It is stored sealed, and never shown."""
    folders: FolderLines = "\n".join(DEFAULT_FOLDERS)
    """Folders
    One a line. Not those of sent mail, drafts, spam and trash."""
    scan_seconds: Annotated[int, Field(ge=30, le=86400)] = DEFAULT_SCAN_SECONDS
    """Seconds between two scans"""


class ReconnectForm(FormSchema):
    """New credentials of an inbox."""

    username: Annotated[str, Field(max_length=320)] = ""
    """Login name
    Empty: as before."""
    password: InboxPassword
    """Password"""


async def _add(context: PortalContext, conn: Conn, form: ImapForm) -> str:
    folders = [line.strip() for line in form.folders.splitlines() if line.strip()]
    if not 1 <= len(folders) <= 10 or any(len(folder) > 200 for folder in folders):
        raise InvalidField("folders", "must be 1 to 10 names of at most 200 characters")
    new = NewInbox(
        context.person.user_id,
        form.email_address,
        form.host,
        Secret(form.password),
        port=form.port,
        tls=form.tls,
        username=form.username or None,
        folders=folders,
        scan_seconds=form.scan_seconds,
    )
    await inboxes.add(
        conn,
        context.project.id,
        new,
        allowed=context.portal.settings.allowed_hosts,
        master=context.portal.master(),
        by=context.person.by,
    )
    return context.path(done="added")


async def _reconnect(context: PortalContext, conn: Conn, form: ReconnectForm) -> str:
    one = await _own(context, conn)
    await inboxes.reconnect(
        conn,
        context.project.id,
        one.id,
        password=Secret(form.password),
        username=form.username or None,
        master=context.portal.master(),
        by=context.person.by,
    )
    return context.path(done="reconnected")


async def _what_is_reconnected(context: PortalContext, conn: Conn) -> str:
    return (await _own(context, conn)).email_address


async def _what_is_removed(context: PortalContext, conn: Conn) -> Question:
    one = await _own(context, conn)
    consequence = "New mail in it is not reported any more. Its password and its notifications are "
    if one.provider == InboxProvider.GMAIL:
        consequence = "Your consent at Google ends. The notifications of this inbox are "
    return Question(one.email_address, f"{consequence}deleted.")


async def _remove(context: PortalContext, conn: Conn) -> str:
    one, consents = await _own(context, conn), context.portal.inbox_consents
    tokens: Sequence[Secret] = ()
    if consents is not None:
        tokens = await gmail.tokens_of(
            conn, context.project.id, inbox_id=one.id, master=context.portal.master()
        )
    await inboxes.remove(conn, context.project.id, one.id, by=context.person.by)
    if tokens:
        context.afterwards.append(partial(_revoke, context, one.id, tokens))
    return context.path(done="removed")


async def _revoke(context: PortalContext, inbox_id: UUID, tokens: Sequence[Secret]) -> None:
    is_done = await gmail.revoke(context.portal.inbox_consents, tokens)
    result, by = "revoked" if is_done else "not_revoked", context.person.by
    async with context.connection() as conn:
        await gmail.note(conn, context.project.id, inbox_id, result=result, by=by)


async def ask_gmail(context: PortalContext) -> Response:
    """Ask for the address of an inbox at Gmail; one that is in error is in the query."""
    return _gmail_form(context, context.query("email_address") or context.person.email)


async def connect_gmail(context: PortalContext) -> Response:
    """Show the link to the page of Google where the owner consents."""
    email = text_of(context.form, "email_address")
    wanted = PendingConsent(
        context.project.id,
        context.person.user_id,
        email,
        DEFAULT_FOLDERS,
        None,
        DEFAULT_SCAN_SECONDS,
    )
    try:
        async with context.acting_once() as conn:
            begun = await gmail.begin(
                conn,
                wanted,
                consents=context.portal.inbox_consents,
                origin=context.portal.origin,
                by=context.person.by,
                session=context.form_key,
            )
    except SentBefore:
        return context.redirect(context.path("inboxes", "gmail"))
    except InvalidField as exc:
        return _gmail_form(context, email, fault_of(exc, {"email_address": email}))
    except Conflict:
        why = {"": "Inboxes at Gmail cannot be connected here: the installation is not set up."}
        return _gmail_form(context, email, why)
    return context.page(
        "frame/onward.html",
        title="Consent at Google",
        lead=f"Choose the account {email} there, and allow that its mail is read. "
        "The link works in this browser alone.",
        url=begun.consent_url,
        until=begun.expires_at,
        words="Continue at Google",
        back=context.home,
    )


def _gmail_form(
    context: PortalContext, email: str, faults: dict[str, str] | None = None
) -> Response:
    return context.form_page("inboxes/gmail.html", {"email_address": email}, faults)


async def _own(context: PortalContext, conn: Conn) -> Inbox:
    return await owned.inbox(
        conn,
        context.project.id,
        context.person.user_id,
        context.id_in_path("inbox_id", "inbox"),
    )


PAGES = (
    *form_pages(
        "/inboxes/new",
        PortalForm(
            "Add an inbox",
            "Add the inbox",
            ImapForm,
            _add,
            above="",
            lead="New mail is reported from now on; what is there already is not.",
        ),
    ),
    PortalPage("GET", "/inboxes/gmail", ask_gmail),
    PortalPage("POST", "/inboxes/gmail", connect_gmail),
    *form_pages(
        f"{ONE}/reconnect",
        PortalForm(
            "Reconnect",
            "Reconnect",
            ReconnectForm,
            _reconnect,
            above="",
            lead="Mail that arrived meanwhile is not reported.",
            about=_what_is_reconnected,
        ),
    ),
    *form_pages(
        f"{ONE}/remove",
        PortalAct("Remove", "Remove the inbox", _what_is_removed, _remove, ""),
    ),
)
