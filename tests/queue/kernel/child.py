"""A worker process whose handlers are disturbed; DISTURBED in its environment says how.

Forked from `preloaded`, in place of `python -m mailqueue.cli.worker.forked`.
"""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from mailqueue.cli.main import main
from mailqueue.cli.worker import forked, queues, send
from mailqueue.core import crashpoints
from mailqueue.mail.message.build import build_message
from mailqueue.mail.model import LoadedEmail
from mailqueue.mail.send import prepare
from mailqueue.ports.transport import SendAttempt
from mailqueue.queue.handler import TransactionHandler
from mailqueue.queue.process import Kind
from mailqueue.queue.settler import Settler
from mailqueue.settings.environment import Settings
from mailqueue.wiring.queues import kinds_of

VARIABLE = "MAILQUEUE_TEST_DISTURBED"
MEBIBYTE = 1 << 20


def leave() -> None:
    """End the process as an error in a library would."""
    os._exit(3)


def kill() -> None:
    """End the process as the system does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def fill() -> None:
    """Allocate memory until there is none; without a bound the system ends the process."""
    if "--alone" not in sys.argv:
        kill()
    taken: list[bytes | bytearray] = [bytes(MEBIBYTE)]
    while True:
        taken.append(bytearray(MEBIBYTE))


def hang() -> None:
    """Block the event loop."""
    time.sleep(3600)


WAYS: Mapping[str, Callable[[], None]] = {"leave": leave, "kill": kill, "fill": fill, "hang": hang}


def disturbed(kind: Kind, how: Mapping[str, Any]) -> Kind:
    """Return a queue whose handler waits before each row, and is stopped by hostile ones."""
    lease = timedelta(seconds=how["lease"]) if "lease" in how else kind.spec.lease

    def build() -> Any:
        handler = kind.build()
        handle: Callable[[Any], Awaitable[Any]] = handler.handle
        pause = how.get("pause", {}).get(kind.spec.name, how.get("seconds", 0))

        def meet(row: Any) -> None:
            way = how.get("hostile", {}).get(str(row.id))
            if way is not None:
                WAYS[way]()

        async def slowly(row: Any) -> Any:
            await asyncio.sleep(pause)
            meet(row)
            return await handle(row)

        object.__setattr__(handler, "handle", slowly)
        if isinstance(handler, TransactionHandler):
            work: Callable[[Any], Any] = handler.work

            def disturbed_work(row: Any) -> Any:
                meet(row)
                return work(row)

            object.__setattr__(handler, "work", disturbed_work)
            delay_writes(pause)
        return handler

    return Kind(replace(kind.spec, lease=lease), build)


def delay_writes(seconds: float) -> None:
    """Have rows wait before each commit of a settler: they are held meanwhile."""
    write: Callable[..., Awaitable[None]] = getattr(Settler, "_write")  # noqa: B009  # private

    async def slowly(self: Any, *given: Any, **named: Any) -> None:
        await asyncio.sleep(seconds)
        await write(self, *given, **named)

    setattr(Settler, "_write", slowly)  # noqa: B010  # private


def disturb_mail(how: Mapping[str, Any]) -> None:
    """Have the building of hostile emails end the process, and of all others wait."""
    genuine = build_message

    def build(mail: LoadedEmail, *given: Any, **named: Any) -> SendAttempt:
        way = how.get("hostile", {}).get(str(mail.claim.id))
        time.sleep(how.get("build", 0))
        if way is not None:
            WAYS[way]()
        return genuine(mail, *given, **named)

    object.__setattr__(prepare, "build_message", build)


def run(module: str, *arguments: str) -> None:
    """Run the command line, or fork worker processes."""
    how = json.loads(os.environ.get(VARIABLE, "{}"))

    def kinds(settings: Settings, names: Sequence[str], **options: Any) -> list[Kind]:
        return [disturbed(kind, how) for kind in kinds_of(settings, names, **options)]

    object.__setattr__(queues, "kinds_of", kinds)
    disturb_mail(how)
    if "memory" in how:
        for command in (queues, send):
            object.__setattr__(command, "ALONE_MEMORY_BYTES", how["memory"])
    if module == "mailqueue":
        main(arguments, prog_name=module)
    armed = getattr(crashpoints.reach, "__self__", None)
    if armed is not None:  # the first process alone reaches its crash point
        os.register_at_fork(after_in_parent=partial(setattr, armed, "_left", 0))
    forked.run(int(arguments[0]))
