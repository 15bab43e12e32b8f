"""The name of a list stands among the recipients of a batch."""

from typing import Any

import pytest

from mailqueue.db.pool import connect
from tests import make
from tests.api.support.calling import Calling, error_of
from tests.contacts import people
from tests.contacts.sends import steps
from tests.templates.making import published

pytestmark = pytest.mark.anyio

WORDS = {"subject": "We moved", "text_body": "Our new address is …"}
BATCH = WORDS | {"category": "marketing"}


async def test_a_list_and_an_address_share_a_batch(api: Calling) -> None:
    async with connect(api.database) as conn:
        project = await make.project_named(conn)
        await steps.listed(conn, project, 3)
    recipients = [{"email": "news1@example.com"}, {"email": "news", "tags": ["list"]}]

    made = await api.post("/v1/send/batch", BATCH | {"recipients": recipients})

    assert made.status_code == 202, made.text
    found = made.json()
    assert (found["accepted"], found["rejected"]) == (1, 0)
    assert [one["status"] for one in found["results"]] == ["queued", "expanding"]
    await steps.worked(api.database)
    shown = (await api.get(f"/v1/batches/{found['batch_id']}")).json()
    assert shown["recipients"] == 3
    [listed] = shown["lists"]
    assert (listed["list"], listed["state"], listed["accepted"]) == ("news", "done", 2)
    emails = (await api.get(f"/v1/emails?batch={found['batch_id']}")).json()
    assert len(emails["data"]) == 3


async def test_a_template_knows_each_contact(api: Calling) -> None:
    async with connect(api.database) as conn:
        project = await make.project_named(conn)
        await published(conn, project, words=steps.HELLO_CONTACT, category="digest")
        ann = await people.added(conn, project, "ann@example.com", first_name="Ann")
        await people.list_of(conn, project, members=ann)
    recipients = [{"email": "news", "variables": {"Edition": "48"}}]

    made = await api.post(
        "/v1/send/template/batch", {"template_slug": "welcome", "recipients": recipients}
    )

    assert made.status_code == 202, made.text
    await steps.worked(api.database)
    async with connect(api.database) as conn:
        data = await make.scalar(conn, "SELECT custom_data FROM mailqueue.email_queue")
    assert data["variables"]["contact"]["first_name"] == "Ann"
    assert data["variables"]["Edition"] == "48"


@pytest.mark.parametrize("mode", ["strict", "permissive"])
async def test_a_list_that_does_not_exist_is_a_refused_recipient(api: Calling, mode: str) -> None:
    recipients = [{"email": "ann@example.com"}, {"email": "nobody"}]
    asked: dict[str, Any] = BATCH | {"recipients": recipients, "mode": mode}

    made = await api.post("/v1/send/batch", asked)

    async with connect(api.database) as conn:
        count = await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue")
    if mode == "strict":
        assert (made.status_code, count) == (422, 0)
    else:
        assert (made.status_code, count) == (202, 1)
        assert "there is no list" in made.json()["results"][1]["reason"]


@pytest.mark.parametrize("category", [None, "transactional"])
@pytest.mark.parametrize("mode", ["strict", "permissive"])
async def test_a_batch_that_is_transactional_goes_to_no_list(
    api: Calling, mode: str, category: str | None
) -> None:
    """A service that sends a code to what a visitor typed never means a list of that name."""
    async with connect(api.database) as conn:
        await steps.listed(conn, await make.project_named(conn), 2)
    recipients = [{"email": "ann@example.com"}, {"email": "news"}]
    asked: dict[str, Any] = WORDS | {"recipients": recipients, "mode": mode, "category": category}

    made = await api.post("/v1/send/batch", asked)

    async with connect(api.database) as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.list_sends") == 0
        queued = await steps.queued(conn)
    if mode == "strict":
        assert (made.status_code, queued) == (422, [])
        assert error_of(made)["violations"][0]["field"] == "recipients.1.category"
    else:
        assert (made.status_code, queued) == (202, ["ann@example.com"])
        reason = made.json()["results"][1]["reason"]
        assert reason.startswith('category: "news" is a list of contacts: a category other than')


@pytest.mark.parametrize(("given", "is_sent"), [({}, False), ({"category": "digest"}, True)])
async def test_a_transactional_template_goes_to_a_list_in_another_category_only(
    api: Calling, given: dict[str, str], *, is_sent: bool
) -> None:
    async with connect(api.database) as conn:
        project = await make.project_named(conn)
        await steps.listed(conn, project, 1)
        await published(conn, project, words=steps.HELLO_CONTACT)
    recipients = [{"email": "news", "variables": {"Edition": "48"}}]

    made = await api.post(
        "/v1/send/template/batch", given | {"template_slug": "welcome", "recipients": recipients}
    )

    [result] = made.json()["results"]
    assert result["status"] == ("expanding" if is_sent else "rejected")
    assert (result["reason"] or "category").startswith("category")
