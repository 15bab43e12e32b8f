"""SQL decides about addresses by the table that Python's rule is held to as well."""

import json
from pathlib import Path
from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio

TABLE = Path(__file__).parents[1] / "payloads" / "addresses.json"
CASES: list[dict[str, Any]] = [
    case
    for case in json.loads(TABLE.read_text("utf-8"))
    if case["sql"] and "\0" not in case["input"]
]


@pytest.mark.parametrize("case", CASES, ids=[ascii(case["input"][:40]) for case in CASES])
async def test_an_address_is_judged_as_the_table_says(conn: Conn, case: dict[str, Any]) -> None:
    given = case["input"].strip(" \t")

    fault = await make.scalar(conn, "SELECT mailqueue.address_fault(%s)", given)

    assert fault == case.get("reason")
    if case["ok"]:
        email_id = await make.queued_email(conn, recipient_email=case["input"])
        key = "SELECT lower(recipient_email) FROM mailqueue.email_queue WHERE id = %s"
        assert await make.scalar(conn, key, email_id) == case["sql_key"]
