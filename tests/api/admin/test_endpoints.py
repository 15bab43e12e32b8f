"""`/admin`: settings, flags, keys, events and overviews of all projects, for administrators
only.
"""

from collections.abc import AsyncIterator
from ipaddress import ip_network
from uuid import UUID

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.oidc.issuer import AUDIENCE, ec_key, issuing
from tests.api.support.administering import Administering, administering
from tests.api.support.calling import HELLO

pytestmark = pytest.mark.anyio


@pytest.fixture
async def admin(database: DatabaseSettings) -> AsyncIterator[Administering]:
    async with administering(database) as made:
        yield made


async def test_settings_and_flags_change_all_or_none(admin: Administering) -> None:
    wanted = {"max_send_rate": 12.5, "held_alarm": 7, "max_attachment_bytes": "10 MB"}
    changed = await admin("PUT", "/settings", {"settings": wanted})
    values = {each["name"]: each["value"] for each in changed["data"]}
    assert {name: values[name] for name in wanted} == {
        "max_send_rate": "12.5",
        "held_alarm": "7",
        "max_attachment_bytes": "10 MB",
    }
    bad = {"held_alarm": 8, "oldest_due_alarm": "soon"}
    refused = await admin("PUT", "/settings", {"settings": bad}, status=422)
    assert refused["field"] == "oldest_due_alarm"
    await admin("PUT", "/settings", {"settings": {"held_alarm": True}}, status=422)
    await admin("PUT", "/settings", {"settings": {}}, status=422)
    assert await admin("GET", "/settings") == changed

    flags = await admin("PUT", "/flags", {"flags": {"test_keys": False}})
    assert {each["name"]: each["value"] for each in flags["data"]}["test_keys"] == "off"
    assert await admin("GET", "/flags") == flags
    await admin("PUT", "/flags", {"flags": {"test_keys": "off"}}, status=422)
    await admin("PUT", "/flags", {"flags": {"colour": True}}, status=422)
    log = await admin("GET", "/audit-log?action=setting.changed")
    assert {each["actor"] for each in log["data"]} == {"ann (token)"}
    assert len(log["data"]) == 3
    for query in ("action=changed&actor=ANN", "subject=setting", "since=2000-01-01T00:00:00Z"):
        found = await admin("GET", f"/audit-log?{query}")
        assert log["data"][0] in found["data"], query
    for query in ("actor=nobody", "subject=%25", "until=2000-01-01T00:00:00Z", "action=changed.x"):
        assert (await admin("GET", f"/audit-log?{query}"))["data"] == [], query
    for query in ("since=soon", "since=2030-01-02T00:00:00Z&until=2030-01-01T00:00:00Z", "actor="):
        await admin("GET", f"/audit-log?{query}", status=422)
    first = await admin("GET", "/audit-log?subject=setting&limit=1")
    cursor = first["next_cursor"]
    second = await admin("GET", f"/audit-log?subject=setting&limit=1&cursor={cursor}")
    assert [*first["data"], *second["data"]] == log["data"][:2]


async def test_mail_is_refused_while_accept_mail_is_off(admin: Administering) -> None:
    async with admin.conn() as conn:
        await make.sender_account(conn, name="relay")
        key = (await issue_key(conn, "default", "web", is_test=False)).key.reveal()
    await admin("PUT", "/flags", {"flags": {"accept_mail": False}})

    answer = await admin.http.post("/v1/send", json=HELLO, headers={"X-API-Key": key})

    assert (answer.status_code, answer.json()["name"]) == (503, "no_room")
    assert "accept_mail" in answer.json()["message"]


async def test_a_key_that_was_found_somewhere_is_out_of_force_at_once(
    admin: Administering,
) -> None:
    async with admin.conn() as conn:
        issued = await issue_key(conn, "default", "web", is_test=False)
        await issue_key(conn, "default", "other", is_test=False)
    headers = {"X-API-Key": issued.key.reveal()}
    path = "/v1/projects/default/api-keys"
    assert (await admin.http.get(path, headers=headers)).status_code == 200

    gone = await admin(
        "POST", "/keys/revoke", {"key": issued.key.reveal(), "reason": "seen in a log"}
    )

    hint = issued.record.hint
    assert gone == {"revoked": 1, "keys": [{"project": "default", "name": "web", "hint": hint}]}
    assert (await admin.http.get(path, headers=headers)).status_code == 401
    await admin("POST", "/keys/revoke", {"reason": "all of them?"}, status=422)
    await admin("POST", "/keys/revoke", {"project": "away", "reason": "x"}, status=404)
    rest = await admin("POST", "/keys/revoke", {"all": True, "reason": "all of them"})
    assert [key["name"] for key in rest["keys"]] == ["other"]


async def test_events_of_all_projects_are_found_page_by_page(admin: Administering) -> None:
    async with admin.conn() as conn:
        shop = await make.project(conn, "shop")
        mails = await make.queued_emails(conn, 3, project="shop")
        for mail in mails:
            event = {"project_id": shop, "email_id": mail, "type": "delivered"}
            await make.inserted(conn, "email_events", event)
        attempt = {
            "project_id": shop,
            "email_id": mails[0],
            "attempt": 1,
            "status": "deferred",
            "recipient_email": "person0@example.com",
            "error_code": "450",
            "reply": "busy",
        }
        await make.inserted(conn, "send_logs", attempt)

    found = []
    cursor = ""
    for _ in range(9):
        page = await admin("GET", f"/events?project=shop&limit=1{cursor}")
        found += page["data"]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"

    assert [each["type"] for each in found] == ["deferred", *["delivered"] * 3]
    assert found[0]["detail"] == "450 busy"
    assert len({each["id"] for each in found}) == 4
    one = await admin("GET", "/events?recipient=person0@example.com&type=deferred")
    assert [each["email_id"] for each in one["data"]] == [str(mails[0])]
    assert (await admin("GET", "/events?until=2020-01-01T00:00:00Z"))["data"] == []
    for query in ("type=colour", "since=yesterday", "since=2026-01-01T00:00:00", "limit=0"):
        await admin("GET", f"/events?{query}", status=422)
    await admin("GET", "/events?project=away", status=404)


async def test_the_boards_are_json(admin: Administering) -> None:
    async with admin.conn() as conn:
        await make.sender_account(conn, name="relay")
        await make.queued_emails(conn, 2)
        worker = await make.worker(conn)
        await make.claimed(conn, worker, limit=1)

    queue = await admin("GET", "/queue")
    (lane,) = queue["lanes"]
    assert (lane["project"], lane["pending"], lane["assigned"]) == ("default", 1, 1)
    assert {each["status"]: each["emails"] for each in queue["statuses"]} == {
        "pending": 1,
        "assigned": 1,
    }
    (seen,) = (await admin("GET", "/workers"))["data"]
    assert (seen["id"], seen["status"], seen["assigned"]) == (worker, "running", 1)
    assert seen["silent_seconds"] >= 0
    senders = {each["sender"]: each for each in (await admin("GET", "/providers"))["data"]}
    assert (senders["relay"]["circuit"], senders["relay"]["failures"]) == ("closed", {})
    health = await admin("GET", "/health")
    assert health["status"] in ("ok", "warning", "alarm")
    assert {"name", "state", "found", "fix"} == set(health["checks"][0])


async def acting_for(conn: Conn, project: UUID) -> None:
    await conn.execute("SELECT set_config('mailqueue.project', %s, true)", (str(project),))


@pytest.mark.parametrize(
    "statement",
    [
        "add_project('mine')",
        """change_project('default', '{"daily_limit": null}')""",
        "suspend_project('other', 'why not')",
        "activate_project('default')",
        "delete_project('other')",
        "change_setting('held_alarm', '1')",
        "revoke_keys(NULL, NULL, NULL, 'x')",
        "change_retention(NULL, 'send_logs', 1, NULL, 1, 'x')",
        "reset_retention('default', 'send_logs', 'x')",
        "add_administrator('me', 'x', 'x', NULL)",
        "revoke_administrator('ann')",
        "search_events(NULL, NULL, NULL, '-infinity', 'infinity', NULL, NULL, 9)",
    ],
)
async def test_what_is_done_for_a_key_administers_nothing(conn: Conn, statement: str) -> None:
    """Even if the API did not check: the database knows for which caller a transaction acts."""
    await acting_for(conn, await make.project_named(conn))

    with pytest.raises(errors.InsufficientPrivilege):
        await conn.execute(f"SELECT mailqueue.{statement}".encode())


async def test_what_is_done_for_a_key_sees_no_board(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_email(conn)
    mine = await make.project_named(conn)
    await acting_for(conn, await make.project(conn, "other"))

    for board in ("queue_board()", "outcome_board()", "provider_board()", "health_board()"):
        assert await make.rows(conn, f"SELECT * FROM mailqueue.{board}") == []
    audits = (f"audit_page({each}, NULL, NULL, 9)" for each in (f"'{mine}'", "NULL"))
    for board in (f"project_today('{mine}')", f"project_days('{mine}', 3)", *audits):
        with pytest.raises(errors.InsufficientPrivilege):
            async with conn.transaction():
                await make.rows(conn, f"SELECT * FROM mailqueue.{board}")


async def test_an_issuers_administrators_get_in_and_are_named_in_the_audit(
    database: DatabaseSettings,
) -> None:
    async with issuing(ec_key("e")) as issuer:
        options = {
            "oidc_issuer": issuer.name,
            "oidc_audience": AUDIENCE,
            "oidc_role_claim": "realm_access.roles",
            "oidc_role": "admin",
            "allowed_hosts": (ip_network("127.0.0.1/32"),),
        }
        async with administering(database, **options) as admin:
            roles = {"roles": None, "realm_access": {"roles": ["admin"]}}
            good = issuer.token(ec_key("e"), **roles)
            await admin("POST", "/projects", {"slug": "shop"}, status=201, token=good)
            audit = await admin("GET", "/projects/shop/audit-log", token=good)
            assert [each["actor"] for each in audit["data"]] == ["ann user-1 (oidc)"]

            lacking = await admin("GET", "/queue", status=403, token=issuer.token(ec_key("e")))
            assert "role admin" in lacking["message"]
            expired = issuer.token(ec_key("e"), **roles, exp=1)
            refused = await admin("GET", "/queue", status=401, token=expired)
            assert "has expired" in refused["message"]
            await admin("GET", "/queue")  # tokens of ours count beside


async def test_an_issuer_that_is_away_is_no_fault_of_the_callers(
    database: DatabaseSettings,
) -> None:
    async with issuing(ec_key("e")) as issuer:
        token = issuer.token(ec_key("e"))
        options = {"oidc_issuer": issuer.name, "oidc_audience": AUDIENCE}
        async with administering(database, **options) as admin:
            away = await admin("GET", "/queue", status=503, token=token)

    assert "is not a public address" in away["message"]
