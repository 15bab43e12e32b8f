"""POST /v1/send: accepted mail is queued unchanged, a refusal names the field."""

import asyncio
from typing import Any

import pytest

from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key, revoke_key
from tests import make
from tests.api.support.calling import HELLO, Calling, error_of
from tests.rows import each_row

pytestmark = pytest.mark.anyio

EVERYTHING = {
    "to": ["Ann <ann@example.com>", "Bob <bob@example.com>"],
    "cc": ["carol@example.com"],
    "bcc": ["dave@example.com"],
    "subject": "Your OTP is 483921 ✉",
    "html_body": "<p>Your OTP: <strong>483921</strong></p>",
    "text_body": "Your OTP: 483921",
    "from_email": "otp@example.org",
    "from_name": "MyApp Security",
    "reply_to": "no-reply@example.org",
    "priority": "critical",
    "tags": ["otp", "auth"],
    "attachments": [],
    "headers": {"X-Campaign-ID": "otp-flow-v2"},
    "campaign_id": "spring",
    "run_at": "2027-01-01T10:00:00+02:00",
    "expires_at": "2027-01-02T00:00:00Z",
    "category": "marketing",
    "delivery": "resend",
    "sender": "relay",
    "custom_data": {"order": 4711, "nested": {"a": [1, 2.5, None, True]}},
    "max_attempts": 5,
}


async def queued(api: Calling) -> int:
    async with connect(api.database) as conn:
        count: int = await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue")
    return count


async def test_a_mail_is_queued_with_all_that_was_given(api: Calling) -> None:
    response = await api.send(EVERYTHING)

    assert response.status_code == 202
    answer = response.json()
    assert (answer["status"], answer["reason"]) == ("queued", None)
    async with connect(api.database) as conn:
        (row,) = await make.rows(
            conn,
            "SELECT q.id::text, l.route, q.priority, q.recipient_email, q.recipient_name, q.tags,"
            " q.campaign_id, q.run_at::text, q.expires_at::text, q.category, q.delivery,"
            " q.custom_data, q.max_attempts, c.subject, c.html_body, c.text_body, c.from_email,"
            " c.from_name, c.reply_to, c.headers"
            " FROM mailqueue.email_queue AS q JOIN mailqueue.lanes AS l ON l.id = q.lane_id"
            " JOIN mailqueue.email_contents AS c ON c.id = q.content_id",
        )
        recipients = await make.rows(
            conn, "SELECT kind, address, name FROM mailqueue.email_recipients ORDER BY position"
        )
    assert row[0] == answer["id"]
    assert row[1:5] == ("relay", 0, "ann@example.com", "Ann")
    assert row[5:7] == (["otp", "auth"], "spring")
    assert row[7].startswith("2027-01-01 08:00:00")
    assert row[9:11] == ("marketing", "resend")
    assert row[11:13] == (EVERYTHING["custom_data"], 5)
    assert row[13:16] == tuple(EVERYTHING[name] for name in ("subject", "html_body", "text_body"))
    assert row[16:] == (
        "otp@example.org",
        "MyApp Security",
        "no-reply@example.org",
        {"X-Campaign-ID": "otp-flow-v2"},
    )
    assert recipients == [
        ("to", "ann@example.com", "Ann"),
        ("to", "bob@example.com", "Bob"),
        ("cc", "carol@example.com", None),
        ("bcc", "dave@example.com", None),
    ]


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"to": []}, "to"),
    ({"to": "nobody"}, "to"),
    ({"to": ""}, "to"),
    ({"to": 5}, "to"),
    ({"cc": "nobody"}, "cc"),
    ({"html_body": "<p>x</p>", "html": "<p>y</p>"}, "html"),
    ({"html": 5}, "html"),
    ({"to": ["not an address"]}, "to"),
    ({"to": ["ann@example.com", "nobody"]}, "to"),
    ({"to": ["a\u0000b@example.com"]}, "to"),
    ({"cc": ["nobody"]}, "cc"),
    ({"bcc": [f"p{n}@example.com" for n in range(50)]}, "cc"),
    ({"subject": ""}, "subject"),
    ({"subject": None}, "subject"),
    ({"subject": "a\r\nBcc: eve@example.com"}, "subject"),
    ({"subject": "nul \u0000"}, "subject"),
    ({"text_body": None}, "html_body"),
    ({"text_body": "nul \u0000"}, "text_body"),
    ({"from_email": "nobody"}, "from_email"),
    ({"reply_to": "nobody"}, "reply_to"),
    ({"priority": "urgent"}, "priority"),
    ({"priority": 7}, "priority"),
    ({"priority": 2**70}, "priority"),
    ({"priority": True}, "priority"),
    ({"tags": ["x"] * 21}, "tags"),
    ({"tags": [1]}, "tags"),
    ({"headers": {"Subject": "x"}}, "headers"),
    ({"headers": {"X-A": "a\nb"}}, "headers"),
    ({"headers": {"X-A": 1}}, "headers"),
    ({"attachments": [{"filename": "a.pdf"}]}, "attachments"),
    ({"run_at": "tomorrow"}, "run_at"),
    ({"run_at": "2027-01-01T00:00:00"}, "run_at"),
    ({"run_at": "9999-12-31T23:59:59Z"}, "scheduled_at"),
    ({"scheduled_at": "20300501"}, "scheduled_at"),
    ({"scheduled_at": "0"}, "scheduled_at"),
    ({"scheduled_at": "-1"}, "scheduled_at"),
    ({"scheduled_at": "1893456000"}, "scheduled_at"),
    ({"scheduled_at": 1893456000}, "scheduled_at"),
    ({"scheduled_at": "20300501T080000Z"}, "scheduled_at"),
    ({"scheduled_at": "2030-05-01"}, "scheduled_at"),
    ({"scheduled_at": "2030-05-01T08:00Z"}, "scheduled_at"),
    ({"expires_at": "20300501"}, "expires_at"),
    ({"expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
    ({"category": "Not A Category"}, "category"),
    ({"delivery": "maybe"}, "delivery"),
    ({"sender": "nowhere"}, "smtp_config_id"),
    ({"max_attempts": 0}, "max_attempts"),
    ({"max_attempts": 10**30}, "max_attempts"),
    ({"custom_data": [1]}, "custom_data"),
    ({"custom_data": {"a": "x" * 70_000}}, "custom_data"),
    ({"custom_data": {"a": {"\u0000": 1}}}, "custom_data"),
    ({"custom_data": {"a": [2**80]}}, "custom_data"),
    ({"smtp_override": {"server": "x"}}, "smtp_override"),
    ({"idempotency_key": ""}, "idempotency_key"),
]


async def test_a_faulty_field_is_named_and_nothing_is_queued(api: Calling) -> None:
    wrong = []
    for change, field in FAULTS:
        body = {**HELLO, **change}

        response = await api.send({name: each for name, each in body.items() if each is not None})

        error = error_of(response) if response.status_code == 422 else {}
        found = (error.get("name"), error.get("field"), await queued(api))
        is_told = error.get("message", "").startswith(f"{field}: ")
        if found != ("invalid_field", field, 0) or not is_told:
            wrong.append((change, field, response.status_code, response.text))
    assert wrong == []


@each_row(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"to": ["ann@example.com"], "subject": "\\ud800", "text_body": "x"}',
        b'{"a": ' * 5000,
        b'{"to": ["a@example.com"], "subject": "x", "text_body": "x", "custom_data": {"a": NaN}}',
        b'{"to": ["a@example.com"], "subject": "x", "text_body": "x", "custom_data": {"a": 1e999}}',
    ],
)
async def test_a_body_that_is_no_request_is_the_callers_fault(api: Calling, body: bytes) -> None:
    response = await api.send(body)

    assert response.status_code in (400, 422), response.text
    assert error_of(response)["message"]


async def test_a_suppressed_recipient_is_told_at_once(api: Calling) -> None:
    async with connect(api.database) as conn:
        await make.inserted(
            conn,
            "bounce_list",
            {"email": "ann@example.com", "bounce_type": "hard", "bounce_reason": "no such user"},
        )

    answer = (await api.send()).json()

    assert (answer["status"], answer["reason"]) == ("suppressed", "hard_bounce")
    assert (await api.get(f"/v1/emails/{answer['id']}")).json()["status"] == "suppressed"


async def test_twins_under_one_key_are_accepted_once(api: Calling) -> None:
    answers = await asyncio.gather(*(api.send(Idempotency_Key="once") for _ in range(8)))
    in_body = await api.send({**HELLO, "idempotency_key": "once"})
    other = await api.send({**HELLO, "subject": "Another"}, Idempotency_Key="once")
    both = await api.send({**HELLO, "idempotency_key": "twice"}, Idempotency_Key="once")

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.text for answer in [*answers, in_body]}) == 1
    replayed = [answer.headers.get("idempotent-replayed") for answer in [*answers, in_body]]
    assert sorted(map(str, replayed)) == ["None"] + ["true"] * 8
    assert await queued(api) == 1
    for refused in (other, both):
        assert refused.status_code == 422
        assert error_of(refused)["field"] == "idempotency_key"


async def test_only_a_valid_key_may_send(api: Calling) -> None:
    async with connect(api.database) as conn:
        await issue_key(conn, "default", "old", is_test=False)
        old = await issue_key(conn, "default", "older", is_test=False)
        await revoke_key(conn, "default", "older")

    refused = [
        await api.http.post("/v1/send", json=HELLO),
        await api.send(X_API_Key="mq_live_wrong"),
        await api.send(X_API_Key=api.key[:-1] + ("y" if api.key.endswith("x") else "x")),
        await api.send(X_API_Key=old.key.reveal()),
        await api.http.post("/v1/send", json=HELLO, headers={"Authorization": "Basic eDp5"}),
    ]
    taken = await api.http.post(
        "/v1/send", json=HELLO, headers={"Authorization": f"Bearer {api.key}"}
    )

    assert [answer.status_code for answer in refused] == [401] * 5
    assert {error_of(answer)["name"] for answer in refused} == {"unauthorized"}
    assert taken.status_code == 202


async def test_a_test_key_sends_to_the_trap_and_nowhere_else(api: Calling) -> None:
    async with connect(api.database) as conn:
        issued = await issue_key(conn, "default", "test", is_test=True)
        test_key = {"X_API_Key": issued.key.reveal()}

        without = await api.send(**test_key)
        await make.sender_account(conn, name="pit", provider="trap")
        trapped = await api.send(**test_key)
        named = await api.send({**HELLO, "sender": "pit"}, **test_key)
        elsewhere = await api.send({**HELLO, "sender": "relay"}, **test_key)
        routes = await make.rows(
            conn,
            "SELECT l.route FROM mailqueue.email_queue AS q"
            " JOIN mailqueue.lanes AS l ON l.id = q.lane_id",
        )

    assert without.status_code == 409
    assert (trapped.status_code, named.status_code) == (202, 202)
    assert (elsewhere.status_code, error_of(elsewhere)["field"]) == (422, "smtp_config_id")
    assert routes == [("(test)",), ("(test)",)]


async def test_more_than_the_limit_is_not_read(api: Calling) -> None:
    async def endless() -> Any:
        for _ in range(40):
            yield b"x" * 1024 * 1024

    declared = await api.send(b"x" * (30 * 1024 * 1024 + 1))
    streamed = await api.http.post("/v1/send", content=endless(), headers={"X-API-Key": api.key})

    assert (declared.status_code, streamed.status_code) == (413, 413)
    assert "30 MiB" in error_of(streamed)["message"]


async def test_a_database_that_is_away_is_told_with_503(api: Calling) -> None:
    async with connect(api.database) as conn:
        await conn.execute("ALTER TABLE mailqueue.api_keys RENAME TO elsewhere")
        await conn.execute(
            "CREATE FUNCTION mailqueue.gone() RETURNS boolean LANGUAGE plpgsql"
            " SECURITY DEFINER AS $$ BEGIN "
            "PERFORM pg_terminate_backend(pg_backend_pid()); RETURN true; END $$"
        )
        await conn.execute(
            "CREATE VIEW mailqueue.api_keys AS"
            " SELECT * FROM mailqueue.elsewhere WHERE mailqueue.gone()"
        )
        await conn.execute("GRANT ALL ON mailqueue.api_keys TO PUBLIC")
        await conn.execute("GRANT ALL ON FUNCTION mailqueue.gone() TO PUBLIC")

        response = await api.send()

    assert response.status_code == 503
    assert error_of(response)["name"] == "unavailable"
    assert error_of(response)["message"] == "the database is away, try again"
    assert response.headers["retry-after"] == "5"


async def test_a_fault_of_ours_shows_no_traceback(api: Calling) -> None:
    async with connect(api.database) as conn:
        await conn.execute("DROP TABLE mailqueue.api_keys CASCADE")

    response = await api.send()
    error = error_of(response)

    assert response.status_code == 500
    assert error["name"] == "internal"
    assert error["message"] == "internal error; report it with the request id"
