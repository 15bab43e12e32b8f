"""The pages: lists with filters, one email, its message, a recipient, headers and errors."""

import re
from html.parser import HTMLParser
from uuid import UUID, uuid4

import pytest
from starlette.routing import compile_path

from mailqueue.console.table import PAGES
from tests import make
from tests.console.visiting import Visiting, Visitor

pytestmark = pytest.mark.anyio

EMAILS = "/console/projects/default/emails"
POSTS = [compile_path(page.path)[0] for page in PAGES if page.method == "POST"]
HTML = "<p>Hello <b>Ann</b></p><script>alert(1)</script>"


class _Elements(HTMLParser):
    """Collects what a strict policy would refuse: scripts, styles and handlers in the page."""

    def __init__(self) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.links: set[str] = set()
        self.posts: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        is_inline = (tag == "script" and "src" not in given) or tag == "style" or "style" in given
        if is_inline or any(name.startswith("on") for name in given):
            self.inline.append(self.get_starttag_text() or tag)
        for name in ("href", "src", "action"):
            if given.get(name):
                is_post = name == "action" and str(given.get("method")).lower() == "post"
                (self.posts if is_post else self.links).add(str(given[name]))


def elements(html: str) -> _Elements:
    found = _Elements()
    found.feed(html)
    return found


async def logged_in(console: Visiting, visitor: Visitor, role: str = "superadmin") -> None:
    name = f"{role}-{uuid4().hex[:6]}"
    await console.add_user(name, role, *(["default"] if role != "superadmin" else []))
    assert (await visitor.log_in(name)).status_code == 303


async def queued(console: Visiting, count: int = 1, **columns: object) -> list[UUID]:
    async with console.connection() as conn:
        return [await make.queued_email(conn, **columns) for _ in range(count)]


async def test_no_page_has_an_inline_script_or_leads_outside_or_nowhere(
    shared_console: Visiting,
) -> None:
    (email,) = await queued(shared_console, subject="Linked", html_body=HTML, tags=["a"])
    async with shared_console.visitor() as visitor:
        await logged_in(shared_console, visitor)
        seen: set[str] = set()
        waiting = {"/console", EMAILS, f"{EMAILS}/{email}", f"{EMAILS}/{email}/message"}
        waiting.add("/console/projects/default/recipient?address=ann@example.com")
        while waiting - seen:
            path = (waiting - seen).pop()
            seen.add(path)
            response = await visitor.http.get(path, follow_redirects=True)
            assert response.status_code == 200, path
            if not response.headers["content-type"].startswith("text/html"):
                continue
            found = elements(response.text)
            is_frame = path.endswith("/message/html")
            assert found.inline == [] or is_frame, path
            policy = response.headers["content-security-policy"]
            assert ("sandbox" in policy) is is_frame
            assert "unsafe" not in policy or is_frame
            assert all(link.startswith(("/", "#", "?")) for link in found.links), path
            for action in found.posts:
                assert any(one.fullmatch(action.partition("?")[0]) for one in POSTS), action
            waiting |= {link for link in found.links if link.startswith("/console")}

    assert len(seen) > 20


async def test_the_filters_of_the_list_are_its_url(console: Visiting) -> None:
    await queued(console, subject="By tag", tags=["vip"], campaign_id="spring")
    await queued(console, subject="For ben", recipient_email="ben@example.com")
    async with console.visitor() as visitor:
        await logged_in(console, visitor, "viewer")
        for query, shown, hidden in (
            ("tag=vip", "By tag", "For ben"),
            ("campaign=spring", "By tag", "For ben"),
            ("to=ben@example.com", "For ben", "By tag"),
            ("to=BEN@example.com&status=pending", "For ben", "By tag"),
            ("since=2000-01-01&until=2100-01-01&tag=vip", "By tag", "For ben"),
        ):
            page = (await visitor.get(f"{EMAILS}?{query}")).text
            assert (shown in page, hidden in page) == (True, False), query
        for query in ("status=sent", "until=2000-01-01", "to=no@example.com", "tag=%00"):
            assert "No email matches" in (await visitor.get(f"{EMAILS}?{query}")).text, query
        kept = (await visitor.get(f"{EMAILS}?tag=vip&campaign=spring")).text

    assert 'value="vip"' in kept
    assert 'value="spring"' in kept


async def test_a_filter_that_cannot_be_read_is_kept_as_typed_and_nothing_is_listed(
    console: Visiting,
) -> None:
    await queued(console, subject="Still there")
    hostile = '"><script>x'
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        response = await visitor.http.get(
            EMAILS, params={"since": hostile, "batch": hostile, "status": hostile}
        )
        turned = await visitor.get(f"{EMAILS}?since=2030-05-02&until=2030-05-01")

    assert response.status_code == 200
    assert response.text.count("&#34;&gt;&lt;script&gt;x") == 2
    assert "<script>x" not in response.text
    assert "must be a day such as 2030-05-01" in response.text
    assert "must be the id of a batch" in response.text
    assert "Nothing is listed, because a filter is wrong: Status must be one of" in response.text
    assert "Accepted to must not be before the first day." in turned.text
    assert "Still there" not in response.text + turned.text


async def test_the_list_is_read_page_by_page_and_keeps_its_filters(console: Visiting) -> None:
    async with console.connection() as conn:
        await make.queued_emails(conn, 120, tags=["many"])
    await queued(console, subject="Another")
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        path, subjects = f"{EMAILS}?tag=many", list[str]()
        for _ in range(5):
            page = (await visitor.get(path)).text
            subjects += re.findall(r'class="whom"><bdi>([^<]*)', page)
            following = re.search(r'rel="next" href="([^"]*)"', page)
            if following is None:
                break
            path = following[1].replace("&amp;", "&")

    assert len(subjects) == len(set(subjects)) == 120


async def test_an_email_says_why_it_waits_and_what_happened(console: Visiting) -> None:
    (email,) = await queued(console, subject="Waiting", custom_data={"a": 1})
    async with console.visitor() as visitor:
        await logged_in(console, visitor, "viewer")
        page = (await visitor.get(f"{EMAILS}/{email}")).text
        parts = (await visitor.get(f"{EMAILS}/{email}/live")).json()
        missing = await visitor.get(f"{EMAILS}/{uuid4()}")
        wrong = await visitor.get(f"{EMAILS}/not-an-id")
    async with console.connection() as conn:
        why = await make.scalar(conn, "SELECT mailqueue.why(%s)", email)

    sentence, _, step = why.partition(":")[0].partition("; ")
    assert sentence in page
    assert step in page
    assert step
    assert "accepted" in page
    assert f'data-live="{EMAILS}/{email}/live"' in page
    assert set(parts) == {"state", "facts"}
    assert all(f'<div id="{name}" data-part>{part}</div>' in page for name, part in parts.items())
    assert "Show the message" not in page, "a viewer may not"
    assert (missing.status_code, wrong.status_code) == (404, 404)


async def test_looking_at_a_message_is_audited_before_it_is_shown(console: Visiting) -> None:
    (email,) = await queued(console, subject="Said", html_body=HTML, text_body="Hello Ann")
    async with console.visitor() as visitor:
        await logged_in(console, visitor, "support")
        pages = {
            view: await visitor.get(f"{EMAILS}/{email}/message?view={view}")
            for view in ("html", "text", "headers", "files", "source")
        }
        frame = await visitor.get(f"{EMAILS}/{email}/message/html")
        file = await visitor.get(f"{EMAILS}/{email}/message/download")
    async with console.connection() as conn:
        rows = await make.rows(
            conn,
            "SELECT detail ->> 'part', subject, actor FROM mailqueue.audit_events"
            " WHERE action = 'email.viewed' ORDER BY id",
        )

    assert [row[0] for row in rows] == ["text", "headers", "files", "source", "html", "source"]
    assert {row[1] for row in rows} == {f"email {email}"}
    assert all(row[2].startswith("support-") for row in rows)
    assert "Hello Ann" in pages["text"].text
    assert "Hello Ann" not in pages["html"].text, "only the frame shows it, and is audited"
    assert "Message-ID" in pages["headers"].text
    assert 'sandbox="allow-popups allow-popups-to-escape-sandbox"' in pages["html"].text
    assert "<b>Ann</b>" in frame.text
    assert frame.headers["content-security-policy"].startswith("sandbox allow-popups ")
    assert "allow-scripts" not in frame.headers["content-security-policy"]
    assert file.headers["content-disposition"].startswith("attachment")
    assert file.content.count(b"Hello") >= 1


async def test_a_message_whose_content_is_gone_says_so(console: Visiting) -> None:
    (email,) = await queued(console, subject="Gone")
    async with console.connection() as conn:
        await conn.execute("DELETE FROM mailqueue.email_contents")
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        response = await visitor.get(f"{EMAILS}/{email}/message")

    assert response.status_code == 409
    assert "deleted or archived" in response.text


async def test_a_recipient_shows_its_emails_and_why_it_is_suppressed(console: Visiting) -> None:
    await queued(console, subject="To ann")
    await queued(console, subject="To ben", recipient_email="ben@example.com")
    async with console.connection() as conn:
        await make.inserted(
            conn,
            "suppressions",
            {
                "project_id": await make.project_named(conn),
                "address": "ann@example.com",
                "reason": "hard_bounce",
                "category": "",
                "detail": "550 <no such user>",
            },
        )
    path = "/console/projects/default/recipient"
    async with console.visitor() as visitor:
        await logged_in(console, visitor, "viewer")
        ann = (await visitor.get(f"{path}?address=Ann@Example.com")).text
        ben = (await visitor.get(f"{path}?address=ben@example.com")).text
        none = (await visitor.get(f"{path}?address=eve@example.com")).text
        wrong = await visitor.get(f"{path}?address=%22%3E%3Cscript%3E")

    assert "hard bounce" in ann
    assert "550 &lt;no such user&gt;" in ann
    assert "To ann" in ann
    assert "To ben" not in ann
    assert "Not suppressed" in ben
    assert "No email to this address" in none
    assert (wrong.status_code, "<script>" in wrong.text.partition("<body>")[2]) == (422, False)
