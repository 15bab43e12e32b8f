"""A person who connects an inbox at Gmail by consent."""

from dataclasses import dataclass
from typing import Any

import httpx2

from tests.api.support.calling import Calling
from tests.watch.fake_gmail import FakeGmail

USERS, INBOXES, GMAIL = "/v1/inbox-users", "/v1/inboxes", "/v1/inboxes/gmail"
BACK = "/oauth/gmail"
PUBLIC = "https://mail.example.com"


@dataclass
class Site:
    """The API, Google, and a person whose inbox is connected."""

    api: Calling
    google: FakeGmail
    owner: str

    async def begun(self, **fields: Any) -> httpx2.Response:
        body = {"user_id": self.owner, "email_address": "Ann@Example.com", **fields}
        return await self.api.post(GMAIL, body)

    async def consented(self, **fields: Any) -> dict[str, str]:
        """Consent as the owner; return the parameters of the redirect."""
        begun = await self.begun(**fields)
        assert begun.status_code == 201, begun.text
        return self.google.consent(begun.json()["consent_url"])

    async def back(self, given: dict[str, str]) -> str:
        """Follow the redirect of Google; return where it leads."""
        answer = await self.api.http.get(BACK, params=given)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    async def listed(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.api.get(INBOXES)).json()["data"]
        return found
