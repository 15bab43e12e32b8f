"""procrastinate with aiosmtplib: 20 jobs at once, psycopg, uvloop."""

import asyncio
import os
import sys

import procrastinate
import uvloop
from mail import Post, message

app = procrastinate.App(
    connector=procrastinate.PsycopgConnector(conninfo=os.environ["DATABASE_URL"])
)
post = Post()


@app.task(name="mail")
async def send(address: str, raw: str) -> None:
    """Send one mail."""
    await post.send(address, raw)


async def _fill(count: int, size: int) -> None:
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        for start in range(0, count, 1000):
            mails = [message(n, size) for n in range(start, min(count, start + 1000))]
            jobs = [{"address": address, "raw": raw} for address, raw in mails]
            await send.batch_defer_async(*jobs)


async def _work() -> None:
    await post.open()
    async with app.open_async():
        await app.run_worker_async(concurrency=20, install_signal_handlers=False)


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        asyncio.run(_fill(int(sys.argv[2]), int(sys.argv[3])))
    else:
        uvloop.run(_work())
