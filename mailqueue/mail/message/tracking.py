"""Decides what is put into mail before it goes, and has it put in: mail that wants nothing is not
looked at again.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import NamedTuple

from mailqueue.db.faults import concerns_rows
from mailqueue.db.fetch import Conn
from mailqueue.mail.message.render import rendered
from mailqueue.mail.model import FileFault, Parcel
from mailqueue.mime.skeleton import Content
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking import urls
from mailqueue.tracking.injector import Dress, Dresser, Undressed
from mailqueue.tracking.pattern import Ground, Wants

OPENS, CLICKS, UNSUBSCRIBE, NEVER = 1, 2, 4, 8
"""What email_contents.dressing is the sum of."""
MARKETING = "marketing"

log = get_logger(__name__)


class _Wish(NamedTuple):
    wants: Wants
    names_links: bool  # its words have places for them


Call = Callable[[Callable[[Conn], Awaitable[list[Parcel]]]], Awaitable[list[Parcel]]]
"""Calls with a connection, again when it broke."""


def calling(lend: Callable[[], AbstractAsyncContextManager[Conn]]) -> Call:
    """Return what calls once, with a connection that is lent."""

    async def call(work: Callable[[Conn], Awaitable[list[Parcel]]]) -> list[Parcel]:
        async with lend() as conn:
            return await work(conn)

    return call


class Dresses:
    """Has mail dressed where somebody here can do it."""

    def __init__(self, dresser: Dresser | None = None) -> None:
        self._dresser = dresser

    async def put_on(
        self, parcels: list[Parcel], call: Call, *, is_shown: bool = False
    ) -> list[Parcel]:
        """Return the mails with what is to go out; where nothing is wanted nobody is asked.

        What is only shown has its links written down nowhere: it may never go.
        """
        dresser = self._dresser
        if dresser is None:
            return parcels
        try:
            if not any(map(_wish, parcels)):
                return parcels
            return await call(
                partial(dressed, parcels=parcels, dresser=dresser, keeps_links=not is_shown)
            )
        except Exception as exc:
            if not concerns_rows(exc):
                raise
            if len(parcels) == 1:
                (parcel,) = parcels
                log.exception("dressing.failed", email_id=str(parcel.email.id))
                return [parcel._replace(fault=_lasting(exc))]
        # One of them is at fault: by itself it is that one's alone.
        return [
            one for each in parcels for one in await self.put_on([each], call, is_shown=is_shown)
        ]


async def dressed(
    conn: Conn, parcels: Sequence[Parcel], dresser: Dresser, *, keeps_links: bool = True
) -> list[Parcel]:
    """Return the mails with what is to go out; the database knows where their links lead.

    One that cannot be dressed has a fault that says why, and whether waiting helps.
    """
    wishes = [_wish(parcel) for parcel in parcels]
    projects = {
        parcel.email.project_id for parcel, wish in zip(parcels, wishes, strict=True) if wish
    }
    if not projects:
        return list(parcels)
    grounds = await dresser.grounds(conn, projects)
    made = [
        parcel if wish is None else _undressed(parcel, wish, grounds[parcel.email.project_id])
        for parcel, wish in zip(parcels, wishes, strict=True)
    ]
    ready = {project: ground for project, ground in grounds.items() if isinstance(ground, Ground)}
    mails = [one for one in made if isinstance(one, Undressed)]
    done = iter(await dresser.dressed(conn, mails, ready, keeps_links=keeps_links))
    return [
        _with(parcel, next(done)) if isinstance(one, Undressed) else one
        for parcel, one in zip(parcels, made, strict=True)
    ]


def _wish(parcel: Parcel) -> _Wish | None:
    """Return what is wanted for a mail; None: nothing, as for nearly all. Pure."""
    content = parcel.content
    if content is None or parcel.fault is not None:
        return None
    bits = content.dressing or 0
    is_marketing = parcel.email.category == MARKETING
    if content.template_version_id is not None:
        names_links = parcel.sheet is not None and parcel.sheet.names_links
    elif content.html_body is None and content.text_body is None:
        return None  # it came finished
    else:
        names_links = urls.names_any(content.subject, content.html_body, content.text_body)
    wants = Wants(
        opens=bits & OPENS > 0,
        clicks=bits & CLICKS > 0,
        unsubscribe=bits & UNSUBSCRIBE > 0 or (is_marketing and not bits & NEVER),
        is_marketing=is_marketing,
    )
    return _Wish(wants, names_links) if wants.anything or names_links else None


def _undressed(parcel: Parcel, wish: _Wish, ground: Ground | str) -> Parcel | Undressed:
    """Return what to dress, or the mail itself where it cannot be now, or needs it not."""
    if isinstance(ground, str):
        return parcel._replace(fault=FileFault(ground, is_lasting=False))
    content = parcel.content
    assert content is not None
    try:
        said = _said(parcel)
    except Exception as exc:  # one bad row must not stop a worker
        if not isinstance(exc, ValueError):
            log.exception("dressing.failed", email_id=str(parcel.email.id))
        return parcel._replace(fault=_lasting(exc))
    if ground.base is None and wish.names_links and urls.names_any(*said[:3]):
        why = "it names a link to unsubscribe or preferences, and MAILQUEUE_PUBLIC_URL is not set"
        return parcel._replace(fault=FileFault(why, is_lasting=False))
    return Undressed(
        email_id=parcel.email.id,
        project_id=parcel.email.project_id,
        wants=wish.wants,
        said=said,
        shared=None if parcel.sheet is not None else content.id,
        is_alone=not parcel.recipients,
        has_files=bool(content.files),
        language=content.template_language or "en",
    )


def _said(parcel: Parcel) -> Content:
    content = parcel.content
    assert content is not None
    headers = content.header_fields
    if content.template_version_id is not None:
        return rendered(parcel, headers, ())
    return Content(content.subject, content.html_body, content.text_body, headers)


def _with(parcel: Parcel, made: Dress | str) -> Parcel:
    if isinstance(made, str):
        return parcel._replace(fault=FileFault(made, is_lasting=True))
    return parcel._replace(dress=made)


def _lasting(exc: Exception) -> FileFault:
    if isinstance(exc, ValueError):
        return FileFault(str(exc), is_lasting=True)
    return FileFault(f"{type(exc).__name__} while composing", is_lasting=True)
