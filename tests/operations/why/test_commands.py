"""Every state that a mail or row of a queue can be in has a command, which exists and parses."""

import re
from uuid import uuid4

import click
import pytest

from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.fetch import Conn
from tests import make
from tests.operations.why.commands import commands, parsed, states, steps

pytestmark = pytest.mark.anyio

NO_SUCH_EMAIL = (
    "'there is no such email' || coalesce(' here: ' || mailqueue.archive_words(why.email_id), '')"
)
"""The sentence about an unknown id; the command comes from archive_words()."""
UNSEEN = {"empty", "recheck"}
"""Reasons of lanes in which nothing is due, or that the next claim looks at: no mail waits."""
OWN_WORDS = {
    "schedules": ["schedule"],
    "sequences": ["enrollment"],
    "timed-events": ["timed_event"],
}
"""Queues whose rows are explained by a function of their own, and its subject."""


async def words_of(conn: Conn, constraint: str) -> set[str]:
    """Return the values that a CHECK constraint allows."""
    text = await make.scalar(
        conn,
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conname = %s AND connamespace = 'mailqueue'::regnamespace AND conrelid IN"
        " (SELECT c.oid FROM pg_class AS c WHERE c.oid = conrelid AND NOT c.relispartition)",
        constraint,
    )
    found = set(re.findall(r"'([a-z_]+)'::text", text))
    assert found, text
    return found


@pytest.mark.parametrize(
    ("constraint", "subjects", "aside"),
    [
        ("email_history_status_check", ("history",), set[str]()),
        ("email_queue_status_check", ("queue",), set[str]()),
        ("pauses_kind_check", ("pause",), set[str]()),
        ("projects_status_check", ("project",), {"active"}),
        ("sender_accounts_status_check", ("account",), {"active"}),
        ("limits_blocked_check", ("account",), set[str]()),
        # Mail that is set aside waits for its pause.
        (
            "lanes_reason_check",
            ("account", "project", "domain", "installation", "queue"),
            UNSEEN | {"set_aside"},
        ),
    ],
)
async def test_each_status_and_reason_of_the_schema_has_a_command(
    conn: Conn, constraint: str, subjects: tuple[str, ...], aside: set[str]
) -> None:
    known = states(await steps(conn), *subjects)

    assert await words_of(conn, constraint) - aside - known == set()


@pytest.mark.parametrize("spec", QUEUES, ids=lambda spec: spec.name)
async def test_each_status_of_a_queue_has_a_command(conn: Conn, spec: QueueSpec) -> None:
    status = await words_of(conn, f"{spec.table}_status_check")

    known = await steps(conn)
    assert status - {spec.done} - states(known, "row", *OWN_WORDS.get(spec.name, ())) == set()


async def test_each_reason_without_headroom_has_words_and_a_command(conn: Conn) -> None:
    source = await make.scalar(
        conn, "SELECT prosrc FROM pg_proc WHERE oid = 'mailqueue.headroom'::regproc"
    )
    computed = source[source.index("AS w\n") - 1500 :]
    reasons = set(re.findall(r"(?:THEN|ELSE) '([a-z_]+)'", computed))
    reasons |= await words_of(conn, "limits_blocked_check")
    assert reasons >= {"rate", "daily_limit", "brake", "locked", "half_open"}

    known = states(await steps(conn), "account", "project", "domain", "installation")
    assert reasons - known == set()
    said = {
        reason: await make.scalar(conn, "SELECT mailqueue.limit_words(%s, 5)", reason)
        for reason in reasons
    }
    assert [reason for reason, text in said.items() if not text] == []


@pytest.mark.parametrize("function", ["why", "why_row"])
async def test_each_sentence_ends_with_a_command(conn: Conn, function: str) -> None:
    """A sentence added without one fails here."""
    source = await make.scalar(
        conn, f"SELECT prosrc FROM pg_proc WHERE oid = 'mailqueue.{function}'::regproc"
    )
    sentences = [text.partition(";\n")[0] for text in re.split(r"\bRETURN\b", source)[1:]]
    without = [text.strip() for text in sentences if "next_step" not in text]

    assert len(sentences) >= 7
    assert [text for text in without if text not in ("v_kept", "NULL")] == (
        [NO_SUCH_EMAIL] if function == "why" else []
    )  # fmt: skip


async def test_each_command_exists_and_is_complete(conn: Conn) -> None:
    for (subject, state), step in (await steps(conn)).items():
        assert commands(step), (subject, state)
        for line in commands(step):
            filled = line.replace("{in_project}", " --project shop")
            filled = filled.replace("{in_month}", " --month 2030-01").replace("{id}", str(uuid4()))
            if "worker {value}" in filled:
                for spec in QUEUES:
                    parsed(filled.replace("{value}", spec.name))
            if subject in ("order", "timed_event"):  # the value is the id of another row
                filled = filled.replace("{value}", str(uuid4()))
            parsed(re.sub(r"\{[a-z]+\}", "webhooks", filled))


def test_a_command_that_is_not_there_is_noticed() -> None:
    with pytest.raises(click.UsageError, match="no-such"):
        parsed("email no-such 1")
    with pytest.raises(click.UsageError, match="run_at"):
        parsed(f"email reschedule {uuid4()}")
