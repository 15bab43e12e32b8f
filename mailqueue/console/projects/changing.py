"""Pages that create, suspend and activate a project, for those who administer the installation."""

from collections.abc import Mapping

from starlette.responses import Response

from mailqueue.administration.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.errors import sentence
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.frame.router import HOME
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.tenants.projects import manage as projects_manage
from mailqueue.web.forms import text_of

NEW = "/console/new-project"
SUSPEND = "/console/projects/{project}/suspend"
ACTIVATE = "/console/projects/{project}/activate"
MAX_REASON = 500
"""Maximum length in characters of a reason, which `mailqueue why` shows."""
_SETTINGS = ("display_name", "from_email")
_FIELD_BY_SETTING = {"project": "name"}


async def ask_new(context: PageContext) -> Response:
    """Show the form of a new project."""
    return _new(context, {name: context.query(name) for name in ("name", *_SETTINGS)})


async def create(context: PageContext) -> Response:
    """Create a project and go to it."""
    form = context.form
    name = text_of(form, "name")
    settings = {each: text_of(form, each) for each in _SETTINGS if text_of(form, each)}
    try:
        async with context.acting_once(on_installation=True) as conn:
            made = await projects_manage.add(conn, name, settings=settings, by=context.user.by)
    except DoneBefore:
        return context.redirect(HOME)
    except InvalidField as exc:
        field = _FIELD_BY_SETTING.get(exc.field, exc.field)
        return _new(context, form, {field: sentence(exc.why)})
    except Conflict as exc:
        return _new(context, form, {"name": sentence(str(exc))})
    return context.redirect(project_path(made.name, "overview", done="added"))


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


def _new(
    context: PageContext, typed: Mapping[str, str], faults: Mapping[str, str] | None = None
) -> Response:
    return context.form_page(
        "projects/new.html",
        typed,
        faults,
        path=NEW,
    )


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
    ConsolePage("GET", NEW, Right.ADMINISTER, ask_new),
    ConsolePage("POST", NEW, Right.ADMINISTER, create, keeps=("name", *_SETTINGS)),
    ConsolePage("GET", SUSPEND, Right.ADMINISTER, ask_suspension),
    ConsolePage("POST", SUSPEND, Right.ADMINISTER, suspend, keeps=("reason",)),
    ConsolePage("GET", ACTIVATE, Right.ADMINISTER, ask_activation),
    ConsolePage("POST", ACTIVATE, Right.ADMINISTER, activate),
)
