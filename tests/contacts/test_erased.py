"""Erasing a person deletes the contact."""

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.contacts import people

pytestmark = pytest.mark.anyio


async def test_erasing_a_person_deletes_the_contact_in_one_project(conn: Conn) -> None:
    project, other = await make.project_named(conn), await make.project(conn)
    await people.added(conn, project, "Ann@example.com", "bob@example.com")
    await people.added(conn, other, "ann@example.com")

    await make.scalar(
        conn,
        "SELECT mailqueue.begin_erasure(%s, %s, false, 'tests')",
        project,
        ["ann@example.com"],
    )

    left = await make.rows(conn, "SELECT project_id, email FROM mailqueue.contacts ORDER BY id")
    assert left == [(project, "bob@example.com"), (other, "ann@example.com")]
