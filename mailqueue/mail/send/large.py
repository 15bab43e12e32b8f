"""Builds large messages in threads, in turn by project, while other emails go on."""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from uuid import UUID

from mailqueue.core.project_turns import ProjectTurns
from mailqueue.mail.message.build import MAX_SKELETON_BYTES, SkeletonCache
from mailqueue.mail.message.render import rendered
from mailqueue.mail.model import FileFault, LoadedEmail
from mailqueue.queue.heartbeat import HUNG_SECONDS
from mailqueue.queue.in_progress import EXIT_BUILD_TOO_LONG
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking.injector import Injection

Result = TypeVar("Result")
BUILDERS = 2
"""Threads that build large messages in a worker process; one project has at most half of them."""
LARGE_BYTES = 256 * 1024
"""Characters of bodies and bytes of files from which on a message is built in a thread; building
one of this size takes about 10 ms, and one of 25 MB about half a second."""
SHORT_BYTES = 16 * 1024
"""Characters and bytes of a group below which all its messages are built in one turn of the event
loop: as many such groups as a process has slots take about 50 ms together."""

log = get_logger(__name__)


class LargeBuilds:
    """The threads of one worker process that build large messages, and their skeletons."""

    def __init__(self) -> None:
        self._caches = threading.local()
        # None is refused: as many wait as the process has slots.
        self._turns = ProjectTurns("have a message built", at_once=BUILDERS, max_waiting=None)
        self._threads: ThreadPoolExecutor | None = None

    @property
    def skeleton_cache(self) -> SkeletonCache:
        """Return the skeletons of the thread that asks."""
        found: SkeletonCache | None = getattr(self._caches, "skeletons", None)
        if found is None:
            found = SkeletonCache(max_bytes=MAX_SKELETON_BYTES // BUILDERS)
            self._caches.skeletons = found
        return found

    async def run(self, build: Callable[[], Result], *, project_id: UUID, email_id: UUID) -> Result:
        """Run `build` in a thread, in the turn of its project.

        A thread cannot be ended: where `build` takes longer than an event loop may stand still, the
        process ends, and the email is handled alone as after any other death of its worker.
        """
        async with self._turns.turn(project_id):
            if self._threads is None:
                self._threads = ThreadPoolExecutor(BUILDERS, thread_name_prefix="build")
            building = asyncio.get_running_loop().run_in_executor(self._threads, build)
            await asyncio.wait((building,), timeout=HUNG_SECONDS)
            if not building.done():
                log.error("message.build_endless", email_id=str(email_id), seconds=HUNG_SECONDS)
                os._exit(EXIT_BUILD_TOO_LONG)
            return await building


def size_of(mail: LoadedEmail) -> int:
    """Return the characters of an email's bodies and the bytes of its files."""
    content = mail.content
    if content is None:
        return 0
    size = len(content.html_body or "") + len(content.text_body or "")
    if mail.rendered is not None:
        size += len(mail.rendered.html or "") + len(mail.rendered.text or "")
    if mail.files:
        size += sum([len(file.octets) for file in mail.files])
    elif mail.raw is not None:
        size += len(mail.raw.octets)
    return size


def rendered_here(mail: LoadedEmail) -> LoadedEmail:
    """Return the email with what its template says; templates are rendered in one thread only."""
    content = mail.content
    if content is None or content.template_version_id is None or mail.tracked is not None:
        return mail
    try:
        said = rendered(mail, content.header_fields, ())
    except ValueError as exc:
        return mail._replace(fault=FileFault(str(exc), is_lasting=True))
    except Exception as exc:  # one bad row must not stop a worker
        log.exception("message.build_failed", email_id=str(mail.claim.id))
        reason = f"{type(exc).__name__} while composing"
        return mail._replace(fault=FileFault(reason, is_lasting=True))
    return mail._replace(tracked=Injection(None, said))
