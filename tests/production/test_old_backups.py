"""Backups are kept for longer than the log: an old one can still be restored, as it was."""

import configparser
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.rules.source import ROOT
from tests.whole.running import eventually

FILES = ("deploy/pgbackrest/pgbackrest.conf", "deploy/stack/pgbackrest.conf")
BIN = Path("/usr/lib/postgresql/15/bin")
PORT = "54329"
BACKUPS = 4
LOGS_OF = 2
"""Newest full backups with the log after them, in place of those of the files."""


def options(file: str) -> "configparser.SectionProxy":
    """Return the global options of a configuration."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / file, "utf-8")
    return parser["global"]


@pytest.mark.parametrize("file", FILES)
def test_backups_are_kept_for_90_days_and_the_log_for_30(file: str) -> None:
    kept = options(file)

    assert (kept["repo1-retention-full-type"], kept["repo1-retention-full"]) == ("time", "90")
    assert kept["repo1-retention-archive-type"] == "full"
    weeks = int(kept["repo1-retention-archive"]) - 1
    assert weeks * 7 > 30


def restoring(label: str) -> list[str]:
    """Return the options with which the guide restores a backup whose log is gone."""
    guide = (ROOT / "docs/production.md").read_text("utf-8")
    [options] = re.findall(r"`(--set=NAME [^`]+)` in place of", guide)
    return str(options).replace("NAME", label).split()


def run(*words: str) -> str:
    """Run a program as the user postgres; return what it prints."""
    done = subprocess.run(
        ["runuser", "-u", "postgres", "--", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd="/",
    )
    assert done.returncode == 0, f"{words}: {done.stdout}"
    return done.stdout.strip()


def configured(folder: Path) -> list[str]:
    """Write the shipped configuration for a cluster in a folder; return pgbackrest's command."""
    kept = dict(options(FILES[0])) | {
        "repo1-path": f"{folder}/repo",
        "repo1-cipher-pass": "passphrase",
        "repo1-retention-archive": str(LOGS_OF),
        **{name: str(folder) for name in ("log-path", "spool-path", "lock-path")},
    }
    lines = ["[global]", *(f"{name}={value}" for name, value in kept.items())]
    lines += ["[mailqueue]", f"pg1-path={folder}/data", f"pg1-socket-path={folder}"]
    (folder / "pgbackrest.conf").write_text("\n".join([*lines, f"pg1-port={PORT}", ""]))
    return ["pgbackrest", f"--config={folder}/pgbackrest.conf", "--stanza=mailqueue"]


@contextmanager
def server(folder: Path) -> Iterator[list[str]]:
    """Run the cluster; yield the command psql."""
    control = (f"{BIN}/pg_ctl", "-D", f"{folder}/data", "-w")
    run(*control, "-l", f"{folder}/log", "start")
    try:
        yield [f"{BIN}/psql", "-h", str(folder), "-p", PORT, "-AtXqd", "postgres", "-c"]
    finally:
        run(*control, "-m", "fast", "stop")


@pytest.mark.production
def test_a_backup_whose_log_was_deleted_is_restored_as_it_was(reachable_folder: Path) -> None:
    folder = reachable_folder / "old-backups"
    folder.mkdir()
    subprocess.run(["chown", "postgres", folder], check=True)
    pgbackrest = configured(folder)
    run(f"{BIN}/initdb", "-D", f"{folder}/data", "-A", "trust")
    with (folder / "data" / "postgresql.conf").open("a") as settings:
        settings.write(
            f"port = {PORT}\nunix_socket_directories = '{folder}'\nlisten_addresses = ''\n"
            f"archive_mode = on\narchive_command = '{' '.join(pgbackrest)} archive-push %p'\n"
        )
    with server(folder) as psql:
        run(*pgbackrest, "stanza-create")
        run(*psql, "CREATE TABLE kept (n integer)")
        for number in range(BACKUPS):
            run(*psql, f"INSERT INTO kept VALUES ({number}); SELECT pg_switch_wal()")
            run(*pgbackrest, "--type=full", "backup")
        found = json.loads(run(*pgbackrest, "--output=json", "info"))[0]["backup"]
    assert len(found) == BACKUPS
    segments = {path.name[:24] for path in (folder / "repo/archive/mailqueue").rglob("0*-*.zst")}
    first, second = found[0]["archive"]["stop"], found[1]["archive"]["start"]
    assert first in segments
    assert not [name for name in segments if first < name < second], "the log between is gone"

    label = found[0]["label"]
    run(*pgbackrest, "--delta", *restoring(label), "restore")
    with server(folder) as psql:
        eventually(lambda: run(*psql, "SELECT pg_is_in_recovery()"), lambda found: found == "f")
        assert run(*psql, "SELECT array_agg(n) FROM kept") == "{0}"
