"""Builds large messages in a thread, one at a time, while other emails go on."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from mailqueue.mail.message.build import SkeletonCache
from mailqueue.mail.message.render import rendered
from mailqueue.mail.model import FileFault, LoadedEmail
from mailqueue.queue.heartbeat import HUNG_SECONDS
from mailqueue.queue.in_progress import EXIT_BUILD_TOO_LONG
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking.injector import Injection

Result = TypeVar("Result")
LARGE_BYTES = 256 * 1024
"""Characters of bodies and bytes of files from which on a message is built in a thread; building
one of this size takes about 10 ms, and one of 25 MB about half a second."""
SHORT_BYTES = 16 * 1024
"""Characters and bytes of a group below which all its messages are built in one turn of the event
loop: as many such groups as a process has slots take about 50 ms together."""

log = get_logger(__name__)


class LargeBuilds:
    """The thread of one worker process that builds large messages, and their skeletons."""

    def __init__(self) -> None:
        self.skeleton_cache = SkeletonCache()  # used in the thread alone
        self._turn = asyncio.Lock()
        self._thread: ThreadPoolExecutor | None = None

    async def run(self, build: Callable[[], Result], *, email_id: str) -> Result:
        """Run `build` in the thread.

        A thread cannot be ended: where `build` takes longer than an event loop may stand still, the
        process ends, and the email is handled alone as after any other death of its worker.
        """
        async with self._turn:
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, thread_name_prefix="build")
            building = asyncio.get_running_loop().run_in_executor(self._thread, build)
            await asyncio.wait((building,), timeout=HUNG_SECONDS)
            if not building.done():
                log.error("message.build_endless", email_id=email_id, seconds=HUNG_SECONDS)
                os._exit(EXIT_BUILD_TOO_LONG)
            return await building


def size_of(mail: LoadedEmail) -> int:
    """Return the characters of an email's bodies and the bytes of its files."""
    content = mail.content
    if content is None:
        return 0
    size = len(content.html_body or "") + len(content.text_body or "")
    if mail.said is not None:
        size += len(mail.said.html or "") + len(mail.said.text or "")
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
