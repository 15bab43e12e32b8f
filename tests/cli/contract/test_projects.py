"""With `--json` a command prints the rows of a project as the HTTP API answers them."""

from tests.cli.contract.comparing import PROJECT, answers, beside, same
from tests.cli.support.invoked import Cli


def test_what_a_project_has_is_printed_as_the_api_answers_it(cli: Cli) -> None:
    made = cli.json("key", "create", "all", *PROJECT)
    project = cli.json("project", "show", "shop")["id"]
    own = f"/v1/projects/{project}"
    hooks = cli.json("webhook", "list", *PROJECT)["data"]
    accounts = {one["name"]: one["id"] for one in cli.json("sender", "list", *PROJECT)["data"]}
    relay = f"{own}/smtp-configs/{accounts['relay']}"
    template = f"{own}/templates/welcome"

    same(
        cli,
        {
            ("webhook", "list", *PROJECT): "/v1/webhooks",
            ("webhook", "show", hooks[0]["id"]): f"/v1/webhooks/{hooks[0]['id']}",
            ("webhook", "types"): "/v1/webhooks/event-types",
            ("webhook", "deliveries", hooks[0]["id"]): f"/v1/webhooks/{hooks[0]['id']}/deliveries",
            ("category", "list", *PROJECT): "/v1/categories",
            ("suppression", "list", *PROJECT): "/v1/suppressions",
            ("suppression", "list", "--limit", "1", *PROJECT): "/v1/suppressions?limit=1",
            ("suppression", "check", "ann@example.com", *PROJECT): (
                "/v1/suppressions/check?email=ann@example.com"
            ),
            (
                "suppression",
                "show",
                "ann@example.com",
                *PROJECT,
            ): "/v1/suppressions/ann@example.com",
            ("template", "list", *PROJECT): f"{own}/templates",
            ("template", "part", "list", *PROJECT): f"{own}/template-parts",
            (
                "template",
                "diff",
                "welcome",
                "1",
                "2",
                *PROJECT,
            ): f"{template}/versions/diff?from=1&to=2",
            ("sender", "list", *PROJECT): f"{own}/smtp-configs",
            ("sender", "show", "relay", *PROJECT): relay,
            ("sender", "health", "relay", *PROJECT): f"{relay}/health",
            ("sender", "rates", "relay", *PROJECT): f"{relay}/rates",
            ("sender", "webhook", "relay", "--provider", "mailgun", *PROJECT): (
                f"{relay}/webhook?provider=mailgun"
            ),
        },
        {"X-API-Key": made["key"]},
    )
    shown = cli.json("template", "show", "welcome", *PROJECT)
    versions = [f"{template}/versions/{number}" for number in (2, 1)]
    found = answers(cli, [template, *versions], {"X-API-Key": made["key"]})
    assert [shown["template"], *shown["versions"]] == found


def test_what_an_administrator_sees_is_printed_as_the_api_answers_it(cli: Cli) -> None:
    token = cli.json("admin", "create", "ann")["token"]
    shop = "/admin/projects/shop"

    same(
        cli,
        {
            ("project", "list"): "/admin/projects",
            ("project", "list", "shop", "--status", "active"): (
                "/admin/projects?q=shop&status=active"
            ),
            ("project", "show", "shop"): shop,
            ("project", "stats", "shop"): f"{shop}/stats",
            ("project", "audit", "shop"): f"{shop}/audit-log",
            ("project", "audit", "shop", "--limit", "2"): f"{shop}/audit-log?limit=2",
            ("key", "list", "--all", *PROJECT): f"{shop}/api-keys",
            ("platform", "settings"): "/admin/settings",
            ("platform", "flags"): "/admin/flags",
            ("platform", "audit"): "/admin/audit-log",
            ("platform", "events"): "/admin/events",
            ("find", "shop"): "/admin/search?q=shop",
        },
        {"Authorization": f"Bearer {token}"},
    )


def test_what_is_made_is_printed_with_the_keys_of_the_contract(cli: Cli) -> None:
    key = cli.json("key", "create", "other", *PROJECT)
    assert set(key) == {
        "id", "key", "name", "prefix", "is_test", "scopes", "rate_limit_per_sec", "expires_at",
        "warning",
    }  # fmt: skip
    hook = cli.json("webhook", "add", "https://app.example.com/c", *PROJECT)
    assert set(hook) == {"webhook", "secret", "warning"}
    added = cli.json("suppression", "add", "new@example.com", *PROJECT)
    assert [set(one) for one in added["data"]] == [{"email", "email_hash", "status"}]
    seen = cli.json("template", "preview", "welcome", "--var", "name=Ann", *PROJECT)
    assert set(seen) == {
        "version", "language", "subject", "html_body", "text_body", "size_bytes", "warnings",
    }  # fmt: skip
    tried = cli.json("sender", "test", "relay", *PROJECT, exit_code=1)
    assert (tried["success"], tried["stage"], tried["sent"]) == (False, "connect", None)


def test_rules_of_retention_are_printed_as_the_api_answers_them(cli: Cli) -> None:
    token = cli.json("admin", "create", "bob")["token"]
    rule = ("--hot", "30", "--warm", "365", "--until", "2557")
    changed = cli.json("archive", "keep", "email_history", *rule, *PROJECT)

    (shop,) = answers(cli, ["/admin/projects/shop"], {"Authorization": f"Bearer {token}"})
    (own,) = [one for one in shop["retention"] if one["is_own"]]
    listed = cli.json("archive", "days", *PROJECT)

    assert beside(changed["after"], "project") == own
    assert changed["after"] in listed["data"]
    assert listed["next_cursor"] is None
    assert [set(one) for one in listed["data"]] == [{"project", *own}] * len(listed["data"])
