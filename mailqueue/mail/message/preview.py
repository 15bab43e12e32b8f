"""Builds the message of a stored email for display, as a send worker would."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from typing import Any
from uuid import UUID

from mailqueue.core.address import Mailbox, parse_address, parse_mailbox
from mailqueue.core.errors import Conflict, NotFound, Unavailable
from mailqueue.core.json.reading import PartlyRead
from mailqueue.core.project_turns import ProjectTurns
from mailqueue.db.fetch import Lend
from mailqueue.mail.message import store as message_store
from mailqueue.mail.message.attachments import read_stored, refs_of, with_files
from mailqueue.mail.message.build import NotYet, SkeletonCache, build_message
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.mail.message.render import key_of, rendered, templates_of
from mailqueue.mail.message.tracking import EmailTracking, calling
from mailqueue.mail.model import ClaimedEmail, EmailContent, EmailRecipient, FileFault, LoadedEmail
from mailqueue.ports.transport import SendAttempt
from mailqueue.senders.identity import LAST_RESORT
from mailqueue.senders.model import MailDefaults
from mailqueue.templates.cache import TemplateCache

BUILD_TURNS = ProjectTurns("have a message built")
"""Turns of the projects whose messages are shown."""


@dataclass(frozen=True, slots=True)
class MessageSources:
    """What building takes besides the row: attachment storage, templates and tracking."""

    storage: AttachmentStorage
    templates: TemplateCache
    tracking: EmailTracking = field(default_factory=EmailTracking)


@dataclass(frozen=True, slots=True)
class StoredEmail:
    """An email with all that its message is built from: a row of SQL's message_source()."""

    email: LoadedEmail
    identity: MailDefaults
    written_at: datetime
    status: str


def stored_email(document: Mapping[str, Any], project_id: UUID) -> StoredEmail:
    """Return the email from the document of SQL's message_source(). Pure."""
    found = document["content"]
    content = None if found is None else _content(found)
    now = datetime.now(UTC)
    email = ClaimedEmail(
        id=UUID(document["id"]),
        claim_no=0,
        assigned_to=0,
        account_revision=0,
        project_id=project_id,
        attempts=1,
        recipients=1,
        unknowns=0,
        expires_at=now,
        category=document["category"],
        recipient_email=document["recipient_email"],
        recipient_name=document["recipient_name"],
        custom_data=_custom_data(document),
        content_id=0 if content is None else content.id,
        content_on=now.date() if found is None else date.fromisoformat(found["created_on"]),
    )
    recipients = tuple(
        EmailRecipient(email.id, one["kind"], one["address"], one["name"], "pending")
        for one in document["recipients"] or ()
    )
    at = document["sent_at"] or document["created_at"]
    mail = LoadedEmail(email, content, recipients)
    return StoredEmail(mail, _identity(document), _instant(at, now), document["status"])


def _custom_data(document: Mapping[str, Any]) -> Any:
    found = document["custom_data"]
    if isinstance(document, PartlyRead) and isinstance(found, dict):
        return PartlyRead(found)
    return found


def _instant(text: str, otherwise: datetime) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:  # outside Python's range
        return otherwise


async def find_email(lend: Lend, *, project_id: UUID, email_id: UUID) -> StoredEmail:
    """Return an email of a project with what building its message takes.

    Raises:
        NotFound: there is no such email.
    """
    async with lend() as conn:
        found = await message_store.read_message_source(conn, project_id, email_id)
    if found is None:
        raise NotFound("email", email_id)
    return stored_email(found, project_id)


async def build_preview(
    lend: Lend,
    library: MessageSources,
    shown: StoredEmail,
    files: Mapping[UUID, bytes] | None = None,
) -> SendAttempt:
    """Build the message, unsigned, with its files: those in `files`, by id, and those stored.

    Projects have their turns, and it is built in a thread: the process serves others meanwhile.

    Raises:
        TooManyRequests: too many requests of the project wait already.
        ValueError: it cannot be built; the text says why.
        Conflict: its content was deleted or archived.
        Unavailable: one of its files cannot be read now.
    """
    content = shown.email.content
    if content is None:
        raise Conflict("the content of this email was deleted or archived")
    project_id = shown.email.claim.project_id
    mail = await fetched(lend, library.storage, shown.email, project_id=project_id, files=files)
    if (key := key_of(content)) is not None:
        async with lend() as conn:
            found = await templates_of(conn, library.templates, [content])
        mail = mail._replace(template=found.get(key))
    async with BUILD_TURNS.turn(project_id):
        if key is not None:
            mail = await asyncio.to_thread(_rendered, mail, content)
        (injected,) = await library.tracking.inject([mail], calling(lend), is_shown=True)
        if injected.fault is None:  # else it is shown as accepted
            mail = injected
        build = partial(build_message, identity=shown.identity, now=shown.written_at)
        try:
            return await asyncio.to_thread(build, mail, SkeletonCache())
        except NotYet as exc:
            raise Unavailable(str(exc)) from exc


def _rendered(mail: LoadedEmail, content: EmailContent) -> LoadedEmail:
    return mail._replace(rendered=rendered(mail, content.header_fields, ()))


async def fetched(
    lend: Lend,
    storage: AttachmentStorage,
    mail: LoadedEmail,
    *,
    project_id: UUID,
    files: Mapping[UUID, bytes] | None = None,
) -> LoadedEmail:
    """Return an email of a project with its files."""
    refs = refs_of(mail)
    if not refs:
        return mail
    octets: dict[UUID, bytes | FileFault] = dict(files or {})
    missing = [ref for ref in refs if ref.id not in octets]
    if missing:
        ids, days = [ref.id for ref in missing], sorted({ref.on for ref in missing})
        async with lend() as conn:
            stored = await message_store.files_of(conn, project_id, ids, days=days)
        octets |= await read_stored(stored, storage)
    return with_files(mail, octets)


def _content(row: Mapping[str, Any]) -> EmailContent:
    version = row.get("template_version_id")
    said = EmailContent._make(row.get(name) for name in EmailContent._fields)
    return said._replace(template_version_id=None if version is None else UUID(version))


def _identity(document: Mapping[str, Any]) -> MailDefaults:
    account, project = document["account"], document["project"]
    sender = Mailbox("", parse_address(LAST_RESORT))
    for one in (project, account) if account["is_trap"] else (account, project):
        if one["email"] is not None:
            sender = Mailbox(one["name"] or "", parse_address(one["email"]))
            break
    return MailDefaults(
        sender,
        None if project["reply_to"] is None else parse_mailbox(project["reply_to"]),
        None if project["bounce_address"] is None else parse_address(project["bounce_address"]),
    )
