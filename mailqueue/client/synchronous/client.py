# Made from mailqueue/client/asynchronous, which is to be changed instead:
# python -m tests.client.made --write

"""The client of the API."""

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack
from uuid import UUID

import httpx2

from mailqueue.client import answers, request
from mailqueue.client.exchange import ApiAccess, no_response_of, parsed, response_of
from mailqueue.client.request import ApiRequest, Filters, To
from mailqueue.client.retrying import ApiResponse, NoResponse, Retries, Wait
from mailqueue.client.synchronous.ab_tests import AbTests
from mailqueue.client.synchronous.analytics import Analytics
from mailqueue.client.synchronous.contacts import Contacts
from mailqueue.client.synchronous.exports import Exports
from mailqueue.client.synchronous.imports import Imports
from mailqueue.client.synchronous.schedules import Schedules
from mailqueue.client.synchronous.sequences import Sequences
from mailqueue.client.synchronous.timed_events import TimedEvents
from mailqueue.core.secret import Secret
from mailqueue.producer.model import (
    Addresses,
    Attachment,
    BatchFields,
    MailOptions,
    TemplateOptions,
)

T = TypeVar("T")


class SyncClient(
    AbTests,
    Analytics,
    Contacts,
    Exports,
    Imports,
    Schedules,
    Sequences,
    TimedEvents,
):
    """Client of one project's API, with one of its keys; connections are kept until it is closed.

    `project` is the key's project, by name or id; only templates need it. `timeout` is in seconds
    without a byte, for each attempt. A method takes effect once, also when a response is lost and
    the request retried. All methods raise ClientError; a refused mail raises InvalidField.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        project: str = "default",
        timeout: float = 30.0,
        retries: Retries = Retries(),  # noqa: B008  a value
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._way = ApiAccess(url, Secret(key), project, timeout, retries)
        self._http = httpx2.Client(timeout=timeout, transport=transport)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._way.url!r}, ***)"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, to: Addresses, **mail: Unpack[MailOptions]) -> answers.Sent:
        """Queue one mail, from a template where it names one."""
        return self._ask(request.send(to, mail))

    def send_template(
        self, to: Addresses, template: str, **mail: Unpack[TemplateOptions]
    ) -> answers.Sent:
        """Queue one mail from a template: its slug, or slug@3 for a version."""
        return self._ask(request.send(to, {**mail, "template": template}))

    def send_batch(
        self,
        recipients: Sequence[To | str],
        *,
        mode: str = "permissive",
        **mail: Unpack[BatchFields],
    ) -> answers.Batch:
        """Queue one content, or template, for up to 10,000 recipients; each gets a mail of its own.

        With `mode` strict nothing is queued if one recipient is refused.
        """
        return self._ask(request.send_batch(recipients, {**mail, "mode": mode}))

    def batch(self, batch_id: UUID | str) -> answers.BatchState:
        """Return the number of mails of a batch by state."""
        return self._ask(request.find_batch(batch_id))

    def get(self, email_id: UUID | str) -> answers.Email:
        """Return a mail and its state."""
        return self._ask(request.get(email_id))

    def list(
        self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[Filters]
    ) -> answers.Page[answers.ListedEmail]:
        """Return one page of mail, newest first."""
        return self._ask(request.list_page(filters, limit=limit, cursor=cursor))

    def iterate(self, **filters: Unpack[Filters]) -> Iterator[answers.ListedEmail]:
        """Yield all mail, newest first; pages are requested as needed."""
        cursor = None
        while True:
            page = self.list(limit=request.MAX_AT_ONCE, cursor=cursor, **filters)
            for one in page.data:
                yield one
            cursor = page.next_cursor
            if cursor is None:
                return

    def events(self, email_id: UUID | str) -> tuple[answers.Event, ...]:
        """Return the events of a mail after it was sent."""
        return tuple((self._ask(request.events(email_id))).data)

    def source(self, email_id: UUID | str) -> bytes:
        """Return the raw message, without DKIM signatures."""
        return self._ask(request.source(email_id))

    def cancel(self, email_id: UUID | str, *, reason: str | None = None) -> answers.Acted:
        """Cancel a mail that has not been sent yet."""
        return self._ask(request.act(email_id, "cancel", reason=reason))

    def release(self, email_id: UUID | str, *, reason: str | None = None) -> answers.Acted:
        """Release a held mail."""
        return self._ask(request.act(email_id, "release", reason=reason))

    def resend(self, email_id: UUID | str, *, reason: str | None = None) -> answers.Acted:
        """Send a mail once more."""
        return self._ask(request.act(email_id, "resend", reason=reason))

    def upload(self, file: Attachment) -> answers.Uploaded:
        """Upload a file; attach it by its id: `UploadedFile(uploaded.id)`."""
        return self._ask(request.upload(file))

    def deliver_event(
        self,
        type_: str,
        payload: Mapping[str, Any],
        *,
        message_id: UUID | str,
        headers: Mapping[str, Any] | None = None,
        consumer_id: UUID | str | None = None,
    ) -> answers.EventOutcome:
        """Deliver an event; another delivery with its id gets the answer of the first."""
        said = {"message_id": message_id, "consumer_id": consumer_id, "headers": headers}
        return self._ask(request.deliver_event({"type": type_, "payload": payload, **said}))

    def suppress(
        self,
        *emails: str,
        reason: str | None = None,
        category: str | None = None,
        detail: str | None = None,
        expires_at: datetime | None = None,
    ) -> tuple[answers.AddedSuppression, ...]:
        """Suppress addresses."""
        said = {"reason": reason, "category": category, "detail": detail, "expires_at": expires_at}
        return self._ask(request.suppress(emails, said))

    def unsuppress(
        self, email: str, *, category: str | None = None, why: str | None = None
    ) -> answers.RemovedSuppression:
        """Remove the suppression of an address."""
        found = self.check_suppression(email)
        return self._ask(request.unsuppress(found.email_hash, category=category, why=why))

    def check_suppression(
        self, email: str, *, category: str | None = None
    ) -> answers.CheckedSuppression:
        """Return whether mail to an address is sent."""
        return self._ask(request.check_suppression(email, category))

    def suppressions(
        self,
        *,
        reason: str | None = None,
        category: str | None = None,
        q: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> answers.Page[answers.Suppression]:
        """Return one page of suppressions, newest first."""
        asked = {"reason": reason, "category": category, "q": q, "limit": limit, "cursor": cursor}
        return self._ask(request.suppressions(asked))

    def templates(
        self, *, limit: int = 50, cursor: str | None = None
    ) -> answers.Page[answers.Template]:
        """Return one page of templates, by slug."""
        asked = {"limit": limit, "cursor": cursor}
        return self._ask(request.templates(self._way.project, asked))

    def template(self, template: UUID | str) -> answers.Template:
        """Return a template, by id or slug."""
        return self._ask(request.template(self._way.project, template))

    def template_versions(
        self, template: UUID | str, *, limit: int = 50, cursor: str | None = None
    ) -> answers.Page[answers.TemplateVersion]:
        """Return one page of the versions of a template, newest first."""
        asked = {"limit": limit, "cursor": cursor}
        return self._ask(request.template_versions(self._way.project, template, asked))

    def preview(
        self,
        template: UUID | str,
        *,
        variables: Mapping[str, Any] | None = None,
        version: int | None = None,
        language: str | None = None,
    ) -> answers.Preview:
        """Render a template with sample data."""
        asked = {"variables": variables, "version": version, "language": language}
        return self._ask(request.preview(self._way.project, template, asked))

    def _ask(self, ask: ApiRequest[T]) -> T:
        talk = self._way.talk(ask)
        came: ApiResponse | NoResponse | None = None
        while True:
            try:
                step = talk.send(came)
            except StopIteration as done:
                return parsed(ask, done.value)
            if isinstance(step, Wait):
                time.sleep(step.seconds)
                came = None
            else:
                came = self._try(ask)

    def _try(self, ask: ApiRequest[Any]) -> ApiResponse | NoResponse:
        try:
            return response_of(self._http.request(**self._way.request(ask)))
        except httpx2.RequestError as exc:
            return no_response_of(exc)
