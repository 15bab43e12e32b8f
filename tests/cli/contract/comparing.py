"""Compares what a command prints with `--json` with the HTTP API's response."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import httpx2

from mailqueue.api.app import create_app
from mailqueue.core.secret import Secret
from mailqueue.db.pool import open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.api import build_services
from tests.api.support.calling import ORIGIN, settings_for
from tests.api.support.wired import MASTER
from tests.cli.support.invoked import Cli

PROJECT = ("--project", "shop")


def answers(cli: Cli, paths: Sequence[str], headers: Mapping[str, str]) -> list[Any]:
    """Return the API's responses to requests of these paths."""
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


def beside(printed: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the printed document without the fields for operators only; they must be present."""
    assert set(names) <= set(printed)
    return {name: value for name, value in printed.items() if name not in names}


def names_of(value: type) -> set[str]:
    """Return the field names of a value of the contract."""
    return {each.name for each in fields(value)}
