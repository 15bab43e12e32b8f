"""The client of the API for asyncio."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack
from uuid import UUID

import httpx2

from mailqueue.client import answers, asking
from mailqueue.client.asking import Ask, Filters, To
from mailqueue.client.exchange import Way, heard, lost, understood
from mailqueue.client.retrying import Heard, Lost, Retries, Wait
from mailqueue.core.secret import Secret
from mailqueue.producer.model import Addresses, Attachment, Options, SaidToAll, TemplateOptions

T = TypeVar("T")


class Client:
    """The API of one project, by one of its keys; connections are kept until it is closed.

    `project` is the key's own, by name or id; only templates need it. `timeout` is what one attempt
    may take in silence, in seconds. Whatever a method does happens once, also where answers are
    lost and it asks again. Each raises ClientError; what is refused as mail is an InvalidField.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        project: str = "default",
        timeout: float = 30.0,
        retries: Retries = Retries(),  # noqa: B008  a value
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._way = Way(url, Secret(key), project, timeout, retries)
        self._http = httpx2.AsyncClient(timeout=timeout, transport=transport)

    def __repr__(self) -> str:
        return f"Client({self._way.url!r}, ***)"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(self, to: Addresses, **mail: Unpack[Options]) -> answers.Sent:
        """Queue one mail, from a template where it names one."""
        return await self._ask(asking.send(to, mail))

    async def send_template(
        self, to: Addresses, template: str, **mail: Unpack[TemplateOptions]
    ) -> answers.Sent:
        """Queue one mail from a template: its slug, or slug@3 for a version."""
        return await self._ask(asking.send(to, {**mail, "template": template}))

    async def send_batch(
        self,
        recipients: Sequence[To | str],
        *,
        mode: str = "permissive",
        **mail: Unpack[SaidToAll],
    ) -> answers.Batch:
        """Queue one content, or template, for up to 10,000 recipients, each a mail of its own.

        `mode` strict: nobody is written to where one is refused.
        """
        return await self._ask(asking.send_batch(recipients, {**mail, "mode": mode}))

    async def batch(self, batch_id: UUID | str) -> answers.BatchState:
        """Count the mails of a batch by state."""
        return await self._ask(asking.find_batch(batch_id))

    async def get(self, email_id: UUID | str) -> answers.Email:
        """Show a mail and what became of it."""
        return await self._ask(asking.get(email_id))

    async def list(
        self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[Filters]
    ) -> answers.Page[answers.ListedEmail]:
        """List mail, the newest first, a page at a time."""
        return await self._ask(asking.list_page(filters, limit=limit, cursor=cursor))

    async def iterate(self, **filters: Unpack[Filters]) -> AsyncIterator[answers.ListedEmail]:
        """List all mail there is, the newest first, asking for pages as they are needed."""
        cursor = None
        while True:
            page = await self.list(limit=asking.MAX_AT_ONCE, cursor=cursor, **filters)
            for one in page.data:
                yield one
            cursor = page.next_cursor
            if cursor is None:
                return

    async def events(self, email_id: UUID | str) -> tuple[answers.Event, ...]:
        """List what happened to a mail after it was handed over."""
        return tuple((await self._ask(asking.events(email_id))).data)

    async def source(self, email_id: UUID | str) -> bytes:
        """Return the message itself, without signatures."""
        return await self._ask(asking.source(email_id))

    async def cancel(self, email_id: UUID | str, *, reason: str | None = None) -> answers.Acted:
        """Cancel a mail that was not handed over yet."""
        return await self._ask(asking.act(email_id, "cancel", reason=reason))

    async def release(self, email_id: UUID | str, *, reason: str | None = None) -> answers.Acted:
        """Let a mail go that is held."""
        return await self._ask(asking.act(email_id, "release", reason=reason))

    async def resend(self, email_id: UUID | str, *, reason: str | None = None) -> answers.Acted:
        """Send a mail once more."""
        return await self._ask(asking.act(email_id, "resend", reason=reason))

    async def upload(self, file: Attachment) -> answers.Uploaded:
        """Upload a file, to be sent by its id: `Kept(uploaded.id)`."""
        return await self._ask(asking.upload(file))

    async def suppress(
        self,
        *emails: str,
        reason: str | None = None,
        category: str | None = None,
        detail: str | None = None,
        expires_at: datetime | None = None,
    ) -> tuple[answers.AddedSuppression, ...]:
        """Write to addresses no more."""
        said = {"reason": reason, "category": category, "detail": detail, "expires_at": expires_at}
        return await self._ask(asking.suppress(emails, said))

    async def unsuppress(
        self, email: str, *, category: str | None = None, why: str | None = None
    ) -> answers.RemovedSuppression:
        """Write to an address again."""
        found = await self.check_suppression(email)
        return await self._ask(asking.unsuppress(found.email_hash, category=category, why=why))

    async def check_suppression(
        self, email: str, *, category: str | None = None
    ) -> answers.CheckedSuppression:
        """Return whether an address is written to."""
        return await self._ask(asking.check_suppression(email, category))

    async def suppressions(
        self,
        *,
        reason: str | None = None,
        category: str | None = None,
        q: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> answers.Page[answers.Suppression]:
        """List who is not written to, the newest first."""
        asked = {"reason": reason, "category": category, "q": q, "limit": limit, "cursor": cursor}
        return await self._ask(asking.suppressions(asked))

    async def templates(
        self, *, limit: int = 50, cursor: str | None = None
    ) -> answers.Page[answers.Template]:
        """List templates by slug."""
        asked = {"limit": limit, "cursor": cursor}
        return await self._ask(asking.templates(self._way.project, asked))

    async def template(self, template: UUID | str) -> answers.Template:
        """Show a template, by id or slug."""
        return await self._ask(asking.template(self._way.project, template))

    async def template_versions(
        self, template: UUID | str, *, limit: int = 50, cursor: str | None = None
    ) -> answers.Page[answers.TemplateVersion]:
        """List the versions of a template, the newest first."""
        asked = {"limit": limit, "cursor": cursor}
        return await self._ask(asking.template_versions(self._way.project, template, asked))

    async def preview(
        self,
        template: UUID | str,
        *,
        variables: Mapping[str, Any] | None = None,
        version: int | None = None,
        language: str | None = None,
    ) -> answers.Preview:
        """Render a template with sample data."""
        asked = {"variables": variables, "version": version, "language": language}
        return await self._ask(asking.preview(self._way.project, template, asked))

    async def _ask(self, ask: Ask[T]) -> T:
        talk = self._way.talk(ask)
        came: Heard | Lost | None = None
        while True:
            try:
                step = talk.send(came)
            except StopIteration as done:
                return understood(ask, done.value)
            if isinstance(step, Wait):
                await asyncio.sleep(step.seconds)
                came = None
            else:
                came = await self._try(ask)

    async def _try(self, ask: Ask[Any]) -> Heard | Lost:
        try:
            return heard(await self._http.request(**self._way.request(ask)))
        except httpx2.RequestError as exc:
            return lost(exc)
