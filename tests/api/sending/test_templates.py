"""Mail from templates: to one recipient, or to many with their own variables, checked when
accepted.
"""

import time
from collections.abc import AsyncIterator
from email import message_from_bytes
from email.policy import default
from typing import Any

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.templates.model import NewText
from tests import make
from tests.api.sending.test_override import serving
from tests.api.support.calling import Calling, calling, error_of
from tests.templates.making import published

pytestmark = pytest.mark.anyio
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 9}},
    "required": ["name"],
}
WORDS = {
    "en": NewText("Welcome, {{ name }}", "<p>Hello {{ name }} & co</p>", "Hello {{ name }}"),
    "de": NewText("Willkommen, {{ name }}", "<p>Hallo {{ name }}</p>", "Hallo {{ name }}"),
}


@pytest.fixture
async def api(database: DatabaseSettings) -> AsyncIterator[Calling]:
    async with calling(database) as made:
        await with_template(database)
        yield made


async def with_template(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await published(conn, project, slug="welcome", words=WORDS, variables_schema=SCHEMA)


def one(**changes: Any) -> dict[str, Any]:
    wanted = {"to": ["ann@example.com"], "template_slug": "welcome", "variables": {"name": "Ann"}}
    return {**wanted, **changes}


def many(*recipients: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "template_slug": "welcome",
        "template_version": "published",
        "recipients": list(recipients),
        **changes,
    }


async def message(api: Calling, email: str) -> tuple[str, str]:
    """Return the subject and the text of a mail as a server receives it."""
    answer = await api.get(f"/v1/emails/{email}/source")
    assert answer.status_code == 200, answer.text
    found = message_from_bytes(answer.content, policy=default)
    body = found.get_body(("plain",))
    assert body is not None
    return found["Subject"], body.get_content().strip()


async def test_a_mail_says_what_its_template_says_with_its_variables(api: Calling) -> None:
    sent = await api.post("/v1/send/template", one(template_version=1, tags=["a"]))
    german = await api.post("/v1/send/template", one(language="de-AT"))

    assert sent.status_code == 202, sent.text
    assert await message(api, sent.json()["id"]) == ("Welcome, Ann", "Hello Ann")
    assert await message(api, german.json()["id"]) == ("Willkommen, Ann", "Hallo Ann")


async def test_what_cannot_be_sent_is_refused_by_name(api: Calling) -> None:
    faults: list[tuple[dict[str, Any], str]] = [
        ({"template_slug": "nothing"}, "template_slug"),
        ({"template_version": 7}, "template_slug"),
        ({"template_version": "draft"}, "template_slug"),
        ({"variables": {}}, "variables"),
        ({"variables": {"name": 7}}, "variables"),
        ({"variables": {"name": "longer than nine"}}, "variables"),
        ({"variables": ["name"]}, "variables"),
        ({"subject": "Hi"}, "subject"),
        ({"custom_data": {"variables": 1}}, "custom_data"),
        ({"to": ["nobody"]}, "to"),
    ]
    for change, field in faults:
        refused = await api.post("/v1/send/template", one(**change))

        assert refused.status_code == 422, refused.text
        assert error_of(refused)["field"].partition(".")[0] == field


async def test_a_mail_is_accepted_once_under_its_key(api: Calling) -> None:
    answers = [
        await api.post("/v1/send/template", one(), Idempotency_Key="welcome-ann") for _ in range(2)
    ]
    other = await api.post(
        "/v1/send/template", one(variables={"name": "Bob"}), Idempotency_Key="welcome-ann"
    )

    assert answers[0].json() == answers[1].json()
    assert (other.status_code, error_of(other)["field"]) == (422, "idempotency_key")


async def test_a_dry_run_shows_the_rendered_message(api: Calling) -> None:
    answer = await api.post("/v1/send/template", one(dry_run=True))

    found = answer.json()
    assert (answer.status_code, found["status"]) == (200, "queued")
    assert "Subject: Welcome, Ann" in found["mime"]
    assert "Hello Ann & co" in found["mime"], "what escaping is not asked for is as it was written"
    async with connect(api.database) as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 0


async def test_mail_that_is_sent_at_once_is_rendered_at_once(database: DatabaseSettings) -> None:
    async with serving(database) as (api, server):
        await with_template(database)
        override = {"host": "127.0.0.1", "port": server.port, "tls_mode": "none"}

        sent = await api.post(
            "/v1/send/template", one(smtp_override=override, from_email="shop@example.org")
        )

        assert (sent.status_code, sent.json()["status"]) == (200, "sent"), sent.text
        [taken] = server.messages
        assert b"Subject: Welcome, Ann" in taken.data


async def test_each_recipient_has_their_own_variables_and_language(
    api: Calling,
) -> None:
    body = many(
        {"email": "a@example.com", "variables": {"name": "Ann"}},
        {"email": "b@example.com", "variables": {"name": "Bert"}, "language": "de"},
        {"email": "c@example.com", "custom_data": {"n": 3}, "language": "fr"},
        variables={"name": "you"},
    )

    answer = await api.post("/v1/send/template/batch", body)

    assert answer.status_code == 202, answer.text
    found = answer.json()
    assert (found["accepted"], found["rejected"]) == (3, 0)
    assert [await message(api, email) for email in found["email_ids"]] == [
        ("Welcome, Ann", "Hello Ann"),
        ("Willkommen, Bert", "Hallo Bert"),
        ("Welcome, you", "Hello you"),
    ]
    async with connect(api.database) as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_contents") == 2


async def test_who_lacks_a_variable_is_refused_and_the_others_are_not(api: Calling) -> None:
    body = many(
        {"email": "a@example.com", "variables": {"name": "Ann"}},
        {"email": "b@example.com", "variables": {"name": "longer than nine"}},
        {"email": "c"},
        {"email": "d@example.com", "variables": {"name": "Dora"}},
    )

    answer = await api.post("/v1/send/template/batch", body)
    strict = await api.post("/v1/send/template/batch", body | {"mode": "strict"})

    found = answer.json()
    assert [each["status"] for each in found["results"]] == [
        "queued",
        "rejected",
        "rejected",
        "queued",
    ]
    assert "variables.name" in found["results"][1]["reason"]
    fields = [fault["field"] for fault in error_of(strict)["violations"]]
    assert [field.split(".")[:3] for field in fields] == [
        ["recipients", "1", "variables"],
        ["recipients", "2", "variables"],
    ]


async def test_what_is_wrong_for_all_refuses_the_call(api: Calling) -> None:
    faults: list[dict[str, Any]] = [
        {"template_slug": "nothing"},
        {"template_version": 9},
        {"priority": "soon"},
    ]
    for change in faults:
        body = many({"email": "a@example.com", "variables": {"name": "Ann"}}, **change)

        refused = await api.post("/v1/send/template/batch", body)

        assert refused.status_code == 422
        assert error_of(refused)["field"] in ("template_slug", "priority")


@pytest.mark.soak
async def test_ten_thousand_recipients_are_accepted_in_a_call(api: Calling) -> None:
    recipients = [
        {"email": f"p{number}@example.com", "variables": {"name": f"n{number}"}}
        for number in range(10_000)
    ]
    began, cpu = time.monotonic(), time.process_time()

    answer = await api.post("/v1/send/template/batch", many(*recipients))

    took = time.monotonic() - began, time.process_time() - cpu
    print(f"10,000 in {took[0]:.2f} s, {took[1]:.2f} s of it ours")  # noqa: T201
    assert answer.json()["accepted"] == 10_000
