"""Extends the leases of rows that take long."""

import asyncio
from collections.abc import MutableMapping
from functools import partial
from typing import NamedTuple
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.core.queues.model import QueueSpec
from mailqueue.db.link import Link
from mailqueue.queue import store
from mailqueue.queue.rows import Claim
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)


class Held(NamedTuple):
    """A row that this worker has claimed and not settled, and the loop time of the claim."""

    row: Claim
    claimed_at: float


async def renew_forever(link: Link, spec: QueueSpec, held: MutableMapping[UUID, Held]) -> None:
    """Extend the leases of rows that take longer than a third of their lease.

    What is refused is tried again after the next third. A row whose claim is lost stays among
    those that are held until its outcome is settled, without effect.
    """
    third = spec.lease.total_seconds() / 3
    while True:
        await asyncio.sleep(third)
        oldest = asyncio.get_running_loop().time() - third
        rows = [one.row for one in held.values() if one.claimed_at < oldest]
        if not rows:
            continue
        try:
            count = await link.call(partial(store.renew, spec=spec, rows=rows))
            reach(f"{spec.name}.renewed")
            if count < len(rows):
                log.warning("queue.lost", queue=spec.name, count=len(rows) - count)
        except Exception:  # rows go on, and two thirds of their leases are left
            log.exception("queue.not_renewed", queue=spec.name)
