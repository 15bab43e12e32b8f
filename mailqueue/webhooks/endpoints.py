"""Add, find, list, change, switch and remove webhooks, and rotate their secrets."""

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from mailqueue.core.errors import ConfigError, Conflict, InvalidField, NotFound
from mailqueue.core.outbound_guard import IpNetwork
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.vault import vault
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.sealing import SealedCell
from mailqueue.webhooks.acceptable import description_of, event_types_of, url_of, without_login
from mailqueue.webhooks.formats.model import FormatName, WebhookFormat
from mailqueue.webhooks.formats.registry import format_named
from mailqueue.webhooks.ids import new_id
from mailqueue.webhooks.model import WebhookKeys, WebhookRow, WithSecret
from mailqueue.webhooks.store import endpoints as endpoints_store

MAX_WEBHOOKS = 50
MAX_PAGE_ROWS = 1000
DEFAULT_OVERLAP = timedelta(hours=24)
MAX_OVERLAP = timedelta(days=30)


async def add(
    conn: Conn,
    project_id: UUID,
    *,
    url: str,
    event_types: list[str],
    description: str | None,
    secret: str | None,
    allowed: Collection[IpNetwork],
    master: MasterKey | None,
    by: str,
    form: str = FormatName.MAILQUEUE,
) -> WithSecret:
    """Add a webhook, which receives events from now on; `secret` None makes one.

    `form` is the name of its format. Where the format takes a user name and password, they may
    stand in the URL: they become the secret, and are not stored with the URL.

    Raises:
        InvalidField: a field is invalid.
        Conflict: the project has 50, or there is no master key to seal the secret with.
        Locked: no access to the project's own key is granted.
    """
    chosen_format = format_named(form)
    if chosen_format.takes_login and secret is None:
        url, secret = without_login(url)
    url = url_of(url, allowed=allowed)
    types, words = event_types_of(event_types, chosen_format), description_of(description)
    chosen = chosen_format.make_secret() if secret is None else chosen_format.read_secret(secret)
    async with conn.transaction():
        if await endpoints_store.count(conn, project_id) >= MAX_WEBHOOKS:
            raise Conflict(f"a project may have {MAX_WEBHOOKS} webhooks: remove one first")
        webhook_id = new_id()
        sealed = await _sealed(conn, project_id, webhook_id, chosen, master=master)
        await endpoints_store.add(
            conn,
            webhook_id,
            project_id=project_id,
            url=url,
            description=words,
            event_types=types,
            form=chosen_format.name,
            sealed=sealed,
            public_key=_public_key(chosen_format, chosen),
        )
        detail = {"url": url, "event_types": types, "format": chosen_format.name}
        await endpoints_store.audit(
            conn, project_id, "webhook.added", subject=webhook_id, detail=detail, by=by
        )
        return WithSecret(await find(conn, project_id, webhook_id), chosen)


async def lock_all(conn: Conn, project_id: UUID) -> None:
    """Lock the webhooks of a project against additions until the transaction ends."""
    await endpoints_store.count(conn, project_id)


async def secret_of(conn: Conn, webhook_id: UUID, *, master: MasterKey | None) -> Secret:
    """Return the opened secret of a webhook.

    Raises:
        NotFound: there is none of that id.
        ConfigError: there is no master key to open with.
        Locked: no access to the project's own key is granted.
    """
    found = await endpoints_store.read_keys(conn, [webhook_id])
    if not found:
        raise NotFound("webhook", webhook_id)
    return (await secrets_of(conn, found[0], master=master))[0]


async def project_named(conn: Conn, project: str) -> UUID:
    """Return the id of a project.

    Raises:
        NotFound: there is none of that name.
    """
    found = await endpoints_store.find_project(conn, project)
    if found is None:
        raise NotFound("project", project)
    return found


async def find(conn: Conn, project_id: UUID | None, webhook_id: UUID) -> WebhookRow:
    """Return a webhook of a project, or (None) of any project.

    Raises:
        NotFound: there is none of that id.
    """
    found = await endpoints_store.list_page(
        conn, project_id=project_id, webhook_id=webhook_id, limit=1
    )
    if not found:
        raise NotFound("webhook", webhook_id)
    return found[0]


async def list_page(
    conn: Conn, project_id: UUID | None, *, after: UUID | None = None, limit: int = 100
) -> list[WebhookRow]:
    """Return webhooks in the order they were added, of a project or (None) of all.

    Raises:
        InvalidField: the limit is out of range.
    """
    if not 1 <= limit <= MAX_PAGE_ROWS:
        raise InvalidField("limit", f"must be 1 to {MAX_PAGE_ROWS}, got {limit}")
    return await endpoints_store.list_page(conn, project_id=project_id, after=after, limit=limit)


async def change(
    conn: Conn,
    project_id: UUID,
    webhook_id: UUID,
    *,
    url: str | None = None,
    event_types: list[str] | None = None,
    description: str | None = None,
    allowed: Collection[IpNetwork],
    by: str,
) -> WebhookRow:
    """Change URL, event types and description; waiting deliveries go to the new URL, too.

    None keeps what there is, also what another session changes at the same time; an empty
    description removes it.

    Raises:
        InvalidField: a field is invalid.
        NotFound: the project has no such webhook.
    """
    async with conn.transaction():
        if not await endpoints_store.lock(conn, project_id, webhook_id):
            raise NotFound("webhook", webhook_id)
        now = await find(conn, project_id, webhook_id)
        types = now.event_types if event_types is None else event_types
        await endpoints_store.change(
            conn,
            project_id,
            webhook_id,
            url=url_of(now.url if url is None else url, allowed=allowed),
            description=description_of(now.description if description is None else description),
            event_types=event_types_of(types, format_named(now.format)),
            by=by,
        )
        return await find(conn, project_id, webhook_id)


async def switch(
    conn: Conn, project_id: UUID, webhook_id: UUID, *, is_enabled: bool, by: str
) -> WebhookRow:
    """Enable or disable a webhook; it never receives the events of the time it was disabled.

    Raises:
        NotFound: the project has no such webhook.
    """
    if not await endpoints_store.switch(conn, project_id, webhook_id, is_enabled=is_enabled, by=by):
        raise NotFound("webhook", webhook_id)
    return await find(conn, project_id, webhook_id)


async def remove(conn: Conn, project_id: UUID, webhook_id: UUID, *, by: str) -> None:
    """Delete a webhook and its delivery log.

    Raises:
        NotFound: the project has no such webhook.
    """
    if not await endpoints_store.remove(conn, project_id, webhook_id, by=by):
        raise NotFound("webhook", webhook_id)


async def rotate(
    conn: Conn,
    project_id: UUID,
    webhook_id: UUID,
    *,
    secret: str | None,
    overlap: timedelta,
    master: MasterKey | None,
    by: str,
) -> WithSecret:
    """Replace the signing secret; the previous one signs too, for `overlap`, where the format has
    room for two signatures.

    Raises:
        InvalidField: the secret is invalid, or the overlap too long.
        NotFound: the project has no such webhook.
        Conflict: there is no master key to seal with.
        Locked: no access to the project's own key is granted.
    """
    if not timedelta(0) <= overlap <= MAX_OVERLAP:
        raise InvalidField("overlap_hours", "must be from 0 hours to 30 days")
    async with conn.transaction():
        keys = await endpoints_store.lock_keys(conn, project_id, webhook_id)
        if keys is None:
            raise NotFound("webhook", webhook_id)
        form = format_named(keys.format)
        chosen = form.make_secret() if secret is None else form.read_secret(secret)
        previous = None
        if overlap and form.signs_twice:
            opened = (await secrets_of(conn, keys, master=master))[0]
            previous = await _sealed(
                conn, project_id, webhook_id, opened, master=master, column=PREVIOUS
            )
        sealed = await _sealed(conn, project_id, webhook_id, chosen, master=master)
        await endpoints_store.replace_secret(
            conn,
            webhook_id,
            sealed=sealed,
            public_key=_public_key(form, chosen),
            previous=previous,
            overlap=overlap,
        )
        detail = {"overlap_hours": round(overlap.total_seconds() / 3600, 2)}
        await endpoints_store.audit(
            conn, project_id, "webhook.rotated", subject=webhook_id, detail=detail, by=by
        )
        return WithSecret(await find(conn, project_id, webhook_id), chosen)


CURRENT, PREVIOUS = "sealed_secret", "sealed_secret_previous"


async def secrets_of(
    conn: Conn, keys: WebhookKeys, *, master: MasterKey | None
) -> tuple[Secret, ...]:
    """Return the opened secrets: the current one, then the previous one while it signs.

    Raises:
        ConfigError: there is no master key to open with.
        Locked: no access to the project's own key is granted.
        SealBroken: a stored secret cannot be opened.
    """
    if master is None:
        raise ConfigError(
            "the secrets of webhooks are sealed, and there is no master key: "
            "set MAILQUEUE_MASTER_KEY"
        )
    found = [(CURRENT, keys.sealed_secret)]
    if keys.sealed_secret_previous is not None and (keys.previous_seconds or 0) > 0:
        found.append((PREVIOUS, keys.sealed_secret_previous))
    opened = []
    for column, sealed in found:
        place = SealedCell(keys.project_id, "webhooks", column, keys.id)
        octets = await vault.open_sealed(conn, master, place=place, sealed=sealed)
        opened.append(Secret(octets.decode()))
    return tuple(opened)


def _public_key(form: WebhookFormat, secret: Secret) -> str | None:
    return None if form.public_key_of is None else form.public_key_of(secret)


async def _sealed(
    conn: Conn,
    project_id: UUID,
    webhook_id: UUID,
    secret: Secret,
    *,
    master: MasterKey | None,
    column: str = CURRENT,
) -> bytes:
    if master is None:
        raise Conflict(
            "secrets of webhooks are sealed, and there is no master key: "
            "set MAILQUEUE_MASTER_KEY, or run `mailqueue up`, which makes one"
        )
    place = SealedCell(project_id, "webhooks", column, webhook_id)
    return await vault.seal(conn, master, place=place, plaintext=secret.reveal().encode())
