"""What a project may do to take the processes that serve all projects: requests and mails whose
work is as large as what is accepted.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import httpx2

from mailqueue.db.fetch import Conn

NAME = "attacker"
AT_ONCE = 8
"""Requests that are repeated at the same time."""
SLOW_SECONDS = 3.0
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
    key: str
    templates: int = 0
    """Templates written so far; the slug of the last one has this number."""
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

    @property
    def slug(self) -> str:
        """Return the slug of the template written last."""
        return f"dear-{self.templates}"

    async def template(self, *texts: str, schema: dict[str, object] | None = None) -> None:
        """Write a template with a version for each text, and publish the last one."""
        path = f"/v1/projects/{self.project_id}/templates"
        self.templates += 1
        slug = self.slug
        await self.written(path, slug=slug)
        for number, text in enumerate(texts, 1):
            said = {"subject": "s", "html_body": text, "variables_schema": schema}
            await self.written(f"{path}/{slug}/versions", **said)
            await self.written(f"{path}/{slug}/versions/{number}/publish")

    async def written(self, path: str, **body: object) -> None:
        """Repeat a request until the limits of the key allow it."""
        while True:
            response = await self.ask("POST", path, **body)
            if response.status_code != 429:
                response.raise_for_status()
                return
            await asyncio.sleep(float(response.headers["retry-after"]))


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
        await attacker.template(text)
        people = [{"email": f"person{n}@example.com"} for n in range(RECIPIENTS)]
        sent = {"template_slug": attacker.slug, "recipients": people}
        await attacker.written("/v1/send/template/batch", **sent)

    return prepare


def _lines(first: int) -> str:
    letters = [chr(0x4E00 + (first + 7919 * n) % 20_000) for n in range(100_000)]
    return "\n".join(letters)


async def _two_versions(attacker: Attacker) -> None:
    await attacker.template(_lines(0), _lines(1))


async def _diff(attacker: Attacker) -> None:
    path = f"/v1/projects/{attacker.project_id}/templates/{attacker.slug}/versions/diff?from=1&to=2"
    await attacker.ask("GET", path)


async def _preview(attacker: Attacker) -> None:
    path = f"/v1/projects/{attacker.project_id}/templates/{attacker.slug}/preview"
    await attacker.ask("POST", path, variables={"a": 1})


async def _schema(attacker: Attacker) -> None:
    patterns = [{"pattern": f"^x{n}.*y"} for n in range(450)]
    texts: dict[str, object] = {"items": {"anyOf": patterns}}
    await attacker.template("x", schema={"type": "object", "properties": {"a": texts}})


async def _validate(attacker: Attacker) -> None:
    for count in (300, 2_000):
        sent = {"template_slug": attacker.slug, "to": "person@example.com"}
        await attacker.ask("POST", "/v1/send/template", **sent, variables={"a": ["x"] * count})


async def _try_out(attacker: Attacker) -> None:
    headers = {"X-Postmark-Server-Token": attacker.key}
    tried = {"Subject": "s", "HtmlBody": LOOP, "TextBody": "{{#a}}{{b}}{{/a}}" * 3_000}
    attacker.note(await attacker.api.post("/templates/validate", json=tried, headers=headers))


async def _form(attacker: Attacker) -> None:
    path, login = "/v3/example.com/messages", httpx2.BasicAuth("api", attacker.key)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    for body in (b"&" * 20_000_000, b"text=" + b"%41" * 6_000_000):
        attacker.note(await attacker.api.post(path, content=body, headers=headers, auth=login))


def _finished(header: bytes, body: bytes = b"text\r\n") -> bytes:
    head = b"From: sender@example.com\r\nSubject: s\r\n"
    return head + header + b"\r\n" + body


FINISHED = (
    _finished(b"X: y\r\n" + b" z\r\n" * 5_000_000),
    _finished(b"X: y\r\n" * 3_000_000),
    _finished(b"X: y\r\n" + b" =?utf-8?q?a?=\r\n" * 15_000),
    _finished(b"Content-Type: multipart/mixed; boundary=b\r\n", b"--b\r\n\r\n" * 2_000_000),
    _finished(b"Content-Type: multipart/mixed; boundary=b\r\n", b"--b\r\n\r\n" * 190),
)
"""Messages with large headers and many parts."""


async def _finished_messages(attacker: Attacker) -> None:
    path, login = "/v3/example.com/messages.mime", httpx2.BasicAuth("api", attacker.key)
    for message in FINISHED:
        to, files = {"to": "person@example.com"}, {"message": ("message", message)}
        attacker.note(await attacker.api.post(path, data=to, files=files, auth=login))


async def _slowly() -> AsyncIterator[bytes]:
    yield b"{"
    await asyncio.sleep(SLOW_SECONDS)
    yield b"}"


async def _slow_body(attacker: Attacker) -> None:
    attacker.note(await attacker.api.post("/v1/send", content=_slowly()))


async def _bad_lines(attacker: Attacker) -> None:
    headers = {"Content-Type": "text/csv"}
    for file in ("email\n" + "nobody,x\n" * 500_000, "email" + ",x" * 5_000_000):
        for path in ("/v1/contacts/import", "/v1/suppressions/import"):
            attacker.note(await attacker.api.post(path, content=file, headers=headers))


async def _many_values(attacker: Attacker) -> None:
    deep = '{"a":' * 90 + "[" + "1," * 5_000_000 + "1]" + "}" * 90
    body = (
        f'{{"to": "person@example.com", "subject": "s", "text_body": "t", "custom_data": {deep}}}'
    )
    headers = {"Content-Type": "application/json"}
    attacker.note(await attacker.api.post("/v1/send", content=body, headers=headers))


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


async def _custom_smtp_server(attacker: Attacker) -> None:
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
    Attack("variables that are dear to validate", _schema, _validate),
    Attack("trials of templates", None, _try_out),
    Attack("forms of many fields", None, _form),
    Attack("messages that are dear to read", None, _finished_messages),
    Attack("requests that are sent slowly", None, _slow_body, at_once=300),
    Attack("lists of bad lines", None, _bad_lines, at_once=2),
    Attack("bodies of many values", None, _many_values),
    Attack("bodies that are dear to track", None, _bodies, at_once=1),
    Attack("mails with many links to track", None, _many_links),
    Attack("imports of contacts", None, _import),
    Attack("logins to the console", None, _log_in, at_once=50),
    Attack("servers of its own that do not answer", None, _custom_smtp_server),
)


async def keep_up(
    attack: Attack, attacker: Attacker, *, begun: asyncio.Event, end: asyncio.Event
) -> None:
    """Prepare an attack, set `begun`, and repeat its step until `end` is set."""
    try:
        if attack.prepare is not None:
            await attack.prepare(attacker)
    finally:
        begun.set()

    async def repeat() -> None:
        while not end.is_set():
            with suppress(httpx2.HTTPError):
                await attack.step(attacker)

    steps = [asyncio.create_task(repeat()) for _ in range(attack.at_once)]
    await end.wait()
    for step in steps:
        step.cancel()
    for ended in await asyncio.gather(*steps, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended  # an attack that was refused by SQL is none
