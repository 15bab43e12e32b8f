"""Interrupts commands and servers at their crash points, then repeats the same request."""

import asyncio
import smtplib
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from secrets import token_hex
from signal import SIGCONT, SIGKILL, SIGTERM

import httpx2

from mailqueue.core.crashpoints import Action
from mailqueue.db.fetch import Conn
from mailqueue.embedded.ports import free_port
from mailqueue.projects.keys.manage import issue_key
from tests import make
from tests.chaos.points.named import Point, Way
from tests.chaos.points.runner import PointRunner, lose_all, wait_for_fault
from tests.chaos.processes import Child
from tests.concurrency.running import until
from tests.mail.claim.steps import claim, mark

Run = Callable[[PointRunner, Conn, Point, Action], Awaitable[list[str]]]
LINES = 510  # more than one batch
CODES = {Action.KILL: -SIGKILL, Action.RAISE: 1, Action.STALL: 0}
_HELD = (
    "SELECT count(*) FROM mailqueue.email_queue WHERE campaign_id = %s::text AND status = 'held'"
)


async def crash_enqueue(runner: PointRunner, conn: Conn, point: Point, action: Action) -> list[str]:
    """A second run queues the rest of the file and nothing twice."""
    name = token_hex(4)
    file, text = runner.folder / f"{name}.csv", runner.folder / f"{name}.txt"
    lines = LINES if action is Action.KILL else runner.mails
    file.write_text("\n".join(["email", *runner.addresses(lines)]) + "\n")
    text.write_text("Hello\n")
    faults = await _twice(
        runner,
        (point, action),
        *("enqueue", str(file), "--subject=Hello", f"--text-template-file={text}"),
    )
    await runner.finish(conn)
    return faults


async def crash_operation(
    runner: PointRunner, conn: Conn, point: Point, action: Action
) -> list[str]:
    """After a second run everything is held; after a release, everything is sent."""
    campaign = await runner.accept(conn)
    which = ("--project=default", f"--campaign={campaign}", "--yes")
    faults = await _twice(runner, (point, action), "email", "hold", *which)
    return faults + await _released(runner, conn, campaign)


async def crash_restored(
    runner: PointRunner, conn: Conn, point: Point, action: Action
) -> list[str]:
    """After a second run all mail that may have been sent is held; after a release, all is sent."""
    campaign = await runner.accept(conn)
    moment = (await make.scalar(conn, "SELECT now() - interval '1 min'")).isoformat()
    faults = await _twice(runner, (point, action), "restored", f"--from={moment}")
    return faults + await _released(runner, conn, campaign)


async def crash_resolve(runner: PointRunner, conn: Conn, point: Point, action: Action) -> list[str]:
    """A second run finds the decision recorded."""
    await runner.accept(conn)
    worker = await make.worker(conn)
    taken = [email for email in await claim(conn, worker) if email.recipients]
    await mark(conn, worker, taken)
    await lose_all(conn)
    held = "SELECT id FROM mailqueue.email_queue WHERE status = 'held' AND id = ANY (%s)"
    ids = [str(one) for (one,) in await make.rows(conn, held, [email.id for email in taken])]
    faults = await _twice(runner, (point, action), "resolve", *ids, "--not-sent", again=1)
    await runner.finish(conn)
    return faults if ids else [*faults, "nothing was in doubt"]


async def _released(runner: PointRunner, conn: Conn, campaign: object) -> list[str]:
    held = await make.scalar(conn, _HELD, campaign)
    which = ("--project=default", f"--campaign={campaign}", "--yes")
    code = await (await runner.start("email", "release", *which)).ended()
    await runner.finish(conn)
    faults = [] if held == runner.mails else [f"{held} of {runner.mails} were held"]
    return faults if code == 0 else [*faults, f"release ended with {code}"]


async def _twice(
    runner: PointRunner, inject: tuple[Point, Action], *arguments: str, again: int = 0
) -> list[str]:
    """Run a command that is interrupted, then a second time, which ends with the exit code
    `again`.
    """
    point, action = inject
    first = await runner.start(*arguments, inject=inject)
    await wait_for_fault(first, point, action)
    second = await runner.start(*arguments)
    codes = [await second.ended()]
    first.signal(SIGCONT)
    codes.insert(0, await first.ended())
    wanted = [CODES[action], again]
    return [] if codes == wanted else [f"it ended with {codes}, not {wanted}: {_last(second)}"]


async def crash_trap(runner: PointRunner, conn: Conn, point: Point, action: Action) -> list[str]:
    """Mail stored before the interruption stays; a client without a positive reply sends it
    again.
    """
    subject = token_hex(8)
    port = free_port()
    arguments = ("trap", "serve", "--port=0", f"--trap-port={port}")

    async def send() -> bool:
        return await asyncio.to_thread(_mailed, port, subject)

    found = await _asked_twice(runner, (point, action), arguments, port, send)
    kept = await make.scalar(
        conn, "SELECT count(*) FROM mailqueue.trap_messages WHERE subject = %s", subject
    )
    most = 1 if action is Action.STALL else 2
    return found if kept == most else [*found, f"{kept} messages are kept"]


async def crash_api(runner: PointRunner, conn: Conn, point: Point, action: Action) -> list[str]:
    """A request that is repeated with its idempotency key is accepted once."""
    (address,) = runner.addresses(1)
    key = (await issue_key(conn, "default", token_hex(4), is_test=False)).key.reveal()
    port = free_port()
    body = {"to": [address], "subject": "Hello", "text_body": "Hello"}

    async def send() -> bool:
        with suppress(httpx2.HTTPError):
            async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
                headers = {"X-API-Key": key, "Idempotency-Key": address}
                answer = await http.post("/v1/send", headers=headers, json=body)
                return answer.status_code in (200, 202)
        return False

    found = await _asked_twice(
        runner, (point, action), ("api", f"--port={port}", "--no-trap"), port, send
    )
    await runner.finish(conn)
    return found


async def crash_submission(
    runner: PointRunner, conn: Conn, point: Point, action: Action
) -> list[str]:
    """A message that a program submits again without a reply is the same mail."""
    (address,) = runner.addresses(1)
    key = (await issue_key(conn, "default", token_hex(4), is_test=False)).key.reveal()
    port = free_port()

    async def send() -> bool:
        return await asyncio.to_thread(_handed_in, port, key, address)

    arguments = ("worker", "submission", f"--port={port}")
    found = await _asked_twice(runner, (point, action), arguments, port, send)
    await runner.finish(conn)
    return found


async def _asked_twice(
    runner: PointRunner,
    inject: tuple[Point, Action],
    arguments: tuple[str, ...],
    port: int,
    ask: Callable[[], Awaitable[bool]],
) -> list[str]:
    """Send a request to a server that is interrupted; without a positive reply, repeat it."""
    point, action = inject
    server = await runner.start(*arguments, inject=inject)
    await _listens(port, server)
    asking = asyncio.ensure_future(ask())
    await wait_for_fault(server, point, action)
    server.signal(SIGCONT)
    was_taken = await asking
    faults = [] if was_taken is (action is Action.STALL) else [f"the first answer: {was_taken}"]
    if not was_taken:
        if action is Action.KILL:
            server = await runner.start(*arguments)
            await _listens(port, server)
        if not await ask():
            faults.append(f"it was not taken afterwards: {_last(server)}")
    server.signal(SIGTERM)
    code = await server.ended()
    return faults if code == 0 else [*faults, f"the server ended with {code}"]


async def _listens(port: int, server: Child) -> None:
    async def listens() -> bool:
        assert server.code is None, f"the server ended: {_last(server)}"
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        return False

    await until(listens)


def _mailed(port: int, subject: str) -> bool:
    with suppress(smtplib.SMTPException, OSError):
        with smtplib.SMTP("127.0.0.1", port, timeout=60) as smtp:
            message = f"Subject: {subject}\r\n\r\nHello\r\n"
            smtp.sendmail("ann@example.com", ["bob@example.com"], message)
        return True
    return False


def _handed_in(port: int, key: str, address: str) -> bool:
    with suppress(smtplib.SMTPException, OSError):
        with smtplib.SMTP("127.0.0.1", port, timeout=60) as smtp:
            smtp.login("apikey", key)
            fields = f"From: shop@example.com\r\nMessage-ID: <{address}>\r\n"
            smtp.sendmail("ann@example.com", [address], f"{fields}\r\nHello\r\n")
        return True
    return False


def _last(child: Child) -> str:
    return child.log.read_text("utf-8", "replace")[-500:]


RUN_BY_WAY: Mapping[Way, Run] = {
    Way.ENQUEUE: crash_enqueue,
    Way.OPERATE: crash_operation,
    Way.RESOLVE: crash_resolve,
    Way.RESTORE: crash_restored,
    Way.TRAP: crash_trap,
    Way.API: crash_api,
    Way.SUBMISSION: crash_submission,
}
