"""`mailqueue.why` ends with the command of the state that a mail or row of a queue is in."""

import re

import pytest

from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.fetch import Conn
from tests import make
from tests.operations.why.commands import commands, parsed, states, steps, why
from tests.operations.why.mail_states import MAIL
from tests.operations.why.order_states import ORDERED
from tests.operations.why.timed_states import TIMED
from tests.queue.kernel.kinds import KINDS

pytestmark = pytest.mark.anyio
STATES = MAIL | ORDERED


@pytest.mark.parametrize("state", STATES, ids="-".join)
async def test_why_ends_with_the_command_of_the_state(conn: Conn, state: tuple[str, str]) -> None:
    email = await STATES[state](conn)

    said = await why(conn, email)

    step = (await steps(conn))[state]
    pattern = re.sub(r"\\{[a-z_]+\\}", ".*?", re.escape(step))
    assert re.search(f"; {pattern}$", said), said
    found = commands(said)
    assert len(found) == len(commands(step)), said
    for line, template in zip(found, commands(step), strict=True):
        parsed(line)
        assert str(email) in line or "{id}" not in template
    if "{in_project}" in step or "{project}" in step:
        of_default = await make.project_named(conn)
        project = await make.scalar(
            conn, "SELECT project_id FROM mailqueue.emails WHERE id = %s", email
        )
        of_mail = str(email)  # a command that names the email needs no project
        named = [" shop" in line or of_mail in line for line in found]
        assert project == of_default or all(named), said


@pytest.mark.parametrize("state", TIMED, ids="-".join)
async def test_why_of_what_has_a_time_ends_with_the_command_of_its_state(
    conn: Conn, state: tuple[str, str]
) -> None:
    found = await TIMED[state](conn)

    said = await why(conn, found)

    step = (await steps(conn))[state].replace("{id}", str(found)).replace("{in_project}", "")
    pattern = re.sub(r"\\{[a-z_]+\\}", ".*?", re.escape(step))
    assert re.search(f"; {pattern}$", said), said
    for line in commands(said):
        parsed(line)


async def test_every_state_of_mail_was_built(conn: Conn) -> None:
    known = {key for key in await steps(conn) if key[0] not in ("row", "event")}

    assert known - set(STATES) - set(TIMED) == {("history", "archived")}


def row_state(assignments: str, *, queues: tuple[str, ...] = ()) -> tuple[str, tuple[str, ...]]:
    return assignments, queues


HELD_BY = "claim_no = 1, worker_id = %(worker)s, assigned_at = now(), lease_until = now()"
ROWS = {
    "pending": row_state("run_at = now() + interval '1 h'"),
    "no_worker": row_state("run_at = now() - interval '1 h'"),
    "refused": row_state("run_at = now() - interval '1 h'"),
    "assigned": row_state(f"status = 'assigned', {HELD_BY}", queues=("webhooks",)),
    "silent": row_state(f"status = 'assigned', {HELD_BY}"),
    "failed": row_state("status = 'failed', finished_at = now()"),
    "cancelled": row_state("status = 'cancelled', finished_at = now()"),
    "done": row_state("status = 'delivered', finished_at = now()"),
}
"""States of webhook deliveries; those of other queues are below."""
OTHERS = {
    "held": ("custom-smtp", "status = 'held'"),
    "unmatched": ("inbound", "status = 'unmatched', finished_at = now()"),
    "stopped": ("operations", "status = 'stopped', finished_at = now()"),
    "erased": ("imports", "status = 'erased', finished_at = now()"),
    "deleted": ("exports", "status = 'deleted', finished_at = now()"),
    "merged": ("notifications", "status = 'merged', summary_id = id, finished_at = now()"),
    "delivered": ("notifications", "status = 'delivered', finished_at = now()"),
}


@pytest.mark.parametrize("state", [*ROWS, *OTHERS])
async def test_why_of_a_row_ends_with_the_command_of_its_state(conn: Conn, state: str) -> None:
    queue, assignments = OTHERS.get(state) or ("webhooks", ROWS[state][0])
    [spec] = [one for one in QUEUES if one.name == queue]
    async with KINDS[queue](conn, 1) as made:
        row = made.ids[0]
    worker = await make.worker(conn, kind="other", queues=["other"])
    if state == "silent":
        await make.silent(conn, worker)
    await conn.execute(
        f"UPDATE mailqueue.{spec.table} SET {assignments} WHERE id = %(id)s".encode(),
        {"worker": worker, "id": row},
    )

    if state == "refused":
        await conn.execute("SELECT mailqueue.note_refused_row(%s, %s, 'x')", (spec.table, row))

    said = await why(conn, row)

    step = (await steps(conn))["row", state]
    assert said.endswith("; " + step.replace("{id}", str(row)).replace("{value}", queue))
    for line in commands(said):
        parsed(line)


async def test_every_state_of_rows_was_built(conn: Conn) -> None:
    assert states(await steps(conn), "row") == {*ROWS, *OTHERS}


async def test_why_names_no_command_for_the_next_mail_of_a_lane(conn: Conn) -> None:
    await make.worker(conn)
    await make.sender_account(conn)
    email = await make.queued_email(conn)

    said = await why(conn, email)

    assert said.endswith("and next in its lane")
    assert commands(said) == []
