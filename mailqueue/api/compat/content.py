"""Content of a mail for compatible APIs, rendered if it comes from a template."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mailqueue.api.compat.mailboxes import format_mailbox
from mailqueue.api.http.context import RequestContext
from mailqueue.mail.message.preview import StoredEmail, find_email
from mailqueue.mail.message.render import VARIABLES, key_of, templates_of
from mailqueue.rendering.faults import TemplateFault


@dataclass(frozen=True, slots=True)
class RenderedContent:
    """Content of one mail; None where it was deleted or cannot be rendered."""

    sender: str
    subject: str | None
    html: str | None
    text: str | None
    reply_to: str | None
    headers: dict[str, str]
    files: list[dict[str, Any]]


async def content_of(call: RequestContext, email_id: UUID) -> RenderedContent:
    """Return the content of a mail of the caller's project.

    Raises:
        NotFound: there is no such mail.
    """
    project_id = call.caller.project_id
    shown = await find_email(call.connection, project_id=project_id, email_id=email_id)
    content = shown.email.content
    sender = _sender(shown)
    if content is None:
        return RenderedContent(sender, None, None, None, None, {}, [])
    subject, html, text = await _words(call, shown)
    return RenderedContent(
        sender=sender,
        subject=subject,
        html=html,
        text=text,
        reply_to=content.reply_to,
        headers=content.headers or {},
        files=[one for one in content.files or () if not one.get("raw")],
    )


def _sender(shown: StoredEmail) -> str:
    content = shown.email.content
    if content is None or content.from_email is None:
        return format_mailbox(shown.identity.sender.name, shown.identity.sender.address.sent)
    return format_mailbox(content.from_name, content.from_email)


async def _words(
    call: RequestContext, shown: StoredEmail
) -> tuple[str | None, str | None, str | None]:
    content = shown.email.content
    assert content is not None, "the email has no content"
    key = key_of(content)
    if key is None:
        return content.subject, content.html_body, content.text_body
    async with call.connection() as conn:
        sheet = (await templates_of(conn, call.services.template_cache, [content])).get(key)
    custom = shown.email.claim.custom_data
    variables = custom.get(VARIABLES) if isinstance(custom, dict) else None
    if sheet is None:
        return content.subject, None, None
    try:
        said = sheet.render(variables if isinstance(variables, dict) else {})
    except TemplateFault:
        return content.subject, None, None
    return said.subject, said.html, said.text
