"""The one way in for mail: the HTTP API, the compatible APIs, SMTP and the commands accept by it.

Each of them reads its own format into a `NewEmail`, a `NewBatch` or a finished message, and names
the field of a refusal in its own words. Checks, limits and reasons are the same for all: those of
this folder, and of the SQL functions behind it. `intake.py` accepts emails of many requests in one
commit.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mailqueue.contract.sending import Repeated, Sent
from mailqueue.core.errors import InputError, InvalidField
from mailqueue.core.storable_text import unstorable
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusal_of
from mailqueue.mail.accept.batches import enqueue_shared
from mailqueue.mail.accept.enqueue import NewEmail, enqueue_batch
from mailqueue.mail.accept.raw import PreparedRaw, accept_prepared
from mailqueue.mail.accept.store import enqueue as enqueue_store
from mailqueue.mail.accept.store.batches import SharedRow
from mailqueue.mail.accept.templates import faults_of
from mailqueue.mail.model import BatchRow, NewBatch
from mailqueue.templates.cache import TemplateCache

MAX_STATEMENT_EMAILS = 500
"""Maximum emails accepted by one statement."""
MAX_STATEMENT_CHARACTERS = 8 * 1024 * 1024
"""Maximum characters of bodies and files in one statement, unless one email alone has more."""

AcceptResult = Sent | InvalidField
"""An accepted email, or the reason why it was refused."""
Numbered = tuple[int, NewEmail]
"""An email, and the number by which its caller knows it."""


@dataclass(frozen=True, slots=True)
class Expanding:
    """A recipient of a batch that is the name of a list: workers make its mail."""


@dataclass(frozen=True, slots=True)
class AcceptedBatch:
    """A batch, and a result for each of its recipients, in order."""

    id: UUID
    results: Sequence[AcceptResult | Expanding]


class RecipientsRefused(InputError):
    """Recipients of a strict batch are refused, so nothing is stored; `faults` by index, from 0."""

    def __init__(self, faults: Mapping[int, InvalidField]) -> None:
        self.faults = faults
        super().__init__("; ".join(f"{index}: {fault}" for index, fault in faults.items()))


async def accept(
    conn: Conn,
    emails: Sequence[NewEmail],
    *,
    project: str,
    is_trial: bool = False,
    templates: TemplateCache | None = None,
    keys: Collection[UUID] = (),
) -> list[AcceptResult]:
    """Accept emails in one transaction; return a result for each, in order.

    A refused email does not affect the others. A trial is rolled back. `templates` is the cache by
    which templates and their variables are checked; None if the caller has checked them. `keys` are
    the API keys of the callers that must still be valid.

    Raises:
        InvalidField: there is no such project.
        Unauthorized: one of the keys is no longer valid, and nothing is stored.
    """
    faults: Sequence[InvalidField | None] = [None] * len(emails)
    if templates is not None:
        faults = await faults_of(conn, templates, emails, project=project)
    good = [email for email, fault in zip(emails, faults, strict=True) if fault is None]
    # A single mail too: the batch returns its result, which saves a second statement.
    rows = await enqueue_batch(conn, good, project=project, is_trial=is_trial, keys=keys)
    results = iter(await _results_of(conn, rows))
    return [next(results) if fault is None else fault for fault in faults]


async def accept_one(
    conn: Conn, email: NewEmail, *, project: str, templates: TemplateCache | None = None
) -> Sent:
    """Accept one email as `accept` does; return its result.

    Raises:
        InvalidField: it is refused, and nothing is stored.
    """
    (found,) = await accept(conn, [email], project=project, templates=templates)
    if isinstance(found, InvalidField):
        raise found
    return found


async def accept_shared(
    conn: Conn, batch: NewBatch, *, project: str, is_strict: bool, by: str
) -> AcceptedBatch:
    """Accept one content for many recipients in one transaction.

    A refused recipient does not affect the others, unless the batch is strict. `by` names who
    hands it in.

    Raises:
        InvalidField: its content or options are refused; nothing is stored.
        RecipientsRefused: the batch is strict, and recipients are refused; nothing is stored.
    """
    check_storable(batch)
    return results_of(
        await enqueue_shared(conn, batch, project=project, is_strict=is_strict, by=by)
    )


def check_storable(batch: NewBatch) -> None:
    """Refuse a batch whose content or options PostgreSQL cannot store. Pure.

    Raises:
        InvalidField: naming the field.
    """
    for shared in (*batch.contents, batch.options):
        if (fault := unstorable("", shared)) is not None:
            raise fault


def results_of(rows: Sequence[SharedRow]) -> AcceptedBatch:
    """Return the batch of the rows that accepting it returned, one for each recipient. Pure.

    Raises:
        RecipientsRefused: the batch is strict, and recipients are refused; nothing is stored.
    """
    faults = {row.place: refusal_of(row.reason) for row in rows if row.status == "rejected"}
    batch_id = rows[0].batch_id
    if batch_id is None:
        raise RecipientsRefused(faults)
    results: list[AcceptResult | Expanding] = [
        faults.get(row.place)
        or (Expanding() if row.status == "expanding" else _sent(row.id, row.status, row.reason))
        for row in rows
    ]
    return AcceptedBatch(batch_id, results)


async def accept_messages(
    conn: Conn, messages: Sequence[PreparedRaw], *, project: str, keys: Collection[UUID] = ()
) -> list[Sent]:
    """Accept finished messages in one statement, all or none; return the result of each.

    `keys` are the API keys of the callers that must still be valid.

    Raises:
        InvalidField: one of them is refused, and nothing is stored.
        Unauthorized: one of the keys is no longer valid, and nothing is stored.
    """
    rows = await accept_prepared(conn, messages, project=project, keys=keys)
    return [_sent(row.id, row.status, row.reason) for row in rows]


async def find_repeated(conn: Conn, email_id: UUID) -> Repeated:
    """Return the answer that the first request under an idempotency key received."""
    (found,) = await _repeated(conn, [email_id])
    return found


def statements_of(emails: Iterable[Numbered]) -> Iterator[list[Numbered]]:
    """Yield emails in the groups that `accept` takes: each fits into one statement. Pure."""
    group: list[Numbered] = []
    characters = 0
    for number, email in emails:
        size = _characters(email)
        is_full = len(group) == MAX_STATEMENT_EMAILS or characters + size > MAX_STATEMENT_CHARACTERS
        if group and is_full:
            yield group
            group, characters = [], 0
        group.append((number, email))
        characters += size
    if group:
        yield group


async def _results_of(conn: Conn, rows: Sequence[BatchRow]) -> list[AcceptResult]:
    duplicates = [row.id for row in rows if row.status == "duplicate" and row.id is not None]
    repeated = iter(await _repeated(conn, duplicates) if duplicates else ())
    results: list[AcceptResult] = []
    for row in rows:
        if row.id is None:
            results.append(refusal_of(row.reason, row.refusal))
        elif row.status == "duplicate":
            results.append(next(repeated))
        else:
            results.append(_sent(row.id, row.status, row.reason))
    return results


async def _repeated(conn: Conn, email_ids: Sequence[UUID]) -> list[Repeated]:
    reasons = await enqueue_store.find_suppressions(conn, email_ids)
    return [
        Repeated(email_id, "queued" if reason is None else "suppressed", reason)
        for email_id, reason in zip(email_ids, reasons, strict=True)
    ]


def _sent(email_id: UUID | None, status: str, reason: str | None) -> Sent:
    assert email_id is not None, "a refused email has no id, and was handled before"
    return Sent(email_id, status, reason)


def _characters(email: NewEmail) -> int:
    files: Any = email.options.get("attachments", ())
    carried = sum(len(one.get("content") or "") for one in files)
    return len(email.html or "") + len(email.text or "") + carried
