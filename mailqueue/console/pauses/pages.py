"""What is paused in a project; pages that pause and resume it."""

from collections.abc import Mapping
from datetime import timedelta

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.operations import pausing, platform
from mailqueue.operations.pausing import PauseKind
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence

PATH = "/console/projects/{project}/pauses"
FIELDS = ("kind", "name", "lasts", "reason", "is_ahead")
MAX_REASON = 500
"""Maximum length in characters of a reason, which `mailqueue why` shows."""
KINDS: Mapping[PauseKind, str] = {
    PauseKind.CAMPAIGN: "A campaign, by its id",
    PauseKind.DOMAIN: "Emails to a domain, such as example.com",
    PauseKind.SENDER: "A sender account, by its name",
    PauseKind.PROJECT: "The whole project",
}
SPANS: Mapping[str, tuple[str, timedelta | None]] = {
    "": ("Until it is resumed", None),
    "30min": ("30 minutes", timedelta(minutes=30)),
    "2h": ("2 hours", timedelta(hours=2)),
    "1d": ("1 day", timedelta(days=1)),
    "7d": ("7 days", timedelta(days=7)),
}


async def show_pauses(context: PageContext) -> Response:
    """List what is paused."""
    async with context.connection() as conn:
        found = await pausing.list_of(conn, context.seen.id)
    return context.page("pauses/list.html", pauses=found, done=context.query("done"))


async def ask_pause(context: PageContext) -> Response:
    """Show what a pause does, and the form that begins it."""
    return await _asked(context, {name: context.query(name) for name in FIELDS})


async def pause(context: PageContext) -> Response:
    """Pause, or show the form again as it was typed."""
    typed = {name: text_of(context.form, name) for name in FIELDS}
    if text_of(context.form, "counts") == "on":
        return await _asked(context, typed)
    try:
        kind = _kind(typed["kind"])
        if typed["lasts"] not in SPANS:
            raise InvalidField("lasts", "must be one of those shown")
        async with context.acting_once() as conn:
            if kind is PauseKind.CAMPAIGN and typed["is_ahead"] != "on":
                await pausing.check_campaign(conn, context.seen.id, typed["name"])
            await pausing.pause_in(
                conn,
                context.seen.id,
                kind=kind,
                name=typed["name"],
                until=SPANS[typed["lasts"]][1],
                reason=typed["reason"] or None,
                by=context.user.by,
            )
    except DoneBefore:
        return _done(context, "before")
    except InvalidField as exc:
        return await _asked(context, typed, {exc.field: sentence(exc.why)})
    return _done(context, "paused")


async def ask_resumption(context: PageContext) -> Response:
    """Show what is resumed, and the form that does it."""
    kind, name = _kind(context.query("kind")), context.query("name")
    async with context.connection() as conn:
        waiting = await platform.count_waiting(conn, context.seen.id, kind=kind, name=name)
    return context.page("pauses/resume.html", kind=kind, name=name, waiting=waiting)


async def resume(context: PageContext) -> Response:
    """End a pause."""
    kind, name = _kind(text_of(context.form, "kind")), text_of(context.form, "name")
    try:
        async with context.acting_once() as conn:
            await pausing.resume_in(conn, context.seen.id, kind=kind, name=name, by=context.user.by)
    except DoneBefore:
        return _done(context, "before")
    except NotFound:
        return _done(context, "over")
    return _done(context, "resumed")


async def _asked(
    context: PageContext, typed: Mapping[str, str], faults: Mapping[str, str] | None = None
) -> Response:
    waiting = None  # not known before it is known what is paused
    if typed["kind"] == PauseKind.PROJECT or (typed["kind"] in set(PauseKind) and typed["name"]):
        async with context.connection() as conn:
            waiting = await platform.count_waiting(
                conn, context.seen.id, kind=typed["kind"], name=typed["name"]
            )
    return context.form_page(
        "pauses/pause.html",
        typed,
        faults,
        kinds=[(kind.value, text) for kind, text in KINDS.items()],
        spans=[(value, text) for value, (text, _) in SPANS.items()],
        longest=MAX_REASON,
        waiting=waiting,
    )


def _done(context: PageContext, what: str) -> Response:
    return context.redirect(project_path(context.seen.name, "pauses", done=what))


def _kind(text: str) -> PauseKind:
    if text not in set(PauseKind):
        raise InvalidField("kind", f"must be one of {', '.join(PauseKind)}")
    return PauseKind(text)


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_pauses, menu=MenuEntry("Pauses", "Mail")),
    ConsolePage("GET", f"{PATH}/new", Right.CONTROL, ask_pause),
    ConsolePage("POST", f"{PATH}/new", Right.CONTROL, pause, keeps=FIELDS),
    ConsolePage("GET", f"{PATH}/end", Right.CONTROL, ask_resumption),
    ConsolePage("POST", f"{PATH}/end", Right.CONTROL, resume, keeps=("kind", "name")),
)
