"""The valid URLs and event types of a webhook."""

from ipaddress import ip_network

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.webhooks.acceptable import description_of, event_types_of, url_of
from mailqueue.webhooks.model import MEANING_BY_TYPE, EventType

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
GOOD = (
    "https://example.com",
    "https://example.com/",
    "https://example.com:443/hooks/a?b=c%20d&e=f",
    "https://example.com:8443/x",
    "https://xn--bcher-kva.example.com/x",
    "https://198.41.0.4/x",
    "https://[2001:503:ba3e::2:30]:8443/x",
    "https://intranet.example.com/x",  # where a name leads is seen when it is called
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
    assert url_of(url, allowed=()) == url


@pytest.mark.parametrize("url", BAD)
def test_addresses_that_are_none_or_lead_elsewhere_are_refused(url: str) -> None:
    with pytest.raises(InvalidField) as refused:
        url_of(url, allowed=())

    assert refused.value.field == "url"
    assert "password" not in refused.value.why or "user name" in refused.value.why


def test_plain_http_is_taken_only_where_the_operator_allowed_networks() -> None:
    assert url_of("http://127.0.0.1:9999/x", allowed=LOOPBACK) == "http://127.0.0.1:9999/x"
    with pytest.raises(InvalidField):
        url_of("http://127.0.0.1:9999/x", allowed=())


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.7",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "[::1]",
        "[::ffff:10.0.0.1]",
        "[fd00::1]",
        "[fe80::1]",
        "[64:ff9b::a00:1]",
        "localhost",
        "LOCALHOST.",
        "app.localhost",
    ],
)
def test_private_addresses_are_refused_but_for_allowed_networks(host: str) -> None:
    with pytest.raises(InvalidField, match="not a public address") as refused:
        url_of(f"https://{host}/x", allowed=())

    assert refused.value.field == "url"
    if host in ("127.0.0.1", "[::1]") or "localhost" in host.lower():
        assert url_of(f"https://{host}/x", allowed=LOOPBACK)
    else:
        with pytest.raises(InvalidField, match="not a public address"):
            url_of(f"https://{host}/x", allowed=LOOPBACK)


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
