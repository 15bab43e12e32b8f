"""Settings of the channels that notifications go to. Values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """The APIs of providers; None: https://slack.com/api and https://api.twilio.com."""

    slack_url: str | None = None
    twilio_url: str | None = None
