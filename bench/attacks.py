"""What a project may do to take the processes that serve all projects: requests and mails whose
work is as large as what is accepted.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import httpx2

from mailqueue.db.fetch import Conn

NAME = "attacker"
AT_ONCE = 8
"""Requests that are repeated at the same time."""
RECIPIENTS = 200
"""Mails of one request for a batch."""
_LOUD = "{% set v='" + "\ufdfa" * 10_000 + "' %}{% set w=v~v %}" + "{% set w=w~w %}" * 2
DEAR = _LOUD + '{% for i in range(12) %}<p style="{{ w }}">x</p>{% endfor %}'
LINKS = (
    "{% for i in range(3) %}{% for a in range(7600) %}"
    '<a href="x{{ a }}?\u00e9={{a}}">x</a>{% endfor %}{% endfor %}'
)
LOOP = "{% for i in range(2000) %}{% for j in range(90) %}{{ j }}{% endfor %}{% endfor %}"
BODIES = (
    "</body>x" * 1_000_000,
    "</script" * 1_000_000,
    "<!--</body>" * 500_000,
    "unsubscrib" * 2_000_000,
    "{{ unsubscribe_url }} " * 500_000,
)
_INSERT = """
INSERT INTO mailqueue.email_queue (project_id, recipient_email, category, subject, html_body)
SELECT id, 'person' || n || '@example.com', 'marketing', 's', %s
  FROM mailqueue.projects, generate_series(1, 3) AS n WHERE name = 'attacker'
"""


@dataclass(slots=True)
class Attacker:
    """A project with its key, and what was answered."""

    conn: Conn
    api: httpx2.AsyncClient
    console: httpx2.AsyncClient
    project_id: str
    answers: dict[int, int] = field(default_factory=dict)
    """Requests by status of the answer."""
    refusals: dict[int, str] = field(default_factory=dict)
    """The first answer of each status that is an error."""

    async def ask(self, method: str, path: str, **body: object) -> httpx2.Response:
        """Send a request of the project's key, and count its answer."""
        response = await self.api.request(method, path, json=body or None)
        self.note(response)
        return response

    def note(self, response: httpx2.Response) -> None:
        """Count an answer."""
        status = response.status_code
        self.answers[status] = self.answers.get(status, 0) + 1
        if status >= 400:
            self.refusals.setdefault(status, response.text[:500])

    async def template(self, slug: str, *texts: str) -> None:
        """Write a template with a version for each text, and publish the last one."""
        path = f"/v1/projects/{self.project_id}/templates"
        (await self.ask("POST", path, slug=slug)).raise_for_status()
        for number, text in enumerate(texts, 1):
            said = {"subject": "s", "html_body": text}
            made = await self.ask("POST", f"{path}/{slug}/versions", **said)
            made.raise_for_status()
            published = await self.ask("POST", f"{path}/{slug}/versions/{number}/publish")
            published.raise_for_status()


Step = Callable[[Attacker], Awaitable[object]]


class Attack(NamedTuple):
    """A way to take a process: what is prepared, then one step, repeated by several at once."""

    name: str
    prepare: Step | None
    step: Step
    at_once: int = AT_ONCE


async def _nothing(_attacker: Attacker) -> None:
    await asyncio.sleep(0.1)


def _batch_of(text: str) -> Step:
    async def prepare(attacker: Attacker) -> None:
        await attacker.template("dear", text)
        people = [{"email": f"person{n}@example.com"} for n in range(RECIPIENTS)]
        sent = {"template_slug": "dear", "recipients": people}
        await attacker.ask("POST", "/v1/send/template/batch", **sent)

    return prepare


def _lines(first: int) -> str:
    letters = [chr(0x4E00 + (first + 7919 * n) % 20_000) for n in range(100_000)]
    return "\n".join(letters)


async def _two_versions(attacker: Attacker) -> None:
    await attacker.template("long", _lines(0), _lines(1))


async def _diff(attacker: Attacker) -> None:
    path = f"/v1/projects/{attacker.project_id}/templates/long/versions/diff?from=1&to=2"
    await attacker.ask("GET", path)


async def _preview(attacker: Attacker) -> None:
    path = f"/v1/projects/{attacker.project_id}/templates/dear/preview"
    await attacker.ask("POST", path, variables={"a": 1})


async def _source(attacker: Attacker) -> None:
    row = await (
        await attacker.conn.execute(
            "SELECT id FROM mailqueue.emails WHERE project_id::text = %s LIMIT 1",
            (attacker.project_id,),
        )
    ).fetchone()
    if row is not None:
        await attacker.ask("GET", f"/v1/emails/{row[0]}/source")


async def _bodies(attacker: Attacker) -> None:
    for body in BODIES:
        await attacker.conn.execute(_INSERT, (body,))


async def _many_links(attacker: Attacker) -> None:
    links = "".join(f'<a href="https://example.com/{n}">x</a>' for n in range(30_000))
    sent = {"to": "person@example.com", "subject": "s", "html_body": links, "track_clicks": True}
    await attacker.ask("POST", "/v1/send", **sent)


async def _import(attacker: Attacker) -> None:
    rows = "".join(f"person{n}@example.com,Person {n}\n" for n in range(20_000))
    file, headers = "email,first_name\n" + rows, {"Content-Type": "text/csv"}
    attacker.note(await attacker.api.post("/v1/contacts/import", content=file, headers=headers))


async def _log_in(attacker: Attacker) -> None:
    asked = {"name": "nobody", "password": "not the password"}
    own = {"Origin": str(attacker.console.base_url).rstrip("/")}
    attacker.note(await attacker.console.post("/console/login", data=asked, headers=own))


async def _inline_server(attacker: Attacker) -> None:
    server = {"host": "192.0.2.1", "port": 25}
    people = {"to": "person@example.com", "from_email": "sender@example.com"}
    sent = {**people, "subject": "s", "text_body": "t", "smtp_override": server}
    await attacker.ask("POST", "/v1/send", **sent)


ATTACKS = (
    Attack("nothing", None, _nothing),
    Attack("a template that is dear to escape", _batch_of(DEAR), _nothing),
    Attack("a template with many links", _batch_of(LINKS), _nothing),
    Attack("a template with long loops", _batch_of(LOOP), _nothing),
    Attack("differences of long texts", _two_versions, _diff),
    Attack("sources of a dear mail", _batch_of(DEAR), _source),
    Attack("previews of a dear template", _batch_of(LOOP), _preview),
    Attack("bodies that are dear to track", None, _bodies, at_once=1),
    Attack("mails with many links to track", None, _many_links),
    Attack("imports of contacts", None, _import),
    Attack("logins to the console", None, _log_in, at_once=50),
    Attack("servers of its own that do not answer", None, _inline_server),
)


async def keep_up(attack: Attack, attacker: Attacker, end: asyncio.Event) -> None:
    """Prepare an attack and repeat its step until `end` is set."""
    if attack.prepare is not None:
        await attack.prepare(attacker)

    async def repeat() -> None:
        while not end.is_set():
            with suppress(httpx2.HTTPError):
                await attack.step(attacker)

    steps = [asyncio.create_task(repeat()) for _ in range(attack.at_once)]
    await end.wait()
    for step in steps:
        step.cancel()
    await asyncio.gather(*steps, return_exceptions=True)
