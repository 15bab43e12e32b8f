"""A test email of a version with sample values, to the address of the user or another one."""

from collections.abc import Mapping

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import act_pages
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.templates.owner import (
    PROJECT_TEMPLATE,
    find_template,
    find_version,
    path_of,
)
from mailqueue.console.templates.preview import rendered
from mailqueue.contract.templates import Preview
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.mail.accept.acceptance import accept_one
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.operations.acting import note_act
from mailqueue.templates.model import TemplateRow
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence

TAG = "template-test"
"""Tag of test emails."""
FIELDS = ("to", "language", "variables")


async def ask(context: PageContext) -> Response:
    """Show the form, with the user's own address if the user's name is one."""
    typed = {name: context.query(name) for name in FIELDS}
    return await _shown(context, {**typed, "to": typed["to"] or _own_address(context)})


async def send(context: PageContext) -> Response:
    """Accept the rendered version as one email, and show that email."""
    typed = {name: text_of(context.form, name) for name in FIELDS}
    try:
        parse_address(typed["to"])
        template = await _template(context)
        # It is rendered first: no transaction is open while the process works.
        shown = await rendered(context, template, {**typed, "version": _version(context)})
        async with context.acting_once() as conn:
            sent = await accept_one(conn, _email(typed["to"], shown), project=context.seen.name)
            await note_act(
                conn,
                context.seen.id,
                action="template.tested",
                subject=template.slug,
                detail={
                    "version": shown.version,
                    "language": shown.language,
                    "email": str(sent.id),
                },
            )
    except DoneBefore:
        return context.redirect(path_of(context, template.id, done="before"))
    except InvalidAddress as exc:
        return await _shown(context, typed, {"to": sentence(str(exc))})
    except InvalidField as exc:
        field = "to" if exc.field in ("to", "recipient") else "variables"
        return await _shown(context, typed, {field: sentence(f"{exc.field}: {exc.why}")})
    return context.redirect(project_path(context.seen.name, "emails", sent.id))


def _email(recipient: str, shown: Preview) -> NewEmail:
    return NewEmail(
        recipient=recipient,
        subject=shown.subject,
        html=shown.html_body,
        text=shown.text_body,
        options={"category": "transactional", "priority": "high", "tags": [TAG]},
    )


def _own_address(context: PageContext) -> str:
    """Return the user's name if it is an address, else an empty text."""
    try:
        parse_address(context.user.name)
    except InvalidAddress:
        return ""
    return context.user.name


def _version(context: PageContext) -> str:
    given: str = context.request.path_params["version"]
    return given


async def _template(context: PageContext) -> TemplateRow:
    async with context.connection() as conn:
        return await find_template(context, conn)


async def _shown(
    context: PageContext, typed: Mapping[str, str], faults: Mapping[str, str] | None = None
) -> Response:
    async with context.connection() as conn:
        template = await find_template(context, conn)
        version = await find_version(conn, template, _version(context))
    return context.form_page(
        "templates/test.html", typed, faults, found=template, version=version, path_of=path_of
    )


PAGES = act_pages(
    f"{PROJECT_TEMPLATE}/versions/{{version}}/test",
    Right.CONFIGURE,
    ask=ask,
    act=send,
    keeps=FIELDS,
    step_up=False,
)
