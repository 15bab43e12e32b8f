"""Decide which mail needs tracking, and inject it; other mail is not processed further."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import NamedTuple

from mailqueue.db.faults import concerns_rows
from mailqueue.db.fetch import Conn
from mailqueue.mail.message.render import rendered
from mailqueue.mail.model import FileFault, LoadedEmail
from mailqueue.mime.skeleton import MessageContent
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking import urls
from mailqueue.tracking.injector import Injection, TrackingInjector, UntrackedMail
from mailqueue.tracking.pattern import InjectionContext, TrackingOptions

OPENS, CLICKS, UNSUBSCRIBE, NEVER = 1, 2, 4, 8
"""Bits of email_contents.tracking_options."""
MARKETING = "marketing"

log = get_logger(__name__)


class TrackingPlan(NamedTuple):
    """The tracking that one mail needs."""

    wants: TrackingOptions
    names_links: bool  # its content has placeholders for links


CallWithConnection = Callable[
    [Callable[[Conn], Awaitable[list[LoadedEmail]]]], Awaitable[list[LoadedEmail]]
]
"""Runs a function with a connection, and again if the connection broke."""


def calling(lend: Callable[[], AbstractAsyncContextManager[Conn]]) -> CallWithConnection:
    """Return a CallWithConnection that runs once, with a lent connection."""

    async def call(work: Callable[[Conn], Awaitable[list[LoadedEmail]]]) -> list[LoadedEmail]:
        async with lend() as conn:
            return await work(conn)

    return call


class EmailTracking:
    """Injects tracking into mail, where this process has an injector."""

    def __init__(self, injector: TrackingInjector | None = None) -> None:
        self.injector = injector

    async def inject(
        self, mails: list[LoadedEmail], call: CallWithConnection, *, is_shown: bool = False
    ) -> list[LoadedEmail]:
        """Return the mails with their tracking; without any to track, no statement is run.

        With `is_shown` the links are not stored: the mail is only displayed.
        """
        injector = self.injector
        if injector is None:
            return mails
        try:
            if not any(map(tracking_plan, mails)):
                return mails
            return await call(
                partial(injected, mails=mails, injector=injector, keeps_links=not is_shown)
            )
        except Exception as exc:
            if not concerns_rows(exc):
                raise
            if len(mails) == 1:
                (mail,) = mails
                log.exception("tracking.failed", email_id=str(mail.claim.id))
                return [mail._replace(fault=_lasting(exc))]
        # One of them caused the error: alone it fails alone.
        return [one for each in mails for one in await self.inject([each], call, is_shown=is_shown)]


async def injected(
    conn: Conn,
    mails: Sequence[LoadedEmail],
    injector: TrackingInjector,
    *,
    keeps_links: bool = True,
) -> list[LoadedEmail]:
    """Return the mails with their tracking; the destinations of their links are stored.

    A mail that cannot be tracked has a fault that says why, and whether waiting helps.
    """
    plans = [tracking_plan(mail) for mail in mails]
    projects = {mail.claim.project_id for mail, plan in zip(mails, plans, strict=True) if plan}
    if not projects:
        return list(mails)
    contexts = await injector.contexts(conn, projects)
    made: list[LoadedEmail | UntrackedMail] = []
    for mail, plan in zip(mails, plans, strict=True):
        await injector.turns.share()
        made.append(
            mail if plan is None else _untracked(mail, plan, contexts[mail.claim.project_id])
        )
    ready = {
        project: context
        for project, context in contexts.items()
        if isinstance(context, InjectionContext)
    }
    wanted = [one for one in made if isinstance(one, UntrackedMail)]
    done = iter(await injector.inject(conn, wanted, ready, keeps_links=keeps_links))
    return [
        _with(mail, next(done)) if isinstance(one, UntrackedMail) else one
        for mail, one in zip(mails, made, strict=True)
    ]


def tracking_plan(mail: LoadedEmail) -> TrackingPlan | None:
    """Return the tracking a mail needs; None: none, as for nearly all mail. Pure."""
    content = mail.content
    if content is None or mail.fault is not None:
        return None
    bits = content.tracking_options or 0
    is_marketing = mail.claim.category == MARKETING
    if content.template_version_id is not None:
        names_links = mail.template is not None and mail.template.names_links
    elif content.html_body is None and content.text_body is None:
        return None  # a finished message is sent unchanged
    else:
        names_links = urls.names_any(content.subject, content.html_body, content.text_body)
    wants = TrackingOptions(
        opens=bits & OPENS > 0,
        clicks=bits & CLICKS > 0,
        unsubscribe=bits & UNSUBSCRIBE > 0 or (is_marketing and not bits & NEVER),
        is_marketing=is_marketing,
    )
    return TrackingPlan(wants, names_links) if any(wants) or names_links else None


def _untracked(
    mail: LoadedEmail, plan: TrackingPlan, context: InjectionContext | str
) -> LoadedEmail | UntrackedMail:
    """Return the mail to be tracked, or the mail itself where it cannot be tracked now or need not
    be.
    """
    if isinstance(context, str):
        return mail._replace(fault=FileFault(context, is_lasting=False))
    content = mail.content
    assert content is not None
    try:
        readable = _content_of(mail)
    except Exception as exc:  # one bad row must not stop a worker
        if not isinstance(exc, ValueError):
            log.exception("tracking.failed", email_id=str(mail.claim.id))
        return mail._replace(fault=_lasting(exc))
    if context.base is None and plan.names_links and urls.names_any(*readable[:3]):
        why = "its unsubscribe or preferences link needs MAILQUEUE_PUBLIC_URL, which is not set"
        return mail._replace(fault=FileFault(why, is_lasting=False))
    return UntrackedMail(
        email_id=mail.claim.id,
        project_id=mail.claim.project_id,
        wants=plan.wants,
        content=readable,
        shared=None if mail.template is not None else content.id,
        is_alone=not mail.recipients,
        has_files=bool(content.files),
        language=content.template_language or "en",
    )


def _content_of(mail: LoadedEmail) -> MessageContent:
    content = mail.content
    assert content is not None
    headers = content.header_fields
    if content.template_version_id is not None:
        return rendered(mail, headers, ())
    return MessageContent(content.subject, content.html_body, content.text_body, headers)


def _with(mail: LoadedEmail, injected: Injection | str) -> LoadedEmail:
    if isinstance(injected, str):
        return mail._replace(fault=FileFault(injected, is_lasting=True))
    return mail._replace(tracked=injected)


def _lasting(exc: Exception) -> FileFault:
    if isinstance(exc, ValueError):
        return FileFault(str(exc), is_lasting=True)
    return FileFault(f"{type(exc).__name__} while composing", is_lasting=True)
