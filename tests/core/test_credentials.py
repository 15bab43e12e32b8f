"""Secrets in files: the password of the database, and the master key."""

import os
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from mailqueue.core.errors import ConfigError
from mailqueue.settings.environment import Settings, load_settings
from mailqueue.settings.secret_files import MAX_BYTES
from mailqueue.vault.masterkey import master_key_of

PASSWORD = "it's a \\ /?&=%40 password"
KEY = "A" * 43 + "="


def settings_of(monkeypatch: pytest.MonkeyPatch, folder: Path, **variables: str) -> Settings:
    for name, value in {"DATA": str(folder), **variables}.items():
        monkeypatch.setitem(os.environ, f"MAILQUEUE_{name}", value)
    return load_settings()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://api@db.example.com/mailqueue",
        "postgresql://api:other@db.example.com/mailqueue?application_name=x",
        "host=db.example.com user=api dbname=mailqueue",
    ],
)
def test_the_password_of_the_file_is_that_of_every_connection(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\n")
    database = settings_of(
        monkeypatch,
        tmp_path,
        DATABASE_URL=url,
        DIRECT_URL=url,
        REPLICA_URL=url,
        DATABASE_PASSWORD_FILE=str(file),
    ).database

    assert database.direct is not None
    assert database.replica is not None
    for found in (database.url, database.direct, database.replica):
        values = conninfo_to_dict(found.reveal())
        assert values["password"] == PASSWORD
        assert (values["user"], values["host"], values["dbname"]) == (
            "api",
            "db.example.com",
            "mailqueue",
        )


def test_the_master_keys_are_those_of_the_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, text in (("now", KEY), ("before", "B" * 43 + "=")):
        (tmp_path / name).write_text(f"{text}\n")
    settings = settings_of(
        monkeypatch,
        tmp_path,
        MASTER_KEY_FILE=str(tmp_path / "now"),
        MASTER_KEY_PREVIOUS_FILE=str(tmp_path / "before"),
    )
    found = master_key_of(settings)

    assert found is not None
    assert found.key == bytes(32)
    assert found.previous is not None
    assert KEY not in repr(settings)


@pytest.mark.parametrize("text", ["", " \n", "two\nlines", "x" * (MAX_BYTES + 1), "a\0b", "\xff"])
def test_a_file_that_has_no_secret_is_refused_without_its_text(
    text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "password"
    file.write_bytes(text.encode("latin-1"))

    with pytest.raises(ConfigError, match="MAILQUEUE_DATABASE_PASSWORD_FILE: ") as found:
        settings_of(monkeypatch, tmp_path, DATABASE_PASSWORD_FILE=str(file))

    assert "lines" not in str(found.value)


def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="MASTER_KEY_FILE: /nowhere/key: No such file"):
        settings_of(monkeypatch, tmp_path, MASTER_KEY_FILE="/nowhere/key")


def test_a_secret_is_given_in_one_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY)

    with pytest.raises(ConfigError, match="not both"):
        settings_of(monkeypatch, tmp_path, MASTER_KEY=KEY, MASTER_KEY_FILE=str(tmp_path / "key"))
