"""Inject tracking into mail: the open pixel, click links, unsubscribe links and the footer."""

import asyncio
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple
from uuid import UUID

from mailqueue.core.errors import ConfigError, Locked, SealBroken
from mailqueue.db.fetch import Conn
from mailqueue.mime.files import MessageFile
from mailqueue.mime.skeleton import MessageContent, Skeleton, compile_skeleton
from mailqueue.queue.turns import SharedTurns
from mailqueue.settings.tracking import TrackingSettings
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking import store
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.model import Gap, TrackedLink, TrackedProject
from mailqueue.tracking.pattern import (
    MAX_LINKS,
    InjectionContext,
    InjectionPattern,
    Links,
    TrackingOptions,
    put_into,
    unsubscribe_headers,
)
from mailqueue.tracking.tokens import TokenKind
from mailqueue.tracking.urls import TrackingUrls

log = get_logger(__name__)

MAX_CACHED_PATTERNS = 128
"""Patterns a process holds; the least recently used goes first."""
MAX_PATTERN_BYTES = 16 * 1024 * 1024
MAX_KNOWN_LINKS = 50_000
"""Stored links a process remembers, so that they are not stored again."""
KNOWN_LINK_SECONDS = 6 * 3600.0
"""How long a stored link is remembered; after that it is stored again when it is sent."""
CONTEXT_SECONDS = 10.0
"""How long a project's settings are used before they are read again."""
MIN_THREAD_CHARACTERS = 256 * 1024
"""Size of HTML and text from which a mail is tracked in a thread, off the event loop."""


class UntrackedMail(NamedTuple):
    """A mail before tracking is injected.

    `shared` identifies content that other mails have too; None for content of this mail alone. With
    `has_files` only the content is returned: its files are added later.
    """

    email_id: UUID
    project_id: UUID
    wants: TrackingOptions
    content: MessageContent
    shared: int | None = None
    is_alone: bool = True
    has_files: bool = False
    language: str = "en"


class Injection(NamedTuple):
    """A mail with its tracking: `skeleton`, or `content` while its files are not read yet."""

    skeleton: Skeleton | None
    content: MessageContent | None
    headers: tuple[tuple[str, str], ...] = ()

    def skeleton_with(self, files: tuple[MessageFile, ...]) -> Skeleton:
        """Return the encoded mail.

        Raises:
            ValueError: as `compile_skeleton`.
        """
        if self.content is None:
            assert self.skeleton is not None
            return self.skeleton
        return compile_skeleton(self.content._replace(files=files))


class TrackingInjector:
    """Injects tracking into the mail of one process."""

    def __init__(self, keyring: Keyring, settings: TrackingSettings) -> None:
        self.turns = SharedTurns()
        self._keyring = keyring
        self._base = settings.public_url
        self._contexts: dict[UUID, tuple[InjectionContext, float]] = {}
        self._patterns: OrderedDict[tuple[object, ...], InjectionPattern] = OrderedDict()
        self._pattern_bytes = 0
        self._turn = threading.Lock()  # guards the patterns, which threads fill too
        self._known: OrderedDict[tuple[UUID, bytes], float] = OrderedDict()

    async def contexts(
        self, conn: Conn, projects: Iterable[UUID]
    ) -> dict[UUID, InjectionContext | str]:
        """Return the tracking settings of these projects, or why no token can be made now.

        The first call for a project makes its key.
        """
        wanted = set(projects)
        faults: dict[UUID, str] = {}
        now = time.monotonic()
        missing = [
            each
            for each in wanted
            if each not in self._contexts or now - self._contexts[each][1] > CONTEXT_SECONDS
        ]
        if missing:
            for found in await store.read_projects(conn, missing):
                try:
                    self._contexts[found.id] = await self._context(conn, found), now
                except (ConfigError, Locked, SealBroken) as exc:
                    faults[found.id] = str(exc)
                    self._contexts.pop(found.id, None)
        return {each: faults.get(each) or self._contexts[each][0] for each in wanted}

    async def _context(self, conn: Conn, project: TrackedProject) -> InjectionContext:
        base = self._base if project.domain is None else f"https://{project.domain}"
        seals = None if base is None else await self._keyring.of(conn, project.id)
        return InjectionContext(base, seals, project.postal_address)

    async def inject(
        self,
        conn: Conn,
        mails: Sequence[UntrackedMail],
        contexts: Mapping[UUID, InjectionContext],
        *,
        keeps_links: bool = True,
    ) -> list[Injection | str]:
        """Return each mail with its tracking, or why it cannot be composed.

        With `keeps_links` the destinations of all links are stored when this returns.
        """
        links: dict[tuple[UUID, bytes], str] = {}
        gaps: Counter[tuple[UUID, Gap]] = Counter()
        made: list[Injection | str] = []
        for mail in mails:
            await self.turns.share()
            try:
                context = contexts[mail.project_id]
                if _characters(mail.content) < MIN_THREAD_CHARACTERS:
                    injection = self._injection(mail, context, links)
                else:
                    injection = await asyncio.to_thread(self._injection, mail, context, links)
                gaps.update(_gaps(mail, context, injection))
                made.append(injection)
            except ValueError as exc:
                made.append(str(exc))
            except Exception as exc:  # one bad row must not stop a worker
                log.exception("tracking.failed", email_id=str(mail.email_id))
                made.append(f"{type(exc).__name__} while composing")
        if keeps_links:
            await self._keep(conn, links)
            if gaps:
                await store.note_gaps(conn, gaps)
        return made

    def _injection(
        self, mail: UntrackedMail, context: InjectionContext, links: dict[tuple[UUID, bytes], str]
    ) -> Injection:
        if context.base is None or context.seals is None:
            said = put_into(mail.content, mail.wants, context, None, language=mail.language)
            return _of_words(mail, said, ())
        addresses = TrackingUrls(context.base, context.seals)
        headers = self._headers(mail, addresses)
        if mail.shared is None:
            said = put_into(
                mail.content,
                mail.wants,
                context,
                Links(
                    addresses.named(mail.email_id),
                    addresses.of(TokenKind.OPEN, mail.email_id),
                    partial(_led, mail, addresses, links, set()),
                ),
                language=mail.language,
            )
            return _of_words(mail, said, headers)
        pattern = self._pattern(mail, context)
        for link, url in pattern.links.items():
            links[mail.project_id, link] = url
        if mail.has_files:
            return Injection(None, pattern.content_of(mail.email_id), headers)
        return Injection(pattern.filled(mail.email_id), None, headers)

    def _headers(self, mail: UntrackedMail, addresses: TrackingUrls) -> tuple[tuple[str, str], ...]:
        # One header cannot serve several recipients: a click would unsubscribe another one.
        if not mail.wants.unsubscribe or not mail.is_alone:
            return ()
        return unsubscribe_headers(mail.content, addresses.of(TokenKind.UNSUBSCRIBE, mail.email_id))

    def _pattern(self, mail: UntrackedMail, context: InjectionContext) -> InjectionPattern:
        key = (mail.shared, mail.wants, context, mail.language)
        with self._turn:
            found = self._patterns.get(key)
            if found is not None:
                self._patterns.move_to_end(key)
                return found
        made = InjectionPattern(mail.content, mail.wants, context, language=mail.language)
        with self._turn:
            if key in self._patterns:  # filled by another thread
                return self._patterns[key]
            self._patterns[key] = made
            self._pattern_bytes += made.size
            while (
                len(self._patterns) > MAX_CACHED_PATTERNS or self._pattern_bytes > MAX_PATTERN_BYTES
            ):
                _, oldest = self._patterns.popitem(last=False)
                self._pattern_bytes -= oldest.size
        return made

    async def _keep(self, conn: Conn, links: dict[tuple[UUID, bytes], str]) -> None:
        now = time.monotonic()
        fresh = [
            TrackedLink(project_id, link, url)
            for (project_id, link), url in links.items()
            if now - self._known.get((project_id, link), -KNOWN_LINK_SECONDS) >= KNOWN_LINK_SECONDS
        ]
        if not fresh:
            return
        await store.keep_links(conn, fresh)
        for each in fresh:
            self._known[each.project_id, each.link] = now
            self._known.move_to_end((each.project_id, each.link))
        while len(self._known) > MAX_KNOWN_LINKS:
            self._known.popitem(last=False)


def _characters(content: MessageContent) -> int:
    return len(content.html or "") + len(content.text or "")


def _gaps(
    mail: UntrackedMail, context: InjectionContext, injection: Injection
) -> list[tuple[UUID, Gap]]:
    """Return what marketing mail should contain and this one does not."""
    wants, found = mail.wants, []
    if (wants.opens or wants.clicks) and context.base is None and mail.content.html is not None:
        found.append(Gap.NO_PUBLIC_URL)
    if wants.is_marketing:
        has_header = injection.headers or any(
            name.lower() == "list-unsubscribe" for name, _ in mail.content.headers
        )
        if not has_header:
            found.append(Gap.NO_UNSUBSCRIBE)
        if not context.postal_address:
            found.append(Gap.NO_POSTAL_ADDRESS)
    return [(mail.project_id, gap) for gap in found]


def _led(
    mail: UntrackedMail,
    addresses: TrackingUrls,
    links: dict[tuple[UUID, bytes], str],
    own: set[bytes],
    url: str,
) -> str:
    """Return the tracked link for a URL; `own` are the links of this mail so far."""
    link = addresses.seals.link_of(url)
    if link not in own and len(own) >= MAX_LINKS:
        return url
    own.add(link)
    links[mail.project_id, link] = url
    return addresses.of(TokenKind.CLICK, mail.email_id, link)


def _of_words(
    mail: UntrackedMail, content: MessageContent, headers: tuple[tuple[str, str], ...]
) -> Injection:
    if mail.has_files:
        return Injection(None, content, headers)
    return Injection(compile_skeleton(content), None, headers)
