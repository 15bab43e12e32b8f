"""`mailqueue up` starts, prints its URLs, and stops in order."""

import signal
import urllib.error
import urllib.request

import pytest

from tests.whole.difficult_mails import inserts, letters
from tests.whole.running import (
    STOP_SECONDS,
    Home,
    Up,
    eventually,
    has_started,
    is_running,
    up,
    workers,
)
from tests.whole.terminal import ignore_hang_up, on_terminal

pytestmark = pytest.mark.timeout(300)

KEYS = {
    *("ready", "api", "database", "trap_smtp", "trap", "data", "api_key", "submission"),
    *("console", "console_link", "metrics", "public"),
}
MADE_ONCE = ("made a master key", "applying", "loading the rules of time zones")
"""What the first start takes its time for."""


def test_it_prints_one_line_stops_on_sigterm_and_starts_again_with_mail_and_keys(
    new_home: Home,
) -> None:
    with up(new_home, "--workers", "2") as first:
        ready = first.ready
        first.psql(inserts(letters(3, "kept.example")))
        eventually(lambda: first.count_caught("kept.example"), lambda count: count == 3)
        children = [*eventually(first.children, has_started), first.postmaster()]

        assert first.stop() == 0
        assert first.rest_of_stdout() == ""
        assert not any(map(is_running, children))
    said = first.log.read_text()
    assert all(words in said for words in MADE_ONCE)
    with up(new_home, "--workers", "2") as second:
        said_again = second.log.read_text().removeprefix(said)
        assert second.count_caught("kept.example") == 3
        assert second.ready["api_key"] == ready["api_key"]
        assert second.ready["database"] == ready["database"]
    assert "starting PostgreSQL" in said_again
    assert not any(words in said_again for words in MADE_ONCE), "it starts with what is there"
    assert set(ready) == KEYS
    assert ready["ready"] is True
    assert ready["data"] == str(new_home.data)
    assert ready["trap"] == f"{ready['api']}/trap"
    assert ready["console"] == f"{ready['api']}/console"
    assert ready["public"] == ready["api"]
    assert ready["console_link"].startswith(f"{ready['console']}/welcome?link=mq_link_")
    assert ready["trap_smtp"].startswith("smtp://127.0.0.1:")
    assert ready["api_key"].startswith("mq_test_")


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=30) as response:
            found: int = response.status
    except urllib.error.HTTPError as exc:
        return exc.code
    return found


def test_console_and_links_have_ports_of_their_own(shared_up: Up) -> None:
    api, public = shared_up.ready["api"], shared_up.ready["public"]
    console = shared_up.ready["console"].removesuffix("/console")
    assert len({api, public, console}) == 3
    for url in (api, public, console):
        assert status_of(f"{url}/healthz") == 200
        assert status_of(f"{url}/console/login") == (200 if url == console else 404)
        assert status_of(f"{url}/v1/emails") == (401 if url == api else 404)
    assert status_of(shared_up.ready["console_link"]) == 200
    assert shared_up.ready["console_link"].startswith(console)


def test_once_it_says_that_it_runs_every_part_answers_and_ctrl_c_stops_it(home: Home) -> None:
    with up(home, "--workers", "2") as running:
        kinds = [one["kind"] for one in home.json("status")["workers"]]
        assert sorted(kinds, key=len)[:2] == ["send", "send"]
        assert len(kinds) == 3
        mail = ("--to", "ann@example.com", "--subject", "Hello", "--text", "Hello", "--wait")
        sent = home.run("send", *mail)
        assert sent.returncode == 0, sent.stderr
        assert "no worker is running" not in sent.stderr
        with urllib.request.urlopen(f"{running.ready['api']}/readyz") as answer:
            assert answer.status == 200

        assert running.stop(signal.SIGINT) == 0
        assert running.rest_of_stdout() == ""


def test_a_terminal_that_is_closed_stops_it_in_order(home: Home) -> None:
    """The system sends SIGHUP to all processes of the terminal, and their output fails."""
    with on_terminal() as (close, options), up(home, "--workers", "2", **options) as running:
        running.psql(inserts(letters(3, "closed.example")))
        eventually(lambda: running.count_caught("closed.example"), lambda count: count == 3)
        children = [*eventually(running.children, has_started), running.postmaster()]
        running.close()

        close()

        assert running.process.wait(STOP_SECONDS) == 0
        assert not any(map(is_running, children))


def test_under_nohup_a_closed_terminal_changes_nothing(home: Home) -> None:
    with up(home, "--workers", "1", preexec_fn=ignore_hang_up) as running:
        running.process.send_signal(signal.SIGHUP)
        running.psql(inserts(letters(1, "nohup.example")))
        eventually(lambda: running.count_caught("nohup.example"), lambda count: count == 1)


def test_a_second_up_on_the_same_folder_names_the_first(home: Home, shared_up: Up) -> None:
    done = shared_up.home.run("up", "--port", "0", "--trap-port", "0")

    assert done.returncode == 1
    assert f"(pid {shared_up.process.pid})" in done.stderr


def test_without_workers_mail_waits_until_some_are_started(home: Home) -> None:
    with up(home, "--workers", "0") as running:
        running.psql(inserts(letters(2, "waiting.example")))
        email_id = running.value("SELECT id FROM mailqueue.email_queue ORDER BY id LIMIT 1")
        assert "no worker is running" in home.json("why", str(email_id))["why"]
        assert running.workers() == []

        with workers(home, processes=1):
            eventually(lambda: running.count_caught("waiting.example"), lambda count: count == 2)
