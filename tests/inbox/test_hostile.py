"""What cannot be read is a failed event with its reason, and spares the caller's other events."""

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.inbox import events
from tests.inbox.events import consume, rule

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        pytest.param('{"a": ', "payload: not JSON that can be stored", id="cut"),
        pytest.param('{"a": "\\u0000"}', "payload: not JSON that can be stored", id="nul"),
        pytest.param("[" * 100_000, "payload: not JSON that can be stored", id="deep-text"),
        pytest.param('{"a": 1e400}', "payload: a number must lie within", id="beyond-float"),
        pytest.param('{"a": 1e999999}', "payload: not JSON that can be stored", id="beyond"),
        pytest.param('{"a": "' + "x" * 1_048_576 + '"}', "payload: at most 256 KiB", id="1-mib"),
        pytest.param('{"a": "' + "x" * 5_000_000 + '"}', "payload: at most 256 KiB", id="5-mb"),
        pytest.param(
            '{"a": ' + "[" * 200 + "]" * 200 + "}", "payload: at most 100 nested", id="deep"
        ),
        pytest.param("[1]", "payload: an object is needed, got array", id="array"),
        pytest.param("null", "payload: an object is needed, got null", id="null"),
    ],
)
async def test_a_hostile_payload_is_a_failed_event(conn: Conn, payload: str, reason: str) -> None:
    await rule(conn, await events.project_with_template(conn))

    done = await consume(conn, payload)

    assert done["status"] == "failed"
    assert done["reason"].startswith(reason)
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 0
    assert (await consume(conn))["status"] == "handled"


@pytest.mark.parametrize("type_", ["", "x" * 201, "a\nb"], ids=["empty", "long", "line"])
async def test_a_hostile_type_is_a_failed_event(conn: Conn, type_: str) -> None:
    done = await consume(conn, type_=type_)

    assert (done["status"], done["reason"]) == (
        "failed",
        "type: 1 to 200 characters without control characters are needed",
    )


@pytest.mark.parametrize("headers", ["[]", "7", '{"a": '], ids=["array", "number", "cut"])
async def test_hostile_headers_are_a_failed_event(conn: Conn, headers: str) -> None:
    done = await consume(conn, "{}", headers=headers)

    assert done["status"] == "failed"
    assert done["reason"].startswith("headers: ")
