"""A command is added in two files beside tests and docs: its module and the list of commands."""

from tests.adding.copied import Copy

MAX_FILES = 2
MAX_LINES = 40
MODULE = '''\
"""`mailqueue headroom`: what sender accounts may still send today."""

import click

from mailqueue.cli.support.answer import execute, print_rows, json_option
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples
from mailqueue.senders import accounts

_COLUMNS = (
    Column("name", "SENDER"),
    Column("sent", "SENT", numeric=True),
    Column("headroom", "LEFT", numeric=True),
)


@click.command(epilog=examples("mailqueue headroom", "mailqueue headroom --project shop --json"))
@click.option("--project", default="default", show_default=True, help="Project of the accounts.")
@json_option
def headroom(*, project: str) -> None:
    """Show what each sender account may still send today, in recipients."""

    async def listed(app: Opened) -> list[dict[str, object]]:
        found = await accounts.list_all(app.conn, project=project)
        today = await accounts.headroom_by_id(app.conn, found)
        return [
            {"name": one.name, "sent": today[one.id].daily_sent, "headroom": today[one.id].headroom}
            for one in found
        ]

    print_rows(execute(listed), _COLUMNS)
'''
ENTRY = (
    '    "headroom": Lazy("mailqueue.cli.senders.headroom:headroom", "Show what may be sent."),\n'
)
TEST = '''\
"""What accounts may still send is printed as a table and as JSON."""

import json

from tests.cli.support.invoked import Cli


def test_the_headroom_of_each_account_is_printed(on_fresh_db: Cli) -> None:
    known = ("--name", "relay", "--host", "127.0.0.1", "--daily-limit", "500")
    assert on_fresh_db("sender", "add", *known).exit_code == 0

    shown = on_fresh_db("headroom")
    document = on_fresh_db("headroom", "--json")

    assert shown.exit_code == 0, shown.output
    assert "SENDER" in shown.stdout
    assert "500" in shown.stdout
    assert {"name": "relay", "sent": 0, "headroom": 500} in json.loads(document.stdout)
'''


def test_a_command_is_added_in_two_files_and_forty_lines(copy: Copy) -> None:
    copy.add("mailqueue/cli/senders/headroom.py", MODULE)
    copy.insert("mailqueue/cli/commands.py", ENTRY, before='"route": Lazy(')
    copy.add("tests/cli/senders/test_headroom.py", TEST)

    assert len(copy.changed) <= MAX_FILES, copy.changed
    assert len(MODULE.splitlines()) <= MAX_LINES
    assert "headroom" in copy.run("-m", "mailqueue", "--help")
    copy.pytest("tests/cli/senders/test_headroom.py")
