"""Sender accounts over HTTP: typed credentials that are never shown, and one tenant's only."""

import json
from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any

import pytest
from psycopg.errors import InvalidParameterValue

from mailqueue.core.config import DatabaseSettings
from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.senders import accounts
from mailqueue.senders.model import SenderAccount
from mailqueue.vault.masterkey import parse_master_key
from tests import make
from tests.api.calling import error_of
from tests.api.wired import MASTER, Wired, wired
from tests.smtp.judge import PASSWORD, Mailbox, judge

pytestmark = pytest.mark.anyio

PATH = "/v1/projects/shop/smtp-configs"
HIDDEN = "correct horse battery staple"
SERVICE = {
    "type": "service_account",
    "client_email": "a@b.example",
    "private_key": HIDDEN,
    "private_key_id": "1",
}
CREDENTIALS: dict[str, dict[str, Any]] = {
    "smtp": {
        "host": "smtp.example.com",
        "port": 587,
        "username": "user@example.com",
        "password": HIDDEN,
        "tls_mode": "starttls",
    },
    "ses": {
        "region": "eu-west-1",
        "access_key_id": "AKIAEXAMPLE12345",
        "secret_access_key": HIDDEN,
        "session_token": HIDDEN,
    },
    "sendgrid": {"api_key": HIDDEN},
    "mailgun": {"api_key": HIDDEN, "domain": "mg.example.com", "region": "eu"},
    "postmark": {"server_token": HIDDEN, "message_stream": "outbound"},
    "resend": {"api_key": HIDDEN, "settings": {"keep_message_id": False}},
    "smtp2go": {"api_key": HIDDEN},
    "gmail": {"mailbox": "team@example.com", "grant": SERVICE},
}
RELAY = {"name": "relay", "provider_type": "smtp", "credentials": CREDENTIALS["smtp"]}
LOOPBACK = (ip_network("127.0.0.0/8"),)


@pytest.fixture
async def shop(database: DatabaseSettings) -> AsyncIterator[Wired]:
    async with wired(database, allowed_hosts=LOOPBACK) as made:
        yield made


async def made(shop: Wired, **fields: Any) -> dict[str, Any]:
    answer = await shop.call("POST", PATH, RELAY | fields)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def stored(shop: Wired, name: str) -> tuple[SenderAccount, Secret | None]:
    async with connect(shop.database) as conn:
        account = await accounts.find(conn, "shop", name=name)
        master = parse_master_key(MASTER, source="tests")
        return account, await accounts.password_of(conn, account, master=master)


async def test_every_provider_is_added_sealed_and_shown_without_its_secret(shop: Wired) -> None:
    for provider, credentials in CREDENTIALS.items():
        asked = {"name": provider, "provider_type": provider, "credentials": credentials}
        answer = await shop.call("POST", PATH, asked, Idempotency_Key=f"make-{provider}")
        assert answer.status_code == 201, answer.text
        config_id = answer.json()["id"]
        shown = await shop.call("GET", f"{PATH}/{config_id}")

        assert shown.json()["credentials"] == answer.json()["credentials"]
        assert set(credentials) - {"session_token", "message_stream"} - {"region"} <= set(
            shown.json()["credentials"]
        )
        assert HIDDEN not in answer.text + shown.text
        _, secret = await stored(shop, provider)
        assert secret is not None
        assert HIDDEN in secret.reveal()
    listed = await shop.call("GET", PATH)
    assert [one["name"] for one in listed.json()["data"]] == list(CREDENTIALS)
    assert HIDDEN not in listed.text
    async with connect(shop.database) as conn:
        kept = "SELECT string_agg(convert_from(body, 'UTF8'), '') FROM mailqueue.idempotent_answers"
        assert HIDDEN not in (await make.scalar(conn, kept) or "")
        audit = "SELECT string_agg(detail::text || subject, '') FROM mailqueue.audit_events"
        assert HIDDEN not in await make.scalar(conn, audit)


async def test_the_first_is_primary_and_another_can_become_it(shop: Wired) -> None:
    first = await made(shop, priority=0)
    second = await made(shop, name="second", priority=10, is_fallback=True, is_active=False)
    assert (first["is_primary"], second["is_primary"], second["is_active"]) == (True, False, False)

    answer = await shop.call("POST", f"{PATH}/{second['id']}/activate")

    now = answer.json()
    assert (now["is_primary"], now["is_fallback"], now["is_active"]) == (True, False, True)
    listed = (await shop.call("GET", PATH)).json()["data"]
    assert [(one["name"], one["priority"]) for one in listed] == [("second", 0), ("relay", 1)]


async def test_what_is_left_out_of_a_change_is_kept(shop: Wired) -> None:
    config = await made(shop, daily_limit=10, from_email="a@example.com", notes="x")

    path = f"{PATH}/{config['id']}"
    answer = await shop.call("PUT", path, {"daily_limit": None, "priority": 7, "is_active": False})

    now = answer.json()
    assert (now["daily_limit"], now["priority"], now["status"]) == (None, 7, "paused")
    assert (now["from_email"], now["notes"], now["burst"]) == ("a@example.com", "x", 200)
    assert now["credentials"] == config["credentials"]
    account, secret = await stored(shop, "relay")
    assert secret == Secret(HIDDEN)
    assert account.revision > 1, "workers read it anew"
    assert (await shop.call("PUT", path, {"is_active": True})).json()["status"] == "active"


async def test_a_password_is_never_kept_for_another_server(shop: Wired) -> None:
    config = await made(shop)
    path = f"{PATH}/{config['id']}"

    refused = await shop.call(
        "PUT", path, {"credentials": {"host": "evil.example.com", "username": "u"}}
    )
    assert (refused.status_code, error_of(refused)["field"]) == (422, "credentials.password")
    moved = await shop.call("PUT", path, {"credentials": {"host": "mx.example.org"}})

    assert moved.json()["credentials"]["password"] is None
    account, secret = await stored(shop, "relay")
    assert (account.smtp_host, account.smtp_username, secret) == ("mx.example.org", None, None)
    assert not account.is_private_ok


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"name": "no name"}, "name"),
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
        refused = await shop.call("POST", PATH, RELAY | change)

        assert refused.status_code == 422, (change, refused.text)
        assert (
            error_of(refused)["field"] == field.partition(".")[0]
            or error_of(refused)["field"] == field
        )
        assert HIDDEN not in refused.text, change
    assert (await shop.call("GET", PATH)).json()["data"] == []
    config = await made(shop)
    for change in (
        {"name": "other"},
        {"provider_type": "ses"},
        {"priority": None},
        {"burst": None},
    ):
        refused = await shop.call("PUT", f"{PATH}/{config['id']}", change)
        assert (refused.status_code, error_of(refused)["field"]) == (422, next(iter(change)))
    assert (await shop.call("POST", PATH, RELAY)).status_code == 409


async def test_rules_say_which_mail_takes_an_account(shop: Wired) -> None:
    bulk = await made(shop, name="bulk", routing_rules={"category": ["marketing", "digest"]})
    spare = await made(shop, name="spare", priority=200, routing_rules={"category": "marketing"})
    assert bulk["routing_rules"] == {"category": ["marketing", "digest"], "domain_pattern": None}

    async with connect(shop.database) as conn:
        rules = "SELECT category, senders FROM mailqueue.routes ORDER BY position"
        assert await make.rows(conn, rules) == [
            ("marketing", ["bulk", "spare"]),
            ("digest", ["bulk"]),
        ]
        path = f"{PATH}/{bulk['id']}"
        changed = await shop.call(
            "PUT", path, {"routing_rules": {"domain_pattern": "*.Example.edu"}}
        )
        assert changed.json()["routing_rules"] == {
            "category": None,
            "domain_pattern": ["*.example.edu"],
        }
        assert await make.rows(conn, rules) == [("marketing", ["spare"]), (None, ["bulk"])]
        cleared = await shop.call("PUT", path, {"routing_rules": None})
        assert cleared.json()["routing_rules"] is None
        stands = await shop.call("DELETE", f"{PATH}/{spare['id']}")
        assert (stands.status_code, "routing rule" in error_of(stands)["message"]) == (409, True)


async def test_a_removed_account_leaves_its_mail_to_the_others(shop: Wired) -> None:
    gone, left = await made(shop, name="gone"), await made(shop, name="left")
    async with connect(shop.database) as conn:
        email = await make.queued_email(conn, project="shop", sender="gone")
        worker = await make.worker(conn)
        assert [one for one, _ in await make.claimed(conn, worker)] == [email]
        busy = await shop.call("DELETE", f"{PATH}/{gone['id']}")
        assert (busy.status_code, "is sending" in error_of(busy)["message"]) == (409, True)
        await make.silent(conn, worker)
        await conn.execute("SELECT mailqueue.rescue_emails(interval '30 s', NULL)")

        assert (await shop.call("DELETE", f"{PATH}/{gone['id']}")).status_code == 204

        assert (await shop.call("DELETE", f"{PATH}/{gone['id']}")).status_code == 404
        worker = await make.worker(conn)
        assert [one for one, _ in await make.claimed(conn, worker)] == [email]
        assigned = "SELECT assigned_to FROM mailqueue.email_queue"
        assert await make.rows(conn, assigned) == [(left["id"],)]
        with pytest.raises(InvalidParameterValue, match="no sender account"):
            await make.queued_email(conn, project="shop", sender="gone")
    again = await made(shop, name="gone")
    assert again["id"] != gone["id"]


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
async def test_a_try_tells_the_conversation_without_secrets(shop: Wired) -> None:
    async with judge(Mailbox(), auth=True) as port:
        credentials = {
            "host": "127.0.0.1",
            "port": port,
            "tls_mode": "none",
            "username": "ann",
            "password": PASSWORD,
        }
        config = await made(shop, credentials=credentials, from_email="shop@example.com")
        path = f"{PATH}/{config['id']}/test"

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
    config = await made(shop, credentials={"host": "::1", "tls_mode": "none"})
    path = f"{PATH}/{config['id']}"

    inside = (await shop.call("POST", f"{path}/test")).json()
    assert (inside["success"], inside["kind"], inside["transcript"]) == (False, "account", [])
    nowhere = await shop.call("POST", f"{path}/test", {"to": "nobody"})
    assert (nowhere.status_code, error_of(nowhere)["field"]) == (422, "to")
    faceless = await shop.call("POST", f"{path}/test", {"to": "a@example.com"})
    assert (faceless.status_code, error_of(faceless)["field"]) == (422, "from_email")
    health = (await shop.call("GET", f"{path}/health")).json()
    assert (health["circuit_state"], health["failures"]) == ("closed", {})


async def test_others_and_readers_are_kept_out(shop: Wired) -> None:
    config = await made(shop)
    path = f"{PATH}/{config['id']}"
    theirs = PATH.replace("shop", "other")
    for method, there in (
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("POST", "/test"),
        ("POST", "/activate"),
        ("GET", "/health"),
    ):
        body = {} if method in ("PUT", "POST") else None
        for key, place in ((shop.other, f"{theirs}/{config['id']}"), (shop.other, path)):
            hidden = await shop.call(method, f"{place}{there}", body, key=key)
            assert hidden.status_code == 404, (method, place)
        reader = await shop.call(method, f"{path}{there}", body, key=shop.reads)
        assert reader.status_code == (200 if method == "GET" else 403)
    assert (await shop.call("GET", theirs, key=shop.other)).json()["data"] == []
    for odd in ("0", "x", "999999999999", "1e3", "%00"):
        assert (await shop.call("GET", f"{PATH}/{odd}")).status_code == 404
