"""The lines that `up` prints for pasting into a shell work."""

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.whole.running import ROOT, START_SECONDS, STOP_SECONDS, Home, eventually

pytestmark = pytest.mark.timeout(300)

COMMAND = """\
#!{python}
import sys

from mailqueue.cli.main import main

sys.exit(main())
"""
CAUGHT = "SELECT count(*) FROM mailqueue.trap_messages WHERE '{ann@example.com}' = rcpt_to"


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command as an installation provides it."""
    path = tmp_path_factory.mktemp("bin") / "mailqueue"
    path.write_text(COMMAND.format(python=sys.executable))
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def printed(command: Path, shared_home: Home) -> Iterator[str]:
    """The output of `mailqueue up` for people, while it runs."""
    with subprocess.Popen(
        [str(command), "up", "--port", "0", "--trap-port", "0", "--workers", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=shared_home.environment(),
    ) as process:
        try:
            yield _until(process, "Ctrl-C stops.")
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)


def _until(process: subprocess.Popen[bytes], last: str) -> str:
    assert process.stdout is not None
    text, deadline = "", time.monotonic() + START_SECONDS
    while last not in text:
        readable, _, _ = select.select([process.stdout], [], [], deadline - time.monotonic())
        assert readable, text
        octets = os.read(process.stdout.fileno(), 65536)
        assert octets, text
        text += octets.decode()
    return text


def pasted(line: str, home: Home) -> str:
    """Run a line in a shell of the user who started it, without any variable of the data folder."""
    environment = home.environment()
    del environment["MAILQUEUE_DATA"]
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def line_with(printed: str, words: str) -> str:
    found = [line for line in printed.splitlines() if words in line]
    assert len(found) == 1, printed
    return found[0].strip()


def caught_by(home: Home) -> int:
    return int(home.run("psql", "-XqAtc", CAUGHT).stdout)


@pytest.mark.curl
@pytest.mark.parametrize(("words", "answer"), [("psql -c", "INSERT 0 1"), ("curl", "queued")])
def test_each_printed_command_sends_a_mail(
    printed: str, shared_home: Home, words: str, answer: str
) -> None:
    before = caught_by(shared_home)

    assert answer in pasted(line_with(printed, words), shared_home)

    eventually(lambda: caught_by(shared_home), lambda caught: caught == before + 1)


def test_the_readmes_statement_sends_a_mail(printed: str, shared_home: Home) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    found = re.search(r'mailqueue psql -c "(INSERT.*?)"\n', readme, re.DOTALL)
    assert found is not None
    before = caught_by(shared_home)

    assert shared_home.run("psql", "-c", found[1]).stdout == "INSERT 0 1\n"

    eventually(lambda: caught_by(shared_home), lambda caught: caught == before + 1)


def test_it_says_where_everything_is(printed: str, shared_home: Home) -> None:
    for name, value in (
        ("API", r"http://127\.0\.0\.1:\d+"),
        ("PostgreSQL", r"postgresql://mailqueue:\S+@127\.0\.0\.1:\d+/mailqueue"),
        ("Mail trap", r"http://127\.0\.0\.1:\d+/trap  \(SMTP smtp://127\.0\.0\.1:\d+\)"),
        ("Workers", "1"),
        ("Data", re.escape(str(shared_home.data))),
    ):
        assert re.search(rf"^  {name} +{value}$", printed, re.MULTILINE), name
