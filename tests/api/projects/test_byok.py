"""A project's own key over HTTP: it unlocks the project, and is in no log and no response."""

import base64
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import structlog

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry import log
from tests import make
from tests.api.support.calling import error_of
from tests.api.support.wired import CONFIGS, RELAY, Wired, wired

pytestmark = pytest.mark.anyio

PATH = "/v1/projects/shop/byok"
OWN = base64.b64encode(bytes(range(100, 132))).decode()
NEXT = bytes(range(60, 92)).hex()
OTHER = base64.b64encode(bytes(range(200, 232))).decode()


URL = "https://app.example.com/hooks"
COMPATIBLE: list[tuple[str, int, dict[str, Any]]] = [
    ("/webhooks", 422, {"Url": URL, "Triggers": {"Open": {"Enabled": True}}}),
    ("/webhooks", 422, {"endpoint": URL, "events": ["email.opened"]}),
    ("/v3/user/webhooks/event/settings", 400, {"url": URL, "open": True}),
    ("/v3/domains/example.com/webhooks", 400, {"id": "opened", "url": URL}),
]


class Answers:
    """Records every response, so that all can be searched."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def keep(self, response: httpx2.Response) -> None:
        await response.aread()
        self.texts.append(response.text + str(response.headers))


@pytest.fixture
async def shop(database: DatabaseSettings) -> AsyncIterator[Wired]:
    async with wired(database) as made:
        yield made


async def vault(shop: Wired, step: str = "", body: Any = None, **headers: str) -> dict[str, Any]:
    answer = await shop.call("POST", f"{PATH}{step}", body, **headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_project_takes_its_key_unlocks_locks_and_gives_it_back(shop: Wired) -> None:
    assert (await shop.call("GET", PATH)).json()["managed_by"] == "platform"

    taken = await vault(shop, X_Project_KEK=OWN)
    assert (taken["managed_by"], taken["is_locked"]) == ("project", True)
    opened = await vault(shop, "/unlock", {"for_seconds": 60}, X_Project_KEK=OWN)
    assert (opened["is_locked"], opened["unlocked_until"] is None) == (False, False)
    assert (await vault(shop, "/lock"))["is_locked"]
    moved = await vault(
        shop, "/rewrap", {"unlock_for_seconds": 60}, X_Project_KEK=OWN, X_Project_New_KEK=NEXT
    )
    assert (moved["key_id"] != taken["key_id"], moved["is_locked"]) == (True, False)
    assert (await vault(shop, "/rewrap", X_Project_KEK=NEXT))["managed_by"] == "platform"
    assert (await shop.call("GET", PATH)).json()["key_id"] is None


async def test_a_locked_project_takes_credentials_with_its_key_only(shop: Wired) -> None:
    await vault(shop, X_Project_KEK=OWN)

    locked = await shop.call("POST", CONFIGS, RELAY)
    assert (locked.status_code, error_of(locked)["name"]) == (409, "locked")
    wrong = await shop.call("POST", CONFIGS, RELAY, X_Project_KEK=OTHER)
    assert (wrong.status_code, error_of(wrong)["field"]) == (422, "X-Project-KEK")
    made = await shop.call("POST", CONFIGS, RELAY, X_Project_KEK=OWN)
    assert made.status_code == 201, made.text

    assert (await shop.call("GET", PATH)).json()["is_locked"], "as it was before"
    path = f"{CONFIGS}/{made.json()['id']}"
    assert (await shop.call("PUT", path, {"priority": 5})).status_code == 200, "nothing sealed"
    assert (await shop.call("POST", f"{path}/test")).status_code == 409
    key = {"domain": "shop.example", "algorithm": "ed25519"}
    assert (await shop.call("POST", "/v1/dkim", key)).status_code == 409
    assert (await shop.call("POST", "/v1/dkim", key, X_Project_KEK=OWN)).status_code == 201


async def test_what_is_wrong_is_named(shop: Wired) -> None:
    for step, body, headers, field in (
        ("", None, {}, "X-Project-KEK"),
        ("", None, {"X_Project_KEK": "short"}, "X-Project-KEK"),
        ("", None, {"X_Project_KEK": OWN * 10}, "X-Project-KEK"),
        ("", {"unlock_for_seconds": 0}, {"X_Project_KEK": OWN}, "unlock_for_seconds"),
        ("/unlock", None, {"X_Project_KEK": OWN}, "for_seconds"),
        ("/unlock", {"for_seconds": 10**9}, {"X_Project_KEK": OWN}, "for_seconds"),
        (
            "/rewrap",
            None,
            {"X_Project_KEK": OWN, "X_Project_New_KEK": OWN},
            "X-Project-New-KEK",
        ),
        ("/rewrap", {"unlock_for_seconds": 5}, {"X_Project_KEK": OWN}, "unlock_for_seconds"),
    ):
        refused = await shop.call("POST", f"{PATH}{step}", body, **headers)
        assert refused.status_code in (400, 422), (step, refused.text)
        assert error_of(refused).get("field", field) == field
    for step in ("/lock", "/rewrap"):
        without = await shop.call("POST", f"{PATH}{step}", X_Project_KEK=OWN)
        assert without.status_code == 409, step
    await vault(shop, X_Project_KEK=OWN)
    assert (await shop.call("POST", PATH, X_Project_KEK=OTHER)).status_code == 409
    assert (await shop.call("POST", PATH, key=shop.reads)).status_code == 403
    theirs = await shop.call("POST", PATH, key=shop.other, X_Project_KEK=OTHER)
    assert theirs.status_code == 404


async def test_the_key_stands_in_no_log_no_answer_and_no_table(
    shop: Wired, caplog: pytest.LogCaptureFixture
) -> None:
    """For any path, method and result, at the most verbose log level."""
    caplog.set_level(logging.DEBUG)
    answers = Answers()
    shop.http.event_hooks["response"].append(answers.keep)
    with structlog.testing.capture_logs(processors=log.processors(console=False)[:-1]) as lines:
        for key in (OWN, NEXT, OTHER, f"{OWN}x", "é" + OWN):
            headers = {"X_Project_KEK": key, "X_Project_New_KEK": NEXT}
            if not key.isascii():
                headers = {"X_Project_KEK": OWN + OWN}
            for method, path in (
                ("POST", PATH),
                ("GET", PATH),
                ("PUT", PATH),
                ("POST", f"{PATH}/unlock"),
                ("POST", f"{PATH}/rewrap"),
                ("POST", f"{PATH}/lock"),
                ("POST", CONFIGS),
                ("POST", "/v1/send"),
                ("GET", "/v1/nowhere"),
                ("POST", "/v1/suppressions/import"),
            ):
                await shop.call(method, path, {} if method == "POST" else None, **headers)

    everything = "".join([*answers.texts, str(lines), caplog.text])
    async with connect(shop.database) as conn:
        everything += await make.scalar(
            conn,
            "SELECT string_agg(to_jsonb(a)::text, '') FROM mailqueue.audit_events AS a",
        )
        kept = "SELECT string_agg(convert_from(body, 'UTF8'), '') FROM mailqueue.idempotent_answers"
        everything += await make.scalar(conn, kept) or ""
    assert len(answers.texts) == 50
    assert lines, "there was something to look at"
    for key in (OWN, NEXT, OTHER):
        octets = base64.b64decode(key) if key != NEXT else bytes.fromhex(key)
        for spelled in (key, octets.hex(), base64.b64encode(octets).decode(), repr(octets)):
            assert spelled not in everything


@pytest.mark.parametrize(("path", "refused", "webhook"), COMPATIBLE)
async def test_a_compatible_api_says_that_a_project_is_locked_and_takes_its_key(
    shop: Wired, path: str, refused: int, webhook: dict[str, Any]
) -> None:
    await vault(shop, X_Project_KEK=OWN)
    is_form = "id" in webhook
    login = base64.b64encode(f"api:{shop.key}".encode()).decode()
    headers = {"Authorization": f"Basic {login}" if is_form else f"Bearer {shop.key}"}
    if "Url" in webhook:
        headers = {"X-Postmark-Server-Token": shop.key}
    body: Any = None if is_form else webhook
    form = webhook if is_form else None
    with_key = headers | {"X-Project-KEK": OWN}
    locked = await shop.http.post(path, headers=headers, json=body, data=form)
    done = await shop.http.post(path, headers=with_key, json=body, data=form)

    assert (locked.status_code, "locked" in locked.text) == (refused, True), locked.text
    assert done.status_code in (200, 201), done.text
