"""`mailqueue sender limits` and presets: how much and how fast an account sends."""

import pytest

from tests.cli.senders.test_commands import Cli, cli, document

__all__ = ["cli"]


@pytest.mark.parametrize(("preset", "rate"), [("ses", 14), ("sendgrid", 100)])
def test_a_preset_has_the_rate_that_the_provider_publishes(
    cli: Cli, preset: str, rate: int
) -> None:
    account = ("--username", "a", "--password-env", "P", "--json")
    added = document(
        cli("sender", "add", "--name", "p", "--preset", preset, *account, env={"P": "hunter2"})
    )

    assert (added["rate_limit_per_sec"], added["burst"]) == (rate, rate)


def test_limits_by_hour_and_minute_are_set_shown_and_taken_away(cli: Cli) -> None:
    server = ("--name", "relay", "--host", "127.0.0.1", "--tls", "none")
    document(cli("sender", "add", *server, "--hourly-limit", "500", "--json"))

    limited = document(
        cli("sender", "limits", "relay", "--minute-limit", "30", "--burst", "5", "--json")
    )
    freed = document(
        cli("sender", "limits", "relay", "--hourly-limit", "none", "--burst", "none", "--json")
    )

    assert (limited["hourly_limit"], limited["minute_limit"], limited["burst"]) == (500, 30, 5)
    assert (limited["hourly_headroom"], limited["minute_headroom"]) == (500, 30)
    assert (freed["hourly_limit"], freed["minute_limit"], freed["burst"]) == (None, 30, 200)
    assert "30, 30 left now" in cli("sender", "show", "relay").stdout
