"""Versions of a template in the console: compared, previewed and sent as a test."""

import re
from html import unescape

import pytest

from mailqueue.templates.model import NewText
from tests import make
from tests.console.visiting import Visiting
from tests.templates.making import published, version_of

pytestmark = pytest.mark.anyio

DARK = "<style>@media (prefers-color-scheme: dark) { p { color: #fff } }</style>\n"
LOOKS = ("light", "dark")
NAMED = "variables=%7B%22name%22%3A%22Ann%22%7D"


async def test_versions_are_compared_side_by_side_previewed_in_dark_and_sent_as_a_test(
    console: Visiting,
) -> None:
    html = "<p>Hi {{ name }}</p>\n--- x/html\n" + "<p>same</p>\n" * 9 + "<p>end</p>"
    async with console.visitor() as visitor, console.connection() as conn:
        shop = await make.project(conn, "shop")
        template = await published(conn, shop, slug="receipt", words=NewText("Hi", html, "Hi"))
        newer = DARK + html.replace("--- x/html\n", "").replace("end", "<script>END</script>")
        await version_of(conn, template, NewText("Hi {{ name }}", newer, "Hi"))
        await console.add_user("ann@example.com", "project_admin", "shop")
        await console.add_user("ben", "support", "shop")
        await visitor.log_in("ann@example.com")
        one = f"/console/projects/shop/templates/{template.id}"
        compared = (await visitor.get(f"{one}/compare")).text
        wrong = await visitor.get(f"{one}/compare?from=1&to=2&language=de")
        same = (await visitor.get(f"{one}/compare?from=2&to=2")).text
        missing = await visitor.get(f"{one}/compare?from=1&to=9")
        framed = f"{one}/preview/html?version=2&{NAMED}"
        colours = [(await visitor.get(f"{framed}&look=phone-{each}")).text for each in LOOKS]
        shown = (await visitor.get(f"{one}/preview?version=2&{NAMED}&look=phone-dark")).text
        path = f"{one}/versions/2/test"
        asked = (await visitor.get(f"{path}?{NAMED}")).text
        refused = [
            await visitor.submit(path, path, to=to, variables=variables)
            for to, variables in (("nobody", '{"name": "Ann"}'), ("ann@example.com", "{}"))
        ]
        form = await visitor.form(path, path)
        typed = {"to": "ann@example.com", "variables": '{"name": "Ann"}'}
        sent = await visitor.post(path, form | typed)
        again = await visitor.post(path, form | typed)
        ((email, recipient),) = await make.rows(
            conn, "SELECT id, recipient_email FROM mailqueue.email_queue"
        )
        arrived = (await visitor.get(sent.headers["location"])).text
        noted = await make.rows(
            conn,
            "SELECT actor, subject, detail FROM mailqueue.audit_events"
            " WHERE action = 'template.tested'",
        )
        await visitor.log_in("ben")
        unseen = (await visitor.get(one)).text
        forbidden = await visitor.get(path)

    assert re.findall(r"<h2>(\w+)</h2>", compared) == ["Subject", "HTML"]
    assert compared.count("<del") == 3, "the subject and two lines"
    assert "Hi<mark> {{ name }}</mark>" in compared
    assert "&lt;p&gt;<mark>&lt;script&gt;END&lt;/script&gt;</mark>&lt;/p&gt;" in compared
    assert "-- x/html" in compared, "a line that looks like the head of a diff"
    assert compared.count("Equal lines are left out") == 1
    assert 'id="fault-language"' in wrong.text
    assert "have the same subject, HTML and text" in same
    assert missing.status_code == 404
    assert ["(min-width: 0)" in each for each in colours] == [False, True]
    assert 'class="paper phone dark"' in shown
    assert f"{path}?{NAMED}" in unescape(shown)
    assert 'value="ann@example.com"' in asked, "the user's own address"
    assert [each.status_code for each in refused] == [422, 422]
    assert ['id="fault-to"' in each.text for each in refused] == [True, False]
    assert ['id="fault-variables"' in each.text for each in refused] == [False, True]
    assert sent.headers["location"] == f"/console/projects/shop/emails/{email}"
    assert again.headers["location"] == f"{one}?done=before"
    assert "<h1><bdi>Hi Ann</bdi></h1>" in arrived
    assert recipient == "ann@example.com"
    assert noted == [
        (
            "ann@example.com (console)",
            "receipt",
            {"version": 2, "language": "en", "email": str(email)},
        )
    ]
    assert "Send a test" not in unseen
    assert forbidden.status_code == 403
