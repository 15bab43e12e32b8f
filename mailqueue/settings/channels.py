"""Settings of the channels that notifications go to. Values and their format."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode

from mailqueue.core.secret import Secret
from mailqueue.settings.tracking import parse_public_url


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """The APIs of providers; None: https://slack.com/api and https://api.twilio.com.

    `slack_client_id` and its secrets are those of the app that persons install in Slack.
    """

    slack_url: str | None = None
    twilio_url: str | None = None
    slack_client_id: str | None = None
    slack_client_secret: Secret | None = None
    app_signing_secret: Secret | None = None


def _url(value: object) -> object:
    return parse_public_url(value) if isinstance(value, str) else value


def _secret(value: object) -> object:
    return Secret(value) if isinstance(value, str) else value


ProviderUrl = Annotated[str | None, BeforeValidator(_url)]
ClientId = Annotated[str, Field(pattern=r"^[0-9.]{3,100}$")]
ClientSecret = Annotated[Secret | None, NoDecode, BeforeValidator(_secret)]


class ChannelVariables(BaseSettings):
    """The variables of channels that notifications go to."""

    slack_url: ProviderUrl = None
    twilio_url: ProviderUrl = None
    slack_client_id: Annotated[ClientId | None, NoDecode] = None
    slack_client_secret: ClientSecret = None
    slack_signing_secret: ClientSecret = None


def channels_of(env: ChannelVariables) -> ChannelSettings:
    """Return the settings of channels, from their variables."""
    return ChannelSettings(
        env.slack_url,
        env.twilio_url,
        env.slack_client_id,
        env.slack_client_secret,
        env.slack_signing_secret,
    )
