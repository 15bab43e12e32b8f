"""The tables of an application on the embedded server, as the recipe makes them."""

import re

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.docs.reading import blocks
from tests.whole.running import Up

pytestmark = pytest.mark.timeout(300)
[RECIPE] = [one.text for one in blocks("sql") if "CREATE TABLE orders" in one.text]


def test_an_application_uses_its_tables_beside_those_of_mailqueue(shared_up: Up) -> None:
    """They are in the schema public, where its own login finds them and may create more."""
    home = shared_up.home
    done = home.run("psql", "-v", "ON_ERROR_STOP=1", "-c", RECIPE)
    assert done.returncode == 0, done.stderr
    place = "SELECT schemaname FROM pg_tables WHERE tablename = 'orders'"
    assert home.run("psql", "-XqAtc", place).stdout == "public\n"
    password = re.search(r"PASSWORD '([^']+)'", RECIPE)
    assert password is not None

    own_login = make_conninfo(shared_up.database, user="shop_app", password=password[1])
    with psycopg.connect(own_login) as conn:
        conn.execute("INSERT INTO orders VALUES (81, 'ann@example.com')")
        conn.execute("CREATE TABLE shipments (order_id bigint)")
        queue = "SELECT mailqueue.enqueue(recipient => email, subject => 's', text => 't')"
        [(email,)] = conn.execute(f"{queue} FROM orders").fetchall()

    assert shared_up.value("SELECT count(*) FROM mailqueue.emails WHERE id = %s", email) == 1
