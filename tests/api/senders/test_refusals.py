"""Invalid sender accounts over HTTP, and the result of a test; no secret is repeated."""

import json
from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.calling import error_of
from tests.api.support.wired import CONFIGS, HIDDEN, RELAY, Wired, wired
from tests.smtp.reference_server import PASSWORD, ReceivedMail, judge

pytestmark = pytest.mark.anyio

LOOPBACK = (ip_network("127.0.0.0/8"),)


@pytest.fixture(scope="module")
async def shop(module_db: str) -> AsyncIterator[Wired]:
    async with wired(DatabaseSettings(Secret(module_db)), allowed_hosts=LOOPBACK) as served:
        yield served


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"name": "no  name"}, "name"),
    ({"provider_type": "pigeon"}, "provider_type"),
    ({"credentials": {}}, "credentials.host"),
    ({"credentials": {"host": "x.example", "colour": HIDDEN}}, "credentials.colour"),
    ({"credentials": {"host": f"{HIDDEN}!"}}, "credentials.host"),
    ({"credentials": {"host": "x.example", "username": HIDDEN}}, "credentials.password"),
    ({"credentials": {"host": "x.example", "password": HIDDEN}}, "credentials.username"),
    ({"credentials": {"host": "x.example", "port": 0}}, "credentials.port"),
    (
        {"provider_type": "sendgrid", "credentials": {"api_key": f"{HIDDEN}\n"}},
        "credentials.api_key",
    ),
    (
        {"provider_type": "ses", "credentials": {"access_key_id": HIDDEN}},
        "credentials.secret_access_key",
    ),
    (
        {
            "provider_type": "gmail",
            "credentials": {"mailbox": "a@b.example", "grant": {"x": HIDDEN}},
        },
        "credentials.api_key",
    ),
    (
        {
            "provider_type": "resend",
            "credentials": {"api_key": HIDDEN, "api_url": f"http://{HIDDEN}"},
        },
        "credentials.api_url",
    ),
    (
        {"provider_type": "mailgun", "credentials": {"api_key": HIDDEN, "domain": HIDDEN}},
        "credentials.setting",
    ),
    ({"priority": -1}, "priority"),
    ({"burst": 0}, "burst"),
    ({"daily_limit": 0}, "daily_limit"),
    ({"rate_limit_per_sec": -1}, "rate_limit_per_sec"),
    ({"warm_up": []}, "warm_up"),
    ({"time_zone": "Mars/Olympus"}, "time_zone"),
    ({"from_email": "nobody"}, "from_email"),
    ({"routing_rules": {"category": "Not One"}}, "routing_rules.category"),
    ({"routing_rules": {"domain_pattern": "a b"}}, "routing_rules.domain_pattern"),
]


async def test_what_is_wrong_is_named_and_no_secret_repeated(shop: Wired) -> None:
    for change, field in WRONG:
        refused = await shop.call("POST", CONFIGS, RELAY | change)

        assert refused.status_code == 422, (change, refused.text)
        assert (
            error_of(refused)["field"] == field.partition(".")[0]
            or error_of(refused)["field"] == field
        )
        assert HIDDEN not in refused.text, change
    assert (await shop.call("GET", CONFIGS)).json()["data"] == []
    config = await shop.made()
    for change in (
        {"name": "other"},
        {"provider_type": "ses"},
        {"priority": None},
        {"burst": None},
    ):
        refused = await shop.call("PUT", f"{CONFIGS}/{config['id']}", change)
        assert (refused.status_code, error_of(refused)["field"]) == (422, next(iter(change)))
    lacking = await shop.call("PUT", f"{CONFIGS}/{config['id']}", {"credentials": {"port": 25}})
    assert error_of(lacking)["message"] == "credentials: host: is needed"
    assert [one["field"] for one in error_of(lacking)["violations"]] == ["credentials.host"]
    assert (await shop.call("POST", CONFIGS, RELAY)).status_code == 409


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
async def test_a_try_tells_the_conversation_without_secrets(shop: Wired) -> None:
    async with judge(ReceivedMail(), auth=True) as port:
        credentials = {
            "host": "127.0.0.1",
            "port": port,
            "tls_mode": "none",
            "username": "ann",
            "password": PASSWORD,
        }
        config = await shop.made(
            name="tried", credentials=credentials, from_email="shop@example.com"
        )
        path = f"{CONFIGS}/{config['id']}/test"

        connected = (await shop.call("POST", path)).json()
        sent = await shop.call("POST", path, {"to": "you@example.com"})

    assert (connected["success"], connected["sent"]) == (True, None)
    found = sent.json()
    assert (found["success"], found["sent"], found["code"]) == (True, True, "250")
    said = [(line["by"], line["line"].split()[0]) for line in found["transcript"]]
    assert said[0] == ("server", "220")
    assert ("client", "AUTH") in said
    assert ("client", "MAIL") in said
    assert any(line["line"].startswith("(the message, ") for line in found["transcript"])
    assert "AUTH PLAIN ***" in [line["line"] for line in found["transcript"]]
    assert PASSWORD not in json.dumps(found)


async def test_a_try_of_what_is_not_there_says_why(shop: Wired) -> None:
    config = await shop.made(name="far", credentials={"host": "::1", "tls_mode": "none"})
    path = f"{CONFIGS}/{config['id']}"

    inside = (await shop.call("POST", f"{path}/test")).json()
    assert (inside["success"], inside["kind"], inside["transcript"]) == (False, "account", [])
    nowhere = await shop.call("POST", f"{path}/test", {"to": "nobody"})
    assert (nowhere.status_code, error_of(nowhere)["field"]) == (422, "to")
    faceless = await shop.call("POST", f"{path}/test", {"to": "a@example.com"})
    assert (faceless.status_code, error_of(faceless)["field"]) == (422, "from_email")
    async with connect(shop.database) as conn:
        await conn.execute(
            "UPDATE mailqueue.projects SET from_email = 'shop@example.com' WHERE name = 'shop'"
        )
    as_project = await shop.call("POST", f"{path}/test", {"to": "a@example.com"})
    assert (as_project.status_code, as_project.json()["kind"]) == (200, "account")
    health = (await shop.call("GET", f"{path}/health")).json()
    assert (health["circuit_state"], health["failures"]) == ("closed", {})
