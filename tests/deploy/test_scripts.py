"""The scripts of `deploy` refuse root, and write what monitoring reads."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.rules.source import ROOT

DEPLOY = ROOT / "deploy"
FOR_OTHERS = ("certificates.sh", "pgbackrest/backup.sh")


@pytest.mark.parametrize("name", FOR_OTHERS)
def test_a_script_of_another_user_does_not_run_as_root(name: str) -> None:
    """In a folder of another user root would follow that user's links."""
    text = (DEPLOY / name).read_text()

    assert re.search(r'^\[ "\$\(id -u\)" != 0 \] \|\| \{ .*; exit 2; \}$', text, re.MULTILINE)
    if os.geteuid() == 0:
        done = subprocess.run([DEPLOY / name], capture_output=True, check=False, cwd="/")
        assert (done.returncode, b"not as root" in done.stderr) == (2, True)


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("*.sh")), ids=lambda path: path.name)
def test_a_script_is_valid_and_can_be_run(path: Path) -> None:
    done = subprocess.run(["sh", "-n", path], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert os.access(path, os.X_OK)
    assert path.read_text().splitlines()[0] == "#!/bin/sh"
    assert "\nset -eu\n" in path.read_text()


def backed_up(folder: Path, *, failing: str = "") -> tuple[int, list[str], str]:
    """Run backup.sh with two repositories; return its code, those of its backups and its file."""
    programs = folder / "programs"
    programs.mkdir()
    info = [
        {
            "repo": [{"key": 1}, {"key": 2}],
            "backup": [
                {"database": {"repo-key": 1}, "timestamp": {"stop": 1700000300}},
                {"database": {"repo-key": 2}, "timestamp": {"stop": 1700000200}},
                {"database": {"repo-key": 2}, "timestamp": {"stop": 1700000100}},
            ],
        }
    ]
    (folder / "info").write_text(json.dumps(info))
    (programs / "id").write_text("#!/bin/sh\necho 999\n")
    (programs / "pgbackrest").write_text(
        "#!/bin/sh\n"
        f'case "$*" in *info) cat {folder}/info ;; *) echo "$*" >>{folder}/asked ;; esac\n'
        f'case "$*" in *--repo={failing or "none"}*) exit 1 ;; esac\n'
    )
    for program in programs.iterdir():
        program.chmod(0o755)
    done = subprocess.run(
        [DEPLOY / "pgbackrest" / "backup.sh", "mailqueue", folder],
        env={"PATH": f"{programs}:{os.environ['PATH']}"},
        check=False,
    )
    asked = re.findall(r"--repo=(\d) .* backup$", (folder / "asked").read_text(), re.MULTILINE)
    return done.returncode, asked, (folder / "mailqueue_backup.prom").read_text()


def test_a_backup_is_taken_in_each_repository_and_the_oldest_counts(tmp_path: Path) -> None:
    code, asked, file = backed_up(tmp_path)

    assert (code, asked) == (0, ["1", "2"])
    assert "\nmailqueue_backup_timestamp_seconds 1700000200\n" in file


def test_a_repository_that_is_away_keeps_no_other_from_its_backup(tmp_path: Path) -> None:
    code, asked, _ = backed_up(tmp_path, failing="1")

    assert (code, asked) == (1, ["1", "2"])


def test_the_command_of_root_reads_settings_as_systemd_does(tmp_path: Path) -> None:
    url = "postgresql://migrate@127.0.0.1/mailqueue?pool_max=10&sslmode=require"
    (tmp_path / "mailqueue").mkdir()
    (tmp_path / "mailqueue.env").write_text(
        f'# $(touch {tmp_path}/ran)\n\nQUOTED="a b"\nMAILQUEUE_PUBLIC_URL=$(touch {tmp_path}/ran)\n'
    )
    (tmp_path / "mailqueue-migrate.env").write_text(f"MAILQUEUE_DATABASE_URL={url}")
    (tmp_path / "mailqueue" / "migrate.password").write_text("open\n")
    (tmp_path / "mailqueue" / "master.key").write_text("sesame\n")
    (tmp_path / "setpriv").write_text('#!/bin/sh\necho "$*"\nenv\n')
    (tmp_path / "setpriv").chmod(0o755)
    text = (DEPLOY / "mailqueue.sh").read_text().replace("/etc/mailqueue", f"{tmp_path}/mailqueue")

    done = subprocess.run(
        ["sh", "-c", text, "mailqueue", "doctor"],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )

    arguments, *variables = done.stdout.splitlines()
    assert f"MAILQUEUE_DATABASE_URL={url}" in variables
    assert "QUOTED=a b" in variables
    assert {"PGPASSWORD=open", "MAILQUEUE_MASTER_KEY=sesame"} < set(variables)
    assert not (tmp_path / "ran").exists()
    assert arguments.endswith("/mailqueue doctor")
    assert "open" not in arguments
    assert "sesame" not in arguments
