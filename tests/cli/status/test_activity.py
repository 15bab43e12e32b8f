"""`mailqueue activity`: response times by account, and attempts a minute."""

import json

from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.support.invoked import Cli


async def two_accounts(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    await make.sender_account(conn, project_id=shop, name="slow")
    await make.sender_account(conn, name="quick")
    await make.logged_attempts(conn, "slow", 2, "deferred", 500)
    await make.logged_attempts(conn, "quick", 2, "sent", 10)


def test_without_attempts_it_says_so(on_fresh_db: Cli) -> None:
    result = on_fresh_db("activity")

    assert (result.exit_code, result.stdout) == (0, "no attempt to send within the hour\n")


def test_the_slowest_account_comes_first(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(two_accounts)
    lines = on_fresh_db("activity").stdout.splitlines()

    assert lines[0].split()[:2] == ["ACCOUNT", "PROJECT"]
    assert lines[1].split() == ["slow", "shop", "smtp", "250", "475", "500", "500", "0", "0"]
    assert lines[2].split()[0] == "quick"
    assert lines[-2].split()[-4:] == ["10", "500", "0", "0"]
    assert lines[-1].split()[-4:] == ["0"] * 4

    found = json.loads(on_fresh_db("activity", "--project", "shop", "--json").stdout)
    assert [each["sender"] for each in found["accounts"]] == ["slow"]
    assert [each["deferred"] for each in found["minutes"]][-2:] == [500, 0]
    assert on_fresh_db("activity", "--project", "nowhere").exit_code == 1
