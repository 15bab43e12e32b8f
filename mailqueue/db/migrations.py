"""Reads the SQL folder of the schema: numbered migrations and re-applied objects."""

import hashlib
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mailqueue.core.errors import ConfigError
from mailqueue.db.registered import filled

_FILE = re.compile(r"([0-9]{4})_([a-z0-9_]+)\.sql")
_NO_TRANSACTION = "-- no-transaction"


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file; without a transaction it contains exactly one statement."""

    version: int
    name: str
    sha256: str
    text: str

    @property
    def file(self) -> str:
        return f"{self.version:04}_{self.name}.sql"

    @property
    def in_transaction(self) -> bool:
        return not self.text.startswith(_NO_TRANSACTION)


@dataclass(frozen=True, slots=True)
class SchemaObject:
    """One file of functions, views, comments or grants."""

    path: str
    sha256: str
    text: str


@dataclass(frozen=True, slots=True)
class SchemaFiles:
    """All files of the schema, in the order in which they are applied."""

    bootstrap: str
    migrations: tuple[Migration, ...]
    objects: tuple[SchemaObject, ...]

    @property
    def newest(self) -> int:
        return self.migrations[-1].version if self.migrations else 0


def read_schema(folder: Path) -> SchemaFiles:
    """Read the files of a folder: `bootstrap.sql`, `migrations/`, and the objects that are applied
    together, of `functions/`, `views/`, `comments/` and `grants/`.

    Raises:
        ConfigError: a migration's name is not valid, a number occurs twice, or a part of a file
            cannot be repeated.
    """
    migrations = tuple(map(_migration, _migration_paths(folder)))
    paths = [
        *sorted((folder / "functions").glob("**/*.sql")),
        *sorted((folder / "views").glob("**/*.sql")),
        *sorted((folder / "comments").glob("*.sql")),  # views are made anew, without comments
        # What all roles lose comes before what each has.
        *sorted((folder / "grants").glob("*.sql"), key=lambda path: (path.stem != "revoke", path)),
    ]
    objects = tuple(_schema_object(path, folder) for path in paths)
    return SchemaFiles((folder / "bootstrap.sql").read_text("utf-8"), migrations, objects)


def migration_versions(folder: Path) -> frozenset[int]:
    """Return the numbers of the migrations of a folder, without reading the files.

    Raises:
        ConfigError: a migration's name is not valid, or a number occurs twice.
    """
    return frozenset(_parsed(path)[0] for path in _migration_paths(folder))


def _migration_paths(folder: Path) -> list[Path]:
    """Return the files of the migrations, in the order of their numbers."""
    paths = sorted((folder / "migrations").glob("*.sql"))
    for before, after in pairwise(paths):
        if _parsed(before)[0] == _parsed(after)[0]:
            raise ConfigError(f"two migrations have the same number: {before.name}, {after.name}")
    return paths


def _migration(path: Path) -> Migration:
    version, name = _parsed(path)
    text = path.read_text("utf-8")
    return Migration(version, name, _sha256(text), text)


def _parsed(path: Path) -> tuple[int, str]:
    """Return the number and the name in the name of a file."""
    found = _FILE.fullmatch(path.name)
    if found is None:
        raise ConfigError(f"migration {path.name} must be named like 0012_mail.sql")
    return int(found[1]), found[2]


def _schema_object(path: Path, folder: Path) -> SchemaObject:
    name = path.relative_to(folder).as_posix()
    try:
        text = filled(path.read_text("utf-8"))
    except ConfigError as exc:
        raise ConfigError(f"{name}: {exc}") from exc
    return SchemaObject(name, _sha256(text), text)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
