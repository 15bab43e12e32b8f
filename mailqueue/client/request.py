"""Build the requests of the API. Pure."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypedDict, TypeVar
from urllib.parse import quote
from uuid import UUID

from mailqueue.client import answers
from mailqueue.core.errors import InvalidField
from mailqueue.core.storable_text import unstorable
from mailqueue.producer.message import addresses, plain
from mailqueue.producer.model import Addresses, Attachment

T = TypeVar("T")
MAX_AT_ONCE = 200
_KEY_LENGTH = 255


@dataclass(frozen=True, slots=True)
class ApiRequest(Generic[T]):
    """One request and the type its response is parsed as; `kind` None: the raw bytes.

    `key` is the Idempotency-Key, the same for every attempt.
    """

    method: str
    path: str
    kind: Any = None
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    octets: bytes | None = None
    content_type: str = "application/json"

    @property
    def is_repeatable(self) -> bool:
        """Return whether a second attempt has no further effect."""
        return self.method == "GET" or self.key is not None


@dataclass(frozen=True, slots=True)
class To:
    """One recipient of a batch and its own values; `variables` and `language` need a template."""

    email: str
    name: str | None = None
    custom_data: Mapping[str, Any] | None = None
    tags: Sequence[str] | None = None
    variables: Mapping[str, Any] | None = None
    language: str | None = None

    def written(self) -> dict[str, Any]:
        """Return the recipient as a JSON object."""
        return plain({name: getattr(self, name) for name in self.__slots__})


class Filters(TypedDict, total=False):
    """Filters of a list of mail; a mail is listed if all given filters match."""

    status: str | None
    tag: str | None
    from_email: str | None
    to: str | None
    sender: str | None
    campaign: str | None
    category: str | None
    batch: UUID | str | None
    contains: str | None  # part of the subject or of the first recipient
    template: str | None  # slug
    provider: str | None
    custom_data: Mapping[str, Any] | str | None  # contains this object, or KEY=VALUE
    since: datetime | None
    until: datetime | None


def send(to: Addresses, mail: Mapping[str, Any]) -> ApiRequest[answers.Sent]:
    """Return the request that queues one mail, from a template where it names one."""
    body = {"to": addresses("to", to), **_mail(mail)}
    body.setdefault("idempotency_key", new_key())
    path = "/v1/send/template" if "template_slug" in body else "/v1/send"
    # Any text may be a key here, and a header cannot carry any text: it is sent in the body.
    return ApiRequest("POST", path, answers.Sent, sound(body), key=body["idempotency_key"])


def send_batch(
    recipients: Sequence[To | str], mail: Mapping[str, Any]
) -> ApiRequest[answers.Batch]:
    """Return the request that queues one content for many recipients, or a template."""
    key = _key(mail.get("idempotency_key"))
    body = _mail({name: value for name, value in mail.items() if name != "idempotency_key"})
    some = [To(one) if isinstance(one, str) else one for one in recipients]
    body["recipients"] = [one.written() for one in some]
    path = "/v1/send/template/batch" if "template_slug" in body else "/v1/send/batch"
    return ApiRequest("POST", path, answers.Batch, sound(body), key=key)


def find_batch(batch_id: UUID | str) -> ApiRequest[answers.BatchState]:
    return ApiRequest("GET", f"/v1/batches/{path_part(batch_id)}", answers.BatchState)


def get(email_id: UUID | str) -> ApiRequest[answers.Email]:
    return ApiRequest("GET", f"/v1/emails/{path_part(email_id)}", answers.Email)


def list_page(
    filters: Mapping[str, Any], *, limit: int, cursor: str | None
) -> ApiRequest[answers.Page[answers.ListedEmail]]:
    named = {"from" if name == "from_email" else name: value for name, value in filters.items()}
    if isinstance(data := named.get("custom_data"), Mapping):
        named["custom_data"] = json.dumps(data)
    query = plain({**named, "limit": limit, "cursor": cursor})
    return ApiRequest("GET", "/v1/emails", answers.Page[answers.ListedEmail], query=query)


def events(email_id: UUID | str) -> ApiRequest[answers.Page[answers.Event]]:
    path = f"/v1/emails/{path_part(email_id)}/events"
    return ApiRequest("GET", path, answers.Page[answers.Event])


def source(email_id: UUID | str) -> ApiRequest[bytes]:
    return ApiRequest("GET", f"/v1/emails/{path_part(email_id)}/source")


def act(email_id: UUID | str, action: str, *, reason: str | None) -> ApiRequest[answers.Acted]:
    """Return the request that cancels, releases or resends a mail."""
    path = f"/v1/emails/{path_part(email_id)}/{action}"
    return ApiRequest("POST", path, answers.Acted, plain({"reason": reason}), key=new_key())


def upload(file: Attachment) -> ApiRequest[answers.Uploaded]:
    return ApiRequest(
        "POST",
        "/v1/attachments",
        answers.Uploaded,
        query={"filename": file.filename},
        octets=file.content,
        content_type=file.written()["content_type"],
        key=new_key(),  # uploading the same file twice stores it once
    )


def deliver_event(fields: Mapping[str, Any]) -> ApiRequest[answers.EventOutcome]:
    """Return the delivery of an event; its message id makes it repeatable."""
    body = sound(plain(fields))
    return ApiRequest("POST", "/v1/events", answers.EventOutcome, body, key=new_key())


def suppress(
    emails: Sequence[str], fields: Mapping[str, Any]
) -> ApiRequest[tuple[answers.AddedSuppression, ...]]:
    body = {"emails": list(emails), **plain(fields)}
    kind = tuple[answers.AddedSuppression, ...]
    return ApiRequest("POST", "/v1/suppressions", kind, sound(body), key=new_key())


def check_suppression(email: str, category: str | None) -> ApiRequest[answers.CheckedSuppression]:
    query = plain({"email": email, "category": category})
    return ApiRequest("GET", "/v1/suppressions/check", answers.CheckedSuppression, query=query)


def unsuppress(
    email_hash: str, *, category: str | None, why: str | None
) -> ApiRequest[answers.RemovedSuppression]:
    path, query = (
        f"/v1/suppressions/{path_part(email_hash)}",
        plain({"category": category, "why": why}),
    )
    return ApiRequest("DELETE", path, answers.RemovedSuppression, query=query)


def suppressions(params: Mapping[str, Any]) -> ApiRequest[answers.Page[answers.Suppression]]:
    kind = answers.Page[answers.Suppression]
    return ApiRequest("GET", "/v1/suppressions", kind, query=plain(params))


def templates(
    project: str, params: Mapping[str, Any]
) -> ApiRequest[answers.Page[answers.Template]]:
    path = f"/v1/projects/{path_part(project)}/templates"
    return ApiRequest("GET", path, answers.Page[answers.Template], query=plain(params))


def template(project: str, named: UUID | str) -> ApiRequest[answers.Template]:
    path = f"/v1/projects/{path_part(project)}/templates/{path_part(named)}"
    return ApiRequest("GET", path, answers.Template)


def template_versions(
    project: str, named: UUID | str, params: Mapping[str, Any]
) -> ApiRequest[answers.Page[answers.TemplateVersion]]:
    path = f"/v1/projects/{path_part(project)}/templates/{path_part(named)}/versions"
    return ApiRequest("GET", path, answers.Page[answers.TemplateVersion], query=plain(params))


def preview(
    project: str, named: UUID | str, fields: Mapping[str, Any]
) -> ApiRequest[answers.Preview]:
    path = f"/v1/projects/{path_part(project)}/templates/{path_part(named)}/preview"
    return ApiRequest("POST", path, answers.Preview, plain(fields), key=new_key())


def _mail(mail: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the body apart from the recipients."""
    found = plain(mail)
    if "template" in found:
        slug, _, version = str(found.pop("template")).partition("@")
        found["template_slug"] = slug
        if version:
            found["template_version"] = int(version) if version.isdigit() else version
    return found


def sound(body: dict[str, Any]) -> dict[str, Any]:
    """Return a body unless PostgreSQL cannot store a text of it."""
    fault = unstorable("", body)
    if fault is not None:
        raise fault
    return body


def _key(value: object) -> str:
    if value is None:
        return new_key()
    key = str(value)
    if not (key.isascii() and key.isprintable() and " " not in key and 0 < len(key) <= _KEY_LENGTH):
        raise InvalidField("idempotency_key", "must be 1 to 255 visible ASCII characters")
    return key


def new_key() -> str:
    """Return a new idempotency key."""
    return f"client-{secrets.token_hex(16)}"


def path_part(value: UUID | str) -> str:
    """Return one percent-encoded segment of a path."""
    text = str(value)
    if not text or text in (".", ".."):
        raise InvalidField("id", f"an id is needed, got {text!r}")
    return quote(text, safe="")
