"""The installation of a Slack app by OAuth 2. https://docs.slack.dev/authentication/installing-with-oauth"""

import re
from dataclasses import dataclass
from urllib.parse import urlencode

import orjson

from mailqueue.adapters.channels.slack.posting import API_URL
from mailqueue.core.secret import Secret
from mailqueue.ports.channel import AppInstallation
from mailqueue.ports.webhook import Posted, Poster

AUTHORIZE_URL = "https://slack.com/oauth/v2/authorize"
SCOPES = "chat:write"
_TEAM = re.compile(r"[TE][A-Z0-9]{1,30}")
_PERSON = re.compile(r"[UW][A-Z0-9]{1,30}")
_TOKEN = re.compile(r"(xoxe\.)?xoxb-[A-Za-z0-9-]{10,300}")


@dataclass(frozen=True, slots=True)
class SlackApp:
    """See `ports.channel.InstalledApp`."""

    client_id: str
    client_secret: Secret
    poster: Poster
    api_url: str = API_URL

    def url_for(self, state: str, redirect_url: str) -> str:
        """Return the page of Slack where a person installs the app. Pure."""
        values = {
            "client_id": self.client_id,
            "scope": SCOPES,
            "state": state,
            "redirect_uri": redirect_url,
        }
        return f"{AUTHORIZE_URL}?{urlencode(values)}"

    async def exchange(self, code: str, redirect_url: str) -> AppInstallation | str:
        """Return the installation that a code stands for, or why there is none."""
        values = {
            "client_id": self.client_id,
            "client_secret": self.client_secret.reveal(),
            "code": code,
            "redirect_uri": redirect_url,
        }
        headers = (("content-type", "application/x-www-form-urlencoded"),)
        url = f"{self.api_url.rstrip('/')}/oauth.v2.access"
        return installation_of(await self.poster.post(url, headers, urlencode(values).encode()))


def installation_of(posted: Posted) -> AppInstallation | str:
    """Return what an answer says. Pure."""
    if posted.status != 200:
        return f"Slack answered {posted.status}" if posted.status else "Slack did not answer"
    try:
        answer = orjson.loads(posted.body)
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict) or answer.get("ok") is not True:
        word = answer.get("error") if isinstance(answer, dict) else None
        return f"Slack: {word[:100]}" if isinstance(word, str) else "Slack answered without a token"
    token = _text(answer, "access_token", _TOKEN)
    team = _text(answer.get("team"), "id", _TEAM)
    person = _text(answer.get("authed_user"), "id", _PERSON)
    if token is None or team is None or person is None:
        return "Slack answered without a bot's token, a workspace or a person"
    return AppInstallation(Secret(token), team, person)


def _text(value: object, name: str, pattern: re.Pattern[str]) -> str | None:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) and pattern.fullmatch(found) else None
