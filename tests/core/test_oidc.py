"""The settings of an OpenID Connect issuer."""

import pytest

from mailqueue.admin.users.model import Role
from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret
from mailqueue.settings.environment import load_settings
from mailqueue.settings.oidc import CONSOLE_ROLES, GroupRule, OidcLogin, OidcSettings, parse_issuer


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


LOGIN = {
    "oidc_issuer": "https://login.example.com",
    "oidc_client_id": "console",
    "oidc_groups": "/staff/admins=superadmin; a=b=support:shop, blog ; r@example.com=viewer:*;",
    "console_url": "https://mail.example.com",
}


def test_a_login_has_rules_by_group() -> None:
    settings = load_settings(**LOGIN, oidc_client_secret="s", oidc_scopes="openid  groups")

    assert settings.oidc is None, "without an audience there are no tokens for the API"
    assert settings.console.oidc == OidcLogin(
        "https://login.example.com",
        "console",
        (
            GroupRule("/staff/admins", "superadmin"),
            GroupRule("a=b", "support", ("shop", "blog")),
            GroupRule("r@example.com", "viewer"),
        ),
        Secret("s"),
        "openid groups",
    )
    assert tuple(Role) == CONSOLE_ROLES, "the highest first"


@pytest.mark.parametrize("missing", ["oidc_issuer", "oidc_groups", "console_url"])
def test_a_login_needs_an_issuer_groups_and_the_url_of_the_console(missing: str) -> None:
    given = {name: value for name, value in LOGIN.items() if name != missing}
    with pytest.raises(ConfigError, match=f"MAILQUEUE_{missing.upper()}: required"):
        load_settings(**given)


def test_what_proves_a_login_is_no_token_for_the_api() -> None:
    with pytest.raises(ConfigError, match="must differ"):
        load_settings(**LOGIN, oidc_audience="console")


@pytest.mark.parametrize(
    "rules",
    ["admins", "=viewer:*", "a=owner", "a=superadmin:shop", "a=viewer", "a=support:", "a=:shop"],
)
def test_a_rule_names_a_group_a_role_and_its_projects(rules: str) -> None:
    with pytest.raises(ConfigError, match="MAILQUEUE_OIDC_GROUPS: "):
        load_settings(**LOGIN | {"oidc_groups": rules})


@pytest.mark.parametrize("scopes", ["profile", 'openid "x"', "openid é"])
def test_scopes_have_openid_among_them(scopes: str) -> None:
    with pytest.raises(ConfigError, match="MAILQUEUE_OIDC_SCOPES: must be scopes"):
        load_settings(**LOGIN, oidc_scopes=scopes)
