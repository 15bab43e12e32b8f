"""Test data and live data are separate: mail, idempotency keys, files, lists."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.db.pool import connect
from mailqueue.mail.model import Ending, LogStatus
from tests import make
from tests.api.support.modes import PROJECT, Modes, both_modes, credentials
from tests.api.support.tenancy import MAIL
from tests.mail.claim.steps import claim, due_now, mark, settle
from tests.stream.reading import read_stream

pytestmark = pytest.mark.anyio

KEYS = f"/v1/projects/{PROJECT}/api-keys"


@pytest.fixture(scope="module")
async def modes(module_db: str) -> AsyncIterator[Modes]:
    async with both_modes(module_db) as found:
        yield found


async def test_a_live_key_does_not_see_test_mail_but_looks_after_test_keys(modes: Modes) -> None:
    sent = (await modes.made("/v1/send", {**MAIL, "to": ["tried@example.com"]}))["id"]
    shared = {"subject": "x", "text_body": "x", "recipients": [{"email": "tried@example.com"}]}
    batch = (await modes.made("/v1/send/batch", shared))["batch_id"]
    key = (await modes.made(KEYS, {"name": "mouse two", "scopes": ["email:read"]}))["id"]

    mine = [
        (await modes.call("GET", path)).status_code
        for path in (f"/v1/emails/{sent}", f"/v1/emails/{sent}/source", f"/v1/batches/{batch}")
    ]
    theirs = [
        (await modes.call(method, path, body, key=modes.live)).status_code
        for method, path, body in (
            ("GET", f"/v1/emails/{sent}", None),
            ("GET", f"/v1/emails/{sent}/source", None),
            ("GET", f"/v1/emails/{sent}/events", None),
            ("POST", f"/v1/emails/{sent}/cancel", {}),
            ("GET", f"/v1/batches/{batch}", None),
        )
    ]
    seen = {
        mode: len(
            (await modes.call("GET", "/v1/emails?to=tried@example.com", key=by)).json()["data"]
        )
        for mode, by in (("test", modes.test), ("live", modes.live))
    }
    told = {
        mode: (await modes.call("GET", "/v1/recipients/tried@example.com/events", key=by)).json()
        for mode, by in (("test", modes.test), ("live", modes.live))
    }
    listed = (await modes.call("GET", KEYS, key=modes.live)).json()["data"]
    revoked = await modes.call("DELETE", f"{KEYS}/{key}", key=modes.live)

    assert (mine, theirs) == ([200] * 3, [404] * 5)
    assert (seen, len(told["test"]["data"]), told["live"]["data"]) == (
        {"test": 2, "live": 0},
        2,
        [],
    )
    assert {one["is_test"] for one in listed} == {True, False}
    assert revoked.status_code == 204


async def test_keys_of_requests_do_not_meet_across_modes(modes: Modes) -> None:
    """Neither replays nor blocks the other, whatever the requests contain."""
    batch = {"subject": "x", "text_body": "x", "recipients": [{"email": "a@example.com"}]}
    pairs = []
    for path, body in (("/v1/send", MAIL), ("/v1/send/batch", batch)):
        for word in ("k", "k" * 255):
            by = {"Idempotency_Key": word + path[-1] if len(word) == 1 else word[1:] + path[-1]}
            first = await modes.call("POST", path, body, key=modes.live, **by)
            other = await modes.call("POST", path, body, key=modes.test, **by)
            third = await modes.call(
                "POST", path, {**body, "subject": "another"}, key=modes.live, **by
            )
            again = await modes.call("POST", path, body, key=modes.test, **by)
            assert first.is_success, first.text
            assert other.is_success, other.text
            assert (again.headers.get("idempotent-replayed"), again.json()) == (
                "true",
                other.json(),
            )
            assert third.status_code == 422
            pairs.append((first.json(), other.json()))

    resend = {"from": "a@example.com", "to": "b@example.com", "subject": "x", "text": "x"}
    ids = [
        (
            await modes.http.post(
                "/emails",
                json=resend,
                headers={**credentials("resend", key), "Idempotency-Key": "r"},
            )
        ).json()["id"]
        for key in (modes.live, modes.test, modes.test)
    ]

    assert all(first != other for first, other in pairs)
    assert ids[0] != ids[1] == ids[2]


async def test_uploads_are_of_their_keys_mode(modes: Modes) -> None:
    async def uploaded(key: str) -> str:
        answer = await modes.http.post(
            "/v1/attachments?filename=same.png",
            content=b"\x89PNG\r\n\x1a\nsame",
            headers={"X-API-Key": key, "Content-Type": "image/png"},
        )
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    live, test, again = [await uploaded(key) for key in (modes.live, modes.test, modes.test)]

    async def sent(key: str, upload: str) -> int:
        body = {**MAIL, "attachments": [{"id": upload}]}
        return (await modes.call("POST", "/v1/send", body, key=key)).status_code

    assert live != test == again
    assert [await sent(modes.test, test), await sent(modes.live, live)] == [202, 202]
    assert [await sent(modes.test, live), await sent(modes.live, test)] == [422, 422]


async def test_test_mail_goes_to_the_trap_however_often_it_is_sent(modes: Modes) -> None:
    sent = (await modes.made("/v1/send", {**MAIL, "to": ["again@example.com"]}))["id"]
    lane = """
        SELECT q.is_test, l.route, ARRAY(SELECT a.provider FROM mailqueue.limits AS m
            JOIN mailqueue.sender_accounts AS a ON a.id = m.sender_account_id
            WHERE m.id = ANY (l.account_limits))
        FROM mailqueue.email_queue AS q JOIN mailqueue.lanes AS l ON l.id = q.lane_id
        WHERE q.recipient_email = 'again@example.com'
    """
    async with connect(modes.database) as conn:
        first = await make.rows(conn, lane)
        claims = await claim(conn, await make.worker(conn), limit=1000)
        [mine] = [one for one in claims if str(one.id) == sent]
        await settle(conn, [mine], Ending.SENT, log=LogStatus.SENT)
        resent = await modes.made(f"/v1/emails/{sent}/resend", {})
        second = await make.rows(conn, lane)
        history = await make.scalar(
            conn, "SELECT is_test FROM mailqueue.email_history WHERE id = %s", sent
        )
    named = await modes.call(
        "POST", "/v1/send", {**MAIL, "smtp_config_id": "(test)"}, key=modes.live
    )

    assert first == second == [(True, "(test)", ["trap"])]
    assert (resent["result"], history) == ("resent", True)
    assert (named.status_code, "no sender account" in named.text) == (422, True)


async def test_suppressions_of_one_mode_are_none_of_the_other(modes: Modes) -> None:
    """A suppression of live mail does not stop test mail, and test mail creates none."""
    suppressed = {"emails": ["stopped@example.com"], "reason": "manual"}
    await modes.made("/v1/suppressions", suppressed, key=modes.live)
    several = {**MAIL, "to": ["stopped@example.com"], "cc": ["bounces@example.com"]}
    one = await modes.made("/v1/send", {**MAIL, "to": ["stopped@example.com"]})
    two = await modes.made("/v1/send", several)
    live = await modes.made("/v1/send", {**MAIL, "to": ["stopped@example.com"]}, key=modes.live)
    bounced = await modes.made("/v1/send", {**MAIL, "to": ["bounces@example.com"]})
    ids = {each["id"] for each in (one, two, bounced)}
    async with connect(modes.database) as conn:
        await due_now(conn)
        worker = await make.worker(conn)
        claims = [each for each in await claim(conn, worker, limit=1000) if str(each.id) in ids]
        marks = {each.verdict for each in (await mark(conn, worker, claims)).values()}
        hard = [each for each in claims if str(each.id) == bounced["id"]]
        await settle(
            conn,
            hard,
            Ending.FAILED,
            log=LogStatus.BOUNCED,
            reason="550 5.1.1 no",
            code="550",
            enhanced="5.1.1",
            reply="no",
            hard=True,
        )
        event = [{"type": "complaint", "email_id": one["id"], "recipient": "stopped@example.com"}]
        await conn.execute("SELECT mailqueue.record_events(%s::jsonb)", [make.adapted(event)])
        left = await make.scalar(
            conn,
            "SELECT (SELECT count(*) FROM mailqueue.suppressions WHERE address LIKE 'bounces@%')"
            " + (SELECT count(*) FROM mailqueue.bounce_list)"
            " + (SELECT count(*) FROM mailqueue.notices)",
        )
        events = await make.rows(
            conn,
            "SELECT type, is_test, suppresses FROM mailqueue.email_events"
            " WHERE type IN ('hard_bounce', 'complaint') ORDER BY 1",
        )
    again = await modes.made("/v1/send", {**MAIL, "to": ["bounces@example.com"]}, key=modes.live)

    assert [each["status"] for each in (one, two, live)] == ["queued", "queued", "suppressed"]
    assert (len(claims), {str(each) for each in marks}) == (3, {"go"})
    assert (left, events) == (0, [("complaint", True, None), ("hard_bounce", True, None)])
    assert again["status"] == "queued"


async def test_an_unsubscribe_from_test_mail_is_told_and_changes_nothing(modes: Modes) -> None:
    sent = await modes.made("/v1/send", {**MAIL, "to": ["left@example.com"]})
    choice = '[{"category": "marketing", "state": "off"}]'
    async with connect(modes.database) as conn:
        project = await make.project_named(conn, PROJECT)
        await conn.execute(
            "SELECT * FROM mailqueue.change_subscriptions(%s, %s, %s::jsonb, 'page', %s, NULL,"
            " NULL, 'recipient')",
            [project, ["left@example.com"], choice, sent["id"]],
        )
        kept = await make.scalar(
            conn,
            "SELECT (SELECT count(*) FROM mailqueue.suppressions WHERE address LIKE 'left@%')"
            " + (SELECT count(*) FROM mailqueue.unsubscribe_list)"
            " + (SELECT count(*) FROM mailqueue.subscription_preferences)",
        )
    told = (await modes.call("GET", f"/v1/emails/{sent['id']}/events")).json()["data"]

    assert (kept, [each["type"] for each in told]) == (0, ["queued", "unsubscribed"])


async def test_webhooks_are_told_which_mail_is_test_mail(modes: Modes) -> None:
    hook = modes.variables["webhook_id"]
    sent = await modes.made("/v1/send", {**MAIL, "to": ["told@example.com"]})
    live = await modes.made("/v1/send", {**MAIL, "to": ["told@example.com"]}, key=modes.live)
    log = f"/v1/webhooks/{hook}/deliveries"
    async with connect(modes.database) as conn:
        await read_stream(conn)

    told = {}
    for mode, key, email in (("test", modes.test, sent["id"]), ("live", modes.live, live["id"])):
        [one] = (await modes.call("GET", f"{log}?email_id={email}", key=key)).json()["data"]
        whole = (await modes.call("GET", f"{log}/{one['id']}", key=key)).json()
        told[mode] = (one["is_test"], whole["payload"]["data"]["is_test"], one["id"])
    across = [
        (await modes.call("GET", f"{log}/{told['test'][2]}", key=modes.live)).status_code,
        (await modes.call("GET", f"{log}/{told['live'][2]}")).status_code,
        (await modes.call("POST", f"{log}/{told['live'][2]}/retry", {})).status_code,
    ]

    assert (told["test"][:2], told["live"][:2]) == ((True, True), (False, False))
    assert across == [404, 404, 404]


async def test_the_database_hides_live_rows_from_a_statement_that_forgets(modes: Modes) -> None:
    """Row-level security hides all live rows from a transaction of a test key."""
    tables = ("email_events", "email_recipients", "send_logs", "webhook_deliveries", "api_keys")
    await modes.made("/v1/send", {**MAIL, "cc": ["b@example.com"]}, key=modes.live)
    async with connect(modes.database) as conn, conn.transaction():
        project = await make.project_named(conn, PROJECT)
        await make.rows(conn, "SELECT set_config('mailqueue.project', %s, true)", str(project))
        await conn.execute("SET LOCAL ROLE mailqueue_api")
        counted = {}
        for mode in ("live", "test"):
            await make.rows(conn, "SELECT set_config('mailqueue.mode', %s, true)", mode)
            counted[mode] = {
                table: await make.scalar(conn, f"SELECT count(*) FROM mailqueue.{table}")
                for table in (*tables, "emails")
            }
        with_live = {
            table: await make.scalar(
                conn, f"SELECT count(*) FROM mailqueue.{table} WHERE NOT is_test"
            )
            for table in ("email_events", "webhook_deliveries", "emails")
        }

    assert all(counted["test"][table] < counted["live"][table] for table in tables)
    assert set(with_live.values()) == {0}
