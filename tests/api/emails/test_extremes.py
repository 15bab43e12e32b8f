"""Mail with values that Python or JSON cannot represent is queued, shown and finished."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.calling import Calling, calling

pytestmark = pytest.mark.anyio

DEEP = "[" * 1_100 + "]" * 1_100
CHANGES: Mapping[str, Mapping[str, str]] = {
    "email_queue": {
        "forever": "expires_at = 'infinity'",
        "far": "expires_at = '294276-12-31'",
        "edge": "expires_at = '9999-12-31T23:59:59-12:00'",
        "late": "run_at = 'infinity'",
        "never made": "created_at = '-infinity'",
        "deep": f"custom_data = '{DEEP}'",
        "as deep as is read": f"custom_data = '{'[' * 201 + ']' * 201}'",
        "nines": 'custom_data = \'{"a": ' + "9" * 5_000 + "}'",
        "beyond": "custom_data = '{\"a\": [1e60000, -1e60000]}'",
    },
    "email_contents": {
        "headers": f"headers = '{DEEP}'",
        "files": f"files = '{DEEP}'",
        "no files": "files = '{\"a\": 1}'",
    },
}


async def changed(conn: Conn, table: str, change: str) -> UUID:
    email = await make.queued_email(conn)
    key = "id" if table == "email_queue" else "content_id"
    statement = (
        f"UPDATE mailqueue.{table} SET {change} WHERE id ="
        f" (SELECT q.{key} FROM mailqueue.email_queue AS q WHERE q.id = %s)"
    )
    assert (await conn.execute(statement.encode(), (email,))).rowcount == 1
    return email


async def shown(api: Calling, email: UUID) -> dict[str, Any]:
    for path in ("", "/events", "/source"):  # composing it may be impossible, in words
        answer = await api.get(f"/v1/emails/{email}{path}")
        wanted = (200, 409, 422) if path == "/source" else (200,)
        assert answer.status_code in wanted, f"{path}: {answer.status_code} {answer.text[:300]}"
    found: dict[str, Any] = (await api.get(f"/v1/emails/{email}")).json()
    return found


async def test_mail_with_odd_values_is_shown_listed_and_cancelled(
    database: DatabaseSettings,
) -> None:
    async with calling(database) as api, api.pool.connection() as conn:
        emails = {
            name: await changed(conn, table, change)
            for table, named in CHANGES.items()
            for name, change in named.items()
        }
        for name, email in emails.items():
            found = await shown(api, email)
            assert (found["status"], bool(found["why"])) == ("queued", True) or name, name
        assert (await shown(api, emails["forever"]))["expires_at"] == "9999-12-31T00:00:00Z"
        assert (await shown(api, emails["nines"]))["custom_data"] == {"a": "9" * 5_000}
        listed = await api.get("/v1/emails?limit=100")
        assert listed.status_code == 200
        assert {UUID(one["id"]) for one in listed.json()["data"]} >= set(emails.values())

        for name, email in emails.items():
            answer = await api.post(f"/v1/emails/{email}/cancel")
            assert answer.status_code == 200, f"{name}: {answer.text[:300]}"
            assert (await shown(api, email))["status"] == "cancelled", name
        assert (await api.get("/v1/emails?limit=100")).status_code == 200
        for email in emails.values():
            assert await make.scalar(conn, "SELECT mailqueue.why(%s)", email)


async def test_a_deep_body_under_an_idempotency_key_is_refused_as_any(
    database: DatabaseSettings,
) -> None:
    async with calling(database) as api:
        for depth in (300, 1_100):
            deep = "[" * depth + "]" * depth
            body = f'{{"to": ["a@example.com"], "subject": "s", "custom_data": {{"a": {deep}}}}}'
            answer = await api.send(
                body.encode(), Idempotency_Key=f"k{depth}", content_type="application/json"
            )
            assert answer.status_code in (400, 422), answer.text[:300]
