"""Puts opens, clicks and ways to unsubscribe into mail, and knows where its links lead."""

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
from mailqueue.mime.files import File
from mailqueue.mime.skeleton import Content, Skeleton, compile_skeleton
from mailqueue.settings.tracking import TrackingSettings
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking import store
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.model import Gap, TrackedLink, TrackedProject
from mailqueue.tracking.pattern import (
    InjectionContext,
    InjectionPattern,
    Links,
    TrackingOptions,
    put_into,
    unsubscribe_headers,
)
from mailqueue.tracking.tokens import TokenKind
from mailqueue.tracking.urls import Addresses

log = get_logger(__name__)

MAX_CACHED_PATTERNS = 128
MAX_PATTERN_BYTES = 16 * 1024 * 1024
MAX_KNOWN_LINKS = 50_000
KNOWN_LINK_SECONDS = 6 * 3600.0
"""After so long a link that goes on being sent is written down once more."""
CONTEXT_SECONDS = 10.0
BATCH = 16
"""So many mails are dressed before others have their turn."""
MIN_THREAD_CHARACTERS = 256 * 1024
"""Words of a mail from which on it is dressed in a thread, where it holds up nobody else's."""


class UntrackedMail(NamedTuple):
    """A mail before anything is put into it.

    `shared` names words that other mails have too; None where they are of this one alone. With
    `has_files` only words come back: the files come later.
    """

    email_id: UUID
    project_id: UUID
    wants: TrackingOptions
    said: Content
    shared: int | None = None
    is_alone: bool = True
    has_files: bool = False
    language: str = "en"


class Injection(NamedTuple):
    """What goes out instead of a mail's own words: all of it, or words that need their files."""

    skeleton: Skeleton | None
    said: Content | None
    headers: tuple[tuple[str, str], ...] = ()

    def skeleton_with(self, files: tuple[File, ...]) -> Skeleton:
        """Return its octets.

        Raises:
            ValueError: as `compile_skeleton`.
        """
        if self.said is None:
            assert self.skeleton is not None
            return self.skeleton
        return compile_skeleton(self.said._replace(files=files))


class TrackingInjector:
    """Dresses the mail of one process."""

    def __init__(self, keyring: Keyring, settings: TrackingSettings) -> None:
        self._keyring = keyring
        self._base = settings.public_url
        self._grounds: dict[UUID, tuple[InjectionContext, float]] = {}
        self._patterns: OrderedDict[tuple[object, ...], InjectionPattern] = OrderedDict()
        self._pattern_bytes = 0
        self._turn = threading.Lock()  # to the patterns: some are made in threads
        self._known: OrderedDict[tuple[UUID, bytes], float] = OrderedDict()

    async def grounds(
        self, conn: Conn, projects: Iterable[UUID]
    ) -> dict[UUID, InjectionContext | str]:
        """Return what the mail of these projects has in common, or why nothing can be sealed for
        now.

        A project's first mail has its key made.
        """
        wanted = set(projects)
        faults: dict[UUID, str] = {}
        now = time.monotonic()
        missing = [
            each
            for each in wanted
            if each not in self._grounds or now - self._grounds[each][1] > CONTEXT_SECONDS
        ]
        if missing:
            for found in await store.read_projects(conn, missing):
                try:
                    self._grounds[found.id] = await self._ground(conn, found), now
                except (ConfigError, Locked, SealBroken) as exc:
                    faults[found.id] = str(exc)
                    self._grounds.pop(found.id, None)
        return {each: faults.get(each) or self._grounds[each][0] for each in wanted}

    async def _ground(self, conn: Conn, project: TrackedProject) -> InjectionContext:
        base = self._base if project.domain is None else f"https://{project.domain}"
        seals = None if base is None else await self._keyring.of(conn, project.id)
        return InjectionContext(base, seals, project.postal_address)

    async def dressed(
        self,
        conn: Conn,
        mails: Sequence[UntrackedMail],
        grounds: Mapping[UUID, InjectionContext],
        *,
        keeps_links: bool = True,
    ) -> list[Injection | str]:
        """Return what goes out for each mail, or why it cannot be composed.

        With `keeps_links` the database knows where each of their links leads when this returns.
        """
        links: dict[tuple[UUID, bytes], str] = {}
        gaps: Counter[tuple[UUID, Gap]] = Counter()
        made: list[Injection | str] = []
        for number, mail in enumerate(mails):
            if number % BATCH == BATCH - 1:
                await asyncio.sleep(0)
            try:
                ground = grounds[mail.project_id]
                if _characters(mail.said) < MIN_THREAD_CHARACTERS:
                    dress = self._dressed(mail, ground, links)
                else:
                    dress = await asyncio.to_thread(self._dressed, mail, ground, links)
                gaps.update(_gaps(mail, ground, dress))
                made.append(dress)
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

    def _dressed(
        self, mail: UntrackedMail, ground: InjectionContext, links: dict[tuple[UUID, bytes], str]
    ) -> Injection:
        if ground.base is None or ground.seals is None:
            said = put_into(mail.said, mail.wants, ground, None, language=mail.language)
            return _of_words(mail, said, ())
        addresses = Addresses(ground.base, ground.seals)
        headers = self._headers(mail, addresses)
        if mail.shared is None:
            said = put_into(
                mail.said,
                mail.wants,
                ground,
                Links(
                    addresses.named(mail.email_id),
                    addresses.of(TokenKind.OPEN, mail.email_id),
                    partial(_led, mail, addresses, links),
                ),
                language=mail.language,
            )
            return _of_words(mail, said, headers)
        pattern = self._pattern(mail, ground)
        for link, url in pattern.links.items():
            links[mail.project_id, link] = url
        if mail.has_files:
            return Injection(None, pattern.said(mail.email_id), headers)
        return Injection(pattern.filled(mail.email_id), None, headers)

    def _headers(self, mail: UntrackedMail, addresses: Addresses) -> tuple[tuple[str, str], ...]:
        # One header cannot stand for several people: who clicks would unsubscribe another.
        if not mail.wants.unsubscribe or not mail.is_alone:
            return ()
        return unsubscribe_headers(mail.said, addresses.of(TokenKind.UNSUBSCRIBE, mail.email_id))

    def _pattern(self, mail: UntrackedMail, ground: InjectionContext) -> InjectionPattern:
        key = (mail.shared, mail.wants, ground, mail.language)
        with self._turn:
            found = self._patterns.get(key)
            if found is not None:
                self._patterns.move_to_end(key)
                return found
        made = InjectionPattern(mail.said, mail.wants, ground, language=mail.language)
        with self._turn:
            if key in self._patterns:  # another thread was quicker
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


def _characters(said: Content) -> int:
    return len(said.html or "") + len(said.text or "")


def _gaps(
    mail: UntrackedMail, ground: InjectionContext, dress: Injection
) -> list[tuple[UUID, Gap]]:
    """Return what a mail should have had and goes without."""
    wants, found = mail.wants, []
    if (wants.opens or wants.clicks) and ground.base is None and mail.said.html is not None:
        found.append(Gap.NO_PUBLIC_URL)
    if wants.is_marketing:
        has_header = dress.headers or any(
            name.lower() == "list-unsubscribe" for name, _ in mail.said.headers
        )
        if not has_header:
            found.append(Gap.NO_UNSUBSCRIBE)
        if not ground.postal_address:
            found.append(Gap.NO_POSTAL_ADDRESS)
    return [(mail.project_id, gap) for gap in found]


def _led(
    mail: UntrackedMail, addresses: Addresses, links: dict[tuple[UUID, bytes], str], url: str
) -> str:
    link = addresses.seals.link_of(url)
    links[mail.project_id, link] = url
    return addresses.of(TokenKind.CLICK, mail.email_id, link)


def _of_words(
    mail: UntrackedMail, said: Content, headers: tuple[tuple[str, str], ...]
) -> Injection:
    if mail.has_files:
        return Injection(None, said, headers)
    return Injection(compile_skeleton(said), None, headers)
