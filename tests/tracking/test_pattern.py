"""Tracking injected into a shared pattern is the same as into a single mail."""

import email
import email.policy
import re
from email.message import EmailMessage
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.mime.skeleton import MessageContent, Skeleton, compile_skeleton
from mailqueue.tracking import urls
from mailqueue.tracking.pattern import (
    InjectionContext,
    InjectionPattern,
    Links,
    TrackingOptions,
    put_into,
    unsubscribe_headers,
)
from mailqueue.tracking.tokens import Seals, TokenKind, TrackingKey
from mailqueue.tracking.urls import TrackingUrls

BASE = "https://mail.example.com"
SEALS = Seals([TrackingKey(7, UUID(int=1), bytes(range(32)))])
CONTEXT = InjectionContext(BASE, SEALS, "1 High Street\nOxford")
ALL = TrackingOptions(opens=True, clicks=True, unsubscribe=True, is_marketing=True)
EMAIL = uuid4()
HTML = (
    "<html><body><p>Hi</p><a href='https://example.com/a?x=1&amp;y=2'>a</a>"
    '<a href="https://example.com/b">b</a><a href="https://example.com/b">b</a></body></html>'
)


def directly(
    said: MessageContent, wants: TrackingOptions, email_id: UUID = EMAIL
) -> MessageContent:
    """Return a mail's content as it is written for this mail alone."""
    addresses = TrackingUrls(BASE, SEALS)
    links = Links(
        addresses.named(email_id),
        addresses.of(TokenKind.OPEN, email_id),
        lambda url: addresses.of(TokenKind.CLICK, email_id, SEALS.link_of(url)),
    )
    return put_into(said, wants, CONTEXT, links)


def parsed(made: Skeleton) -> EmailMessage:
    message = email.message_from_bytes(
        b"From: a@example.com\r\n" + made.subject + made.headers + made.mime,
        policy=email.policy.default,
    )
    assert isinstance(message, EmailMessage)
    return message


def body(made: Skeleton, kind: str) -> str:
    part = parsed(made).get_body((kind,))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")


@pytest.mark.parametrize(
    "said",
    [
        MessageContent("Hello", HTML, None),
        MessageContent("Hello", HTML, "text {{ unsubscribe_url }}xyz"),
        MessageContent("Hello", HTML.replace("Hi", "Grüße aus Köln, " * 40), "Grüße"),
        MessageContent("Hello", HTML.replace("Hi", "Привет, мир. " * 400), "Привет"),  # base64
        MessageContent("Hello", HTML.replace("Hi", "x " * 900), None),  # a line that is too long
        MessageContent("{{unsubscribe_url}} now", HTML, None),
        MessageContent("Grüße {{ preferences_url }}", None, "only text {{preferences_url}}"),
    ],
)
def test_a_filled_pattern_says_what_is_written_for_one_mail(said: MessageContent) -> None:
    pattern = InjectionPattern(said, ALL, CONTEXT, language="en")
    wanted = directly(said, ALL)

    for made in (pattern.filled(EMAIL), compile_skeleton(pattern.content_of(EMAIL))):
        message = parsed(made)
        assert message["Subject"] == wanted.subject
        for kind, text in (("html", wanted.html), ("plain", wanted.text)):
            if text is not None:
                assert body(made, kind).rstrip("\n") == text.rstrip("\n")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=300), st.integers(0, 90))
def test_lines_that_are_broken_anywhere_are_filled_alike(words: str, width: int) -> None:
    said = MessageContent("Hello", f"<p>{'é' * width}{words}{HTML}", None)
    pattern = InjectionPattern(
        said, TrackingOptions(opens=True, clicks=True), CONTEXT, language="en"
    )

    made = pattern.filled(EMAIL)

    wanted = directly(said, TrackingOptions(opens=True, clicks=True)).html
    assert body(made, "html").rstrip("\n") == (wanted or "").rstrip("\n")
    assert max(map(len, made.mime.split(b"\r\n"))) <= 998


def test_two_mails_of_one_pattern_have_tokens_of_their_own() -> None:
    pattern = InjectionPattern(
        MessageContent("Hello", HTML, None), TrackingOptions(clicks=True), CONTEXT, language="en"
    )
    one, two = uuid4(), uuid4()

    found = {
        each: re.findall(r'/t/c/([^"]*)"', body(pattern.filled(each), "html"))
        for each in (one, two)
    }

    for email_id, tokens in found.items():
        opened = [SEALS.open(token, TokenKind.CLICK) for token in tokens]
        assert [each.email_id for each in opened] == [email_id] * 3
        assert [pattern.links[each.link] for each in opened] == [
            "https://example.com/a?x=1&y=2",
            "https://example.com/b",
            "https://example.com/b",
        ]


def test_no_address_of_a_page_stands_in_a_tracked_link() -> None:
    made = directly(MessageContent("Hello", HTML, None), TrackingOptions(clicks=True)).html or ""

    assert "example.com/a" not in made
    assert {urlsplit(url).hostname for url in re.findall(r'href="([^"]*)"', made)} == {
        "mail.example.com"
    }


def test_the_text_of_a_mail_is_not_tracked() -> None:
    said = MessageContent("Hello", None, "see https://example.com/a")

    assert directly(said, TrackingOptions(opens=True, clicks=True)) == said


def test_nothing_is_put_into_mail_that_wants_nothing() -> None:
    said = MessageContent("Hello", HTML, "text")

    assert directly(said, TrackingOptions()) == said


def test_a_picture_stands_before_the_end_of_the_body() -> None:
    made = directly(MessageContent("Hello", HTML, None), TrackingOptions(opens=True)).html or ""

    assert re.search(
        r'<img src="https://mail\.example\.com/t/o/[\w-]{54}" [^>]*></body></html>$', made
    )


def test_marketing_says_who_sent_it_and_how_to_get_no_more() -> None:
    made = directly(
        MessageContent("Hello", HTML, "text"), TrackingOptions(unsubscribe=True, is_marketing=True)
    )

    for body_ in (made.html or "", made.text or ""):
        assert "1 High Street" in body_
        assert "Oxford" in body_
        assert TrackingUrls(BASE, SEALS).of(TokenKind.UNSUBSCRIBE, EMAIL) in body_
        assert "Unsubscribe" in body_


@pytest.mark.parametrize(
    "html",
    [
        "<p>1 High Street, Oxford</p><a href='{{unsubscribe_url}}'>leave</a>",
        "<p>1&nbsp;High <b>Street</b><br>OXFORD</p><a href=https://example.com/unsubscribe>x</a>",
        "<p>1 high street</p>\n<p>oxford</p><a href='https://example.com/opt-out?a'>x</a>",
    ],
)
def test_nothing_is_said_twice(html: str) -> None:
    made = directly(
        MessageContent("Hello", html, None), TrackingOptions(unsubscribe=True, is_marketing=True)
    ).html

    assert "font:12px" not in (made or "")


def test_where_links_lead_nowhere_marketing_still_says_who_sent_it() -> None:
    said = MessageContent("Hello", HTML, "text")
    context = InjectionContext(None, None, "1 High Street\nOxford")

    made = put_into(said, ALL, context, None)

    assert "1 High Street<br>Oxford" in (made.html or "")
    assert (made.text or "").endswith("-- \n1 High Street\nOxford\n")
    assert "/t/" not in (made.html or "")


def test_the_headers_of_a_mail_itself_are_left_to_it() -> None:
    url = TrackingUrls(BASE, SEALS).of(TokenKind.UNSUBSCRIBE, EMAIL)
    plain = MessageContent("Hello", HTML, None)

    assert unsubscribe_headers(plain, url) == (
        ("List-Unsubscribe", f"<{url}>"),
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
    )
    theirs = plain._replace(headers=(("list-unsubscribe", "<https://example.com/u/1>"),))
    assert unsubscribe_headers(theirs, url) == ()


def test_the_link_of_a_mails_own_header_is_not_tracked() -> None:
    said = MessageContent(
        "Hello",
        "<a href='https://example.com/u/1'>x</a>",
        None,
        (("List-Unsubscribe", "<mailto:x@example.com>, <https://example.com/u/1>"),),
    )

    assert "https://example.com/u/1" in (directly(said, ALL).html or "")


def test_amp_stays_as_it_is() -> None:
    for mark in ("⚡4email", "amp4email"):
        html = f"<!doctype html><html {mark} data-css-strict><body>{HTML}</body></html>"

        assert (
            directly(
                MessageContent("Hello", html, None), TrackingOptions(opens=True, clicks=True)
            ).html
            == html
        )


def test_a_mail_of_very_many_links_keeps_those_that_are_too_many() -> None:
    html = "".join(f"<a href='https://example.com/{n}'>" for n in range(10_100))

    pattern = InjectionPattern(
        MessageContent("Hello", html, None), TrackingOptions(clicks=True), CONTEXT, language="en"
    )

    assert len(pattern.links) < 10_000
    assert "https://example.com/10099" in (pattern.content_of(EMAIL).html or "")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{{ unsubscribe_url }}", True),
        ("{{preferences_url}}", True),
        ("unsubscribe_url", False),
        ("{{ other_url }}", False),
        (None, False),
    ],
)
def test_words_in_double_braces_are_places_for_links(text: str | None, names: bool) -> None:
    assert urls.names_any(text) is names
