"""Copy a template with its published version, to the same project or another."""

from uuid import UUID

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.templates import store
from mailqueue.templates.model import NewTemplate, TemplateRow
from mailqueue.templates.versions import find as find_version
from mailqueue.templates.versions import texts_of
from mailqueue.templates.writing import create
from mailqueue.templates.writing import find as find_template


async def clone(
    conn: Conn,
    template: TemplateRow,
    *,
    to: UUID | None,
    slug: str | None = None,
    name: str | None = None,
    by: str,
) -> TemplateRow:
    """Copy a template and its published version, which becomes the copy's published version 1.

    The copy keeps the layouts and partials of that version, whatever parts the other project has. A
    template of the platform that is cloned under its own slug replaces it in that project.

    Raises:
        NotFound: it has no published version.
        Conflict: the slug is taken there.
        InvalidField: the slug is invalid.
    """
    async with conn.transaction():
        version = await find_version(conn, template)
        new = NewTemplate(
            slug=slug or template.slug,
            name=name or template.name,
            description=template.description,
            category=template.category,
            language=template.language,
        )
        copy = await create(conn, to, new=new, by=by)
        texts = await texts_of(conn, version)
        kept = {
            "variables_schema": version.variables_schema,
            "is_css_inlined": version.is_css_inlined,
            "note": f"copy of {template.slug}@{version.version}",
            "texts": [
                {
                    "language": text.language,
                    "subject": text.subject,
                    "html_body": text.html_body,
                    "text_body": text.text_body,
                    "parts": text.parts,
                    "needs": text.needs,
                }
                for text in texts
            ],
        }
        made = await store.add_version(conn, copy.id, version=kept, by=by)
        if made is None:
            raise NotFound("template", copy.slug)
        sent = {text.language: text.sent_html for text in texts if text.sent_html is not None}
        await store.publish(conn, made, sent=sent, by=by)
        return await find_template(conn, to, template_id=copy.id)
