"""POST /v1/send to the name of a list of contacts."""

from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from tests import make
from tests.api.support.calling import Calling, error_of
from tests.contacts import people
from tests.contacts.sends import steps
from tests.rows import each_row
from tests.templates.making import published

pytestmark = pytest.mark.anyio
NEWS: dict[str, Any] = {
    "to": ["news"],
    "subject": "We moved",
    "text_body": "Our new address is …",
    "category": "marketing",
}


async def listed(api: Calling, count: int = 2) -> UUID:
    """Add the list `news`; return the id of the project."""
    async with connect(api.database) as conn:
        project = await make.project_named(conn)
        await steps.listed(conn, project, count)
        return project


@pytest.fixture
async def api_with_list(api: Calling) -> Calling:
    await listed(api)
    return api


async def test_the_answer_for_a_list_names_the_batch_that_goes_to_each_contact(
    api: Calling,
) -> None:
    await listed(api)

    sent = await api.post("/v1/send", NEWS)
    await steps.worked(api.database)

    assert sent.status_code == 202, sent.text
    found = sent.json()
    assert (found["status"], found["reason"]) == ("expanding", None)
    batch = (await api.get(f"/v1/batches/{found['id']}")).json()
    assert (batch["recipients"], batch["counts"]) == (2, {"pending": 2})
    assert [(one["list"], one["accepted"]) for one in batch["lists"]] == [("news", 2)]
    mails = (await api.get(f"/v1/emails?batch={found['id']}")).json()["data"]
    assert {one["recipient_email"] for one in mails} == {"news0@example.com", "news1@example.com"}


async def test_a_repeated_request_to_a_list_has_the_answer_of_the_first(api: Calling) -> None:
    await listed(api)

    first = await api.post("/v1/send", NEWS, Idempotency_Key="k-1")
    again = await api.post("/v1/send", NEWS | {"idempotency_key": "k-1"})
    other = await api.post("/v1/send", NEWS | {"subject": "Other"}, Idempotency_Key="k-1")

    assert again.json() == first.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (other.status_code, error_of(other)["field"]) == (422, "idempotency_key")
    async with connect(api.database) as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.list_sends") == 1


async def test_a_template_for_a_list_has_its_contact_and_category(api: Calling) -> None:
    project = await listed(api, 1)
    async with connect(api.database) as conn:
        await published(conn, project, words=steps.HELLO_CONTACT, category="marketing")
    body = {"to": "news", "template_slug": "welcome", "variables": {"Edition": "48"}}

    sent = await api.post("/v1/send/template", body)
    await steps.worked(api.database)

    assert (sent.status_code, sent.json()["status"]) == (202, "expanding"), sent.text
    async with connect(api.database) as conn:
        query = "SELECT category, custom_data -> 'variables' FROM mailqueue.email_queue"
        [(category, variables)] = await make.rows(conn, query)
    assert (category, variables["Edition"]) == ("marketing", "48")
    assert variables["contact"]["email"] == "news0@example.com"


@each_row(
    "given, field",
    [
        ({"category": None}, "category"),
        ({"category": "transactional"}, "category"),
        ({"to": ["news", "ann@example.com"]}, "to"),
        ({"to": ["ann@example.com", "news"]}, "to"),
        ({"to": ["none"]}, "to"),
        ({"cc": ["ann@example.com"]}, "cc"),
        ({"bcc": ["ann@example.com"]}, "bcc"),
        ({"cc": ["news"], "to": ["ann@example.com"]}, "cc"),
        ({"smtp_config_id": "none"}, "smtp_config_id"),
        ({"custom_data": {"variables": {}}}, "custom_data"),
        ({"idempotency_key": "\x00"}, "idempotency_key"),
    ],
)
async def test_what_a_list_does_not_go_with_is_refused_by_field(
    api_with_list: Calling, given: dict[str, Any], field: str
) -> None:
    refused = await api_with_list.post("/v1/send", NEWS | given)

    assert (refused.status_code, error_of(refused)["field"]) == (422, field)
    async with connect(api_with_list.database) as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.list_sends") == 0


async def test_a_server_of_its_own_sends_to_addresses_only(api: Calling) -> None:
    await listed(api)
    server = {"host": "smtp.example.com"}

    refused = await api.post(
        "/v1/send", NEWS | {"smtp_override": server, "from_email": "ann@example.com"}
    )

    assert (refused.status_code, error_of(refused)["field"]) == (422, "to")


async def test_a_dry_run_to_a_list_counts_its_contacts_and_stores_nothing(api: Calling) -> None:
    project = await listed(api)
    async with connect(api.database) as conn:
        await conn.execute(
            "SELECT mailqueue.suppress(%s, 'news1@example.com', '', 'manual', NULL, NULL, 'tests')",
            (project,),
        )

    tried = await api.post("/v1/send", NEWS | {"dry_run": True})

    assert (tried.status_code, tried.json()["status"]) == (200, "expanding"), tried.text
    [warning] = tried.json()["warnings"]
    assert "2 contacts" in warning
    assert "1 of the first 2 are suppressed for marketing" in warning
    async with connect(api.database) as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.list_sends") == 0
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.batches") == 0


async def test_a_dry_run_counts_who_is_suppressed_for_the_category_of_the_template(
    api: Calling,
) -> None:
    project = await listed(api, 2)
    async with connect(api.database) as conn:
        await published(conn, project, words=steps.HELLO_CONTACT, category="digest")
        await conn.execute(
            "SELECT mailqueue.suppress("
            "%s, 'news1@example.com', 'digest', 'manual', NULL, NULL, 'tests')",
            (project,),
        )
    body = {"to": "news", "template_slug": "welcome", "variables": {"Edition": "48"}}

    tried = await api.post("/v1/send/template", body | {"dry_run": True})

    assert (tried.status_code, tried.json()["status"]) == (200, "expanding"), tried.text
    [warning] = tried.json()["warnings"]
    assert "1 of the first 2 are suppressed for digest" in warning


async def test_a_test_key_sends_to_its_own_lists_only(api: Calling) -> None:
    project = await listed(api)
    async with connect(api.database) as conn:
        await make.sender_account(conn, name="pit", provider="trap")
        test_key = (await issue_key(conn, "default", "t", is_test=True)).key.reveal()
    refused = await api.post("/v1/send", NEWS, key=test_key)
    async with connect(api.database) as conn, conn.transaction():
        ids = await people.added(conn, project, "zoe@example.com", is_test=True)
        await conn.execute("SET LOCAL mailqueue.mode = 'test'")
        await people.list_of(conn, project, members=ids)

    sent = await api.post("/v1/send", NEWS, key=test_key)
    await steps.worked(api.database)

    assert (refused.status_code, error_of(refused)["field"]) == (422, "to")
    assert (sent.status_code, sent.json()["status"]) == (202, "expanding"), sent.text
    async with connect(api.database) as conn:
        query = "SELECT recipient_email, is_test FROM mailqueue.email_queue"
        assert await make.rows(conn, query) == [("zoe@example.com", True)]
