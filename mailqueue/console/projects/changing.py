"""Pages that create, suspend and activate a project, for those who administer the installation."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.form import FormPage, form_pages
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.projects import manage as projects_manage
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence
from mailqueue.web.schemas import FormSchema

NEW = "/console/new-project"
SUSPEND = "/console/projects/{project}/suspend"
ACTIVATE = "/console/projects/{project}/activate"
MAX_REASON = 500
"""Maximum length in characters of a reason, which `mailqueue why` shows."""


class ProjectForm(FormSchema):
    """The form of a new project."""

    name: Annotated[str, Field(max_length=63)]
    """Name: lower-case letters, digits, - and _; it cannot be changed"""
    display_name: Annotated[str | None, Field(max_length=200)] = None
    """Name to display (optional)"""
    from_email: Annotated[str | None, Field(max_length=320)] = None
    """Default From address (optional)"""


async def create(context: PageContext, conn: Conn, new: ProjectForm) -> str:
    """Create a project; return the path of its overview.

    Raises:
        InvalidField: a value cannot be used, or the name is taken.
    """
    settings = new.model_dump(exclude={"name"}, exclude_none=True)
    try:
        made = await projects_manage.add(conn, new.name, settings=settings, by=context.user.by)
    except Conflict as exc:
        raise InvalidField("name", str(exc)) from exc
    except InvalidField as exc:
        field = "name" if exc.field == "project" else exc.field
        raise InvalidField(field, exc.why) from exc
    return project_path(made.name, "overview", done="added")


NEW_FORM = FormPage(
    "Create a project",
    "Create the project",
    ProjectForm,
    create,
    lead="A project has its own emails, sender accounts, keys, templates and limits, and sees "
    "nothing of others.",
    on_installation=True,
)


async def ask_suspension(context: PageContext) -> Response:
    """Show what suspending a project does, and the form that does it."""
    return _suspension(context, context.query("reason"))


async def suspend(context: PageContext) -> Response:
    """Suspend a project."""
    name, reason = context.seen.name, text_of(context.form, "reason")
    try:
        if len(reason) > MAX_REASON:
            raise InvalidField("reason", f"must have at most {MAX_REASON} characters")
        async with context.acting_once(on_installation=True) as conn:
            await projects_manage.suspend(conn, name, reason=reason, by=context.user.by)
    except DoneBefore:
        return _done(context, "before")
    except InvalidField as exc:
        return _suspension(context, reason, {"reason": sentence(exc.why)})
    return _done(context, "suspended")


async def ask_activation(context: PageContext) -> Response:
    """Show what activating a project does, and the form that does it."""
    async with context.connection() as conn:
        project = await projects_manage.find_by_id(conn, context.seen.id)
    return context.page("projects/activate.html", project=project)


async def activate(context: PageContext) -> Response:
    """Activate a project."""
    try:
        async with context.acting_once(on_installation=True) as conn:
            await projects_manage.activate(conn, context.seen.name, by=context.user.by)
    except DoneBefore:
        return _done(context, "before")
    return _done(context, "activated")


def _suspension(
    context: PageContext, reason: str, faults: Mapping[str, str] | None = None
) -> Response:
    return context.form_page(
        "projects/suspend.html",
        {"reason": reason},
        faults,
        longest=MAX_REASON,
    )


def _done(context: PageContext, done: str) -> Response:
    return context.redirect(project_path(context.seen.name, "overview", done=done))


PAGES = (
    *form_pages(NEW, Right.ADMINISTER, NEW_FORM),
    ConsolePage("GET", SUSPEND, Right.ADMINISTER, ask_suspension),
    ConsolePage("POST", SUSPEND, Right.ADMINISTER, suspend, keeps=("reason",)),
    ConsolePage("GET", ACTIVATE, Right.ADMINISTER, ask_activation),
    ConsolePage("POST", ACTIVATE, Right.ADMINISTER, activate),
)
