"""All that a project stores about a person, as a file."""

import json
from dataclasses import asdict
from functools import partial

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.recipients.pages import RECIPIENT
from mailqueue.contract.privacy import ProjectExport
from mailqueue.privacy.exporting import export_person, note_export
from mailqueue.privacy.model import ProjectName
from mailqueue.suppression.acceptable import address_of
from mailqueue.web.forms import text_of
from mailqueue.web.security_headers import DOWNLOAD_HEADERS


async def ask(context: PageContext) -> Response:
    """Show what the file has, and who will know of it."""
    address = address_of(context.query("address")).sent
    return context.page("recipients/export.html", address=address)


async def export(context: PageContext) -> Response:
    """Return the file; that it was made is recorded in the audit log first."""
    address = address_of(text_of(context.form, "address"))
    project = context.seen
    try:
        async with context.acting_once() as conn:
            await note_export(conn, project.id, address.spellings)
    except DoneBefore:
        return context.redirect(
            project_path(project.name, "recipient", address=address.sent, done="before")
        )
    found = await export_person(
        context.connection, ProjectName(project.id, project.name), address.spellings
    )
    document = ProjectExport(
        email=address.sent,
        mails=found["mails"],
        records=found["records"],
        archives=found["archives"],
        project=project.name,
    )
    return Response(
        json.dumps(asdict(document), indent=2, ensure_ascii=False, default=str).encode(),
        media_type="application/json",
        headers={
            "Content-Disposition": f'attachment; filename="person-{project.name}.json"',
            **DOWNLOAD_HEADERS,
        },
    )


_page = partial(ConsolePage, path=f"{RECIPIENT}/export", access=Right.MANAGE_RECIPIENTS)
PAGES = (_page("GET", handler=ask), _page("POST", handler=export, keeps=("address",)))
