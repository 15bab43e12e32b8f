"""`mailqueue export`: begin, follow, fetch and delete exports."""

import asyncio
import json
from pathlib import Path

import pytest

from mailqueue.cli.support import polling
from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.exports import steps
from tests.cli.support.invoked import Cli


def worked(cli: Cli) -> None:
    asyncio.run(steps.worked(DatabaseSettings(Secret(cli.database))))


def test_an_export_is_begun_followed_fetched_and_deleted(on_fresh_db: Cli, tmp_path: Path) -> None:
    cli = on_fresh_db
    email = cli.sql(lambda conn: make.queued_email(conn, campaign_id="spring"))
    cli.sql(lambda conn: make.queued_email(conn))
    begun = cli.json("export", "create", "emails", "--campaign", "spring", "--format", "ndjson")
    assert begun["state"] == "waiting"
    assert "waiting" in cli("export", "fetch", begun["id"]).output
    worked(cli)

    shown = cli.json("export", "show", begun["id"])
    assert (shown["state"], shown["rows"]) == ("done", 1)
    assert "campaign=spring" in cli("export", "show", begun["id"]).output
    printed = cli("export", "fetch", begun["id"])
    assert json.loads(printed.stdout)["id"] == str(email)
    target = tmp_path / "emails.ndjson"
    assert cli("export", "fetch", begun["id"], "--output", str(target)).exit_code == 0
    assert target.read_text("utf-8") == printed.stdout
    assert [one["id"] for one in cli.json("export", "list")] == [begun["id"]]
    assert begun["id"] in cli("export", "list", "--project", "default").output
    assert cli.json("export", "delete", begun["id"])["state"] == "deleted"
    assert cli("export", "fetch", begun["id"]).exit_code != 0


def test_waiting_ends_with_the_export(on_fresh_db: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli = on_fresh_db
    cli.sql(lambda conn: make.queued_email(conn))

    async def turn() -> None:
        await steps.worked(DatabaseSettings(Secret(cli.database)))

    monkeypatch.setattr(polling, "until_next_look", turn)
    result = cli("export", "create", "emails", "--wait")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("1 rows; mailqueue export fetch ")


def test_a_condition_of_another_kind_is_refused_by_name(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    result = cli("export", "create", "events", "--campaign", "spring")
    assert result.exit_code != 0
    assert "campaign" in result.output
