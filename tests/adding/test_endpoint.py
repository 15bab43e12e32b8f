"""An endpoint is added in two files beside tests and docs: its module and the table."""

from tests.adding.copied import Copy

MAX_FILES = 2
MODULE = '''\
"""The endpoint that shows what a project's sender accounts may still send today."""

from dataclasses import dataclass

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.core.providers import Provider
from mailqueue.senders import accounts
from mailqueue.projects.model import Scope


@dataclass(frozen=True, slots=True)
class AccountHeadroom:
    """What one account may still send today, in recipients; null is no limit."""

    name: str
    sent_today: int
    headroom: int | None


@dataclass(frozen=True, slots=True)
class ProjectHeadroom:
    """The accounts of a project, in the order they are tried."""

    data: list[AccountHeadroom]


async def show(call: RequestContext) -> ProjectHeadroom:
    """Show what each account may still send today."""
    async with call.connection() as conn:
        listed = await accounts.list_all(conn, project=call.caller.project)
        found = [one for one in listed if one.provider is not Provider.TRAP]
        today = await accounts.headroom_by_id(conn, found)
    return ProjectHeadroom(
        [
            AccountHeadroom(one.name, today[one.id].daily_sent, today[one.id].headroom)
            for one in found
        ]
    )


ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/projects/{pid}/headroom",
        Scope.PROJECT_READ,
        "Show what the sender accounts may still send today.",
        show,
        response=ProjectHeadroom,
        tag="Sender accounts",
        test_keys=ForTestKeys.READ,
    ),
)
'''
TEST = '''\
"""What accounts may still send is shown to their project, and to nobody else."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.wired import Wired, wired

pytestmark = pytest.mark.anyio
PATH = "/v1/projects/shop/headroom"


@pytest.fixture
async def shop(database: DatabaseSettings) -> AsyncIterator[Wired]:
    async with wired(database) as made:
        yield made


async def test_the_headroom_of_each_account_is_shown(shop: Wired) -> None:
    await shop.made(name="relay", daily_limit=500)

    answer = await shop.call("GET", PATH)

    assert answer.status_code == 200, answer.text
    assert answer.json() == {"data": [{"name": "relay", "sent_today": 0, "headroom": 500}]}
'''


def test_an_endpoint_is_added_in_two_files(copy: Copy) -> None:
    copy.add("mailqueue/api/senders/headroom.py", MODULE)
    table = "mailqueue/api/table.py"
    copy.insert(table, "    *headroom.ENDPOINTS,\n", before="*byok.ENDPOINTS")
    imported = "from mailqueue.api.senders import headroom\n"
    copy.insert(table, imported, before="from mailqueue.api.sending import attachments")
    copy.add("tests/api/senders/test_headroom.py", TEST)
    copy.run("-m", "tests.api.http.golden", "--write")

    assert len(copy.changed) <= MAX_FILES, copy.changed
    copy.pytest(
        *("tests/api/senders/test_headroom.py", "tests/api/http/test_golden.py"),
        "tests/rules/test_imports.py",
    )
