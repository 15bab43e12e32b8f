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

    `slack_client_id` and its secrets are those of the app that persons install in Slack;
    `twilio_account_sid`, `twilio_auth_token`, `twilio_sender` and `twilio_template` are the account
    and the sender of the phones that persons connect.
    """

    slack_url: str | None = None
    twilio_url: str | None = None
    slack_client_id: str | None = None
    slack_client_secret: Secret | None = None
    app_signing_secret: Secret | None = None
    twilio_account_sid: str | None = None
    twilio_auth_token: Secret | None = None
    twilio_sender: str | None = None
    twilio_template: str | None = None


def _url(value: object) -> object:
    return parse_public_url(value) if isinstance(value, str) else value


def _secret(value: object) -> object:
    return Secret(value) if isinstance(value, str) else value


ProviderUrl = Annotated[str | None, BeforeValidator(_url)]
ClientId = Annotated[str, Field(pattern=r"^[0-9.]{3,100}$")]
ClientSecret = Annotated[Secret | None, NoDecode, BeforeValidator(_secret)]

TwilioAccount = Annotated[str, Field(pattern=r"^AC[0-9a-f]{32}$")]
TwilioNumber = Annotated[str, Field(pattern=r"^\+[1-9][0-9]{6,14}$")]
TwilioTemplate = Annotated[str, Field(pattern=r"^HX[0-9a-f]{32}$")]


class ChannelVariables(BaseSettings):
    """The variables of channels that notifications go to."""

    slack_url: ProviderUrl = None
    twilio_url: ProviderUrl = None
    slack_client_id: Annotated[ClientId | None, NoDecode] = None
    slack_client_secret: ClientSecret = None
    slack_signing_secret: ClientSecret = None
    twilio_account_sid: Annotated[TwilioAccount | None, NoDecode] = None
    twilio_auth_token: ClientSecret = None
    twilio_sender: Annotated[TwilioNumber | None, NoDecode] = None
    twilio_template: Annotated[TwilioTemplate | None, NoDecode] = None


def channels_of(env: ChannelVariables) -> ChannelSettings:
    """Return the settings of channels, from their variables."""
    return ChannelSettings(
        env.slack_url,
        env.twilio_url,
        env.slack_client_id,
        env.slack_client_secret,
        env.slack_signing_secret,
        env.twilio_account_sid,
        env.twilio_auth_token,
        env.twilio_sender,
        env.twilio_template,
    )
