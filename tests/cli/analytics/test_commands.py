"""`mailqueue stats`: arguments and output."""

from datetime import timedelta

from mailqueue.cli.analytics.sparkline import sparkline
from mailqueue.db.fetch import Conn
from mailqueue.embedded.ports import free_port
from mailqueue.events.model import Type
from tests import make
from tests.analytics import folding
from tests.analytics.replicas import read_only
from tests.cli.support.invoked import Cli
from tests.events.sent_mail import NOON, event, left, told

SINCE = ("--from", (NOON - timedelta(days=21)).isoformat())


async def furnish(conn: Conn) -> None:
    # Attempts of the last half hour are counted at every time of the day.
    await conn.execute("UPDATE mailqueue.stats_state SET folded_to = now() - interval '1 d'")
    account = await make.sender_account(conn, name="relay")
    for _ in range(3):
        mail = await left(conn, account, campaign_id="spring")
        await told(conn, event(Type.OPENED, email_id=mail, account=account))
    await make.logged_attempts(conn, "relay", 30, "sent", 10)
    await folding.caught_up(conn)


def test_counts_are_read_from_the_replica_and_from_the_primary_while_it_does_not_answer(
    on_fresh_db: Cli,
) -> None:
    cli = on_fresh_db
    cli.sql(furnish)
    wanted = cli("stats", "overview", *SINCE)

    for url in (read_only(cli.database), f"postgresql://a:b@127.0.0.1:{free_port()}/c"):
        found = cli("stats", "overview", *SINCE, env={"MAILQUEUE_REPLICA_URL": url})
        assert (found.exit_code, found.stdout) == (0, wanted.stdout)
    wrong = cli("stats", "overview", env={"MAILQUEUE_REPLICA_URL": "postgresql://[::1"})
    assert wrong.exit_code == 4
    assert "MAILQUEUE_REPLICA_URL" in wrong.stderr


def test_counts_are_read_from_the_primary_while_the_replica_is_behind_a_migration(
    on_fresh_db: Cli, empty_db: str
) -> None:
    cli = on_fresh_db
    cli.sql(furnish)
    wanted = cli("stats", "overview", *SINCE)

    found = cli("stats", "overview", *SINCE, env={"MAILQUEUE_REPLICA_URL": empty_db})

    assert (found.exit_code, found.stdout) == (0, wanted.stdout)


def test_counts_are_shown_as_tables_and_bars_and_as_json(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    cli.sql(furnish)

    found = cli.json("stats", "overview", "--project", "default", *SINCE)
    assert found["current"]["counts"]["sent"] == 3
    shown = cli("stats", "overview", "--project", "default", *SINCE, "--compare").stdout
    assert "unknown" in shown
    assert "of sent by accounts that report deliveries" in shown
    series = cli("stats", "series", *SINCE, "--metric", "opens", "--group-by", "campaign").stdout
    assert "spring" in series
    assert "█" in series
    assert cli.json("stats", "series", *SINCE)["series"][0]["total"] == 3
    heatmap = cli("stats", "heatmap", *SINCE, "--timezone", "Asia/Kolkata").stdout
    assert [line.split()[0] for line in heatmap.splitlines()[1:]] == [
        *("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    ]
    providers = cli("stats", "providers", "--project", "default", *SINCE).stdout
    assert "relay" in providers
    assert "unknown" in providers
    assert cli.json("stats", "templates", *SINCE)["data"] == []
    assert cli("stats", "templates", *SINCE).stdout == "no template was used in this time\n"


def test_verify_exits_with_1_where_a_count_is_wrong_and_rebuild_mends_it(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    cli.sql(furnish)
    assert cli.json("stats", "verify", "--from", "2d")["differences"] == 0
    assert "all agree" in cli("stats", "verify", "--from", "2d").stdout

    async def spoil(conn: Conn) -> None:
        await conn.execute("UPDATE mailqueue.stats_minutes SET opens = opens + 1 WHERE opens > 0")

    cli.sql(spoil)
    spoiled = cli("stats", "verify", "--from", "2d")
    assert spoiled.exit_code == 1
    assert "differ from history" in spoiled.stdout
    assert cli.json("stats", "verify", "--from", "2d", exit_code=1)["first"][0]["metric"] == "opens"

    assert "made anew" in cli("stats", "rebuild", "--from", "2d", "--yes").stdout
    assert cli.json("stats", "progress")["share"] == 0
    assert "rebuilt from" in cli("stats", "progress").stdout
    cli.sql(lambda conn: folding.caught_up(conn, turns=2000))
    assert cli.json("stats", "verify", "--from", "2d")["differences"] == 0
    assert cli.json("stats", "progress")["rebuilt_from"] is None
    refused = cli("stats", "rebuild", "--from", "900d", "--yes")
    assert refused.exit_code == 1
    assert "from: retention has removed mail" in refused.stderr


def test_a_sparkline_has_a_bar_for_each_number_and_sums_where_there_are_many() -> None:
    assert sparkline([]) == ""
    assert sparkline([0, 0]) == "▁▁"
    assert sparkline([0, 7, 14]) == "▁▄█"
    assert len(sparkline(list(range(1000)))) <= 60
    assert sparkline([1] * 120) == "█" * 60
