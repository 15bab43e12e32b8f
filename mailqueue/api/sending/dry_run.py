"""The result a mail would have: route, limits, recipients, message and warnings."""

from dataclasses import dataclass
from typing import Any

from mailqueue.api.http.context import RequestContext
from mailqueue.api.sending import service as sending_service
from mailqueue.api.sending.schema import SendRequest, TemplateRequest
from mailqueue.contacts import lists
from mailqueue.core.errors import InvalidField
from mailqueue.mail.accept.dry_run import DryRun, try_email
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.mail.message.preview import MessageSources

SHOWN_BYTES = 1024 * 1024
"""Most bytes of a message that are shown."""


@dataclass(frozen=True, slots=True)
class DryRunRecipient:
    """One recipient, and the reason it would be left out."""

    kind: str
    address: str
    name: str | None
    status: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class DryRunResult:
    """The result a mail would have; `mime` is the message without signatures."""

    dry_run: bool
    status: str
    reason: str | None
    recipients: list[DryRunRecipient]
    route: dict[str, Any] | None
    limit: dict[str, Any] | None
    size: int | None
    mime: str | None
    warnings: list[str]


async def run_dry(
    call: RequestContext, request: SendRequest | TemplateRequest, *, category: str | None = None
) -> DryRunResult:
    """Accept a mail, roll back, and return the result it would have.

    `category` is that of its template, of a mail that has none of its own.

    Raises:
        InvalidField: it would be refused.
    """
    if request.smtp_override is not None:
        raise InvalidField("dry_run", "cannot be given together with smtp_override")
    email = sending_service.new_email(call.caller, request, call.traceparent)
    caller = call.caller
    try:
        if (for_list := await _of_list(call, email, category)) is not None:
            return for_list
        found = await try_email(
            call.connection,
            MessageSources(
                call.services.storage, call.services.template_cache, call.services.tracking
            ),
            email,
            project=caller.project,
            project_id=caller.project_id,
        )
    except InvalidField as exc:
        raise sending_service.renamed(exc) from None
    if found.status == "rejected":
        raise sending_service.refusal(found.reason)
    return _shown(found)


async def _of_list(
    call: RequestContext, email: NewEmail, category: str | None
) -> DryRunResult | None:
    """Return the result of an email to a list; None if its recipient is the name of none."""
    sent = await sending_service.accepted_for_list(call, email, is_trial=True)
    if sent is None:
        return None
    counted = str(email.options.get("category") or category)  # one of them, or it is refused
    async with call.connection() as conn:
        count = await lists.count(conn, call.caller.project_id, email.recipient, category=counted)
    says = (
        f"the list has {count.contacts} contacts, each of which gets an email of its own;"
        f" {count.suppressed} of the first {count.checked} are suppressed for {counted}"
    )
    return DryRunResult(True, sent.status, None, [], None, None, None, None, [says])


def _shown(result: DryRun) -> DryRunResult:
    message = result.message
    return DryRunResult(
        dry_run=True,
        status=result.status,
        reason=result.reason,
        recipients=[
            DryRunRecipient(**{name: one[name] for name in DryRunRecipient.__slots__})
            for one in result.recipients
        ],
        route=result.route,
        limit=result.limit,
        size=None if message is None else len(message),
        mime=None if message is None else message[:SHOWN_BYTES].decode("utf-8", "replace"),
        warnings=result.warnings,
    )
