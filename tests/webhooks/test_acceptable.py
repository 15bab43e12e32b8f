"""The valid URLs and event types of a webhook."""

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.webhooks.acceptable import description_of, event_types_of, url_of
from mailqueue.webhooks.model import MEANING_BY_TYPE, EventType

GOOD = (
    "https://example.com",
    "https://example.com/",
    "https://example.com:443/hooks/a?b=c%20d&e=f",
    "https://example.com:8443/x",
    "https://xn--bcher-kva.example.com/x",
    "https://192.0.2.1/x",  # whether it is reached is decided when it is called
    "https://[2001:db8::1]:8443/x",
)
BAD = (
    "",
    "example.com/x",
    "http://example.com/x",
    "ftp://example.com/x",
    "HTTPS//example.com",
    "https://",
    "https:///x",
    "https://user@example.com/x",
    "https://user:password@example.com/x",
    "https://example.com/x#part",
    "https://example.com/a b",
    "https://example.com/\r\nX: y",
    "https://example.com\\@evil.example/",
    "https://bücher.example/",
    "https://example.com:22/",
    "https://example.com:25/",
    "https://example.com:5432/",
    "https://example.com:6379/",
    "https://example.com:0/",
    "https://example.com:99999/",
    "https://example.com:x/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://①②⑦.⓪.⓪.①/",
    "https://example.com/" + "x" * 2000,
    "https://exa_mple..com/",
)


@pytest.mark.parametrize("url", GOOD)
def test_addresses_of_web_servers_are_taken(url: str) -> None:
    assert url_of(url, may_be_plain=False) == url


@pytest.mark.parametrize("url", BAD)
def test_addresses_that_are_none_or_lead_elsewhere_are_refused(url: str) -> None:
    with pytest.raises(InvalidField) as refused:
        url_of(url, may_be_plain=False)

    assert refused.value.field == "url"
    assert "password" not in refused.value.why or "user name" in refused.value.why


def test_plain_http_is_taken_only_where_the_operator_allowed_networks() -> None:
    assert url_of("http://127.0.0.1:9999/x", may_be_plain=True) == "http://127.0.0.1:9999/x"
    with pytest.raises(InvalidField):
        url_of("http://127.0.0.1:9999/x", may_be_plain=False)


def test_types_are_those_there_are() -> None:
    assert event_types_of(["email.sent", "email.clicked", "email.sent"]) == [
        "email.clicked",
        "email.sent",
    ]
    assert event_types_of([]) == []
    with pytest.raises(InvalidField, match=r"email\.bounced"):
        event_types_of(["email.bounced"])


def test_every_type_is_explained() -> None:
    assert set(MEANING_BY_TYPE) == set(EventType)


def test_notes_are_words_for_people() -> None:
    assert description_of("orders") == "orders"
    assert description_of("") is None
    for bad in ("x" * 501, "a\x00b", "a\x1b[2J", "\ud800"):
        with pytest.raises(InvalidField):
            description_of(bad)
