"""The same rules and the same errors, whichever interface accepts a mail."""

from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.mail.accept.intakes import WAYS, NotAccepted, Way, plain

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))]

MANY = [f"p{n}@example.com" for n in range(50)]
TOO_BIG = "x" * (25 * 1024 * 1024 + 1)

CONTROLS = ("a\nb", "a\r\nBcc: x@example.com", "a\tb", "\x01", "a\x7f", "a\u0085b", "a\u2028b")

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"recipient_email": None}, "recipient_email", "an address is needed"),
    ({"recipient_email": ""}, "recipient_email", "an address is needed"),
    ({"recipient_email": "ann@@example.com"}, "recipient_email", '"ann@@example.com" is not'),
    ({"recipient_email": "Ann <ann>"}, "recipient_email", '"ann" is not an address'),
    ({"recipient_email": "<a@b.example> <c@d.example>"}, "recipient_email", "is not an address"),
    ({"recipient_email": "a@b.example, c@d.example"}, "recipient_email", "is not an address"),
    ({"subject": None}, "subject", "a subject is needed"),
    ({"subject": ""}, "subject", "a subject is needed"),
    ({"subject": "   "}, "subject", "a subject is needed"),
    ({"subject": "x" * 999}, "subject", "at most 998 characters, got 999"),
    ({"text_body": None}, "html_body", "html_body or text_body is needed"),
    ({"text_body": None, "html_body": ""}, "html_body", "html_body or text_body is needed"),
    ({"text_body": TOO_BIG}, "html_body", "together may have 25 MiB"),
    ({"from_email": "nobody"}, "from_email", '"nobody" is not an address'),
    ({"reply_to": "nobody"}, "reply_to", '"nobody" is not an address'),
    ({"from_name": "x" * 321}, "from_name", "at most 320 characters, got 321"),
    ({"project": "nowhere"}, "project", 'there is no project "nowhere"'),
    ({"sender": "nobody"}, "sender", 'this project has no sender account "nobody"'),
    ({"category": "Not A Category"}, "category", '"Not A Category" is not a category'),
    ({"priority": 4}, "priority", "low"),
    ({"max_attempts": 0}, "max_attempts", "1 to 1000, got 0"),
    ({"max_attempts": 1001}, "max_attempts", "1 to 1000, got 1001"),
    ({"delivery": "perhaps"}, "delivery", 'resend or hold, got "perhaps"'),
    ({"run_at": "2999-01-01 00:00+00"}, "run_at", "within ten years"),
    ({"run_at": "infinity"}, "run_at", "within ten years"),
    ({"expires_at": "2020-01-01 00:00+00"}, "expires_at", "must be after run_at and now"),
    (
        {"run_at": "2030-01-02 00:00+00", "expires_at": "2030-01-01 00:00+00"},
        "expires_at",
        "must be after run_at",
    ),
    ({"campaign_id": "x" * 201}, "campaign_id", "at most 200 characters"),
    ({"tags": ["t"] * 21}, "tags", "at most 20 tags"),
    ({"tags": [""]}, "tags", "at most 20 tags of 1 to 128"),
    ({"tags": ["a\nb"]}, "tags", "at most 20 tags of 1 to 128"),
    ({"custom_data": {"x": "y" * 65536}}, "custom_data", "at most 64 KiB"),
    ({"idempotency_key": ""}, "idempotency_key", "1 to 255 characters, got 0"),
    ({"idempotency_key": "k" * 256}, "idempotency_key", "1 to 255 characters, got 256"),
    ({"cc": MANY}, "cc", "one message may have 50 recipients, got 51"),
    ({"also_to": MANY[:20], "cc": MANY[:15], "bcc": MANY[:15]}, "cc", "50 recipients, got 51"),
    ({"also_to": ["nobody"]}, "to", '"nobody" is not an address'),
    ({"cc": ["Cy <cy@>"]}, "cc", '"cy@" is not an address'),
    ({"bcc": ["x y@example.com"]}, "bcc", '"x y@example.com" is not an address'),
    ({"headers": {"Subject": "x"}}, "headers", "Subject is set by mailqueue and cannot be given"),
    ({"headers": {"content-Type": "x"}}, "headers", "content-Type is set by mailqueue"),
    ({"headers": {"X Y": "x"}}, "headers", '"X Y" is not a header name'),
    ({"headers": {"X:Y": "x"}}, "headers", '"X:Y" is not a header name'),
    ({"headers": {"X-Ü": "x"}}, "headers", "is not a header name"),
    ({"headers": {"": "x"}}, "headers", '"" is not a header name'),
    ({"headers": {"X-A\nBcc": "x"}}, "headers", "is not a header name"),
    ({"headers": {"X-A": 1}}, "headers", "X-A must be a string, got number"),
    ({"headers": {"X-A": None}}, "headers", "X-A must be a string, got null"),
    *(
        ({column: text}, column, "control characters are not allowed")
        for column in ("subject", "from_name", "recipient_name", "campaign_id", "idempotency_key")
        for text in CONTROLS
    ),
    *(({"headers": {"X-A": text}}, "headers", "control characters") for text in CONTROLS),
    *(({"reply_to": f'"A{text}" <a@example.com>'}, "reply_to", "control c") for text in CONTROLS),
    *(({"cc": [f'"A{text}" <a@example.com>']}, "cc", "control characters") for text in CONTROLS),
    *(({"from_email": f'"A{text}" <a@example.com>'}, "from_name", "contr") for text in CONTROLS),
]


@pytest.mark.parametrize(
    ("columns", "field", "words"), REFUSED, ids=[f"{n}-{case[1]}" for n, case in enumerate(REFUSED)]
)
async def test_bad_input_is_refused_in_the_same_words_and_leaves_nothing(
    conn: Conn, way: Way, columns: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(NotAccepted) as refused:
        await way(conn, **plain(**columns))

    assert refused.value.field == field
    assert refused.value.message.startswith(f"{field}: ")
    assert words in refused.value.message
    for table in ("email_queue", "email_contents", "email_recipients", "lane_signals"):
        assert await make.scalar(conn, f"SELECT count(*) FROM mailqueue.{table}") == 0


ACCEPTED: list[dict[str, Any]] = [
    {"subject": "=?utf-8?B?SGVsbG8=?= =?x?Q?y?="},
    {"subject": "<script>alert(1)</script> {{ name }} \\r\\n %s"},
    {"subject": "🎉 Grüße \u200d und viel mehr"},
    {"subject": "x" * 998},
    {"recipient_name": 'O\'Neil, "Ann" <x> \\ =?utf-8?q?a?='},
    {"from_email": '"Shop, Ltd." <shop@example.com>'},
    {"reply_to": "Help <help@example.com>"},
    {"headers": {"X-Any": "=?utf-8?B?SGVsbG8=?=", "List-Id": "<a.example.com>", "x-b": "ü"}},
    {"headers": {}},
    {"text_body": "a\r\n.\r\n\x0b\x1b[0m\u2028", "html_body": "<p>\t\n"},
    {"cc": MANY[:49]},
    {"also_to": MANY[:20], "cc": MANY[20:35], "bcc": MANY[35:49]},
    {"priority": 0},
    {"category": "one-time_code2"},
    {"tags": ["t" * 128] * 20},
    {"max_attempts": 1000},
    {"delivery": "hold"},
    {"custom_data": {"a": {"b": [1, None, "ü"]}}},
    {"idempotency_key": "k" * 255},
    {"run_at": "2001-01-01 00:00+00"},
    {"run_at": "2030-01-01 00:00+00"},
]


@pytest.mark.parametrize("columns", ACCEPTED, ids=[str(n) for n in range(len(ACCEPTED))])
async def test_odd_but_good_input_is_kept_to_the_letter(
    conn: Conn, way: Way, columns: dict[str, Any]
) -> None:
    email_id = await way(conn, **plain(**columns))

    [(found,)] = await make.rows(
        conn,
        "SELECT to_jsonb(q) || to_jsonb(c) || jsonb_build_object('html_body', c.html_body)"
        " FROM mailqueue.email_queue AS q JOIN mailqueue.email_contents AS c"
        " ON c.id = q.content_id WHERE q.id = %s",
        email_id,
    )
    for name in ("subject", "recipient_name", "text_body", "html_body", "priority", "category",
                 "tags", "max_attempts", "delivery", "custom_data", "idempotency_key"):  # fmt: skip
        if name in columns:
            assert found[name] == columns[name]
    if columns.get("headers"):
        assert found["headers"] == columns["headers"]
    recipients = 1 + sum(len(columns.get(name, ())) for name in ("also_to", "cc", "bcc"))
    assert found["recipients"] == recipients
    rows = await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_recipients")
    assert rows == (recipients if recipients > 1 else 0)


async def test_a_mailbox_is_taken_apart(conn: Conn, way: Way) -> None:
    email_id = await way(
        conn,
        **plain(
            recipient_email='  "Ann \\"A\\" <a>" <ann@example.com> ',
            from_email="Shop <shop@example.com>",
            cc=["Bob <bob@example.com>", "c@example.com"],
        ),
    )

    found = await make.rows(
        conn,
        "SELECT q.recipient_email, q.recipient_name, c.from_email, c.from_name"
        " FROM mailqueue.email_queue AS q JOIN mailqueue.email_contents AS c"
        " ON c.id = q.content_id WHERE q.id = %s",
        email_id,
    )
    assert found == [("ann@example.com", 'Ann "A" <a>', "shop@example.com", "Shop")]
    recipients = await make.rows(
        conn, "SELECT kind, address, name FROM mailqueue.email_recipients ORDER BY position"
    )
    assert recipients == [
        ("to", "ann@example.com", 'Ann "A" <a>'),
        ("cc", "bob@example.com", "Bob"),
        ("cc", "c@example.com", None),
    ]


async def test_what_is_not_given_has_the_documented_values(conn: Conn, way: Way) -> None:
    email_id = await way(conn, **plain())

    found = await make.rows(
        conn,
        "SELECT q.status, q.priority, q.category, q.delivery, q.max_attempts, q.attempts,"
        " q.recipients, q.run_at = now(), q.created_at = now(),"
        " q.expires_at - q.run_at = interval '4 days', p.name"
        " FROM mailqueue.email_queue AS q JOIN mailqueue.projects AS p ON p.id = q.project_id"
        " WHERE q.id = %s",
        email_id,
    )
    assert found == [
        ("pending", 2, "transactional", "resend", 100, 0, 1, True, True, True, "default")
    ]


async def test_marketing_is_held_when_its_fate_is_unknown(conn: Conn, way: Way) -> None:
    email_id = await way(conn, **plain(category="marketing"))

    delivery = "SELECT delivery FROM mailqueue.email_queue WHERE id = %s"
    assert await make.scalar(conn, delivery, email_id) == "hold"


async def test_a_later_mail_expires_four_days_after_it_is_due(conn: Conn, way: Way) -> None:
    email_id = await way(conn, **plain(run_at="2030-01-01 00:00+00"))

    left = "SELECT (expires_at - run_at)::text FROM mailqueue.email_queue WHERE id = %s"
    assert await make.scalar(conn, left, email_id) == "4 days"


async def test_nothing_remains_of_a_transaction_taken_back(conn: Conn, way: Way) -> None:
    async with conn.transaction(force_rollback=True):
        await way(conn, **plain(cc=["b@example.com"], idempotency_key="k"))

    for table in ("email_queue", "email_contents", "email_recipients", "idempotency_keys",
                  "lane_signals", "accepted_days", "email_events"):  # fmt: skip
        assert await make.scalar(conn, f"SELECT count(*) FROM mailqueue.{table}") == 0


async def test_the_lane_is_the_projects_priority_and_route(conn: Conn, way: Way) -> None:
    await make.sender_account(conn, name="relay")

    for sender, route in ((None, ""), ("relay", "relay")):
        email_id = await way(conn, **plain(priority=1, sender=sender))
        found = await make.rows(
            conn,
            "SELECT l.priority, l.route FROM mailqueue.email_queue AS q"
            " JOIN mailqueue.lanes AS l ON l.id = q.lane_id WHERE q.id = %s",
            email_id,
        )
        assert found == [(1, route)]
