"""The published Python library of Resend reads what became of the mail of a broadcast."""

from typing import Any
from uuid import UUID

import pytest
import requests
import resend
from resend.exceptions import ResendError

from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.mail.model import Ending, LogStatus
from tests import make
from tests.clients.resend.people import ANN, added, empty, segment
from tests.clients.resend.test_broadcasts import draft, run
from tests.clients.serving import Served
from tests.events.sent_mail import event, told
from tests.mail.claim.steps import claim, due_now, settle

pytestmark = pytest.mark.usefixtures("resend_here")
Broadcasts = resend.Broadcasts
BOB = "bob@example.org"
SHOP, HELP = "https://shop.example.com/", "https://help.example.com/"


@pytest.fixture(autouse=True)
def emptied(site: Served) -> None:
    empty(site)
    for table in ("broadcasts", "schedule_runs", "schedules", "list_sends", "email_queue"):
        site.rows(f"DELETE FROM mailqueue.{table} RETURNING 1")


def sent(site: Served, *emails: str) -> tuple[str, dict[str, UUID]]:
    """Send a broadcast; return its id, and that of each mail by the address."""
    news = segment()
    for email in emails:
        added(email, segments=[{"id": news}])
    made = draft(news, send=True)
    run(site)
    found = dict(site.rows("SELECT recipient_email, id FROM mailqueue.email_queue"))
    site.run(send(site, len(found)))
    return made, found


async def send(site: Served, count: int) -> None:
    """Send the mail that waits."""
    async with connect(site.database) as conn:
        await due_now(conn)
        worker = await make.worker(conn)
        done: set[UUID] = set()
        for _ in range(count):
            claims = await claim(conn, worker)
            assert await settle(conn, claims, Ending.SENT, log=LogStatus.SENT) == []
            done |= {one.id for one in claims}
        assert len(done) == count


def happen(site: Served, mail: UUID, *kinds: Type, **data: str) -> None:
    async def record() -> None:
        async with connect(site.database) as conn:
            await told(conn, *(event(one, email_id=mail, data=data) for one in kinds))

    site.run(record())


def listed(broadcast: str, kind: str, **query: Any) -> list[dict[str, Any]]:
    found: Any = Broadcasts.recipients(broadcast, {"type": kind, **query})  # type: ignore[typeddict-item]
    rows: list[dict[str, Any]] = found["data"]
    return rows


def test_recipients_are_listed_by_what_happened(site: Served) -> None:
    made, mails = sent(site, ANN, BOB)
    happen(site, mails[ANN], Type.DELIVERED, Type.OPENED, Type.OPENED)
    happen(site, mails[ANN], Type.CLICKED, Type.CLICKED, url=SHOP)
    happen(site, mails[ANN], Type.CLICKED, url=HELP)
    happen(site, mails[BOB], Type.HARD_BOUNCE)
    happen(site, mails[BOB], Type.OPENED, is_machine="true")
    ann = resend.Contacts.get(email=ANN)["id"]
    cursor = str(mails[ANN])

    (opened,), (clicked,) = listed(made, "opened"), listed(made, "clicked")
    assert opened == {"id": cursor, "contact_id": ann, "email": ANN, "count": 2}
    links = [{"url": HELP, "clicks": 1}, {"url": SHOP, "clicks": 2}]
    assert (clicked["count"], clicked["clicked_links"]) == (3, links)
    assert [one["email"] for one in listed(made, "delivered")] == [ANN]
    (bounced,) = listed(made, "bounced", bounce_type="permanent")
    assert (bounced["email"], bounced["bounce_type"]) == (BOB, "permanent")
    for query in ({"bounce_type": "transient"}, {"bounce_type": "undetermined"}, {"email": "ann"}):
        assert listed(made, "bounced", **query) == []
    assert [one["email"] for one in listed(made, "bounced", email="BOB@")] == [BOB]
    assert listed(made, "complained") == listed(made, "unsubscribed") == []
    resend.Contacts.remove(email=ANN)
    assert listed(made, "opened")[0]["contact_id"] is None


def test_states_of_the_mail_are_events_too(site: Served) -> None:
    site.suppress(BOB)
    made, _ = sent(site, ANN, BOB)

    assert [one["email"] for one in listed(made, "sent")] == [ANN]
    assert [one["email"] for one in listed(made, "suppressed")] == [BOB]


def test_recipients_come_in_pages(site: Served) -> None:
    made, mails = sent(site, *(f"a{number}@example.org" for number in range(5)))
    for mail in mails.values():
        happen(site, mail, Type.OPENED)
    every = listed(made, "opened")
    first: Any = Broadcasts.recipients(made, {"type": "opened", "limit": 2})
    then = listed(made, "opened", limit=2, after=first["data"][-1]["id"])
    back: Any = Broadcasts.recipients(
        made, {"type": "opened", "limit": 2, "before": every[4]["id"]}
    )

    assert len(every) == 5
    assert (first["data"], first["has_more"]) == (every[:2], True)
    assert then == every[2:4]
    assert (back["data"], back["has_more"]) == (every[2:4], True)


def test_links_are_listed_with_their_clicks(site: Served) -> None:
    made, mails = sent(site, ANN, BOB)
    for mail in mails.values():
        happen(site, mail, Type.CLICKED, url=SHOP)
    happen(site, mails[ANN], Type.CLICKED, Type.CLICKED, url=HELP)
    happen(site, mails[ANN], Type.CLICKED, url=SHOP)
    happen(site, mails[BOB], Type.CLICKED, url="https://scan.example.com", is_machine="true")
    found: Any = Broadcasts.clicked_links(made)
    first: Any = Broadcasts.clicked_links(made, {"limit": 1})
    rest: Any = Broadcasts.clicked_links(made, {"after": first["data"][0]["id"], "limit": 5})

    counts = [(one["url"], one["clicks"], one["unique_clicks"]) for one in found["data"]]
    assert counts == [(SHOP, 3, 2), (HELP, 2, 1)]
    assert first["data"] + rest["data"] == found["data"]
    assert (first["has_more"], rest["has_more"]) == (True, False)


def test_a_draft_has_reached_no_one() -> None:
    made = draft(segment())

    assert listed(made, "opened") == Broadcasts.clicked_links(made)["data"] == []


def test_another_project_has_no_such_broadcast(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, mails = sent(site, ANN)
    happen(site, mails[ANN], Type.CLICKED, url=SHOP)
    monkeypatch.setattr(resend, "api_key", site.keys.other)

    for call in (lambda: listed(made, "clicked"), lambda: Broadcasts.clicked_links(made)):
        with pytest.raises(ResendError, match="Broadcast not found"):
            call()


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({}, "type"),
        ({"type": "read"}, "type"),
        ({"type": "opened", "bounce_type": "permanent"}, "bounce_type"),
        ({"type": "opened", "limit": "101"}, "limit"),
        ({"type": "opened", "after": "x"}, "after"),
        ({"type": "opened", "email": ""}, "email"),
        ({"type": "opened", "email": "a\0"}, "email"),
        ({"type": "opened", "after": str(UUID(int=1)), "before": str(UUID(int=2))}, "before"),
    ],
)
def test_a_bad_parameter_is_named(site: Served, query: dict[str, str], named: str) -> None:
    path = f"{site.url}/broadcasts/{draft(segment())}/recipients"
    headers = {"Authorization": f"Bearer {site.keys.live}"}
    answer = requests.get(path, params=query, headers=headers, timeout=30)

    assert answer.status_code == 422, answer.text
    assert named in answer.json()["message"]
