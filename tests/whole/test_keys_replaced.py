"""Keys change under running workers: mail is sent on, or waits where a project requires it."""

import pytest

from tests.whole.running import Up, eventually
from tests.whole.sink import PASSWORD, USERNAME, sink

pytestmark = pytest.mark.timeout(300)
OWN = bytes(range(100, 132)).hex()


def send(up: Up, number: int) -> str:
    """Queue a mail of the project; return its id."""
    done = up.home.json(
        *("send", "--project", "keyed", "--to", f"ann{number}@example.com"),
        *("--subject", f"Mail {number}", "--text", "Hello"),
    )
    return str(done["id"])


def test_workers_go_on_through_a_new_master_key_and_wait_while_a_project_is_locked(
    shared_up: Up,
) -> None:
    home = shared_up.home
    shared_up.rows("INSERT INTO mailqueue.projects (name) VALUES ('keyed') RETURNING id")
    with sink(needs_login=True) as server:
        home.json(
            *("sender", "add", "--project", "keyed", "--name", "relay", "--host", "127.0.0.1"),
            *("--port", str(server.port), "--tls", "none", "--from", "a@example.com"),
            *("--username", USERNAME, "--password-env", "RELAY_PASSWORD"),
            RELAY_PASSWORD=PASSWORD,
        )
        send(shared_up, 1)
        eventually(lambda: len(server), lambda taken: taken == 1)

        home.json("vault", "rotate", "--new-key")
        home.data.joinpath("master.key.previous").unlink()
        send(shared_up, 2)
        eventually(lambda: len(server), lambda taken: taken == 2)

        home.json("vault", "byok", "set", "keyed", "--key-env", "OWN", OWN=OWN)
        waiting = send(shared_up, 3)
        why = "SELECT mailqueue.why(%s)"
        eventually(
            lambda: shared_up.value(why, waiting), lambda said: "locked by its own key" in said
        )
        assert len(server) == 2

        home.json("vault", "byok", "unlock", "keyed", "--key-env", "OWN", "--for", "1h", OWN=OWN)
        eventually(lambda: len(server), lambda taken: taken == 3)
        logins = server.logins
    assert logins >= 2, "the account was opened again with the key that replaced the first"
