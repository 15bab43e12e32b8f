"""A program prints a secret: the master key, or the password of the database."""

import os
import select
import sys
from pathlib import Path

import pytest

from mailqueue.core.errors import ConfigError
from mailqueue.settings.commands import MAX_BYTES, SecretCommand
from mailqueue.settings.environment import load_settings
from mailqueue.vault.masterkey import master_key_of

KEY = "A" * 43 + "="


def given(monkeypatch: pytest.MonkeyPatch, folder: Path, **variables: str) -> None:
    for name, value in {"DATA": str(folder), **variables}.items():
        monkeypatch.setitem(os.environ, f"MAILQUEUE_{name}", value)


def python(program: str) -> SecretCommand:
    return SecretCommand("MASTER_KEY_COMMAND", (sys.executable, "-c", program))


def test_the_master_keys_are_those_that_programs_print(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given(
        monkeypatch,
        tmp_path,
        MASTER_KEY_COMMAND=f"printf '%s\\n' {KEY}",
        MASTER_KEY_PREVIOUS_COMMAND=f"printf %s {'B' * 43}=",
    )
    settings = load_settings()
    found = master_key_of(settings)

    assert found is not None
    assert found.key == bytes(32)
    assert found.previous is not None
    assert KEY not in repr(settings)


def test_a_command_is_split_into_words_and_no_shell_reads_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given(monkeypatch, tmp_path, MASTER_KEY_COMMAND="printf '%s|' '$HOME;id' \"two words\"")

    found = load_settings().master_key

    assert found is not None
    assert found.reveal() == "$HOME;id|two words|"


@pytest.mark.parametrize("command", ["'open", "  ", "a\nb"])
def test_a_command_without_words_is_refused(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given(monkeypatch, tmp_path, DATABASE_PASSWORD_COMMAND=command)

    with pytest.raises(ConfigError, match="MAILQUEUE_DATABASE_PASSWORD_COMMAND: must be") as found:
        load_settings()

    assert "open" not in str(found.value)


@pytest.mark.parametrize("other", ["MASTER_KEY", "MASTER_KEY_FILE"])
def test_a_secret_is_given_in_one_way(
    other: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given(monkeypatch, tmp_path, MASTER_KEY_COMMAND="false", **{other: KEY})

    with pytest.raises(ConfigError, match="not both"):
        load_settings()


def test_the_password_of_the_database_is_in_a_file_or_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given(
        monkeypatch,
        tmp_path,
        DATABASE_URL="postgresql://api@db.example.com/mailqueue",
        DATABASE_PASSWORD_COMMAND="false",
        DATABASE_PASSWORD_FILE=str(tmp_path / "password"),
    )

    with pytest.raises(ConfigError, match=r"PASSWORD_FILE: set either it or .*COMMAND, not both"):
        load_settings()


def test_the_password_of_rabbitmq_is_printed_when_it_is_needed_and_no_earlier(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given(
        monkeypatch,
        tmp_path,
        RABBITMQ_URL="amqps://shop:old@rabbitmq.example.com/shop",
        RABBITMQ_PASSWORD_COMMAND=f"sh -c 'echo x >>{tmp_path}/runs; echo p@ss/word'",
    )
    settings = load_settings().rabbitmq
    settings.check()
    assert not (tmp_path / "runs").exists()

    for _ in range(2):
        found = settings.url_with_password()
        assert found == "amqps://shop:p%40ss%2Fword@rabbitmq.example.com/shop"
    assert (tmp_path / "runs").read_text() == "x\nx\n"
    assert "echo" not in repr(settings)


def test_the_password_of_rabbitmq_is_in_a_file_or_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given(
        monkeypatch, tmp_path, RABBITMQ_PASSWORD_COMMAND="false", RABBITMQ_PASSWORD_FILE="/password"
    )

    with pytest.raises(ConfigError, match=r"RABBITMQ_PASSWORD_FILE: set either it or .*COMMAND"):
        load_settings()


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("import sys; print('hidden'); sys.exit(4)", "ended with exit code 4"),
        ("import os; print('hidden', flush=True); os.kill(os.getpid(), 9)", "ended by signal 9"),
        ("import sys; print('hidden', file=sys.stderr)", "must print one line"),
        ("print('hidden\\nhidden')", "must print one line"),
        ("print('hidden' * 100_000)", "must print one line"),
        ("while True: print('hidden' * 100_000)", "must print one line"),
        ("import sys; sys.stdout.buffer.write(b'hidden\\xff')", "must print one line"),
    ],
)
def test_what_a_failing_program_prints_is_in_no_error(program: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as found:
        python(program).run()

    assert "MAILQUEUE_MASTER_KEY_COMMAND: " in str(found.value)
    assert "hidden" not in str(found.value)
    assert found.value.__cause__ is None


def test_the_longest_output_is_taken_whole() -> None:
    assert python(f"print('x' * {MAX_BYTES - 1})").run().reveal() == "x" * (MAX_BYTES - 1)


def test_a_program_that_does_not_exist_is_named_by_its_variable() -> None:
    with pytest.raises(ConfigError, match="COMMAND: cannot be started: No such file"):
        SecretCommand("MASTER_KEY_COMMAND", ("/nowhere/program",)).run()


def test_a_program_that_does_not_end_is_killed_with_what_it_started(tmp_path: Path) -> None:
    # The inner process holds one end of the pipe, whose other end sees it closed.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    command = SecretCommand("MASTER_KEY_COMMAND", ("sh", "-c", f"sleep 600 >{pipe} & sleep 600"))

    with pytest.raises(ConfigError, match="COMMAND: has not ended after 2 seconds"):
        command.run(seconds=2)

    os.set_blocking(end, True)
    assert select.select([end], [], [], 60)[0]
    assert os.read(end, 1) == b""
    os.close(end)


def test_a_program_gets_no_secrets_of_mailqueue(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAILQUEUE_MASTER_KEY", "DATABASE_URL", "PGPASSWORD", "VAULT_ADDR"):
        monkeypatch.setitem(os.environ, name, "https://vault.example.com")
    program = (
        "import os; print(*sorted(x for x in os.environ if x[:2] in ('MA', 'DA', 'PG', 'VA')))"
    )

    assert python(program).run({"PGHOST": "db.example.com"}).reveal() == "PGHOST VAULT_ADDR"
