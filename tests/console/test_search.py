"""The search of the console: what it leads to, what it lists, and a template's page."""

from uuid import uuid4

import pytest

from tests import make
from tests.console.test_pages import elements, logged_in
from tests.console.visiting import Visiting

pytestmark = pytest.mark.anyio


async def test_what_names_one_thing_leads_to_its_page(console: Visiting) -> None:
    async with console.connection() as conn:
        email = await make.queued_email(conn, subject="Your order")
        project = await make.project(conn, "shop")
        made = await make.template(conn, project)
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        for text, path in (
            (str(email), f"/console/projects/default/emails/{email}"),
            (email.hex, f"/console/projects/default/emails/{email}"),
            (f"<{email.hex}@example.com>", f"/console/projects/default/emails/{email}"),
            ("ben@example.com", None),
            ("sho", "/console/projects/shop/emails"),
            ("new", f"/console/projects/shop/templates/{made}"),
        ):
            response = await visitor.http.get("/console/find", params={"q": text})
            if path is None:  # two projects, and no email to the address
                assert response.status_code == 200
                assert "No email to this address was found" in response.text
                assert "/console/projects/shop/recipient?address=ben%40" in response.text
            else:
                assert (response.status_code, response.headers.get("location")) == (303, path)
        page = await visitor.get(f"/console/projects/shop/templates/{made}")
        assert "No version is published" in page.text
        assert (await visitor.get("/console/find")).headers["location"] == "/console"


async def test_nothing_found_says_what_can_be_found(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        response = await visitor.get(f"/console/find?q={uuid4()}")
        hostile = await visitor.http.get("/console/find", params={"q": "<script>x</script>\0"})

    assert response.status_code == 404
    assert "found by its whole id" in response.text
    assert hostile.status_code == 404
    assert elements(hostile.text).inline == []


async def test_suggestions_are_a_part_of_a_page(console: Visiting) -> None:
    async with console.connection() as conn:
        await make.queued_email(conn, subject="<b>Your</b> order")
        email = await make.queued_email(conn, subject="<b>Your</b> order")
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        found = await visitor.http.get("/console/find/suggestions", params={"q": str(email)})
        short = await visitor.get("/console/find/suggestions?q=a")
        none = await visitor.get("/console/find/suggestions?q=zz-nothing")

    assert "<html" not in found.text
    assert "&lt;b&gt;Your&lt;/b&gt; order" in found.text
    assert short.text.strip() == ""
    assert "Nothing is named" in none.text


async def test_a_part_of_a_subject_or_address_finds_the_newest_emails_of_seen_projects(
    console: Visiting,
) -> None:
    async with console.connection() as conn:
        shop = await make.project(conn, "shop")
        hidden = await make.project(conn, "hidden")
        await make.queued_email(conn, subject="Invoice 100% <b>81</b>", project_id=shop)
        await make.queued_email(conn, subject="Invoice 1000", project_id=shop)
        await make.queued_email(conn, subject="Invoice 100% hidden", project_id=hidden)
        await make.queued_email(
            conn, subject="Hello", recipient_email="gone3@gone.example", project_id=shop
        )
    await console.add_user("ben", "viewer", "default", "shop")
    async with console.visitor() as visitor:
        await visitor.log_in("ben")
        subject = await visitor.http.get("/console/find", params={"q": "VOICE 100%"})
        address = await visitor.http.get("/console/find", params={"q": "gone3@go"})
        short = await visitor.http.get("/console/find", params={"q": "vo"})

    assert "Invoice 100% &lt;b&gt;81&lt;/b&gt;" in subject.text
    assert "Invoice 1000" not in subject.text
    assert "100% hidden" not in subject.text
    assert 'href="/console/projects/shop/emails?q=VOICE+100%25"' in subject.text
    assert "gone3@gone.example" in address.text
    assert short.status_code == 404
