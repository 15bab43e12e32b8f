"""The example of the page about sequences does what the page says."""

import json
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.docs.reading import blocks
from tests.sequences.running import (
    contact,
    enroll,
    project_with_template,
    sequence,
    state_of,
    steps_of,
    template,
    turn,
)

pytestmark = pytest.mark.anyio
BERLIN = ZoneInfo("Europe/Berlin")


def example() -> dict[str, Any]:
    (found,) = (
        json.loads(block.text) for block in blocks("json") if block.page == "docs/sequences.md"
    )
    return dict(found)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


@pytest.mark.parametrize("has_clicked", [True, False])
async def test_ann_gets_what_the_page_says(conn: Conn, has_clicked: bool) -> None:
    project = await project_with_template(conn)
    for slug in ("welcome", "tips", "offer"):
        await template(conn, project, slug)
    shown = example()
    await sequence(conn, project, *shown["steps"], goal=shown["goal"])
    ann = await contact(conn, project, time_zone="Europe/Berlin")
    thursday = at("2026-05-07T20:30")
    enrollment, _ = await enroll(conn, project, ann, at=thursday)

    await turn(conn, thursday)
    await turn(conn, at("2026-05-11T08:59"))
    assert await steps_of(conn, enrollment) == [("welcome", "sent", thursday)]
    monday = at("2026-05-11T09:00")  # two days later is a Saturday
    await turn(conn, monday)
    if has_clicked:
        await conn.execute(
            "INSERT INTO mailqueue.email_events (project_id, email_id, type)"
            " SELECT project_id, email_id, 'clicked' FROM mailqueue.enrollment_steps"
            " WHERE step = 'tips'"
        )
    await turn(conn, at("2026-05-14T09:00"))

    assert (await steps_of(conn, enrollment))[1:] == [
        ("tips", "sent", monday),
        ("offer", "sent" if has_clicked else "skipped", at("2026-05-14T09:00")),
    ]
    assert (await state_of(conn, enrollment))[0] == "completed"


async def test_she_leaves_when_she_orders(conn: Conn) -> None:
    project = await project_with_template(conn)
    for slug in ("welcome", "tips", "offer"):
        await template(conn, project, slug)
    shown = example()
    await sequence(conn, project, *shown["steps"], goal=shown["goal"])
    ann = await contact(conn, project)
    enrollment, _ = await enroll(conn, project, ann, at=at("2026-05-07T20:30"))
    await turn(conn, at("2026-05-07T20:30"))

    await make.scalar(
        conn,
        "SELECT mailqueue.record_sequence_event(%s, 'ann@example.com', 'OrderPlaced', false, %s)",
        project,
        at("2026-05-08T10:00"),
    )
    await turn(conn, at("2026-05-11T12:00"))

    assert await state_of(conn, enrollment) == ("left", "goal", "tips")
