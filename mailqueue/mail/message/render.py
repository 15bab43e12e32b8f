"""Renders emails from templates with their own variables."""

from collections.abc import Iterable, Mapping
from typing import Any

from mailqueue.core.json.reading import PartlyRead
from mailqueue.db.fetch import Conn
from mailqueue.mail.model import EmailContent, LoadedEmail
from mailqueue.mime.files import MessageFile
from mailqueue.mime.skeleton import MessageContent
from mailqueue.templates.cache import CachedVersion, TemplateCache, TemplateKey

VARIABLES = "variables"
"""Key of an email's custom_data that holds its variables."""


async def templates_of(
    conn: Conn, templates: TemplateCache, contents: Iterable[EmailContent]
) -> Mapping[TemplateKey, CachedVersion]:
    """Return the template versions of these contents; read nothing if there are none."""
    wanted = {key for content in contents if (key := key_of(content)) is not None}
    return await templates.fetch(conn, wanted) if wanted else {}


def key_of(content: EmailContent | None) -> TemplateKey | None:
    """Return the version and language a content is rendered from; None if it is no template's."""
    if content is None or content.template_version_id is None:
        return None
    return content.template_version_id, content.template_language or ""


def rendered(
    mail: LoadedEmail, headers: tuple[tuple[str, str], ...], files: tuple[MessageFile, ...]
) -> MessageContent:
    """Return the content of one email from a template.

    Raises:
        ValueError: it cannot be rendered with its variables, or rendering exceeds its limits.
    """
    if mail.rendered is not None:
        return mail.rendered._replace(headers=headers, files=files)
    if mail.template is None:
        raise ValueError("its template was deleted")
    custom: Any = mail.claim.custom_data
    if isinstance(custom, PartlyRead | list | str):
        raise ValueError("its variables cannot be read: nested too deeply, or a number too large")
    variables = custom.get(VARIABLES) if isinstance(custom, dict) else None
    said = mail.template.render(variables if isinstance(variables, dict) else {})
    return MessageContent(said.subject, said.html, said.text, headers, files)
