"""Exports and A/B tests of projects that are compared."""

import zlib
from typing import Any

from mailqueue.db.fetch import Conn


def ab_test(mark: str) -> dict[str, Any]:
    """Return the request of a test with `mark` as its name, campaign and subjects."""
    variants = [{"name": one, "share": 50, "subject": mark} for one in ("A", "B")]
    return {"name": mark, "campaign_id": mark, "html_body": "<p>x</p>", "variants": variants}


async def exported(conn: Conn, mark: str) -> None:
    """End all exports, with `mark` as the only row of each file."""
    row = f"{mark}\r\n".encode()
    await conn.execute(
        "WITH ended AS (UPDATE mailqueue.exports SET status = 'done', finished_at = now(),"
        " rows = 1, parts = 1, bytes = %s RETURNING id, project_id)"
        " INSERT INTO mailqueue.export_parts (export_id, number, project_id, rows, data)"
        " SELECT id, 0, project_id, 1, %s FROM ended",
        (len(row), zlib.compress(row)),
    )
