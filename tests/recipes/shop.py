"""A shop with its own table, and the code of the recipe pages that fills it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

from tests.docs.reading import blocks

LOGIN = "shop"
SHOWN = "shop@db.example.com/shop"
COUNTS = "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM mailqueue.email_queue)"
# Roles belong to the server, not to one database: several processes of a run may meet here.
_LOGIN = """
DO $$ BEGIN
    CREATE ROLE shop LOGIN PASSWORD 'shop';
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$
"""
_TABLE = """
CREATE TABLE orders (id integer PRIMARY KEY, email text NOT NULL);
GRANT ALL ON orders TO shop;
"""


@dataclass(frozen=True, slots=True)
class Shop:
    """A database with `orders` and `mailqueue`; `login` is `shop:shop@host:port/database`."""

    superuser: str
    login: str

    @property
    def url(self) -> str:
        return f"postgresql://{self.login}"

    def counts(self) -> tuple[int, int]:
        """Return the numbers of orders and of queued mails."""
        with psycopg.connect(self.superuser) as conn:
            row = conn.execute(COUNTS).fetchone()
        assert row is not None
        return row[0], row[1]

    def reconnected(self, text: str) -> str:
        """Return a page's code with the address of this database."""
        assert SHOWN in text
        return text.replace(SHOWN, self.login)


@contextmanager
def opened(superuser: str, grant: str) -> Iterator[Shop]:
    """Yield a shop in a migrated database; the statement `grant` gave its login the role."""
    with psycopg.connect(superuser, autocommit=True) as conn:
        conn.execute(_LOGIN)
        conn.execute(_TABLE)
        conn.execute(grant.encode())
    host = superuser.partition("@")[2] or superuser.partition("://")[2]
    yield Shop(superuser, f"{LOGIN}:{LOGIN}@{host}")


def shown(page: str, language: str) -> list[str]:
    """Return the blocks of a recipe page in one language."""
    found = [each.text for each in blocks(language) if each.page == f"docs/recipes/{page}.md"]
    assert found
    return found
