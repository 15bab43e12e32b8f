"""Pages that pause and resume all sending, and that drain a worker."""

from collections.abc import Mapping

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.infrastructure.pages import PATH
from mailqueue.console.pauses.pages import MAX_REASON, SPANS
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.operations import platform
from mailqueue.operations.model import StoppedEmails
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import path_with, sentence

PAUSE = f"{PATH}/pause"
RESUME = f"{PATH}/resume"
DRAIN = f"{PATH}/drain"
FIELDS = ("lasts", "reason")
_MAX_WORKER = 2_147_483_647


async def ask_pause(context: PageContext) -> Response:
    """Show what a pause of all sending does, how many emails it stops, and its form."""
    return await _asked(context, {name: context.query(name) for name in FIELDS})


async def pause(context: PageContext) -> Response:
    """Pause all sending, or show the form again as it was typed."""
    typed = {name: text_of(context.form, name) for name in FIELDS}
    try:
        if typed["lasts"] not in SPANS:
            raise InvalidField("lasts", "must be one of those shown")
        async with context.acting_once(on_installation=True) as conn:
            await platform.pause(
                conn,
                until=SPANS[typed["lasts"]][1],
                reason=typed["reason"],
                by=context.user.by,
            )
    except DoneBefore:
        return _done(context, "before")
    except InvalidField as exc:
        return await _asked(context, typed, {exc.field: sentence(exc.why)})
    return _done(context, "paused")


async def ask_resumption(context: PageContext) -> Response:
    """Show what resuming all sending does, and its form."""
    return context.page("infrastructure/resume.html", waiting=await _waiting(context))


async def resume(context: PageContext) -> Response:
    """End the pause of all sending."""
    try:
        async with context.acting_once(on_installation=True) as conn:
            await platform.resume(conn, by=context.user.by)
    except DoneBefore:
        return _done(context, "before")
    except NotFound:
        return _done(context, "over")
    return _done(context, "resumed")


async def ask_drain(context: PageContext) -> Response:
    """Show what draining a worker does, or what resuming it does, and the form."""
    return context.page(
        "infrastructure/drain.html",
        worker=_worker(context.query("worker")),
        is_drained=context.query("is_drained") == "on",
    )


async def drain(context: PageContext) -> Response:
    """Drain a worker, or let it claim again."""
    worker = _worker(text_of(context.form, "worker"))
    is_drained = text_of(context.form, "is_drained") == "on"
    act = platform.resume_workers if is_drained else platform.drain
    try:
        async with context.acting_once(on_installation=True) as conn:
            await act(conn, worker=worker, by=context.user.by)
    except DoneBefore:
        return _done(context, "before")
    except NotFound:
        return _done(context, "over")
    return _done(context, "claims" if is_drained else "drained")


async def _asked(
    context: PageContext, typed: Mapping[str, str], faults: Mapping[str, str] | None = None
) -> Response:
    return context.form_page(
        "infrastructure/pause.html",
        typed,
        faults,
        spans=[(value, text) for value, (text, _) in SPANS.items()],
        longest=MAX_REASON,
        waiting=await _waiting(context),
    )


async def _waiting(context: PageContext) -> StoppedEmails:
    async with context.installation() as conn:
        return await platform.count_waiting(conn)


def _done(context: PageContext, done: str) -> Response:
    context.console.banner.forget()
    return context.redirect(path_with(PATH, done=done))


def _worker(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:20]) <= _MAX_WORKER):
        raise NotFound("worker", text[:100].replace("\0", "?"))
    return int(text)


PAGES = (
    ConsolePage("GET", PAUSE, Right.ADMINISTER, ask_pause, needs_all=True),
    ConsolePage("POST", PAUSE, Right.ADMINISTER, pause, keeps=FIELDS, needs_all=True),
    ConsolePage("GET", RESUME, Right.ADMINISTER, ask_resumption, needs_all=True),
    ConsolePage("POST", RESUME, Right.ADMINISTER, resume, needs_all=True),
    ConsolePage("GET", DRAIN, Right.ADMINISTER, ask_drain, needs_all=True),
    ConsolePage(
        "POST", DRAIN, Right.ADMINISTER, drain, keeps=("worker", "is_drained"), needs_all=True
    ),
)
