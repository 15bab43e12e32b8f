"""`mailqueue sender` with the stages of a warm-up."""

from tests.cli.senders.test_commands import RELAY, Cli, cli, document
from tests.rows import each_row

__all__ = ["cli"]


def test_an_account_is_warmed_up_when_asked_for(cli: Cli) -> None:
    added = document(cli(*RELAY, "--warm-up", "5,50", "--daily-limit", "1000", "--json"))
    assert (added["status"], added["warm_up"]) == ("warming_up", [5, 50])
    assert (added["daily_limit"], added["headroom"]) == (1000, 5)
    assert "5,50 a day: day 1, 5 today" in cli("sender", "show", "relay").stdout

    usual = document(cli("sender", "limits", "relay", "--warm-up", "default", "--json"))
    assert usual["warm_up"] == [200] * 2 + [1000] * 3 + [5000] * 5 + [20000] * 5
    shown = cli("sender", "show", "relay").stdout
    assert "200x2,1000x3,5000x5,20000x5 a day: day 1, 200 today" in shown

    own = document(cli("sender", "limits", "relay", "--warm-up", "10x3,20", "--json"))
    assert own["warm_up"] == [10, 10, 10, 20]

    over = document(cli("sender", "limits", "relay", "--warm-up", "none", "--json"))
    assert (over["status"], over["warm_up"], over["headroom"]) == ("active", None, 1000)


@each_row(
    "stages, said",
    [("soon", "neither `default`"), ("5,0", "got 0"), ("5x0", "neither"), ("5x101", "neither")],
)
def test_stages_that_make_no_sense_are_refused(cli: Cli, stages: str, said: str) -> None:
    refused = cli(*RELAY, "--warm-up", stages)

    assert refused.exit_code != 0
    assert said in refused.output
