"""What creates the databases of the tests goes on after tests that end sessions."""

import psycopg

from tests.conftest import Server
from tests.databases import Databases

END_SESSIONS = """
SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
EXISTS = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = %s)"


def exists(admin: psycopg.Connection, name: str) -> bool:
    row = admin.execute(EXISTS, [name]).fetchone()
    return row is not None and row[0] is True


def test_a_database_goes_with_its_sessions_also_after_that_of_its_maker_was_ended(
    server: Server, databases: Databases
) -> None:
    with psycopg.connect(server.superuser, autocommit=True) as admin:
        with databases.lent() as name:
            left_open = psycopg.connect(server.superuser_url(name), autocommit=True)
            ended = admin.execute(END_SESSIONS).fetchone()
            assert exists(admin, name)

        assert ended is not None
        assert ended[0] >= 1
        assert not exists(admin, name)
        with left_open, databases.lent() as other:
            assert exists(admin, other)
        assert not exists(admin, other)
