"""Links that set passwords go by mail to users whose name is an address, and are stored nowhere."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes
from email.policy import default
from typing import Any

import pytest
from structlog.testing import capture_logs

from mailqueue.admin.users import mailing, manage
from mailqueue.admin.users.attempts import AttemptRate
from mailqueue.admin.users.mailing import LinkMailer
from mailqueue.core.address import parse_address
from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage, Verdict
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.visiting import Visiting, Visitor, visiting
from tests.senders.test_trial import FakeChannel, FakeTransport

pytestmark = pytest.mark.anyio

FORGOTTEN = "/console/login/forgotten"
INVITE = "/console/projects/default/members/invite"
ANN = "ann@example.com"
URL = "https://mail.example.com"
ON_ITS_WAY = "If there is a user with this address, a link is on its way to it."
TAKEN = Accepted("250", "2.0.0 taken")
FULL = Rejected(Fault.TRANSIENT, "452", "452 <b>full</b>", Stage.DOT)
_LINK = re.compile(re.escape(URL) + r"(/console/welcome\?link=mq_link_\w+)")


class Post:
    """A console that mails links by a server with one answer."""

    def __init__(self, console: Visiting, mailer: LinkMailer, channel: FakeChannel) -> None:
        self.console, self.mailer, self.channel = console, mailer, channel

    async def mails(self) -> list[tuple[tuple[str, ...], str]]:
        """Return the recipients and the text of each mail, once all requests are worked on."""
        await asyncio.gather(*self.mailer.resetting)
        return [(each.envelope.recipients, _text_of(each.message)) for each in self.channel.sent]

    async def asks(self, name: str, visitor: Visitor) -> tuple[int, str]:
        """Ask for a link as a person who forgot the password."""
        response = await visitor.post(FORGOTTEN, {"name": name})
        return response.status_code, response.text


class SilentChannel(FakeChannel):
    """A channel whose server takes a mail and never answers."""

    async def send(self, *_: Any, **_options: Any) -> None:
        await asyncio.Event().wait()


def _text_of(message: bytes) -> str:
    text: str = message_from_bytes(message, policy=default).get_content()
    return text


@asynccontextmanager
async def posting(
    database: DatabaseSettings, verdict: Verdict = TAKEN, channel: FakeChannel | None = None
) -> AsyncIterator[Post]:
    channel = channel or FakeChannel(verdict)
    mailer = LinkMailer(lambda: FakeTransport(channel), parse_address("console@example.com"), URL)
    async with visiting(database, link_mailer=mailer) as console:
        yield Post(console, mailer, channel)


async def test_an_invitation_is_mailed_and_its_link_shown_and_stored_nowhere(
    database: DatabaseSettings,
) -> None:
    async with posting(database) as post, post.console.visitor() as visitor:
        await post.console.add_user("ben", "project_admin", "default")
        await visitor.log_in("ben")
        asked = await visitor.get(INVITE)
        shown = await visitor.submit(INVITE, INVITE, name=ANN, role="viewer")
        [(recipients, text)] = await post.mails()
        opened = await visitor.get(_LINK.findall(text)[0])
        async with post.console.connection() as conn:
            stored = await make.scalar(conn, "SELECT count(*) FROM mailqueue.emails")
            audit = await make.rows(conn, "SELECT detail::text FROM mailqueue.audit_events")

    assert "gets a link by email" in asked.text
    assert recipients == (ANN,)
    assert ANN in opened.text
    assert "mq_link_" not in shown.text
    assert "The link was mailed to" in shown.text
    assert stored == 0
    assert "mq_link_" not in str(audit)


@pytest.mark.parametrize("name", ["ann", ANN])
async def test_a_link_that_was_not_mailed_is_shown_with_the_reason(
    database: DatabaseSettings, name: str
) -> None:
    async with posting(database, FULL) as post, post.console.visitor() as visitor:
        await post.console.add_user("ben", "project_admin", "default")
        await visitor.log_in("ben")
        shown = await visitor.submit(INVITE, INVITE, name=name, role="viewer")
        mails = await post.mails()

    assert "/console/welcome?link=mq_link_" in shown.text
    assert ("452 &lt;b&gt;full&lt;/b&gt;" in shown.text) == (name == ANN)
    assert len(mails) == (name == ANN)


async def test_a_server_that_does_not_answer_keeps_no_link_from_the_person_who_invites(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailing, "SEND_SECONDS", 0.0)
    async with posting(database, channel=SilentChannel(TAKEN)) as post:
        await post.console.add_user("ben", "project_admin", "default")
        async with post.console.visitor() as visitor:
            await visitor.log_in("ben")
            shown = await visitor.submit(INVITE, INVITE, name=ANN, role="viewer")

    assert "/console/welcome?link=mq_link_" in shown.text
    assert "It may not have been mailed: " in shown.text
    assert not post.channel.is_usable


async def test_one_project_has_few_links_mailed_and_the_others_shown(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailing, "INVITED", AttemptRate(1000.0, 2))
    async with posting(database) as post, post.console.visitor() as visitor:
        await post.console.add_user("ben", "project_admin", "default")
        await visitor.log_in("ben")
        names = ("cat", *(f"c{number}@example.com" for number in range(3)))
        shown = [
            (await visitor.submit(INVITE, INVITE, name=name, role="viewer")).text for name in names
        ]
        mails = await post.mails()

    assert [recipients for recipients, _ in mails] == [("c0@example.com",), ("c1@example.com",)]
    assert "/console/welcome?link=mq_link_" in shown[-1]
    assert "too many links of this project were mailed" in shown[-1]


async def test_a_forgotten_password_is_replaced_by_a_mailed_link_once(
    database: DatabaseSettings,
) -> None:
    new = "another good sentence"
    async with posting(database) as post, post.console.visitor() as visitor:
        await post.console.add_user(ANN, "support", "default")
        login = await visitor.get("/console/login")
        status, text = await post.asks(" Ann@Example.com ", visitor)
        [(recipients, mail)] = await post.mails()
        path = _LINK.findall(mail)[0]
        old = await visitor.log_in(ANN)
        fields = await visitor.form(path, "/console/welcome")
        for expected in (200, 404):
            done = await visitor.post("/console/welcome", fields | {"password": new, "again": new})
            assert done.status_code == expected
        after = await visitor.log_in(ANN, new)
        async with post.console.connection() as conn:
            query = "SELECT actor FROM mailqueue.audit_events WHERE action = 'console_user.linked'"
            actors = await make.rows(conn, query)

    assert f'href="{FORGOTTEN}"' in login.text
    assert (status, ON_ITS_WAY in text) == (200, True)
    assert recipients == (ANN,), "the stored name, not the one that was typed"
    assert old.status_code == 303, "the password stays until the link is used"
    assert after.status_code == 303
    assert actors == [(f"{ANN} (forgotten password)",)]


async def test_why_a_link_was_refused_is_logged_without_the_address(
    database: DatabaseSettings,
) -> None:
    unknown = Rejected(Fault.PERMANENT_RECIPIENT, "550", f"<{ANN}> unknown", Stage.RCPT)
    async with posting(database, unknown) as post, post.console.visitor() as visitor:
        await post.console.add_user(ANN, "support", "default")
        with capture_logs() as logs:
            await post.asks(ANN, visitor)
            await post.mails()

    [line] = [line for line in logs if line["event"] == "console.reset_refused"]
    assert (line["code"], line["stage"]) == ("550", "rcpt")
    assert ANN not in str(line)


async def test_the_answer_does_not_tell_whether_there_is_such_a_user(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailing, "RESETS", AttemptRate(60.0, 10))
    async with posting(database) as post, post.console.visitor() as visitor:
        await post.console.add_user(ANN, "support", "default")
        await post.console.add_user("ben", "support", "default")
        await post.console.add_user("gone@example.com", "support", "default")
        async with post.console.connection() as conn:
            await conn.execute(
                "UPDATE mailqueue.console_users SET removed_at = now() WHERE name LIKE 'gone%'"
            )
        names = (ANN, "ben", "gone@example.com", "none@example.com", "<script>", "")
        answers = {await post.asks(name, visitor) for name in names}
        mails = await post.mails()

    assert len(answers) == 1
    assert [recipients for recipients, _ in mails] == [(ANN,)]


async def test_a_link_that_a_person_asks_for_leaves_the_one_that_was_handed_over_valid(
    database: DatabaseSettings,
) -> None:
    async with posting(database) as post, post.console.visitor() as visitor:
        async with post.console.connection() as conn:
            made = await manage.add(conn, ANN, role="support", projects=["default"], by="tests")
        for _ in range(2):
            await post.asks(ANN, visitor)
        first, second = [_LINK.findall(text)[0] for _, text in await post.mails()]
        handed_over = manage.link_url("", made)
        opened = [(await visitor.get(link)).text for link in (handed_over, first, second)]
        async with post.console.connection() as conn:
            renewed = await manage.renew_link(conn, ANN, by="tests")
        later = [
            (await visitor.get(link)).text
            for link in (handed_over, second, manage.link_url("", renewed))
        ]

    assert [ANN in text for text in opened] == [True, False, True]
    assert [ANN in text for text in later] == [False, False, True]


@pytest.mark.parametrize("name", [ANN, "none@example.com"])
async def test_links_for_one_name_are_few_whether_there_is_such_a_user_or_not(
    database: DatabaseSettings, name: str
) -> None:
    async with posting(database) as post:
        await post.console.add_user(ANN, "support", "default")
        answers = []
        for number in range(4):
            async with post.console.visitor(address=f"192.0.2.{number}") as visitor:
                answers.append((await post.asks(name, visitor))[0])
        mails = await post.mails()

    assert answers == [200, 200, 200, 429]
    assert len(mails) == (3 if name == ANN else 0)


async def test_one_network_asks_for_few_links(database: DatabaseSettings) -> None:
    async with posting(database) as post, post.console.visitor() as visitor:
        answers = [(await post.asks(f"a{n}@example.com", visitor))[0] for n in range(6)]

    assert answers == [200, 200, 200, 200, 200, 429]


async def test_without_a_server_for_it_the_pages_say_who_makes_a_link(console: Visiting) -> None:
    async with console.visitor() as visitor:
        login, asked = await visitor.get("/console/login"), await visitor.get(FORGOTTEN)
        posted = await visitor.post(FORGOTTEN, {"name": ANN})

    assert FORGOTTEN not in login.text
    assert "No links are mailed here." in asked.text
    assert posted.status_code == 404
