"""Creates and drops the databases of the tests."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from tests import scratch

PLAIN = "template0"


class Databases:
    """Databases of one server and owner, made over a connection that is kept. Mutable.

    Logging in costs a third of what a database costs.
    """

    def __init__(self, superuser: str, owner: str) -> None:
        self._superuser = superuser
        self._owner = owner
        self._admin: psycopg.Connection | None = None

    @contextmanager
    def lent(self, *, template: str = PLAIN) -> Iterator[str]:
        """Yield the name of a new database, and drop it afterwards with all its sessions."""
        name = f"mailqueue_{secrets.token_hex(6)}"
        made = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY {}")
        names = (name, self._owner, template, scratch.strategy())
        self._run(made.format(*map(sql.Identifier, names)))
        try:
            yield name
        finally:
            self._run(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def close(self) -> None:
        """Close the connection."""
        if self._admin is not None:
            self._admin.close()

    def _run(self, statement: sql.Composed) -> None:
        """Run a statement; connect again if a test has ended the session."""
        if self._admin is not None:
            try:
                self._admin.execute(statement)
            except psycopg.OperationalError:
                if not self._admin.closed:
                    raise
            else:
                return
        self._admin = psycopg.connect(self._superuser, autocommit=True)
        self._admin.execute(statement)


_CATALOGUE = """
    SELECT c.oid::regclass::text FROM pg_class AS c
     WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'r' AND NOT c.relisshared
"""


def compact(url: str) -> None:
    """Rewrite the catalogue of a database: what many statements of a migration left is copied with
    each database that is made from it.

    Tables of ours stay as they are: the planner takes one that was rewritten while it was empty for
    an empty one. The rewriting deletes the file with the start of the relation cache, and the next
    session writes it: once here, otherwise the first session of each copy.
    """
    with psycopg.connect(url, autocommit=True) as conn:
        for (table,) in conn.execute(_CATALOGUE).fetchall():
            conn.execute(sql.SQL("VACUUM FULL {}").format(sql.SQL(table)))
    psycopg.connect(url).close()
