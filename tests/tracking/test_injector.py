"""Large mails are tracked in a thread, so that others do not wait."""

import asyncio
import threading
from itertools import pairwise
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mime.skeleton import MessageContent
from mailqueue.queue import turns
from mailqueue.settings.tracking import TrackingSettings
from mailqueue.tracking.injector import (
    MIN_THREAD_CHARACTERS,
    Injection,
    TrackingInjector,
    UntrackedMail,
)
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.pattern import InjectionContext, TrackingOptions

pytestmark = pytest.mark.anyio

NOBODY = cast("Conn", None)
CONTEXT = InjectionContext(None, None, "1 High Street, Oxford")


class Watched(TrackingInjector):
    """Records the thread in which tracking is injected into each mail."""

    def __init__(self) -> None:
        super().__init__(cast("Keyring", None), TrackingSettings())
        self.threads: list[threading.Thread] = []

    def _injection(self, *given: Any) -> Injection:
        self.threads.append(threading.current_thread())
        return super()._injection(*given)


def marketing(project: UUID, html: str) -> UntrackedMail:
    said = MessageContent("Hello", html, None, ())
    return UntrackedMail(uuid4(), project, TrackingOptions(is_marketing=True), said)


async def test_a_large_mail_is_tracked_in_a_thread_and_a_small_one_is_not() -> None:
    """Isolate: the worker continues with other mail meanwhile."""
    project, injector = uuid4(), Watched()
    mails = [marketing(project, "<p>" + "x" * size) for size in (10, MIN_THREAD_CHARACTERS)]

    made = await injector.inject(NOBODY, mails, {project: CONTEXT}, keeps_links=False)

    assert [isinstance(one, Injection) for one in made] == [True, True]
    small, large = injector.threads
    assert small is threading.current_thread()
    assert large is not threading.current_thread()


async def test_others_have_their_turn_between_mails_that_take_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Isolate: a claim of mails with thousands of links each does not keep the worker still."""
    monkeypatch.setattr(turns, "MAX_TURN_SECONDS", -1.0)
    project, injector, seen = uuid4(), Watched(), [0]

    async def look() -> None:
        while True:
            seen.append(len(injector.threads))
            await asyncio.sleep(0)

    looking = asyncio.create_task(look())
    mails = [marketing(project, "<p>x") for _ in range(5)]
    await injector.inject(NOBODY, mails, {project: CONTEXT}, keeps_links=False)
    looking.cancel()

    assert max(after - before for before, after in pairwise(seen)) == 1
