"""`mailqueue pause`, `mailqueue resume`, `mailqueue pauses`."""

from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.support.invoked import Cli
from tests.rows import each_row


async def campaign(conn: Conn) -> str:
    await make.sender_account(conn, name="relay")
    return str(await make.queued_email(conn, campaign_id="spring"))


def test_a_paused_campaign_is_told_everywhere_until_it_is_resumed(on_fresh_db: Cli) -> None:
    email = on_fresh_db.sql(campaign)

    paused = on_fresh_db("pause", "campaign", "spring", "--for", "2h", "--reason", "wrong price")

    assert paused.exit_code == 0, paused.output
    assert paused.stdout == "paused; 1 queued emails set aside\n"
    [one] = on_fresh_db.json("pauses")
    assert (one["kind"], one["name"], one["reason"]) == ("campaign", "spring", "wrong price")
    assert "@" in one["actor"]
    assert "campaign spring is paused until " in on_fresh_db("why", email).stdout
    assert "wrong price" in on_fresh_db("pauses").stdout
    assert on_fresh_db("resume", "campaign", "spring").stdout == "resumed\n"
    assert on_fresh_db("pauses").stdout == "nothing is paused\n"
    assert "paused" not in on_fresh_db("why", email).stdout


@pytest.mark.parametrize(
    ("words", "listed"),
    [
        (("project", "default"), ("default", "project", "default")),
        (("sender", "relay"), ("default", "sender", "relay")),
        (("domain", "Example.com"), ("default", "domain", "example.com")),
    ],
)
def test_whatever_can_be_paused_is_listed_and_resumed(
    on_fresh_db: Cli, words: tuple[str, ...], listed: tuple[str, ...]
) -> None:
    on_fresh_db.sql(campaign)

    assert on_fresh_db("pause", *words).exit_code == 0

    [one] = on_fresh_db.json("pauses", "--project", "default")
    assert (one["project"], one["kind"], one["name"]) == listed
    assert one["until"] is None
    assert on_fresh_db.json("resume", *words) == {"resumed": True}
    assert on_fresh_db.json("pauses") == []


def test_a_campaign_that_no_email_has_is_refused_unless_it_is_paused_ahead(
    on_fresh_db: Cli,
) -> None:
    on_fresh_db.sql(campaign)

    refused = on_fresh_db("pause", "campaign", "sprng")
    nothing_paused = on_fresh_db.json("pauses")
    ahead = on_fresh_db("pause", "campaign", "sprng", "--ahead")

    assert refused.exit_code == 1, refused.output
    assert "no email of this project has the campaign sprng" in refused.stderr
    assert "--ahead" in refused.stderr
    assert nothing_paused == []
    assert (ahead.exit_code, ahead.stdout) == (0, "paused\n"), ahead.output
    assert [one["name"] for one in on_fresh_db.json("pauses")] == ["sprng"]


def test_campaigns_like_one_that_no_email_has_are_suggested(on_fresh_db: Cli) -> None:
    async def counted(conn: Conn) -> None:
        project = await make.project_named(conn)
        await conn.execute(
            "INSERT INTO mailqueue.stats_values"
            " (project_id, is_test, day, dimension, value, value2)"
            " VALUES (%s, false, current_date, 'campaign', 'spring', '')",
            (project,),
        )

    on_fresh_db.sql(counted)

    refused = on_fresh_db("pause", "campaign", "sprng")

    assert "has the campaign sprng; did you mean spring?" in refused.stderr


@each_row("name", ["not a domain", "ann@example.com", "", "*"])
def test_a_pause_of_what_is_no_domain_is_refused(on_fresh_db: Cli, name: str) -> None:
    refused = on_fresh_db("pause", "domain", name)

    assert refused.exit_code == 1, refused.output
    assert "must be a domain such as example.com" in refused.stderr
    assert on_fresh_db.json("pauses") == []


@pytest.mark.parametrize("command", [("pause", "sender", "relay"), ("sender", "pause", "relay")])
def test_a_pause_ends_after_a_duration_or_at_a_time_by_either_command(
    on_fresh_db: Cli, command: tuple[str, ...]
) -> None:
    on_fresh_db.sql(campaign)
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(days=3)
    for words in (("--for", "2h"), ("--until", end.isoformat()), ("--until", "2h")):
        assert on_fresh_db(*command, *words).exit_code == 0, words
        [one] = on_fresh_db.json("pauses")
        until = datetime.fromisoformat(one["until"])
        assert (until == end) is (words[1] == end.isoformat())
        assert until - datetime.now(UTC) > timedelta(hours=1)

    refused = on_fresh_db(*command, "--for", "2h", "--until", "2h")
    assert (refused.exit_code, "give --for or --until" in refused.stderr) == (2, True)
    assert on_fresh_db(*command, "--until", "soon").stderr.startswith("error: until: must be")


def test_what_is_not_paused_cannot_be_resumed(on_fresh_db: Cli) -> None:
    result = on_fresh_db("resume", "campaign", "spring")

    assert result.exit_code == 1
    assert result.stderr == "error: no pause of campaign spring in project default\n"


@each_row(
    "words, says",
    [
        (("campaign", "x", "--for", "long"), "error: for: must be a duration"),
        (("domain", "x.example", "--for", "0s"), "error: until: must be in the future"),
        (("campaign", "x", "--project", "nowhere"), "error: no project nowhere"),
        (("domain", "x.example", "--project", "nowhere"), "error: project: there is no project"),
        (("project", "nowhere"), "error: project: there is no project"),
        (("sender", "nobody"), "error: name: this project has no sender account"),
    ],
)
def test_what_cannot_be_paused_is_an_error(
    on_fresh_db: Cli, words: tuple[str, ...], says: str
) -> None:
    result = on_fresh_db("pause", *words)

    assert result.exit_code == 1
    assert says in result.stderr


def test_all_sending_is_paused_with_a_reason_and_resumed(on_fresh_db: Cli) -> None:
    email = on_fresh_db.sql(campaign)

    assert on_fresh_db("pause", "platform").exit_code == 2
    assert on_fresh_db("pause", "platform", "shop", "--reason", "x").exit_code == 2
    paused = on_fresh_db("pause", "platform", "--for", "2h", "--reason", "an incident")

    assert paused.stdout == "paused\n", paused.output
    [one] = on_fresh_db.json("pauses")
    assert (one["project"], one["kind"], one["reason"]) == (None, "platform", "an incident")
    assert "all  " in on_fresh_db("pauses").stdout
    assert "all sending is paused since " in on_fresh_db("why", email).stdout
    assert on_fresh_db("resume", "platform").stdout == "resumed\n"
    assert on_fresh_db("resume", "platform").exit_code == 1
    assert "paused" not in on_fresh_db("why", email).stdout


def test_a_name_is_needed_for_everything_but_the_platform(on_fresh_db: Cli) -> None:
    refused = on_fresh_db("pause", "sender")

    assert refused.exit_code == 2
    assert "NAME of the sender is needed" in refused.stderr
