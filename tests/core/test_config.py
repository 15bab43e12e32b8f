import os
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path

import pytest

from mailqueue.core.dsn import take_pool_max
from mailqueue.core.errors import ConfigError
from mailqueue.core.units import parse_bytes, parse_duration
from mailqueue.settings.environment import DatabaseSource, Pooler, load_settings
from mailqueue.settings.logs import LogLevel


@pytest.fixture(autouse=True)
def _data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    setting(monkeypatch, MAILQUEUE_DATA=str(tmp_path))


def setting(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name, value in variables.items():
        monkeypatch.setitem(os.environ, name, value)


def test_the_defaults_serve_loopback_only() -> None:
    settings = load_settings()

    assert (settings.api.host, settings.api.port) == ("127.0.0.1", 8025)
    assert (settings.trap.is_on, settings.trap.port) == (True, 1025)
    assert settings.workers.processes == os.cpu_count()
    assert (settings.workers.in_flight, settings.workers.batch) == (64, 200)
    assert settings.database.source is DatabaseSource.NONE


def test_all_faults_are_reported_together_with_what_is_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    setting(
        monkeypatch,
        MAILQUEUE_PORT="99999",
        MAILQUEUE_BATCH="many",
        MAILQUEUE_POOLER="odyssey",
        MAILQUEUE_ALLOWED_HOSTS="10.0.0.0/8, 10.0.0.1/8",
        MAILQUEUE_NO_TRAP="perhaps",
    )

    with pytest.raises(ConfigError) as raised:
        load_settings()

    lines = str(raised.value).splitlines()
    assert len(lines) == 5
    assert "MAILQUEUE_PORT: must be less than or equal to 65535, got '99999'" in lines
    assert "MAILQUEUE_POOLER: must be 'none', 'session' or 'transaction', got 'odyssey'" in lines
    assert any(
        line.startswith("MAILQUEUE_ALLOWED_HOSTS: 10.0.0.1/8 has host bits") for line in lines
    )


def test_options_win_over_variables_and_none_is_no_option(monkeypatch: pytest.MonkeyPatch) -> None:
    setting(monkeypatch, MAILQUEUE_PORT="1111", MAILQUEUE_HOST="::1", MAILQUEUE_LOG_LEVEL="debug")

    settings = load_settings(port=0, host=None, workers=0)

    assert (settings.api.host, settings.api.port) == ("::1", 0)
    assert settings.workers.processes == 0
    assert settings.log.level is LogLevel.DEBUG


def test_an_empty_variable_is_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    setting(monkeypatch, MAILQUEUE_PORT="", DATABASE_URL="", MAILQUEUE_MASTER_KEY="")

    settings = load_settings()

    assert settings.api.port == 8025
    assert settings.master_key is None
    assert settings.database.source is DatabaseSource.NONE


def test_our_own_variable_wins_over_the_platforms(monkeypatch: pytest.MonkeyPatch) -> None:
    setting(monkeypatch, DATABASE_URL="postgresql://theirs/x")
    assert load_settings().database.url.reveal() == "postgresql://theirs/x"

    setting(monkeypatch, MAILQUEUE_DATABASE_URL="postgresql://ours/x?pool_max=3")
    found = load_settings().database

    assert (found.url.reveal(), found.pool_max) == ("postgresql://ours/x", 3)
    assert found.source is DatabaseSource.GIVEN
    assert load_settings(database_url="host=a").database.url.reveal() == "host=a"


def test_libpqs_server_is_used_where_no_string_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    setting(monkeypatch, PGUSER="ann")
    assert load_settings().database.source is DatabaseSource.NONE  # names no server

    setting(monkeypatch, PGHOST="db.example.com", MAILQUEUE_POOLER="transaction")
    found = load_settings().database

    assert (found.source, found.url.reveal()) == (DatabaseSource.LIBPQ, "")
    assert found.pooler is Pooler.TRANSACTION


def test_the_running_embedded_server_is_the_last_choice(tmp_path: Path) -> None:
    (tmp_path / "database_url").write_text("postgresql://a:b@127.0.0.1:1/c\n")

    found = load_settings().database

    assert found.source is DatabaseSource.EMBEDDED
    assert found.url.reveal() == "postgresql://a:b@127.0.0.1:1/c"


def test_secrets_are_never_shown_not_even_when_faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    setting(monkeypatch, MAILQUEUE_MASTER_KEY="hunter2", MAILQUEUE_TRAP_PASSWORD="hunter2")
    setting(monkeypatch, MAILQUEUE_DATABASE_URL="postgresql://a:hunter2@h/x")
    assert "hunter2" not in repr(load_settings())

    setting(monkeypatch, MAILQUEUE_DATABASE_URL="postgresql://a:hunter2@h/x?pool_max=0")
    with pytest.raises(ConfigError, match="pool_max must be a whole number above zero") as raised:
        load_settings()

    assert "hunter2" not in str(raised.value)


def test_networks_are_separated_by_commas_or_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    setting(monkeypatch, MAILQUEUE_ALLOWED_HOSTS="10.0.0.0/8,192.0.2.1 fd00::/8")

    assert load_settings().allowed_hosts == (
        ip_network("10.0.0.0/8"),
        ip_network("192.0.2.1/32"),
        ip_network("fd00::/8"),
    )


@pytest.mark.parametrize(
    ("given", "libpq", "pool_max"),
    [
        ("postgresql://u:p@h/db", "postgresql://u:p@h/db", None),
        ("postgresql://u:p@h/db?pool_max=7", "postgresql://u:p@h/db", 7),
        ("postgres://h/db?a=%20b&pool_max=7&c=d+e", "postgres://h/db?a=%20b&c=d+e", 7),
        ("postgresql://u:pool_max=3@h/db", "postgresql://u:pool_max=3@h/db", None),
        ("host=h pool_max=7 user=u", "host=h user=u", 7),
        ("pool_max = '7' host=h", "host=h", 7),
    ],
)
def test_pool_max_is_taken_out_and_the_rest_stays_as_given(
    given: str, libpq: str, pool_max: int | None
) -> None:
    assert take_pool_max(given) == (libpq, pool_max)


def test_quantities_carry_their_unit() -> None:
    assert parse_duration("30s") == timedelta(seconds=30)
    assert parse_duration("250ms") == timedelta(milliseconds=250)
    assert parse_duration(" 1.5 h") == timedelta(minutes=90)
    assert parse_bytes("4MiB") == 4 * 1024**2
    assert parse_bytes("500kB") == 500_000
    assert parse_bytes("12") == 12


@pytest.mark.parametrize("text", ["30", "s", "", "-1s", "1 fortnight", "1e3s"])
def test_a_duration_without_a_known_unit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a duration such as"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["", "MiB", "-1", "4 parsecs"])
def test_a_size_without_a_known_unit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a size such as"):
        parse_bytes(text)


@pytest.mark.parametrize("text", ["example.com", "127.0.0.1:x", "127.0.0.1:0", "127.0.0.1:70000"])
def test_a_name_server_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("MAILQUEUE_RESOLVER", text)

    with pytest.raises(ConfigError, match=f"MAILQUEUE_RESOLVER: '{text}'"):
        load_settings()


@pytest.mark.parametrize("text", ["12345678" * 8, "true", "null", '"quoted"', "[1]", "{}"])
def test_a_secret_is_taken_as_it_stands(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """64 decimal digits are a master key, and no number."""
    setting(
        monkeypatch,
        MAILQUEUE_MASTER_KEY=text,
        MAILQUEUE_MASTER_KEY_PREVIOUS=text,
        MAILQUEUE_TRAP_PASSWORD=text,
    )

    settings = load_settings()

    secrets = (settings.master_key, settings.master_key_previous, settings.trap.password)
    assert [secret and secret.reveal() for secret in secrets] == [text] * 3
