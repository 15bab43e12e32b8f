"""Mail from a template: rendered by the worker, each with its own variables."""

from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from mailqueue.mail.accept.enqueue import NewEmail, enqueue_batch
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.templates.model import NewText
from tests import make
from tests.concurrency.running import account_at, session, until_nothing_is_queued
from tests.mail.enqueueing import enqueue
from tests.mail.send.test_worker import courier
from tests.smtp.client.scripted import ScriptedServer, scripted
from tests.templates.making import published

pytestmark = pytest.mark.anyio

BOMB = "{% for i in range(n) %}{% for j in range(n) %}x{% endfor %}{% endfor %}"
REASONS = "SELECT recipient_email, reason FROM mailqueue.email_history WHERE status = 'failed'"


def arrived(server: ScriptedServer) -> dict[str, EmailMessage]:
    """Return the received messages, by recipient."""
    found = [message_from_bytes(one.body, policy=policy.default) for one in server.messages]
    return {str(message["To"]): message for message in found}


def part(message: EmailMessage, subtype: str) -> str:
    """Return the text of one of a message's bodies."""
    found = message.get_body((subtype,))
    assert found is not None
    return str(found.get_content()).strip()


async def test_each_mail_says_what_its_variables_make_of_the_template(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    words = {
        "": NewText("Hi {{ name }}", "<p>Hello {{ name }}</p>{{ n }}"),
        "de": NewText("Hallo {{.name}}", "<p>Guten Tag, {% if n > 1 %}{{ name }}{% endif %}</p>"),
    }
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        await published(conn, await make.project_named(conn), words=words)
        both = [("ann", "en"), ("bob", "de")]
        emails = [
            NewEmail(
                f"{name}@example.com",
                None,
                options={
                    "template": "welcome",
                    "language": tag,
                    "variables": {"name": f"<{name}>", "n": 2},
                },
            )
            for name, tag in both
        ]
        await enqueue_batch(conn, emails, project="default")
        async with courier(database, tmp_path):
            assert await until_nothing_is_queued(conn) == {"sent": 2}

    found = arrived(server)
    ann, bob = found["ann@example.com"], found["bob@example.com"]
    assert (ann["Subject"], bob["Subject"]) == ("Hi <ann>", "Hallo <bob>")
    assert part(ann, "html") == "<p>Hello &lt;ann&gt;</p>2"
    assert part(bob, "html") == "<p>Guten Tag, &lt;bob&gt;</p>"
    assert part(bob, "plain") == "Guten Tag, <bob>"


async def test_mail_that_cannot_be_rendered_fails_alone_and_says_why(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    words = NewText("{{ name }}", None, "{% if n %}" + BOMB + "{{ order.total }}{% endif %}ok")
    cases: dict[str, dict[str, Any]] = {
        "fine": {"n": 0},
        "bomb": {"n": 9000},
        "gap": {"n": 1, "order": {}},
    }
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        await published(conn, await make.project_named(conn), words=words)
        for name, variables in cases.items():
            options = {"template": "welcome", "variables": {"name": name, **variables}}
            await enqueue(
                conn, NewEmail(f"{name}@example.com", None, options=options), project="default"
            )
        async with courier(database, tmp_path):
            assert await until_nothing_is_queued(conn) == {"sent": 1, "failed": 2}
        reasons = dict(await make.rows(conn, REASONS))

    assert list(arrived(server)) == ["fine@example.com"]
    assert reasons["bomb@example.com"] == "text, line 1: it takes more than 200000 steps"
    assert reasons["gap@example.com"] == "text, line 1: total of an object is missing"


async def test_mail_accepted_before_its_template_was_deleted_is_still_rendered(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        template = await published(conn, await make.project_named(conn))
        options = {"template": "welcome", "variables": {"name": "Ann"}}
        await enqueue(conn, NewEmail("a@example.com", None, options=options), project="default")
        await conn.execute("SELECT mailqueue.remove_template(%s)", (template.id,))
        async with courier(database, tmp_path):
            assert await until_nothing_is_queued(conn) == {"sent": 1}

    assert arrived(server)["a@example.com"]["Subject"] == "Welcome, Ann"
