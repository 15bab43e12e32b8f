"""Test a webhook: send a sample event at once, and return the response."""

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

from mailqueue.contract.webhooks import WebhookData, WebhookTest
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.core.json.writing import write_json
from mailqueue.db.fetch import Lend
from mailqueue.ports.webhook import Poster
from mailqueue.vault.masterkey import MasterKey
from mailqueue.webhooks import endpoints
from mailqueue.webhooks.call import call_endpoint
from mailqueue.webhooks.formats.model import WebhookFormat
from mailqueue.webhooks.formats.registry import format_named, written
from mailqueue.webhooks.ids import new_id
from mailqueue.webhooks.model import TEST_TYPE, CallOutcome, EventType, WebhookRow
from mailqueue.webhooks.store import deliveries as deliveries_store
from mailqueue.webhooks.store import endpoints as endpoints_store

VERSION = 1

MakePoster = Callable[[], Poster]
"""Makes an HTTP client that calls webhooks."""


def no_poster() -> Poster:
    """Raise: no webhook can be called."""
    raise Conflict("this process does not call webhooks")


async def try_out(
    lend: Lend,
    project_id: UUID,
    webhook_id: UUID,
    *,
    event_type: str | None,
    poster: Poster,
    master: MasterKey | None,
) -> WebhookTest:
    """Send a sample event once and log it; a disabled webhook is tested, too.

    No database connection is held during the call.

    Raises:
        NotFound: the project has no such webhook.
        InvalidField: there is no such type.
        ConfigError: there is no master key.
        Locked: the project's own key has to allow it.
    """
    kind = event_type or TEST_TYPE
    if kind != TEST_TYPE and kind not in {*EventType}:
        raise InvalidField("type", f"there is no type {kind[:100]!r}")
    async with lend() as conn:
        webhook = await endpoints.find(conn, project_id, webhook_id)
        found = await endpoints_store.read_keys(conn, [webhook_id])
        if not found:
            raise NotFound("webhook", webhook_id)
        form = format_named(webhook.format)
        kind = tested_type(form, event_type)
        secrets = await endpoints.secrets_of(conn, found[0], master=master)
    event_id = new_id()
    body = sample(kind, event_id=event_id, webhook=webhook, now=datetime.now(UTC))
    told = written(form, body.decode(), event_id=event_id)
    assert told is not None, "a test event has no email that bounced"
    done = await call_endpoint(
        poster,
        webhook.url,
        event_id=event_id,
        body=told,
        keys=[form.key_of(secret) for secret in secrets],
        form=form,
    )
    async with lend() as conn:
        delivery_id = await deliveries_store.log_test(
            conn,
            project_id,
            webhook_id,
            event_id=event_id,
            event_type=kind,
            body=body,
            done=done,
        )
    return WebhookTest(
        success=done.outcome is CallOutcome.DELIVERED,
        delivery_id=delivery_id,
        event_id=event_id,
        type=kind,
        response_status=done.code,
        error=done.error,
        latency_ms=done.took_ms,
        response_body=done.response,
    )


def tested_type(form: WebhookFormat, event_type: str | None) -> str:
    """Return the type of a test event: by default `webhook.test`, and in the format of a provider,
    which has no such event, `email.delivered`.

    Raises:
        InvalidField: the format has no such type.
    """
    if form.write is None:
        return event_type or TEST_TYPE
    kind = EventType.DELIVERED.value if event_type in (None, TEST_TYPE) else event_type
    if kind not in form.types:
        names = ", ".join(sorted(form.types))
        raise InvalidField("type", f"format {form.name} has no type {kind}; it has: {names}")
    return str(kind)


def sample(kind: str, *, event_id: UUID, webhook: WebhookRow, now: datetime) -> bytes:
    """Return a sample event with every field, and `is_test` true. Pure."""
    bounced = kind in (EventType.HARD_BOUNCE, EventType.SOFT_BOUNCE)
    data = WebhookData(
        version=VERSION,
        event_id=event_id,
        email_id=None,
        project_id=webhook.project_id,
        project=webhook.project,
        recipient="ann@example.com",
        recipients=1,
        category="transactional",
        campaign_id=None,
        tags=["test"],
        custom_data={},
        sender=None,
        message_id="<test@example.com>",
        provider_message_id=None,
        reason="550 5.1.1 no such user" if bounced else None,
        code="5.1.1" if bounced else None,
        source=None,
        url="https://example.com/" if kind == EventType.CLICKED else None,
        user_agent=None,
        ip=None,
        is_machine=None,
        is_test=True,
    )
    instant = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return write_json({"type": kind, "timestamp": instant, "data": data})
