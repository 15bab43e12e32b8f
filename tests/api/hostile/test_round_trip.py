"""Values that were accepted are answered by every endpoint that shows them, with their value."""

import json
from typing import Any

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.hostile.corpus import JSON_TEST_SUITE, NAUGHTY_STRINGS
from tests.api.support.calling import HELLO, Calling, calling

pytestmark = pytest.mark.anyio
ANN = "ann@example.com"
NUMBERS = ("1e20", "-1e20", "1e308", "1.5e300", "1e-400", "9223372036854775807", "-0", "1E+2")
IN_TABLE = ("1e20", "1e309", "-1e309", "1e60000", "9" * 5_000, "18446744073709551616", "0.1e-999")


async def shown(api: Calling, email_id: str) -> Any:
    """Return the custom data of a mail as it is shown, having asked all that show it."""
    found = (await api.get(f"/v1/emails/{email_id}")).json()
    for path in (f"/v1/emails/{email_id}/events", "/v1/emails", f"/v1/recipients/{ANN}/events"):
        assert (await api.get(path)).status_code == 200, path
    return found["custom_data"]


async def exported(api: Calling) -> dict[str, Any]:
    """Return the custom data of mails to ANN by id, as the export of a person has it."""
    answer = await api.get(f"/v1/suppressions/{ANN}/export")
    assert answer.status_code == 200, answer.text[:500]
    return {one["id"]: one["custom_data"] for one in answer.json()["mails"]}


async def test_what_was_accepted_is_shown_and_exported(database: DatabaseSettings) -> None:
    async with calling(database) as api:
        wanted: dict[str, Any] = {}
        refused = []
        values = {name: body for name, body in JSON_TEST_SUITE.items() if len(body) < 2_000}
        for name, value in [*values.items(), *((one, one.encode()) for one in NUMBERS)]:
            body = json.dumps(HELLO | {"custom_data": {"v": "HERE"}}).encode()
            answer = await api.send(body.replace(b'"HERE"', value))
            assert answer.status_code in (202, 400, 422), (name, answer.text[:300])
            if answer.status_code == 202:
                wanted[answer.json()["id"]] = json.loads(value)
                assert not name.startswith("n_"), name
            elif name.startswith("y_") or name in NUMBERS:
                refused.append(name)
        strings = await api.send(HELLO | {"custom_data": {"v": NAUGHTY_STRINGS}})
        wanted[strings.json()["id"]] = list(NAUGHTY_STRINGS)

        found = {one: await shown(api, one) for one in wanted}

        assert {one: custom["v"] for one, custom in found.items()} == wanted
        assert await exported(api) == found
        assert refused == ["y_object_escaped_null_in_key", "y_string_null_escape"]


async def test_what_stands_in_the_table_is_shown_and_exported(database: DatabaseSettings) -> None:
    """SQL refuses most of these today; they were accepted once, or written past the checks."""
    async with calling(database) as api, api.pool.connection() as conn:
        ids = []
        for number in IN_TABLE:
            custom = f'{{"n": {number}, "in": [{{"n": {number}}}], "null": null}}'
            email = await make.queued_email(conn, recipient_email=ANN)
            change = "UPDATE mailqueue.email_queue SET custom_data = %s::jsonb WHERE id = %s"
            await conn.execute(change.encode(), (custom, email))
            ids.append(str(email))

        found = {one: await shown(api, one) for one in ids}
        everything = await exported(api)

        for number, one in zip(IN_TABLE, ids, strict=True):
            for custom in (found[one], everything[one]):
                assert custom == {"n": custom["n"], "in": [{"n": custom["n"]}], "null": None}
                assert float(custom["n"]) == pytest.approx(float(number)), number
