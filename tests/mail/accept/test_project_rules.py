"""Rules of a project for its mail: postal addresses of marketing, and unsubscribe headers."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.db.migrations import read_schema
from mailqueue.db.sql import sql_folder
from tests import make

pytestmark = pytest.mark.anyio
YOUNG = "SELECT mailqueue.add_project('young', 'ann', '{}')"
CHANGE = "SELECT mailqueue.change_project('young', %s, 'ann')"
OPTIONS = (
    "SELECT c.tracking_options FROM mailqueue.email_queue AS q"
    " JOIN mailqueue.email_contents AS c ON c.id = q.content_id"
)


async def inserted(conn: Conn, **options: Any) -> None:
    columns = ", ".join(options)
    await conn.execute(
        "INSERT INTO mailqueue.email_queue (project, recipient_email, subject, text_body,"
        f" {columns}) VALUES ('young', 'ann@example.com', 's', 't',"
        f" {', '.join(['%s'] * len(options))})".encode(),
        list(options.values()),
    )


async def listed(conn: Conn, **options: Any) -> None:
    message = {"recipient": "ann@example.com", "subject": "s", "text": "t", **options}
    found = await make.rows(
        conn,
        "SELECT status, reason FROM mailqueue.enqueue_batch('young', %s)",
        Jsonb([message, message]),
    )
    for status, reason in found:
        if status == "rejected":
            raise errors.InvalidParameterValue(reason)


async def shared(conn: Conn, **options: Any) -> None:
    await conn.execute(
        "SELECT mailqueue.enqueue_shared('young', %s, %s, %s, true, 'ann')",
        [
            Jsonb([{"subject": "s", "text": "t"}]),
            Jsonb(options),
            Jsonb([{"recipient": "ann@example.com"}, {"recipient": "Bob <bob@example.com>"}]),
        ],
    )


async def finished(conn: Conn, **options: Any) -> None:
    email = {"recipient": "ann@example.com", "subject": "s", "text": "t", **options}
    document = {"email": email, "files": [], "has_null_sender": False}
    await conn.execute(
        "SELECT mailqueue.accept_raw('young', %s, %s)", [Jsonb([document]), [b"Subject: s\n\nt"]]
    )


WAYS = (inserted, listed, shared, finished)


@pytest.mark.parametrize("accept", WAYS)
async def test_marketing_needs_a_postal_address(
    conn: Conn, accept: Callable[..., Awaitable[None]]
) -> None:
    await conn.execute(YOUNG)
    await accept(conn, category="newsletter")

    with pytest.raises(errors.InvalidParameterValue, match="category: marketing needs a postal"):
        async with conn.transaction():
            await accept(conn, category="marketing")

    await conn.execute(CHANGE, [Jsonb({"postal_address": "1 High Street"})])
    await accept(conn, category="marketing")


@pytest.mark.parametrize("accept", WAYS)
async def test_a_project_may_send_marketing_without_one(
    conn: Conn, accept: Callable[..., Awaitable[None]]
) -> None:
    await conn.execute(YOUNG)
    await conn.execute(CHANGE, [Jsonb({"require_postal_address": False})])

    await accept(conn, category="marketing")


@pytest.mark.parametrize("accept", [inserted, listed, shared])
async def test_all_mail_of_a_project_may_have_unsubscribe_headers(
    conn: Conn, accept: Callable[..., Awaitable[None]]
) -> None:
    await conn.execute(YOUNG)
    await accept(conn, category="transactional")
    assert {one for (one,) in await make.rows(conn, OPTIONS)} == {None}
    await conn.execute("DELETE FROM mailqueue.email_queue")

    await conn.execute(CHANGE, [Jsonb({"unsubscribe_on_all": True})])
    await accept(conn, category="transactional")
    assert {one for (one,) in await make.rows(conn, OPTIONS)} == {4}
    await conn.execute("DELETE FROM mailqueue.email_queue")

    await accept(conn, category="transactional", unsubscribe=False)
    assert {one for (one,) in await make.rows(conn, OPTIONS)} == {8}


async def test_projects_keep_what_they_had_when_the_rules_came(conn: Conn) -> None:
    (text,) = (one.text for one in read_schema(sql_folder()).migrations if one.name == "mail_rules")
    for name in ("plain", "posted"):
        await conn.execute("SELECT mailqueue.add_project(%s, 'ann', '{}')", [name])
    await conn.execute(
        "UPDATE mailqueue.projects SET require_postal_address = true, max_age_hours_high = NULL,"
        " max_age_hours_critical = NULL, max_age_hours_normal = NULL, max_age_hours_low = NULL,"
        " postal_address = CASE name WHEN 'posted' THEN '1 High Street' END, created_at = now()"
    )

    await conn.execute(text[text.index("UPDATE mailqueue.projects") :].encode())

    found = await make.rows(
        conn,
        "SELECT name, require_postal_address, max_age_hours_critical, max_age_hours_high,"
        " max_age_hours_normal, max_age_hours_low FROM mailqueue.projects ORDER BY name",
    )
    assert found == [
        ("default", True, 1, 4, 24, 72),  # of an installation that is being made
        ("plain", False, 96, 96, 96, 96),
        ("posted", True, 96, 96, 96, 96),
    ]
