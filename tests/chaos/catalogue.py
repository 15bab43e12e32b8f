"""All scenarios, with the size at which each is fast."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.chaos.points import matrix
from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import Sandbox, ScenarioSize, sandbox
from tests.chaos.scenarios import (
    clocks,
    disks,
    exhausted,
    kills,
    operators,
    outages,
    pooling,
    servers,
    sessions,
    snapshots,
    stalled,
    storm,
)
from tests.concurrency.running import Shipped

MAX_TRIES = 5


@dataclass(frozen=True, slots=True)
class Scenario:
    """A fault and the function that checks its promises; `name` is its name on the command line."""

    name: str
    run: Callable[[Sandbox, ScenarioSize], Awaitable[ScenarioResult]]
    short: ScenarioSize

    async def on(self, server: Shipped, size: ScenarioSize | None = None) -> ScenarioResult:
        """Run it on its own database and sink; repeat it if the run proved nothing."""
        size = size or self.short
        for _ in range(MAX_TRIES):
            async with sandbox(self.name, server, size) as made:
                found = await self.run(made, size)
            if found.broken or not found.unproved:
                return found
        found.broken += found.unproved
        return found


SCENARIOS = (
    Scenario("kills-resend", kills.killed_and_resent, ScenarioSize(500, 2)),
    Scenario("kills-hold", kills.killed_and_held, ScenarioSize(500, 2)),
    Scenario("crash-points", matrix.all_points, ScenarioSize(matrix.QUICK_MAILS, 0)),
    Scenario("stops", kills.told_to_stop, ScenarioSize(180, 1)),
    Scenario("database-killed", outages.database_killed, ScenarioSize(400, 2)),
    Scenario("both-killed", outages.both_killed, ScenarioSize(300, 2)),
    Scenario("sessions-ended", sessions.ended_in_storms, ScenarioSize(400, 2)),
    Scenario("sessions-frozen", sessions.frozen, ScenarioSize(300, 1)),
    Scenario("sessions-hurried", sessions.hurried, ScenarioSize(300, 1)),
    Scenario("sessions-read-only", sessions.made_read_only, ScenarioSize(300, 1)),
    Scenario("pooler-killed", pooling.pooler_killed, ScenarioSize(400, 2)),
    Scenario("rows-locked", operators.locked, ScenarioSize(400, 2)),
    Scenario("tables-repaired", operators.repaired, ScenarioSize(400, 2)),
    Scenario("no-descriptors", exhausted.without_descriptors, ScenarioSize(300, 1)),
    Scenario("no-memory", exhausted.without_memory, ScenarioSize(100, 1)),
    Scenario("disk-full", disks.disk_full, ScenarioSize(400, 2)),
    Scenario("frozen-hold", stalled.frozen_and_held, ScenarioSize(300, 1)),
    Scenario("frozen-resend", stalled.frozen_and_resent, ScenarioSize(300, 1)),
    Scenario("silence-both-ways", stalled.silent_both_ways, ScenarioSize(300, 1)),
    Scenario("silence-answers", stalled.silent_answers, ScenarioSize(300, 1)),
    Scenario("silence-questions", stalled.silent_questions, ScenarioSize(300, 1)),
    Scenario("snapshot-held", snapshots.held_throughout, ScenarioSize(300, 1)),
    Scenario("clocks-off", clocks.a_day_off, ScenarioSize(200, 1)),
    Scenario("clocks-set", clocks.stepping, ScenarioSize(300, 2)),
    Scenario("sink-4xx-storm", storm.refused_for_now, ScenarioSize(100, 0)),
    Scenario("sink-5xx", servers.refused_for_good, ScenarioSize(200, 1)),
    Scenario("sink-421-greeting", servers.busy_at_once, ScenarioSize(200, 1)),
    Scenario("sink-421-dot", servers.busy_at_the_dot, ScenarioSize(200, 1)),
    Scenario("sink-byte-by-byte", servers.one_byte_at_a_time, ScenarioSize(200, 1)),
    Scenario("sink-huge-replies", servers.huge_replies, ScenarioSize(200, 1)),
    Scenario("sink-huge-reply-to-dot", servers.huge_reply_to_the_dot, ScenarioSize(200, 1)),
    Scenario("sink-out-of-order", servers.out_of_order, ScenarioSize(200, 1)),
    Scenario("sink-hangs", servers.hanging, ScenarioSize(200, 1)),
    Scenario("sink-silent-after-dot", servers.silent_after_the_dot, ScenarioSize(200, 1)),
    Scenario("sink-gone-after-dot", servers.gone_after_every_dot, ScenarioSize(20, 0)),
    Scenario("sink-refuses", servers.not_listening, ScenarioSize(200, 1)),
)
