"""API keys as callers see them."""

from dataclasses import asdict
from datetime import UTC, datetime

from mailqueue.contract.projects import ApiKeyDetails, CreatedApiKey
from mailqueue.projects.model import ApiKey, IssuedKey

_WARNING = "Store this key securely. It will not be shown again."


def details_of(key: ApiKey) -> ApiKeyDetails:
    """Return a key without its secret."""
    fields = asdict(key)
    return ApiKeyDetails(
        prefix=fields.pop("hint"),
        status=key.status(datetime.now(UTC)),
        rate_limit_per_sec=fields.pop("requests_per_second"),
        last_used_ip=fields.pop("last_used_from"),
        **fields,
    )


def created_key_of(issued: IssuedKey) -> CreatedApiKey:
    """Return a new key with its secret, which is shown once."""
    key = issued.record
    return CreatedApiKey(
        id=key.id,
        key=issued.key.reveal(),
        name=key.name,
        prefix=key.hint,
        is_test=key.is_test,
        scopes=key.scopes,
        rate_limit_per_sec=key.requests_per_second,
        expires_at=key.expires_at,
        warning=_WARNING,
    )
