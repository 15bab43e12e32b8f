"""The public URL of links in mail: reachable, and by HTTPS."""

import pytest

from mailqueue.core.errors import ConfigError
from mailqueue.settings.environment import load_settings
from mailqueue.settings.tracking import parse_public_url


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("https://mail.example.com", "https://mail.example.com"),
        ("https://mail.example.com/", "https://mail.example.com"),
        ("https://Mail.Example.com:8443/mq//", "https://mail.example.com:8443/mq"),
        ("http://127.0.0.1:8025", "http://127.0.0.1:8025"),
        ("http://localhost", "http://localhost"),
        ("http://[::1]:80/", "http://[::1]:80"),
    ],
)
def test_an_address_is_taken_without_the_slash_at_its_end(given: str, taken: str) -> None:
    assert parse_public_url(given) == taken


@pytest.mark.parametrize(
    "text",
    [
        "mail.example.com",
        "http://mail.example.com",
        "ftp://mail.example.com",
        "https://",
        "https://user@mail.example.com",
        "https://mail.example.com/?a=1",
        "https://mail.example.com/#x",
        "https://mail.example.com/a b",
        "https://mail.example.com/\n",
        "https://mail.example.com:99999",
        "https://mail.example.com/<x>",
        "https://mail_er.example.com",
        "https://bücher.example",
        f"https://mail.example.com/{'x' * 200}",
    ],
)
def test_what_no_link_in_mail_may_begin_with_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must"):
        parse_public_url(text)


def test_a_faulty_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAILQUEUE_PUBLIC_URL", "http://mail.example.com")

    with pytest.raises(ConfigError, match=r"MAILQUEUE_PUBLIC_URL: must begin with https://"):
        load_settings()


def test_links_are_not_tracked_without_a_public_url(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().tracking.public_url is None

    monkeypatch.setenv("MAILQUEUE_PUBLIC_URL", "https://mail.example.com/")

    assert load_settings().tracking.public_url == "https://mail.example.com"
