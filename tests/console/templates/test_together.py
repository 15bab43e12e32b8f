"""Forms that are sent at the same moment: one takes effect, and the other says what happened."""

import asyncio

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.templates import writing
from tests import make
from tests.console.visiting import Visiting, Visitor
from tests.templates.making import published

pytestmark = [pytest.mark.anyio, pytest.mark.deep]

PLATFORM = "/console/templates"
PATIENCE_SECONDS = 60
LOCK = "SELECT mailqueue.lock_row('form ' || (hashtextextended(%s, 0) & 255))"
WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND cardinality(pg_blocking_pids(pid)) > 0"
)


async def sent_together(
    console: Visiting, visitor: Visitor, path: str, *forms: dict[str, str]
) -> list[tuple[int, str]]:
    """Send forms of one path, all of which have arrived before one takes effect."""
    tokens = [await visitor.form(path, path) for _ in forms]
    async with console.connection() as holder, console.connection() as watcher:
        async with holder.transaction():
            await holder.execute(LOCK, (path,))
            sent = [
                asyncio.create_task(visitor.post(path, token | form))
                for token, form in zip(tokens, forms, strict=True)
            ]
            async with asyncio.timeout(PATIENCE_SECONDS):
                while await make.scalar(watcher, WAITING) < len(forms):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        answers = await asyncio.gather(*sent)
    return sorted((each.status_code, each.text) for each in answers)


async def names_of(conn: Conn) -> list[str]:
    return [each.name for each in await writing.list_all(conn, None)]


async def test_of_two_who_save_the_same_details_one_is_told_that_they_were_changed(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await console.add_user("ann")
        await visitor.log_in("ann")
        await published(conn, None, slug="otp")
        path = f"{PLATFORM}/{(await writing.find(conn, None, slug='otp')).id}/change"
        details = {"category": "transactional", "language": "en"}
        saved, refused = await sent_together(
            console, visitor, path, details | {"name": "Ann's"}, details | {"name": "Ben's"}
        )
        (kept,) = await names_of(conn)

    assert (saved[0], refused[0]) == (303, 422)
    assert "It was changed meanwhile" in refused[1]
    assert f'value="{kept}"' not in refused[1].replace("&#39;", "'")


async def test_of_two_who_add_a_layout_of_one_name_one_is_told_that_there_is_one(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await console.add_user("ann")
        await visitor.log_in("ann")
        part = {"name": "base", "kind": "partial"}
        added, refused = await sent_together(
            console,
            visitor,
            f"{PLATFORM}/parts/new",
            part | {"source": "Ann's"},
            part | {"source": "Ben's"},
        )
        sources = [each.source for each in await writing.list_parts(conn, None)]

    assert (added[0], refused[0]) == (303, 422)
    assert "There is a layout or partial of this name" in refused[1]
    assert len(sources) == 1
