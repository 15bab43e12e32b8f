"""Create, show, rotate and remove the webhook URLs of providers."""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import orjson

from mailqueue.contract.senders import ProviderEndpoint
from mailqueue.core.errors import ConfigError, InvalidField, NotFound
from mailqueue.core.json.writing import write_json
from mailqueue.core.providers import NAMES_WITH_EVENTS
from mailqueue.db.fetch import Conn
from mailqueue.inbound import store
from mailqueue.inbound.model import EndpointSecrets, InboundEndpoint
from mailqueue.ports.inbound import VerificationSecrets
from mailqueue.senders import accounts
from mailqueue.senders.model import SenderAccount
from mailqueue.vault import vault
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.sealing import SealedCell

_TOKEN_BYTES = 32
_MAX_VALUES = 20
_MAX_CHARACTERS = 4096


@dataclass(frozen=True, slots=True)
class SecretsChange:
    """Changes to the secrets of an endpoint; None keeps a secret, an empty value removes it."""

    signing: Sequence[str] | None = None
    user: str | None = None
    password: str | None = None
    topics: Sequence[str] | None = None
    settings: Mapping[str, Any] | None = None


NO_CHANGE = SecretsChange()


def provider_of(account: SenderAccount, named: str | None) -> str:
    """Return the provider name of an endpoint; by default the provider of the account.

    Raises:
        InvalidField: the provider is unknown, or none is named and the account's has no events.
    """
    provider = named or account.provider.value
    if provider in NAMES_WITH_EVENTS and (named is not None or provider != "smtp"):
        return provider
    raise InvalidField(
        "provider",
        f"{provider} sends no events; name a provider that does with --provider: "
        f"{', '.join(NAMES_WITH_EVENTS)}",
    )


async def put(
    conn: Conn,
    account: SenderAccount,
    *,
    provider: str,
    change: SecretsChange,
    is_rotated: bool,
    master: MasterKey | None,
    base_url: str | None,
    by: str,
) -> ProviderEndpoint:
    """Create or change the endpoint of an account. With `is_rotated` it has a new URL at once.

    Raises:
        InvalidField: a secret is too long, or there are too many.
        ConfigError: there is no master key.
        Locked: the project has a key of its own and must allow it to be used.
        NotFound: the account no longer exists.
    """
    _check(change)
    if master is None:
        raise ConfigError("webhook secrets are stored encrypted: set MAILQUEUE_MASTER_KEY")
    async with conn.transaction():
        await accounts.lock(conn, account)
        rows = {row.provider: row for row in await store.list_endpoints(conn, account)}
        row = rows.get(provider)
        endpoint_id = row.id if row else uuid4()
        before = await _opened(conn, account, endpoint_id, row.sealed, master) if row else None
        token = before.token if before and not is_rotated else secrets.token_urlsafe(_TOKEN_BYTES)
        after = EndpointSecrets(
            token, _changed(before.secrets if before else VerificationSecrets(), change)
        )
        sealed = await vault.seal(
            conn, master, place=_place(account.project_id, endpoint_id), plaintext=_written(after)
        )
        await store.put_endpoint(
            conn,
            endpoint_id,
            account=account,
            provider=provider,
            token_hash=hash_of(token),
            sealed=sealed,
        )
        action = "added" if row is None else "rotated" if is_rotated else "changed"
        await store.note(conn, account, by=by, action=f"inbound.{action}", provider=provider)
        return await show(conn, account, provider=provider, master=master, base_url=base_url)


async def show(
    conn: Conn,
    account: SenderAccount,
    *,
    provider: str,
    master: MasterKey | None,
    base_url: str | None,
) -> ProviderEndpoint:
    """Return an endpoint with its URL.

    Raises:
        NotFound: the account has no endpoint for that provider.
    """
    for row in await store.list_endpoints(conn, account):
        if row.provider == provider:
            return _shown(row, await _opened(conn, account, row.id, row.sealed, master), base_url)
    raise NotFound("webhook of a sender account", f"{account.name} for {provider}")


async def remove(conn: Conn, account: SenderAccount, *, provider: str, by: str) -> None:
    """Delete an endpoint; further requests of its provider are refused.

    Raises:
        NotFound: the account has no endpoint for that provider.
    """
    async with conn.transaction():
        if not await store.remove_endpoint(conn, account, provider=provider):
            raise NotFound("webhook of a sender account", f"{account.name} for {provider}")
        await store.note(conn, account, by=by, action="inbound.removed", provider=provider)


async def open_secrets(
    conn: Conn, endpoint: InboundEndpoint, *, master: MasterKey | None
) -> EndpointSecrets:
    """Return the opened secrets with which requests to an endpoint are verified.

    Raises:
        Locked: the project has a key of its own and must allow it to be used.
        ConfigError: there is no master key.
        SealBroken: the secrets cannot be opened.
    """
    if master is None:
        raise ConfigError("webhook secrets are stored encrypted: set MAILQUEUE_MASTER_KEY")
    place = _place(endpoint.project_id, endpoint.id)
    return _read(await vault.open_sealed(conn, master, place=place, sealed=endpoint.sealed))


def hash_of(token: str) -> bytes:
    """Return the hash by which a token is stored."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _place(project_id: UUID, endpoint_id: UUID) -> SealedCell:
    return SealedCell(project_id, "inbound_endpoints", "sealed", endpoint_id)


async def _opened(
    conn: Conn, account: SenderAccount, endpoint_id: UUID, sealed: bytes, master: MasterKey | None
) -> EndpointSecrets:
    endpoint = InboundEndpoint(endpoint_id, account.project_id, account.id, sealed)
    return await open_secrets(conn, endpoint, master=master)


def _changed(before: VerificationSecrets, change: SecretsChange) -> VerificationSecrets:
    return VerificationSecrets(
        signing=before.signing if change.signing is None else tuple(filter(None, change.signing)),
        user=before.user if change.user is None else change.user or None,
        password=before.password if change.password is None else change.password or None,
        topics=before.topics if change.topics is None else tuple(filter(None, change.topics)),
        settings=before.settings if change.settings is None else dict(change.settings),
    )


def _check(change: SecretsChange) -> None:
    for name in ("signing", "topics"):
        several: Sequence[str] = getattr(change, name) or ()
        if len(several) > _MAX_VALUES or any(len(one) > _MAX_CHARACTERS for one in several):
            raise InvalidField(
                name, f"at most {_MAX_VALUES}, each of {_MAX_CHARACTERS} characters at most"
            )
    for name in ("user", "password"):
        if len(getattr(change, name) or "") > _MAX_CHARACTERS:
            raise InvalidField(name, f"at most {_MAX_CHARACTERS} characters")


def _written(known: EndpointSecrets) -> bytes:
    return write_json(
        {
            "token": known.token,
            "signing": list(known.secrets.signing),
            "user": known.secrets.user,
            "password": known.secrets.password,
            "topics": list(known.secrets.topics),
            "settings": dict(known.secrets.settings),
        }
    )


def _read(octets: bytes) -> EndpointSecrets:
    said = orjson.loads(octets)
    token = said.pop("token")
    return EndpointSecrets(token, VerificationSecrets(**said))


def _shown(
    row: store.EndpointRow, known: EndpointSecrets, base_url: str | None
) -> ProviderEndpoint:
    base = base_url or "https://YOUR-PUBLIC-HOST"
    found = known.secrets
    return ProviderEndpoint(
        provider=row.provider,
        url=f"{base}/inbound/{row.provider}/{known.token}",
        has_signing_secret=any(found.signing),
        user=found.user,
        has_password=found.password is not None,
        topics=list(found.topics),
        settings=found.settings,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
