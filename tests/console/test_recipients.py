"""A recipient: in all projects, suppressed and lifted, exported and erased."""

import json

import pytest

from tests import make
from tests.console.test_pages import logged_in
from tests.console.visiting import Visiting

pytestmark = pytest.mark.anyio

ADDRESS = "ann@example.com"
RECIPIENT = "/console/projects/default/recipient"
QUERY = "?address=ann%40example.com"


async def reasons(console: Visiting) -> list[tuple[object, ...]]:
    async with console.connection() as conn:
        return await make.rows(
            conn,
            "SELECT category, reason, detail FROM mailqueue.suppressions"
            " WHERE expires_at > now() ORDER BY category",
        )


async def test_emails_of_all_projects_that_the_user_sees_are_shown(console: Visiting) -> None:
    async with console.connection() as conn:
        for name in ("shop", "blog"):
            project = await make.project(conn, name)
            await make.queued_email(conn, project_id=project, subject=f"From {name}")
        await make.queued_email(conn, subject="From default")
    await console.add_user("ben", "support", "shop", "default")
    async with console.visitor() as visitor:
        await visitor.log_in("ben")
        found = await visitor.get("/console/find?q=Ann@example.com")
        page = await visitor.http.get("/console/find?q=ann@example.com", follow_redirects=True)
        nobody = await visitor.get("/console/recipient?address=nobody@example.com")
        wrong = await visitor.get("/console/recipient?address=nobody")

    assert found.headers["location"] == "/console/recipient?address=Ann%40example.com"
    assert "From shop" in page.text
    assert "From default" in page.text
    assert "From blog" not in page.text
    assert "Erase" not in page.text
    assert "No project that you see wrote to this address" in nobody.text
    assert wrong.status_code == 422


async def test_an_address_is_suppressed_and_lifted_by_forms(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor, "project_admin")
        path = f"{RECIPIENT}/suppress{QUERY}"
        wrong = await visitor.submit(path, path, category="Not One", reason="kept")
        done = await visitor.submit(path, path, category="marketing", reason="asked by phone")
        page = await visitor.get(done.headers["location"])
        assert await reasons(console) == [("marketing", "manual", "asked by phone")]

        path = f"{RECIPIENT}/lift{QUERY}"
        lifted = await visitor.submit(path, path, reason="asked again")
        after = await visitor.get(lifted.headers["location"])
        none = await visitor.submit(path, path)

    assert wrong.status_code == 422
    assert 'value="kept"' in wrong.text
    assert "The address is suppressed." in page.text
    assert "No email of category <bdi>marketing</bdi> is sent" in page.text
    assert "Not suppressed" in after.text
    assert await reasons(console) == []
    assert none.status_code == 409


async def test_a_bounced_address_is_lifted_with_a_reason_only(console: Visiting) -> None:
    async with console.connection() as conn:
        project = await make.project_named(conn)
        await make.rows(
            conn, "SELECT mailqueue.suppress(%s, %s, '', 'hard_bounce', NULL)", project, ADDRESS
        )
    path = f"{RECIPIENT}/lift{QUERY}"
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        refused = await visitor.submit(path, path)
        done = await visitor.submit(path, path, reason="a new mailbox")

    assert refused.status_code == 422
    assert done.status_code == 303
    assert await reasons(console) == []


async def test_stored_data_is_exported_as_a_file_and_that_is_audited(console: Visiting) -> None:
    async with console.connection() as conn:
        await make.queued_email(conn, subject="Your order")
    path = f"{RECIPIENT}/export{QUERY}"
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        fields = await visitor.form(path, path)
        file = await visitor.post(path, fields)
        again = await visitor.post(path, fields)

    found = json.loads(file.content)
    assert found["email"] == ADDRESS
    assert "Your order" in json.dumps(found["mails"])
    assert file.headers["content-disposition"] == 'attachment; filename="person-default.json"'
    assert again.headers["location"].endswith("done=before")
    async with console.connection() as conn:
        [(subject,)] = await make.rows(
            conn, "SELECT subject FROM mailqueue.audit_events WHERE action = 'person.exported'"
        )
    assert subject.startswith("person ")
    assert "@" not in subject


async def test_an_erasure_begins_once_and_its_progress_is_shown(console: Visiting) -> None:
    async with console.connection() as conn:
        await make.queued_email(conn, subject="Your order")
    path = f"{RECIPIENT}/erase{QUERY}"
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        asked = await visitor.get(path)
        fields = await visitor.form(path, path)
        both = [await visitor.post(path, fields | {"suppress": "yes"}) for _ in range(2)]
        page = await visitor.get(both[0].headers["location"])
        part = await visitor.get(f"{RECIPIENT}/erasure?address={ADDRESS}")

    assert "1 email in the database" in asked.text
    assert "cannot be undone" in asked.text
    assert [each.headers["location"].rpartition("=")[2] for each in both] == ["erase", "before"]
    assert "is being erased" in page.text
    assert 'hx-trigger="every 3s"' in part.text
    assert "<html" not in part.text
    async with console.connection() as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.erasures") == 1
