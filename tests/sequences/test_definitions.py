"""Sequences that could not be carried out are refused, naming the field."""

from typing import Any

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make
from tests.sequences.running import (
    NOON,
    OFFER,
    TIPS,
    WELCOME,
    contact,
    enroll,
    project_with_template,
    publish,
    sequence,
    steps_of,
    turn,
)

pytestmark = pytest.mark.anyio
STEP: dict[str, Any] = {"name": "a", "template": "hello"}
PUT = "SELECT mailqueue.put_sequence(%s, %s, %s, %s, 'tests')"


@pytest.mark.parametrize(
    ("steps", "field"),
    [
        ("no list", "steps"),
        ([], "steps"),
        ([STEP | {"name": f"s{number}"} for number in range(101)], "steps"),
        (["text"], "steps.0"),
        ([STEP | {"colour": "red"}], "steps.0.colour"),
        ([STEP | {"name": "A b"}], "steps.0.name"),
        ([{"template": "hello"}], "steps.0.name"),
        ([STEP, STEP], "steps.1.name"),
        ([STEP | {"template": "none"}], "steps.0.template"),
        ([STEP | {"template": "hello@7"}], "steps.0.template"),
        ([STEP | {"template": "hello@x"}], "steps.0.template"),
        ([STEP | {"template": 7}], "steps.0.template"),
        ([{"name": "a"}], "steps.0.template"),
        ([STEP | {"delay": "soon"}], "steps.0.delay"),
        ([STEP | {"delay": "-3d"}], "steps.0.delay"),
        ([STEP | {"delay": "1.5d"}], "steps.0.delay"),
        ([STEP | {"delay": "367d"}], "steps.0.delay"),
        ([STEP | {"delay": "999999w"}], "steps.0.delay"),
        ([STEP | {"delay": 3}], "steps.0.delay"),
        ([STEP | {"at": "24:00"}], "steps.0.at"),
        ([STEP | {"at": "9:00"}], "steps.0.at"),
        ([STEP | {"weekdays": []}], "steps.0.weekdays"),
        ([STEP | {"weekdays": ["monday"]}], "steps.0.weekdays"),
        ([STEP | {"weekdays": "mon"}], "steps.0.weekdays"),
        ([STEP | {"next": "b"}], "steps.0.next"),
        ([STEP | {"condition": True}], "steps.0.condition"),
        ([STEP | {"condition": {}}], "steps.0.condition.event"),
        ([STEP | {"condition": {"event": "opened", "step": "b"}}], "steps.0.condition.step"),
        ([STEP | {"condition": {"event": "Paid", "step": "a"}}], "steps.0.condition.step"),
        ([STEP | {"condition": {"event": "Paid", "happened": 1}}], "steps.0.condition.happened"),
        ([STEP | {"condition": {"event": "Paid", "x": 1}}], "steps.0.condition.x"),
    ],
)
async def test_a_step_that_cannot_be_done_is_refused(conn: Conn, steps: object, field: str) -> None:
    project = await project_with_template(conn)

    with pytest.raises(errors.InvalidParameterValue) as refused:
        await conn.execute(PUT, (project, "onboarding", Jsonb({"steps": steps}), True))

    assert refused.value.diag.column_name == field


@pytest.mark.parametrize(
    ("second", "third", "is_loop"),
    [
        ({"next": "a"}, {}, True),
        ({"delay": "59m", "next": "a"}, {}, True),
        ({"at": "09:00", "next": "a"}, {}, True),
        ({"delay": "60m", "next": "a"}, {}, False),
        ({"delay": "1d", "next": "b"}, {}, False),
        ({"next": "b"}, {}, True),
        ({"next": "c"}, {"next": "a"}, True),
        ({"next": "c"}, {"delay": "2h", "next": "a"}, False),
        ({"delay": "1d", "next": "c"}, {"next": "c"}, True),
        # Skipped by its condition, a step goes on to the one below it: no loop is left.
        ({"condition": {"event": "Paid"}, "next": "a"}, {}, True),
    ],
)
async def test_a_loop_of_steps_needs_a_delay(
    conn: Conn, second: dict[str, Any], third: dict[str, Any], is_loop: bool
) -> None:
    project = await project_with_template(conn)
    steps = [STEP, STEP | {"name": "b"} | second, STEP | {"name": "c"} | third]

    if not is_loop:
        await sequence(conn, project, *steps)
        return
    with pytest.raises(errors.InvalidParameterValue, match="loop of steps") as refused:
        await sequence(conn, project, *steps)
    assert str(refused.value.diag.column_name).startswith("steps.")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"category": "transactional"}, "category"),
        ({"category": "No Category"}, "category"),
        ({"category": 7}, "category"),
        ({"reenroll": "daily"}, "reenroll"),
        ({"description": "x" * 501}, "description"),
        ({"colour": "red"}, "colour"),
        ({"goal": {"event": "opened", "step": "b"}}, "goal.step"),
        ({"goal": {"event": "Paid", "happened": False}}, "goal.happened"),
        ({"goal": "Paid"}, "goal"),
    ],
)
async def test_settings_are_checked(conn: Conn, given: dict[str, Any], field: str) -> None:
    project = await project_with_template(conn)

    with pytest.raises(errors.InvalidParameterValue) as refused:
        await sequence(conn, project, STEP, **given)

    assert refused.value.diag.column_name == field


async def test_enrollments_stay_on_their_version_until_they_are_moved(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project)
    old, _ = await enroll(conn, project, await contact(conn, project))
    other, _ = await enroll(conn, project, await contact(conn, project, "bob@example.com"))
    await turn(conn, NOON)
    await conn.execute(
        "UPDATE mailqueue.sequence_enrollments SET step = 'gone', run_at = '2100-01-01'"
        " WHERE id = %s",
        (other,),
    )
    changed = {"steps": [WELCOME, TIPS | {"delay": "5d", "at": "10:00"}, OFFER]}
    await conn.execute(PUT, (project, "onboarding", Jsonb(changed), False))
    query = "SELECT version, step, due_at FROM mailqueue.sequence_enrollments WHERE id = %s"
    before = await make.rows(conn, query, old)

    assert await make.scalar(conn, "SELECT published_version FROM mailqueue.sequences") == 1
    assert await publish(conn, project) == 2
    assert await make.rows(conn, query, old) == before
    moved = await make.rows(
        conn,
        "SELECT moved, remaining FROM"
        " mailqueue.move_enrollments(%s, 'onboarding', 1, 1000, 'tests')",
        project,
    )

    assert moved == [(1, 1)]
    due = NOON.replace(day=9, hour=10)
    assert await make.rows(conn, query, old) == [(2, "tips", due)]
    assert (await make.rows(conn, query, other))[0][0] == 1
    await turn(conn, due)
    assert (await steps_of(conn, old))[-1] == ("tips", "sent", due)


async def test_a_draft_is_replaced_until_it_is_published(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project, is_published=False)
    await conn.execute(PUT, (project, "onboarding", Jsonb({"steps": [WELCOME]}), False))

    assert await publish(conn, project) == 1
    assert await publish(conn, project) == 1
    versions = "SELECT version, jsonb_array_length(steps) FROM mailqueue.sequence_versions"
    assert await make.rows(conn, versions) == [(1, 1)]
    query = "SELECT action FROM mailqueue.audit_events WHERE subject = %s ORDER BY id"
    assert [row[0] for row in await make.rows(conn, query, "sequence onboarding")] == [
        "sequence.added",
        "sequence.changed",
        "sequence.published",
    ]


async def test_a_project_has_a_bound_of_sequences(conn: Conn) -> None:
    project = await project_with_template(conn)
    await conn.execute(
        "INSERT INTO mailqueue.sequences (project_id, name, created_by)"
        " SELECT %s, 's' || n, 'tests' FROM generate_series(1, 200) AS n",
        (project,),
    )

    with pytest.raises(errors.InvalidParameterValue, match="200 sequences"):
        await sequence(conn, project)
