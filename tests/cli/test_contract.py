"""With `--json` a command prints the value that the HTTP API answers."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import httpx2
import pytest

from mailqueue.api.app import create_app
from mailqueue.cli.main import COMMANDS, load
from mailqueue.core.secret import Secret
from mailqueue.db.pool import open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.serving import build_services
from tests.api.support.calling import ORIGIN, settings_for
from tests.api.support.wired import MASTER
from tests.cli.support.invoked import Cli

PROJECT = ("--project", "shop")
# What these print is no value of the API, or they run until they are stopped.
LEFT_OUT = {"up", "bench"}


@pytest.fixture(scope="module")
def cli(module_db: str, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Return a database with one of each in project shop."""
    folder: Path = tmp_path_factory.mktemp("data")
    made = Cli(module_db, folder)
    made.environment |= {"MAILQUEUE_MASTER_KEY": MASTER, "MX": "hunter2"}
    for words in (
        ("project", "add", "shop", "--called", "The Shop", "--daily-limit", "500"),
        ("project", "add", "gone"),
        ("project", "suspend", "gone", "--reason", "unpaid"),
        ("sender", "add", "--name", "relay", "--host", "mx.example.com", "--username", "ann",
         "--password-env", "MX", "--warm-up", "5,50", *PROJECT),
        ("sender", "add", "--name", "spare", "--host", "b.example.com", "--fallback", *PROJECT),
        ("route", "add", "--category", "marketing", "--sender", "spare", *PROJECT),
        ("sender", "webhook", "relay", "--provider", "mailgun", "--signing-env", "MX", *PROJECT),
        ("webhook", "add", "https://app.example.com/a", "--event", "email.sent", *PROJECT),
        ("webhook", "add", "https://app.example.com/b", "--description", "all", *PROJECT),
        ("category", "add", "tips", "--name", "Tips", "--translation", "de=Tipps", *PROJECT),
        ("suppression", "add", "ann@example.com", "--detail", "by phone", *PROJECT),
        ("suppression", "remove", "ann@example.com", "--why", "called", *PROJECT),
        ("suppression", "add", "ann@example.com", "b@example.com", "--for", "30d", *PROJECT),
        ("template", "create", "welcome", "--description", "first", *PROJECT),
        ("template", "version", "welcome", "--subject", "Hi {{ name }}", "--text", "Hi",
         "--publish", *PROJECT),
        ("template", "version", "welcome", "--subject", "Ho", "--text", "Ho", *PROJECT),
        ("key", "create", "web", "--expires", "90d", "--rate", "5", *PROJECT),
    ):  # fmt: skip
        done = made(*words)
        assert done.exit_code == 0, (words, done.output)
    return made


def answers(cli: Cli, paths: Sequence[str], headers: Mapping[str, str]) -> list[Any]:
    """Return what the API answers to requests of these paths."""
    database = DatabaseSettings(Secret(cli.database))
    settings = replace(settings_for(database), master_key=Secret(MASTER))

    async def asked() -> list[Any]:
        async with open_pool(database) as pool:
            app = create_app(settings, pool, services=build_services(settings, pool))
            transport = httpx2.ASGITransport(app=app, raise_app_exceptions=True)
            async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
                found = [await http.get(path, headers=dict(headers)) for path in paths]
        assert [(path, one.status_code) for path, one in zip(paths, found, strict=True)] == [
            (path, 200) for path in paths
        ]
        return [one.json() for one in found]

    return asyncio.run(asked())


def same(
    cli: Cli, path_by_words: Mapping[tuple[str, ...], str], headers: Mapping[str, str]
) -> None:
    """Compare what commands print with what the API answers."""
    found = answers(cli, list(path_by_words.values()), headers)
    for words, answered in zip(path_by_words, found, strict=True):
        printed = cli(*words, "--json")
        assert json.loads(printed.stdout) == answered, words


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


def commands(
    group: Mapping[str, click.Command], before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command that is no group, with its words."""
    for name, command in group.items():
        if isinstance(command, click.Group):
            yield from commands(command.commands, (*before, name))
        else:
            yield (*before, name), command


def test_each_command_that_needs_nothing_prints_one_document(cli: Cli) -> None:
    listing = {name: load(lazy) for name, lazy in COMMANDS.items() if name not in LEFT_OUT}
    ran = []
    for words, command in commands(listing):
        options = {one for param in command.params for one in param.opts}
        is_needed = any(param.required for param in command.params)
        if "--json" not in options or is_needed or words[0] == "worker":
            continue
        printed = cli(*words, "--json")
        if printed.exit_code == 2:  # it asks for one of several options
            continue
        json.loads(printed.stdout)
        ran.append(words[-1])

    assert {"status", "doctor", "verify", "list", "health", "rates", "settings"} <= set(ran)
