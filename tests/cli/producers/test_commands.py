"""`mailqueue producer`: logins bound to projects from the shell."""

import json
from urllib.parse import urlsplit

from tests.cli.support.invoked import Cli


def test_logins_are_bound_from_the_shell(on_fresh_db: Cli) -> None:
    me = urlsplit(on_fresh_db.database).username or ""
    bound = on_fresh_db("producer", "bind", me, "default")
    assert bound.stdout == f"{me} may enqueue for default, and no others\n"
    listed = json.loads(on_fresh_db("producer", "list", "--json").stdout)
    assert listed == [{"login": me, "projects": ["default"], "is_known": True}]
    left = on_fresh_db("producer", "unbind", me)
    assert left.stdout == f"{me} may enqueue for every project\n"
    assert on_fresh_db("producer", "list").stdout == "no login is bound to projects\n"
