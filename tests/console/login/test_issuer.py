"""Logins at an OpenID Connect issuer: who gets in, as whom, and with which role and projects."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mailqueue.adapters.oidc import keys
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.oidc.issuer import WELL_KNOWN, ec_key, written
from tests.adapters.sending.fake import says
from tests.console.login.hostile import START, AtIssuer, at_issuer, text_of
from tests.console.visiting import Visiting
from tests.rows import each_row

pytestmark = pytest.mark.anyio
EMAILS = "/console/projects/shop/emails"


@pytest.fixture
async def at(database: DatabaseSettings) -> AsyncIterator[AtIssuer]:
    async with at_issuer(database) as made:
        yield made


async def projects(console: Visiting, *names: str) -> None:
    async with console.connection() as conn:
        for name in names:
            await make.project(conn, name)


async def users(console: Visiting) -> list[tuple[Any, ...]]:
    async with console.connection() as conn:
        return await make.rows(
            conn,
            "SELECT name, role, sees_all, projects FROM mailqueue.console_users_listed()"
            " ORDER BY name",
        )


async def actions(console: Visiting) -> list[str]:
    async with console.connection() as conn:
        rows = await make.rows(
            conn,
            "SELECT action FROM mailqueue.audit_events"
            " WHERE action LIKE 'console_user%%' ORDER BY id",
        )
    return [row[0] for row in rows]


async def test_a_person_gets_role_and_projects_by_the_groups_of_the_issuer(
    database: DatabaseSettings,
) -> None:
    async with at_issuer(database) as at, at.console.visitor() as visitor:
        await projects(at.console, "shop", "blog")
        login = await visitor.get(f"/console/login?next={EMAILS}")
        response = await at.log_in(visitor, EMAILS, groups=["helpers", "others"])
        seen = await visitor.get(EMAILS)
        other = await visitor.get("/console/projects/default/emails")

        assert "Log in at 127.0.0.1" in login.text
        assert (response.status_code, response.headers["location"]) == (303, EMAILS)
        assert (seen.status_code, other.status_code) == (200, 404)
        assert await users(at.console) == [("ann", "support", False, ["blog", "shop"])]
        assert await actions(at.console) == ["console_user.added", "console_user.logged_in"]


async def test_each_login_sets_the_role_anew_also_for_open_sessions(
    database: DatabaseSettings,
) -> None:
    async with at_issuer(database) as at:
        await projects(at.console, "shop", "blog")
        async with at.console.visitor() as first, at.console.visitor() as second:
            await at.log_in(first, groups=["admins"])
            assert (await first.get("/console/users")).status_code == 200
            lowered = await at.log_in(second, groups={"shop-leads": {}, "all": {}})
            assert lowered.status_code == 303
            assert (await first.get("/console/users")).status_code == 403
            assert await users(at.console) == [("ann", "project_admin", False, ["shop"])]

            refused = await at.log_in(second, groups=["others"])
            assert refused.status_code == 403
            assert "ask an administrator" in text_of(refused)
            assert (await first.get(EMAILS)).status_code == 303, "its session has ended"
            assert await users(at.console) == [("ann", "viewer", False, [])]

        assert (await actions(at.console)).count("console_user.changed") == 2
        async with at.console.connection() as conn:
            told = await make.rows(
                conn,
                "SELECT e.action FROM mailqueue.audit_events AS e"
                " JOIN mailqueue.projects AS p ON p.id = e.project_id"
                " WHERE p.name = 'shop' AND e.action LIKE 'console%%' ORDER BY e.id",
            )
        assert [row[0] for row in told] == ["console_member.added", "console_member.removed"]


async def test_a_person_without_a_group_or_project_is_not_even_added(
    database: DatabaseSettings,
) -> None:
    async with at_issuer(database) as at, at.console.visitor() as visitor:
        for groups in ([], ["other"], None, ["helpers"], 7, "superadmin"):
            response = await at.log_in(visitor, groups=groups)
            assert response.status_code == 403, groups
            assert "session" not in str(response.headers.get_list("set-cookie"))
        assert await users(at.console) == []


async def test_a_name_leads_to_no_one_elses_account(database: DatabaseSettings) -> None:
    async with at_issuer(database) as at, at.console.visitor() as visitor:
        await at.console.add_user("ann")
        await at.log_in(visitor, groups=["admins"], sub="1")
        await at.log_in(visitor, groups=["admins"], sub="2")
        again = await at.log_in(visitor, groups=["all"], sub="2", preferred_username="eve")
        await at.log_in(visitor, groups=["all"], sub="3", preferred_username="<b>/ x")
        roles = {name: role for name, role, _, _ in await users(at.console)}

    assert again.status_code == 303
    (hashed,) = (name for name in roles if name.startswith("ann (") and "127" not in name)
    assert roles == {
        "ann": "superadmin",
        "ann (127.0.0.1)": "superadmin",
        hashed: "viewer",
        "<b>  x": "viewer",
    }


async def test_two_first_logins_at_once_add_one_user(database: DatabaseSettings) -> None:
    async with at_issuer(database) as at:
        at.issuer.said = {"groups": ["admins"]}
        async with at.console.visitor() as one, at.console.visitor() as other:
            asked = [await at.begin(each) for each in (one, other)]
            codes = [at.issuer.issue(each) for each in asked]
            responses = await asyncio.gather(
                at.answered(one, state=asked[0]["state"], code=codes[0]),
                at.answered(other, state=asked[1]["state"], code=codes[1]),
            )
        assert [each.status_code for each in responses] == [303, 303]
        assert [name for name, _, _, _ in await users(at.console)] == ["ann"]


async def test_a_removed_user_is_not_let_in_or_added_again(database: DatabaseSettings) -> None:
    async with at_issuer(database) as at, at.console.visitor() as visitor:
        await at.log_in(visitor, groups=["admins"])
        async with at.console.connection() as conn:
            await conn.execute("SELECT mailqueue.remove_console_user('ann', 'tests')")
        assert (await visitor.get("/console")).status_code == 303
        assert (await at.log_in(visitor, groups=["admins"])).status_code == 403
        assert len(await users(at.console)) == 1


async def test_a_user_of_an_issuer_gets_no_password(database: DatabaseSettings) -> None:
    async with at_issuer(database) as at, at.console.visitor() as visitor:
        await at.log_in(visitor, groups=["admins"])
        async with at.console.connection() as conn:
            with pytest.raises(Exception, match="logs in at an issuer"):
                await conn.execute(
                    "SELECT mailqueue.link_console_user('ann', 'x', now() + interval '1 h')"
                )
            first = await make.scalar(
                conn, "SELECT mailqueue.first_console_link('x', now() + interval '1 h')"
            )
        assert first is None, "the installation has a superadmin"
        for password in ("", "x"):
            assert (await visitor.log_in("ann", password)).status_code == 401


async def test_roles_that_only_the_user_endpoint_tells_are_found(
    database: DatabaseSettings,
) -> None:
    async with at_issuer(database) as at, at.console.visitor() as visitor:
        at.issuer.user = {"sub": "user-1", "groups": ["admins"], "iss": "x", "aud": "y"}
        response = await at.log_in(visitor)
        assert response.status_code == 303
        at.issuer.user = {"sub": "user-2", "groups": ["admins"]}
        substituted = await at.log_in(visitor)

    assert "/realms/staff/user" in at.issuer.asked
    assert substituted.status_code == 401
    assert "another user" in text_of(substituted)


@pytest.mark.parametrize(("verified", "status"), [(True, 303), (False, 403), (None, 403)])
async def test_an_address_counts_only_if_the_issuer_has_verified_it(
    database: DatabaseSettings, verified: bool | None, status: int
) -> None:
    rules = {"oidc_role_claim": "email", "oidc_groups": "ann@example.com=superadmin"}
    async with at_issuer(database, **rules) as at, at.console.visitor() as visitor:
        response = await at.log_in(visitor, email="ann@example.com", email_verified=verified)

    assert response.status_code == status


@pytest.mark.parametrize(
    ("methods", "secret", "shown"),
    [
        (None, None, "client_id=console"),
        (["client_secret_post"], "s3cret&x", "client_secret=s3cret%26x"),
        (["client_secret_basic", "client_secret_post"], "s3cret", None),
    ],
    ids=["public", "post", "basic"],
)
async def test_the_client_authenticates_as_the_issuer_supports(
    database: DatabaseSettings, methods: list[str] | None, secret: str | None, shown: str | None
) -> None:
    async with (
        at_issuer(database, oidc_client_secret=secret) as at,
        at.console.visitor() as visitor,
    ):
        at.issuer.more = {"token_endpoint_auth_methods_supported": methods} if methods else {}
        response = await at.log_in(visitor, groups=["admins"])

    assert response.status_code == 303
    body = at.issuer.bodies[-1]
    assert (shown in body) if shown else ("client_secret" not in body)


async def test_an_issuer_that_is_away_leaves_the_login_with_a_password(
    database: DatabaseSettings,
) -> None:
    async with at_issuer(database) as at, at.console.visitor() as visitor:
        await at.console.add_user("ben")
        at.issuer.replies[f"/realms/staff{WELL_KNOWN}"] = says(500, {})
        away = [await visitor.get(START) for _ in range(3)]
        local = await visitor.log_in("ben")

    assert {each.status_code for each in away} == {503}
    assert "HTTP 500" in text_of(away[0])
    assert 'name="password"' in away[0].text
    assert len(at.issuer.asked) == 1, "it is not asked again at once"
    assert local.status_code == 303


async def test_a_new_key_of_the_issuer_is_fetched_once(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = ec_key("newer")
    monkeypatch.setattr(keys, "REFETCH_SECONDS", 0.0)
    async with at_issuer(database) as at, at.console.visitor() as visitor:
        await at.log_in(visitor, groups=["admins"])
        at.issuer.keys = [newer.jwk]
        at.issuer.sign = lambda claims: written(
            {"alg": "ES256", "kid": "newer"}, claims, newer.sign
        )
        responses = [await at.log_in(visitor, groups=["admins"]) for _ in range(3)]
        fetches = sum(path.startswith("/realms/staff/keys") for path in at.issuer.asked)

    assert {each.status_code for each in responses} == {303}
    assert fetches == 2


@each_row("path", ["https://evil.example.com/", "//evil.example.com", "/\\evil.example.com", "/x"])
async def test_after_the_login_a_browser_stays_in_the_console(at: AtIssuer, path: str) -> None:
    async with at.console.visitor() as visitor:
        response = await at.log_in(visitor, path, groups=["admins"])

    assert response.headers["location"] == "/console"


async def test_without_an_issuer_its_pages_lead_to_the_password(console: Visiting) -> None:
    async with console.visitor() as visitor:
        pages = [await visitor.get(path) for path in (START, f"{START}/back?code=x&state=y")]
        login = await visitor.get("/console/login")

    assert {page.headers["location"] for page in pages} == {"/console/login"}
    assert "Log in at" not in login.text
