"""The settings of an OpenID Connect issuer."""

import pytest

from mailqueue.core.errors import ConfigError
from mailqueue.settings.environment import load_settings
from mailqueue.settings.oidc import OidcSettings, parse_issuer


@pytest.mark.parametrize(
    "issuer",
    [
        "https://login.example.com",
        "https://tenant.example.com/",
        "https://login.example.com:8443/realms/staff",
        "http://127.0.0.1:8080/realms/staff",
        "http://[::1]:8080",
        "http://localhost:8080",
    ],
)
def test_an_issuer_stays_as_it_is_written(issuer: str) -> None:
    assert parse_issuer(issuer) == issuer


@pytest.mark.parametrize(
    "issuer",
    [
        "login.example.com",
        "http://login.example.com",
        "http://192.168.0.1",
        "http://127.0.0.1.example.com",
        "ftp://login.example.com",
        "https://",
        "https://user@login.example.com",
        "https://login.example.com/#fragment",
        "https://login.example.com/?tenant=1",
        "https://login.example.com/\n",
        "https://login.example.com\\@evil.example.com",
        "https://lögin.example.com",
        "https://login.example.com/" + "x" * 2000,
    ],
)
def test_what_keys_would_not_be_safe_from_is_refused(issuer: str) -> None:
    with pytest.raises(ValueError, match="must"):
        parse_issuer(issuer)


def test_an_issuer_needs_the_audience_its_tokens_have_for_us() -> None:
    with pytest.raises(ConfigError, match="MAILQUEUE_OIDC_AUDIENCE: required"):
        load_settings(oidc_issuer="https://login.example.com")
    assert load_settings(oidc_audience="mailqueue").oidc is None

    found = load_settings(oidc_issuer="https://login.example.com", oidc_audience="mailqueue").oidc

    assert found == OidcSettings("https://login.example.com", "mailqueue")


@pytest.mark.parametrize("name", ["oidc_audience", "oidc_role", "oidc_role_claim"])
def test_what_a_token_must_hold_is_never_empty(name: str) -> None:
    for value in ("", "two\nlines"):
        with pytest.raises(ConfigError, match=f"MAILQUEUE_{name.upper()}"):
            load_settings(**{name: value})
