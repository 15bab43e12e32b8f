"""`mailqueue vault`: arguments and output; no key is ever printed."""

import os
from pathlib import Path
from typing import Any

import pytest

from mailqueue.vault.masterkey import create_master_key, load_master_key
from tests.cli.support.invoked import Cli

OWN = bytes(range(100, 132)).hex()


@pytest.fixture
def cli(on_fresh_db: Cli, tmp_path: Path) -> Cli:
    """A default project with a sealed password."""
    create_master_key(tmp_path)
    on_fresh_db.environment |= {"PASSWORD": "hunter2", "SHOP_KEY": OWN}
    done = on_fresh_db(
        *("sender", "add", "--name", "relay", "--host", "127.0.0.1", "--tls", "none"),
        *("--username", "ann", "--password-env", "PASSWORD"),
    )
    assert done.exit_code == 0, done.output
    return on_fresh_db


def state(cli: Cli) -> Any:
    (project,) = cli.json("vault", "status")["projects"]
    return project


def test_the_key_file_is_replaced_and_everything_follows(cli: Cli, tmp_path: Path) -> None:
    before = cli.json("vault", "status")["master_keys"]

    done = cli.json("vault", "rotate", "--new-key")

    assert done == {"rewrapped": 1, "renewed": 1, "resealed": 1, "damaged": []}
    now = cli.json("vault", "status")["master_keys"]
    assert now[1:] == before
    assert state(cli)["master_key_id"] == now[0]
    os.unlink(tmp_path / "master.key.previous")
    assert state(cli)["state"] == "ready"
    assert "secrets re-encrypted" in cli("vault", "rotate").stdout


def test_keys_from_the_environment_are_replaced(cli: Cli, tmp_path: Path) -> None:
    old = load_master_key(tmp_path)
    assert old is not None
    cli.environment["MAILQUEUE_MASTER_KEY"] = bytes(range(32)).hex()

    refused = cli("vault", "rotate")
    cli.environment["MAILQUEUE_MASTER_KEY_PREVIOUS"] = old.key.hex()
    done = cli.json("vault", "rotate")
    again = cli("vault", "rotate", "--new-key")

    assert (refused.exit_code, old.id in refused.stderr) == (4, True)
    assert (done["rewrapped"], done["resealed"]) == (1, 1)
    assert (again.exit_code, "MAILQUEUE_MASTER_KEY is set" in again.stderr) == (4, True)
    assert old.key.hex() not in refused.output + again.output


def test_a_project_keeps_its_key_and_unlocks_for_a_time(cli: Cli) -> None:
    cli.json("vault", "byok", "set", "default", "--key-env", "SHOP_KEY")
    assert (state(cli)["wrapped_by"], state(cli)["state"]) == ("own", "locked")

    cli.json("vault", "byok", "unlock", "default", "--key-env", "SHOP_KEY", "--for", "8h")
    assert state(cli)["state"] == "unlocked"
    assert state(cli)["unlocked_until"] is not None

    assert "locked" in cli("vault", "byok", "lock", "default").stdout
    assert state(cli)["state"] == "locked"

    cli.json("vault", "byok", "release", "default", "--key-env", "SHOP_KEY")
    assert (state(cli)["wrapped_by"], state(cli)["state"]) == ("platform", "ready")


def test_a_key_can_come_from_a_file_that_others_cannot_read(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "shop.key"
    file.write_text(OWN)
    file.chmod(0o644)
    words = ("vault", "byok", "set", "default", "--key-file", str(file), "--unlock", "1h")

    refused = cli(*words)
    file.chmod(0o600)
    done = cli(*words)

    assert (refused.exit_code, "chmod 600" in refused.stderr) == (4, True)
    assert "unlocked" in done.stdout
    assert OWN not in refused.output + done.output


REFUSED = (
    (("byok", "lock", "default"), "has no key of its own"),
    (("byok", "set", "default", "--key-env", "NOTHING"), "variable 'NOTHING' is not set"),
    (("byok", "set", "default"), "give the key with --key-env"),
    (("byok", "set", "default", "--key-file", "/nowhere"), "the file /nowhere does not exist"),
    (("byok", "set", "default", "--key-env", "SHOP_KEY", "--unlock", "9999d"), "at most 366"),
    (("byok", "unlock", "default", "--key-env", "SHOP_KEY", "--for", "long"), "for:"),
    (("status", "--project", "nowhere"), "no project nowhere"),
    (("rotate", "--project", "nowhere"), "no project nowhere"),
)


def test_what_cannot_be_done_is_said(cli: Cli) -> None:
    for words, says in REFUSED:
        refused = cli("vault", *words)

        assert refused.exit_code == 1, words
        assert says in refused.stderr


def test_a_text_that_is_no_key_is_refused_without_showing_it(cli: Cli) -> None:
    cli.environment["SHOP_KEY"] = "correct horse battery staple"

    refused = cli("vault", "byok", "set", "default", "--key-env", "SHOP_KEY")

    assert refused.exit_code == 4
    assert "SHOP_KEY must be 32 bytes" in refused.stderr
    assert "correct horse" not in refused.output
