"""Worker hosts keep what they have seen of the database in a file of the data folder."""

import json
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.queue import store
from mailqueue.queue.server_memory import FILE_NAME, ServerMemory
from tests import make
from tests.mail.claim.steps import claim
from tests.operations.restored.seeing import (
    PROMOTED,
    at_work,
    change,
    earlier,
    restart_session,
    see,
)

pytestmark = pytest.mark.anyio


async def looked(conn: Conn, memory: ServerMemory) -> str | None:
    answer = await see(conn, memory.seen)
    memory.update(answer.seen, answer.refusal)
    return answer.refusal


async def test_a_process_that_starts_knows_what_those_before_it_had_seen(
    conn: Conn, tmp_path: Path
) -> None:
    """A snapshot of the disk was put back: its server says nothing about it."""
    worker, due = await at_work(conn)
    await looked(conn, ServerMemory(tmp_path))
    await store.stop_worker(conn, worker)
    await change(conn, "UPDATE mailqueue.server_identity SET marks = marks - 1")

    assert "gone back" in str(await looked(conn, ServerMemory(tmp_path)))

    assert await claim(conn, await make.worker(conn)) == []
    assert await make.status_of(conn, due) == "pending"


async def test_a_process_that_starts_vouches_for_a_standby_that_was_promoted_meanwhile(
    conn: Conn, tmp_path: Path
) -> None:
    worker, due = await at_work(conn)
    await looked(conn, ServerMemory(tmp_path))
    await store.stop_worker(conn, worker)
    file = tmp_path / FILE_NAME
    file.write_text(json.dumps(json.loads(file.read_text()) | {"identity": await earlier(conn)}))
    await change(conn, PROMOTED)
    await restart_session(conn)
    assert (await see(conn)).refusal, "without the file nothing is known"

    assert await looked(conn, ServerMemory(tmp_path)) is None

    assert [one.id for one in await claim(conn, await make.worker(conn))] == [due]


async def test_a_file_about_another_database_says_nothing_about_this_one(
    conn: Conn, tmp_path: Path
) -> None:
    await at_work(conn)
    seen = json.loads((await see(conn)).seen or "")
    other = seen | {"installation": str(uuid4()), "progress": seen["progress"] + 1_000}
    (tmp_path / FILE_NAME).write_text(json.dumps(other))

    assert await looked(conn, ServerMemory(tmp_path)) is None
    assert json.loads((tmp_path / FILE_NAME).read_text()) == seen


async def test_a_process_whose_database_was_made_anew_does_not_send_from_it(conn: Conn) -> None:
    await at_work(conn)
    seen = json.loads((await see(conn)).seen or "")

    answer = await see(conn, json.dumps(seen | {"installation": str(uuid4())}))

    assert "gone back" in str(answer.refusal)


DAMAGED = '{"identity": "x", "installation": "%s", "declared_at": "%s", "progress": 1}'


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", "{}", DAMAGED % ("x", "-infinity"), DAMAGED % (UUID(int=1), "soon")],
)
async def test_a_damaged_file_is_no_memory(conn: Conn, tmp_path: Path, content: str) -> None:
    await make.worker(conn)
    (tmp_path / FILE_NAME).write_text(content)

    memory = ServerMemory(tmp_path)

    assert memory.seen is None
    assert await looked(conn, memory) is None
    assert ServerMemory(tmp_path).seen is not None


async def test_without_a_folder_that_can_be_written_there_is_no_file(
    conn: Conn, tmp_path: Path
) -> None:
    await make.worker(conn)
    memory = ServerMemory(tmp_path / "missing")

    assert await looked(conn, memory) is None
    assert memory.seen is not None
