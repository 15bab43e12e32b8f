"""One process that claims and settles as fast as it can; prints its figures as JSON."""

import asyncio
import json
import os
import socket
import sys
import time
from datetime import timedelta
from uuid import uuid4

import uvloop

import mailqueue
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.model import ClaimedEmail, Ending, LogStatus, SendOutcome
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.mail.send.store.outcomes import settle_and_mark
from mailqueue.queue.store import start_worker
from mailqueue.settings.environment import DatabaseSettings

LEASE = timedelta(minutes=30)


def sent(email: ClaimedEmail) -> SendOutcome:
    """Return the outcome of a mail that was sent."""
    return SendOutcome(
        id=email.id,
        claim_no=email.claim_no,
        ending=Ending.SENT,
        spent=1,
        log=LogStatus.SENT,
        message_id=f"<{email.id.hex}@example.com>",
        code="250",
        enhanced="2.0.0",
        reply="2.0.0 Ok",
        response_ms=1,
    )


async def _work(conn: Conn, *, batch: int, rows: int) -> dict[str, object]:
    worker = await start_worker(
        conn,
        kind="send",
        host=socket.gethostname(),
        pid=os.getpid(),
        version=mailqueue.__version__,
        launch_id=uuid4(),
    )
    print("ready", flush=True)  # noqa: T201
    await asyncio.to_thread(sys.stdin.readline)  # all begin together
    claims: list[float] = []
    done = 0
    started = time.time()
    while done < rows:
        await claims_store.gather_lanes(conn)
        asked = time.perf_counter()
        emails = await claims_store.claim(conn, worker, limit=batch, lease=LEASE)
        claims.append(time.perf_counter() - asked)
        if not emails:
            continue
        await settle_and_mark(conn, worker, settled=[sent(email) for email in emails])
        done += len(emails)
    return {"rows": done, "started": started, "ended": time.time(), "claims": claims}


async def _main(url: str, batch: int, rows: int) -> None:
    async with connect(DatabaseSettings(Secret(url)), application_name="bench/claimer") as conn:
        print(json.dumps(await _work(conn, batch=batch, rows=rows)))  # noqa: T201


if __name__ == "__main__":
    uvloop.run(_main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
