"""Endpoints of an account's bounce rates and of its provider's webhook."""

from http import HTTPStatus
from typing import Annotated, Any

from pydantic import Field, SecretStr

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.api.http.schema_base import OneOf, RequestModel
from mailqueue.api.senders.views import account_of
from mailqueue.contract.senders import BounceRates, ProviderEndpoint
from mailqueue.core.providers import NAMES_WITH_EVENTS
from mailqueue.events.rates.thresholds import ThresholdsChange, rates_of, set_thresholds
from mailqueue.inbound import endpoints
from mailqueue.inbound.endpoints import SecretsChange
from mailqueue.projects.model import Scope
from mailqueue.vault.masterkey import master_key_of

ONE = "/v1/projects/{pid}/smtp-configs/{config_id}"
_TAG = "Sender accounts"
_Percent = Annotated[float, Field(ge=0, le=100)]
_Secret = Annotated[SecretStr, Field(max_length=4096)]
_Provider = Annotated[str, OneOf(NAMES_WITH_EVENTS)]


class Thresholds(RequestModel):
    """Thresholds that warn and pause, in percent; omitted ones are unchanged, 0 is never."""

    bounce_warn: _Percent | None = None
    """Share of hard bounces that warns, in percent of sent mail; 2 by default."""
    bounce_pause: _Percent | None = None
    """Share of hard bounces that pauses the account, in percent; 5 by default."""
    complaint_warn: _Percent | None = None
    """Share of complaints that warns, in percent; 0.1 by default."""
    complaint_pause: _Percent | None = None
    """Share of complaints that pauses the account, in percent; 0.3 by default."""


class WebhookQuery(RequestModel):
    """The provider of the webhook."""

    provider: _Provider | None = None
    """Provider that sends the events; the account's own if omitted."""


class WebhookSecrets(RequestModel):
    """Secrets that verify the provider's requests; omitted ones are unchanged, an empty value
    removes one.
    """

    provider: _Provider | None = None
    """Provider that sends the events; the account's own if omitted."""
    signing: Annotated[list[_Secret], Field(max_length=20)] | None = None
    """Signing secrets or public keys; several while one is being replaced."""
    user: Annotated[str, Field(max_length=4096)] | None = None
    """User name of Basic authentication."""
    password: _Secret | None = None
    """Password of Basic authentication."""
    topics: Annotated[list[Annotated[str, Field(max_length=4096)]], Field(max_length=20)] | None = (
        None
    )
    """Topics of its events, such as ARNs of SNS topics."""
    settings: dict[str, Any] | None = None
    """Further settings, such as `header`: the name of the header with the secret."""
    rotate: bool = False
    """Replace the URL; the old one stops working at once."""


async def show_rates(call: RequestContext) -> BounceRates:
    """Return the rates of an account."""
    async with call.connection() as conn:
        return await rates_of(conn, await account_of(conn, call))


async def change_rates(call: RequestContext) -> BounceRates:
    """Change the thresholds of an account."""
    change = ThresholdsChange(**call.body.model_dump())
    async with call.connection() as conn:
        account = await account_of(conn, call)
        return await set_thresholds(conn, account, change=change, by=call.by)


async def put_webhook(call: RequestContext) -> ProviderEndpoint:
    """Create the URL of a provider's webhook, or change its secrets."""
    body: WebhookSecrets = call.body
    change = SecretsChange(
        signing=None if body.signing is None else [one.get_secret_value() for one in body.signing],
        user=body.user,
        password=None if body.password is None else body.password.get_secret_value(),
        topics=body.topics,
        settings=body.settings,
    )
    async with call.connection() as conn, unlocked(call, own_key_of(call.request), conn):
        account = await account_of(conn, call)
        return await endpoints.put(
            conn,
            account,
            provider=endpoints.provider_of(account, body.provider),
            change=change,
            is_rotated=body.rotate,
            master=master_key_of(call.settings),
            base_url=call.settings.tracking.public_url,
            by=call.by,
        )


async def show_webhook(call: RequestContext) -> ProviderEndpoint:
    """Return the URL of a provider's webhook."""
    query: WebhookQuery = call.query
    async with call.connection() as conn, unlocked(call, own_key_of(call.request), conn):
        account = await account_of(conn, call)
        return await endpoints.show(
            conn,
            account,
            provider=endpoints.provider_of(account, query.provider),
            master=master_key_of(call.settings),
            base_url=call.settings.tracking.public_url,
        )


async def remove_webhook(call: RequestContext) -> None:
    """Remove the URL of a provider's webhook."""
    query: WebhookQuery = call.query
    async with call.connection() as conn:
        account = await account_of(conn, call)
        provider = endpoints.provider_of(account, query.provider)
        await endpoints.remove(conn, account, provider=provider, by=call.by)


RETURNS_ENDPOINTS = (
    Endpoint(
        "GET",
        f"{ONE}/rates",
        Scope.PROJECT_READ,
        "Show bounce and complaint rates of a sender account.",
        show_rates,
        response=BounceRates,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "PUT",
        f"{ONE}/rates",
        Scope.PROJECT_WRITE,
        "Set the bounce and complaint rates that pause a sender account.",
        change_rates,
        request=Thresholds,
        response=BounceRates,
        tag=_TAG,
        example={"bounce_pause": 8},
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        f"{ONE}/webhook",
        Scope.PROJECT_WRITE,
        "Show the webhook URL for the provider of a sender account.",
        show_webhook,
        query=WebhookQuery,
        response=ProviderEndpoint,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "PUT",
        f"{ONE}/webhook",
        Scope.PROJECT_WRITE,
        "Create the webhook URL, or change the secrets that verify the provider.",
        put_webhook,
        request=WebhookSecrets,
        response=ProviderEndpoint,
        tag=_TAG,
        description="Secrets are encrypted and not shown again. The URL contains a token: keep "
        "it secret, and `rotate` it if it leaked.",
        example={"provider": "mailgun", "signing": ["the webhook signing key"]},
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        f"{ONE}/webhook",
        Scope.PROJECT_WRITE,
        "Delete the webhook URL.",
        remove_webhook,
        query=WebhookQuery,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
)
