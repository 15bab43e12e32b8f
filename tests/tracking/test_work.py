"""The work of injecting tracking is counted before it is done, and limited for each mail."""

from uuid import UUID, uuid4

import pytest

from mailqueue.mime.skeleton import MessageContent
from mailqueue.tracking import rewriting
from mailqueue.tracking.pattern import (
    MAX_LINKS,
    InjectionContext,
    InjectionPattern,
    Links,
    TrackingOptions,
    put_into,
)
from mailqueue.tracking.tokens import Seals, TokenKind, TrackingKey
from mailqueue.tracking.urls import TrackingUrls
from mailqueue.tracking.work import INJECTING, work_of

BASE = "https://mail.example.com"
SEALS = Seals([TrackingKey(7, UUID(int=1), bytes(range(32)))])
CONTEXT = InjectionContext(BASE, SEALS, "1 High Street\nOxford")
ALL = TrackingOptions(opens=True, clicks=True, unsubscribe=True, is_marketing=True)
EMAIL = uuid4()
HOSTILE = {
    "ends of the body": "</body>x" * 1_000_000,
    "ends of scripts": "</script" * 1_000_000,
    "comments": "<!--</body>" * 500_000,
    "words": "unsubscrib" * 2_000_000,
    "placeholders": "{{ unsubscribe_url }} " * 500_000,
    "links": "".join(f'<a href="https://example.com/{n}">x</a>' for n in range(60_000)),
    "nested links": '<A HREF="https://example.com/">' * 100_000,
    "entities": "&notanentityatall" * 200_000,
}


def directly(content: MessageContent) -> MessageContent:
    addresses = TrackingUrls(BASE, SEALS)
    links = Links(
        addresses.named(EMAIL),
        addresses.of(TokenKind.OPEN, EMAIL),
        lambda url: addresses.of(TokenKind.CLICK, EMAIL, SEALS.link_of(url)),
    )
    return put_into(content, ALL, CONTEXT, links)


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE)
def test_hostile_html_is_refused_before_it_is_read(
    html: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(rewriting, "rewritten", lambda html, *_, **__: read.append(html))
    content = MessageContent("s", html, "t")

    for inject in (directly, lambda said: InjectionPattern(said, ALL, CONTEXT, language="en")):
        with pytest.raises(ValueError, match=r"an email may take 400000: its bodies have \d+ char"):
            inject(content)
    assert read == []


def test_a_newsletter_of_half_a_megabyte_with_300_links_passes() -> None:
    rows = "".join(
        f'<tr><td style="padding:0"><a href="https://example.com/{n}">Coffee &amp; more</a></td>'
        for n in range(300)
    )
    html = f"<html><body><table>{rows}</table>{'<p>Lorem ipsum&nbsp;</p>' * 20_000}</body></html>"
    content = MessageContent("s", html, "Lorem ipsum " * 10_000)

    assert len(html) > 500_000
    assert work_of(content) < INJECTING // 3
    assert (directly(content).html or "").count("/t/c/") == 300


def test_the_links_tracked_of_one_mail_are_limited_and_further_ones_stay() -> None:
    rows = "".join(f'<a href="https://example.com/{n}">x</a>' for n in range(MAX_LINKS + 5))

    pattern = InjectionPattern(MessageContent("s", rows, None), ALL, CONTEXT, language="en")

    assert len(pattern.links) == MAX_LINKS
    assert (pattern.content_of(EMAIL).html or "").count('"https://example.com/') == 5
