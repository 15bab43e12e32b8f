"""Sender accounts over HTTP: typed credentials that are never shown, of one tenant only."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
from psycopg.errors import InvalidParameterValue

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.senders import accounts
from mailqueue.senders.model import SenderAccount
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import parse_master_key
from tests import make
from tests.api.support.calling import error_of
from tests.api.support.wired import CONFIGS, HIDDEN, MASTER, RELAY, Wired, wired

pytestmark = pytest.mark.anyio

PATH = CONFIGS
SERVICE = {
    "type": "service_account",
    "client_email": "a@b.example",
    "private_key": HIDDEN,
    "private_key_id": "1",
}
CREDENTIALS: dict[str, dict[str, Any]] = {
    "smtp": RELAY["credentials"],
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


@pytest.fixture
async def shop(database: DatabaseSettings) -> AsyncIterator[Wired]:
    async with wired(database) as made:
        yield made


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
    first = await shop.made(priority=0)
    second = await shop.made(name="The second", priority=10, is_fallback=True, is_active=False)
    assert (first["is_primary"], second["is_primary"], second["is_active"]) == (True, False, False)

    answer = await shop.call("POST", f"{PATH}/{second['id']}/activate")

    now = answer.json()
    assert (now["is_primary"], now["is_fallback"], now["is_active"]) == (True, False, True)
    listed = (await shop.call("GET", PATH)).json()["data"]
    assert [(one["name"], one["priority"]) for one in listed] == [("The second", 0), ("relay", 1)]


async def test_what_is_left_out_of_a_change_is_kept(shop: Wired) -> None:
    config = await shop.made(daily_limit=10, from_email="a@example.com", notes="x")

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


async def test_limits_by_hour_and_minute_are_set_and_answered(shop: Wired) -> None:
    config = await shop.made(hourly_limit=500, rate_limit_per_sec=14.5)

    path = f"{PATH}/{config['id']}"
    now = (await shop.call("PUT", path, {"minute_limit": 30})).json()

    assert (config["hourly_limit"], config["minute_limit"], config["burst"]) == (500, None, 15)
    assert (now["hourly_limit"], now["hourly_headroom"]) == (500, 500)
    assert (now["minute_limit"], now["minute_headroom"]) == (30, 30)
    refused = await shop.call("PUT", path, {"minute_limit": 0})
    assert refused.status_code == 422
    assert "minute_limit" in refused.text


async def test_a_password_is_never_kept_for_another_server(shop: Wired) -> None:
    config = await shop.made()
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


async def test_rules_say_which_mail_takes_an_account(shop: Wired) -> None:
    bulk = await shop.made(name="bulk", routing_rules={"category": ["marketing", "digest"]})
    spare = await shop.made(name="spare", priority=200, routing_rules={"category": "marketing"})
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
    gone, left = await shop.made(name="gone"), await shop.made(name="left")
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
        assigned = (
            "SELECT a.public_id::text FROM mailqueue.email_queue AS q"
            " JOIN mailqueue.sender_accounts AS a ON a.id = q.assigned_to"
        )
        assert await make.rows(conn, assigned) == [(left["id"],)]
        assert await make.rows(conn, "SELECT difference FROM mailqueue.books") == [(0,)]
        with pytest.raises(InvalidParameterValue, match="no sender account"):
            await make.queued_email(conn, project="shop", sender="gone")
    again = await shop.made(name="gone")
    assert again["id"] != gone["id"]


async def test_others_and_readers_are_kept_out(shop: Wired) -> None:
    config = await shop.made()
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
        body: dict[str, object] | None = {} if method in ("PUT", "POST") else None
        for key, place in ((shop.other, f"{theirs}/{config['id']}"), (shop.other, path)):
            hidden = await shop.call(method, f"{place}{there}", body, key=key)
            assert hidden.status_code == 404, (method, place)
        reader = await shop.call(method, f"{path}{there}", body, key=shop.reads)
        assert reader.status_code == (200 if method == "GET" else 403)
    assert (await shop.call("GET", theirs, key=shop.other)).json()["data"] == []
    for odd in ("0", "x", "999999999999", "1e3", "%00", str(UUID(int=7)), "%ED%A0%80"):
        assert (await shop.call("GET", f"{PATH}/{odd}")).status_code == 404


async def test_an_account_is_named_by_its_id_its_number_or_its_name(shop: Wired) -> None:
    relay, spare = await shop.made(), await shop.made(name="spare")
    other = await shop.call(
        "POST", PATH.replace("shop", "other"), RELAY | {"name": "foreign"}, key=shop.other
    )
    numbers = {"relay": 0, "spare": 0, "foreign": 0}
    async with connect(shop.database) as conn:
        numbers |= await make.rows(conn, "SELECT name, id FROM mailqueue.sender_accounts")

    async def sender_of(given: object) -> str | None:
        mail = {"to": ["ann@example.com"], "subject": "s", "text_body": "t", "dry_run": True}
        answer = await shop.call("POST", "/v1/send", mail | {"smtp_config_id": given})
        if answer.status_code != 200:
            assert (answer.status_code, error_of(answer)["field"]) == (422, "smtp_config_id")
            return None
        (found,) = answer.json()["route"]["senders"]
        return str(found["name"])

    for one, name in ((relay, "relay"), (spare, "spare")):
        assert str(UUID(one["id"])) == one["id"]
        for given in (one["id"], one["id"].upper(), numbers[name], str(numbers[name])):
            assert (await shop.call("GET", f"{PATH}/{given}")).json() == one
            assert await sender_of(given) == name
        assert await sender_of(name) == name
    for wrong in (
        other.json()["id"],
        numbers["foreign"],
        0,
        -1,
        True,
        1.5,
        10**30,
        str(UUID(int=7)),
    ):
        assert await sender_of(wrong) is None
