"""pgqueuer with aiosmtplib: batches of 100, asyncpg, uvloop."""

import asyncio
import json
import os
import sys
from datetime import timedelta

import asyncpg
import uvloop
from mail import Post, message
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

URL = os.environ["DATABASE_URL"]


async def _fill(count: int, size: int) -> None:
    connection = await asyncpg.connect(URL)
    queries = Queries(AsyncpgDriver(connection))
    await queries.install()
    for start in range(0, count, 1000):
        bodies = [
            json.dumps(message(n, size)).encode() for n in range(start, min(count, start + 1000))
        ]
        await queries.enqueue(["mail"] * len(bodies), bodies, [0] * len(bodies))
    await connection.close()


async def _work() -> None:
    queuer = PgQueuer(AsyncpgDriver(await asyncpg.connect(URL)))
    post = Post()
    await post.open()

    @queuer.entrypoint("mail")
    async def send(job: Job) -> None:
        address, raw = json.loads(job.payload or b"")
        await post.send(address, raw)

    await queuer.run(dequeue_timeout=timedelta(seconds=1), batch_size=100)


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        asyncio.run(_fill(int(sys.argv[2]), int(sys.argv[3])))
    else:
        uvloop.run(_work())
