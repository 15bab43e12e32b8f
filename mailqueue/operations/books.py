"""Check that every accepted mail is accounted for."""

from mailqueue.contract.operations import BookLine
from mailqueue.db.fetch import Conn
from mailqueue.operations.store import health as health_store
from mailqueue.operations.store import overview as overview_store


async def read(conn: Conn) -> list[BookLine]:
    """Return the books: a line for each project and day of acceptance."""
    return await overview_store.books(conn)


async def check(conn: Conn) -> list[BookLine]:
    """Return the books, and store differences for view health, where this login may."""
    lines = await read(conn)
    if await health_store.may_tell(conn):
        await health_store.note_books(conn, faults(lines))
    return lines


def faults(lines: list[BookLine]) -> list[str]:
    """Return a sentence for each difference. Pure."""
    return [_sentence(line) for line in lines if line.difference]


def _sentence(line: BookLine) -> str:
    count = abs(line.difference)
    emails = f"{count} email{'' if count == 1 else 's'}"
    where = f"of project {line.project} accepted on {line.day}"
    if line.difference > 0:
        return f"{emails} {where} are neither queued nor finished: rows were deleted"
    return f"{emails} {where} exist but were never accepted: rows were added or moved"
