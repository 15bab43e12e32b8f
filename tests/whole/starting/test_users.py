"""Which users may run `up`, and which may reach its trap."""

from pathlib import Path

import pytest

from mailqueue.embedded.service_user import Account
from tests.whole.difficult_mails import inserts, letters
from tests.whole.machine import home_of
from tests.whole.running import Home, eventually, up

pytestmark = pytest.mark.timeout(300)


@pytest.mark.other_user
def test_an_ordinary_user_with_nothing_but_a_home_runs_all_of_it(
    service_user: Account, reachable_folder: Path
) -> None:
    theirs = home_of(service_user, reachable_folder / "ordinary user's home")
    with up(theirs, "--workers", "1") as running:
        running.psql(inserts(letters(5, "ordinary.example")))
        eventually(lambda: running.count_caught("ordinary.example"), lambda count: count == 5)

        assert theirs.json("verify")["adds_up"]
        assert {path.owner() for path in theirs.data.iterdir()} == {service_user.name}
        assert running.stop() == 0


def test_beyond_loopback_the_trap_needs_a_password(new_home: Home) -> None:
    done = new_home.run("up", "--host", "0.0.0.0", "--port", "0", "--trap-port", "0")

    assert done.returncode == 4
    assert done.stdout == ""
    assert done.stderr.startswith("error: MAILQUEUE_TRAP_PASSWORD is needed")
    assert not new_home.data.exists()


def test_with_a_password_it_listens_beyond_loopback_and_mail_still_arrives(home: Home) -> None:
    guarded = home.with_(MAILQUEUE_TRAP_PASSWORD="correct horse")
    with up(guarded, "--workers", "1", "--host", "0.0.0.0") as running:
        running.psql(inserts(letters(3, "guarded.example")))

        eventually(lambda: running.count_caught("guarded.example"), lambda count: count == 3)
