"""Isolate: emails that take long to render delay those of other projects by one turn at most."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import cast
from uuid import UUID, uuid4

import pytest

from mailqueue.db.link import Link
from mailqueue.mail.message.tracking import EmailTracking
from mailqueue.mail.model import LoadedEmail
from mailqueue.mail.send.begun import BegunEmails
from mailqueue.mail.send.load import EmailLoader
from mailqueue.mail.send.turns import (
    MIN_KEPT,
    SURPLUS,
    WAITING_UNITS,
    LoadingTurns,
)
from mailqueue.rendering.compiled import Compiler
from mailqueue.templates.cache import CachedVersion
from mailqueue.templates.model import VersionSource
from tests.mail.claims import claimed, loaded

pytestmark = pytest.mark.anyio

LOOP = "{% for i in range(2000) %}{% for j in range(20) %}{% endfor %}{% endfor %}"
PLAIN = "<p>Hello {{ name }}</p>"
EXCESSIVE = "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}"


class Turns(LoadingTurns):
    """Records the emails that it dispatches and returns to the queue."""

    def __init__(self) -> None:
        loader = EmailLoader(cast("Link", None), EmailTracking(), BegunEmails())
        super().__init__(loader, self._note, self._note_return)
        self.dispatched: list[LoadedEmail] = []
        self.returned: list[tuple[LoadedEmail, str, timedelta]] = []

    async def _note(
        self, mails: Sequence[LoadedEmail], _send_at: Mapping[UUID, float] | None, _at: float
    ) -> None:
        self.dispatched += mails

    def _note_return(self, mail: LoadedEmail, reason: str, wait: timedelta) -> None:
        self.returned.append((mail, reason, wait))


def version(html: str) -> CachedVersion:
    return CachedVersion(Compiler(), VersionSource(uuid4(), "", "s", html, "t", {}, None))


def emails(project: UUID, template: CachedVersion, count: int) -> list[LoadedEmail]:
    custom = {"variables": {"name": "Ann"}}
    return [
        loaded(
            email=claimed(project_id=project, custom_data=custom),
            template_version_id=uuid4(),
        )._replace(template=template)
        for _ in range(count)
    ]


async def test_an_expensive_batch_delays_another_project_by_one_email() -> None:
    batch, other, turns = uuid4(), uuid4(), Turns()
    turns.add(emails(batch, version(LOOP), 40), {}, 0.0)
    await turns.take_turn()
    turns.add(emails(other, version(PLAIN), 1), {}, 0.0)

    await turns.take_turn()
    await turns.take_turn()

    projects = [mail.claim.project_id for mail in turns.dispatched]
    assert projects.index(other) <= 2
    assert len(projects) == 3


async def test_projects_take_turns_by_work_and_not_by_emails() -> None:
    dear, cheap, turns = uuid4(), uuid4(), Turns()
    turns.add(emails(dear, version(LOOP), 20), {}, 0.0)
    turns.add(emails(cheap, version(PLAIN), 500), {}, 0.0)

    while turns.count > 0 and [m.claim.project_id for m in turns.dispatched].count(cheap) < 500:
        await turns.take_turn()

    assert [mail.claim.project_id for mail in turns.dispatched].count(dear) <= 2


async def test_cheap_emails_of_one_project_are_loaded_together() -> None:
    turns = Turns()
    turns.add(emails(uuid4(), version(PLAIN), 200), {}, 0.0)

    await turns.take_turn()

    assert len(turns.dispatched) == 200
    said = [mail.rendered for mail in turns.dispatched]
    assert {one.html for one in said if one is not None} == {"<p>Hello Ann</p>"}


async def test_too_much_work_of_one_project_goes_back_to_the_queue() -> None:
    project, other, turns = uuid4(), uuid4(), Turns()
    mails = emails(project, version(LOOP), 400)
    turns.add(mails, {}, 0.0)
    for _ in range(20):
        await turns.take_turn()
    turns.add(emails(other, version(PLAIN), 300), {}, 0.0)

    assert {mail.claim.project_id for mail, _, _ in turns.returned} == {project}
    assert {reason for _, reason, _ in turns.returned} == {SURPLUS}
    waiting = turns.count - 300
    assert waiting >= MIN_KEPT
    assert waiting * 140_000 <= WAITING_UNITS
    assert waiting + len(turns.returned) + len(turns.dispatched) == 400
    ids = [mail.claim.id for mail in mails]
    assert [mail.claim.id for mail in turns.dispatched] == ids[: len(turns.dispatched)]


async def test_an_email_that_exceeds_a_limit_has_that_fault_and_counts_what_it_took() -> None:
    dear, cheap, turns = uuid4(), uuid4(), Turns()
    turns.add(emails(dear, version(EXCESSIVE), 2), {}, 0.0)
    turns.add(emails(cheap, version(PLAIN), 2), {}, 0.0)

    for _ in range(3):
        await turns.take_turn()

    first, *others = turns.dispatched
    assert first.fault is not None
    assert first.fault.is_lasting
    assert "steps" in first.fault.reason
    assert [mail.claim.project_id for mail in others] == [cheap, cheap, dear]


async def test_a_worker_that_stops_returns_what_waits() -> None:
    turns = Turns()
    mails = emails(uuid4(), version(LOOP), 3)
    turns.add(mails, {}, 0.0)
    await turns.take_turn()

    assert [mail.claim.id for mail in await turns.take_all()] == [m.claim.id for m in mails[1:]]
    assert turns.count == 0
