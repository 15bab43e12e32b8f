"""Loads claimed emails: contents and recipients come with the claim, templates from a cache."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.db.faults import concerns_rows
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.mail.message.render import key_of, rendered, templates_of
from mailqueue.mail.message.tracking import CallWithConnection, EmailTracking, tracking_plan
from mailqueue.mail.model import ClaimedEmail, EmailRecipient, FileFault, LoadedEmail
from mailqueue.mail.send.begun import BegunEmails
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.mail.send.store.claims import Taken
from mailqueue.mime.skeleton import MessageContent
from mailqueue.telemetry.log import get_logger
from mailqueue.templates.cache import CachedVersion, TemplateCache, TemplateKey
from mailqueue.tracking.work import work_of

log = get_logger(__name__)


class EmailLoader:
    """Loads the emails of one worker's claims, and injects their tracking."""

    def __init__(self, link: Link, tracking: EmailTracking, begun: BegunEmails) -> None:
        self._link = link
        self._tracking = tracking
        self._begun = begun
        self._templates = TemplateCache()

    async def load(self, taken: Taken) -> list[LoadedEmail]:
        """Return the emails of a claim with their tracking; one that cannot be read has a fault."""
        ready, made = await self.read(taken)
        return ready + await self.tracked(made)

    async def read(self, taken: Taken) -> tuple[list[LoadedEmail], list[LoadedEmail]]:
        """Return the emails of a claim that are ready, and those that are made for each recipient.

        The latter are yet to be rendered from a template, tracked, or both. An email that cannot be
        read has a fault.
        """
        call, templates, contents = self._link.call, self._templates, taken.contents
        if contents is None:
            mails = await load_emails(call, taken.emails, templates)
        else:
            mails = [
                LoadedEmail(
                    email, contents.get(email.content_id), taken.recipients.get(email.id, ())
                )
                for email in taken.emails
            ]
            if any(content.template_version_id is not None for content in contents.values()):
                try:
                    mails = await call(partial(_with_templates, mails=mails, templates=templates))
                except Exception as exc:
                    if not concerns_rows(exc):
                        raise
                    mails = await load_emails(call, taken.emails, templates)
        reach("contents.read")
        is_tracking = self._tracking.injector is not None
        ready: list[LoadedEmail] = []
        made: list[LoadedEmail] = []
        for mail in mails:
            try:
                is_made = mail.template is not None or (
                    is_tracking and tracking_plan(mail) is not None
                )
            except Exception:  # it is reported when tracking is injected
                is_made = True
            (made if is_made else ready).append(mail)
        return ready, made

    def rendered(self, mail: LoadedEmail) -> LoadedEmail:
        """Return an email with what its template says, or with the fault for which it cannot."""
        if mail.content is None or mail.template is None or mail.fault is not None:
            return mail
        try:
            return mail._replace(rendered=rendered(mail, mail.content.header_fields, ()))
        except ValueError as exc:
            return mail._replace(fault=FileFault(str(exc), is_lasting=True))
        except Exception as exc:  # one bad row must not stop a worker
            log.exception("message.build_failed", email_id=str(mail.claim.id))
            reason = f"{type(exc).__name__} while composing"
            return mail._replace(fault=FileFault(reason, is_lasting=True))

    async def tracked(self, mails: list[LoadedEmail]) -> list[LoadedEmail]:
        """Return emails with their tracking."""
        if self._tracking.injector is None:
            return mails
        with self.begun(mails):
            return await self._tracking.inject(mails, self._link.call)

    def begun(self, mails: Sequence[LoadedEmail]) -> AbstractContextManager[None]:
        """Note that emails are handled, during a block."""
        return self._begun.all_of([mail.claim for mail in mails])


def work_of_tracking(mail: LoadedEmail) -> int:
    """Return the units of work of injecting tracking into an email."""
    content, said = mail.content, mail.rendered
    if mail.fault is not None or content is None:
        return 0
    if said is None:
        said = MessageContent(content.subject, content.html_body, content.text_body)
    return work_of(said)


async def load_emails(
    call: CallWithConnection, claimed: Sequence[ClaimedEmail], templates: TemplateCache
) -> list[LoadedEmail]:
    """Read what claimed emails say, in order; one that cannot be read has a fault.

    `call` runs a function with a connection, and again if the connection broke.
    """
    try:
        return await call(partial(_read, claimed=claimed, templates=templates))
    except Exception as exc:
        if not concerns_rows(exc):
            raise
        if len(claimed) == 1:
            (email,) = claimed
            log.exception("email.unreadable", email_id=str(email.id))
            reason = f"{type(exc).__name__} while what it says was read"
            return [LoadedEmail(email, None, fault=FileFault(reason, is_lasting=True))]
    # One of them cannot be read: alone it fails alone.
    return [one for email in claimed for one in await load_emails(call, [email], templates)]


async def _read(
    conn: Conn, claimed: Sequence[ClaimedEmail], templates: TemplateCache
) -> list[LoadedEmail]:
    wanted = {email.content_id: email.content_on for email in claimed}
    days = sorted(set(wanted.values()))
    contents = {
        content.id: content
        for content in await claims_store.read_contents(conn, list(wanted), days=days)
    }
    recipients: dict[UUID, list[EmailRecipient]] = {}
    # For every email: its count is of recipients still to be sent to, so 1 may be one of several.
    for one in await claims_store.read_recipients(conn, [email.id for email in claimed]):
        recipients.setdefault(one.email_id, []).append(one)
    mails = [
        LoadedEmail(email, contents.get(email.content_id), tuple(recipients.get(email.id, ())))
        for email in claimed
    ]
    return await _with_templates(conn, mails, templates)


async def _with_templates(
    conn: Conn, mails: list[LoadedEmail], templates: TemplateCache
) -> list[LoadedEmail]:
    contents = [mail.content for mail in mails if mail.content is not None]
    found = await templates_of(conn, templates, contents)
    return [_with_template(mail, found) for mail in mails] if found else mails


def _with_template(mail: LoadedEmail, found: Mapping[TemplateKey, CachedVersion]) -> LoadedEmail:
    key = key_of(mail.content)
    return mail if key is None else mail._replace(template=found.get(key))
