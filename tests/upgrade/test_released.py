"""Migrations that were released stay as they are: installations have applied them."""

from hashlib import sha256
from pathlib import Path

from mailqueue.db.sql import sql_folder

RELEASED = Path(__file__).with_name("released.txt")
"""Lines of `sha256sum`, in the order of the migrations; a new migration may still be missing."""


def test_no_released_migration_is_changed_removed_or_put_between_others() -> None:
    lines = [line.split("  ") for line in RELEASED.read_text("utf-8").splitlines()]
    released = {name: checksum for checksum, name in lines}
    paths = sorted((sql_folder() / "migrations").glob("*.sql"))

    found = {path.name: sha256(path.read_bytes()).hexdigest() for path in paths[: len(released)]}

    assert found == released
