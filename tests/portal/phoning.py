"""Persons who connect phones, and the messages that Twilio passes on from these."""

import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree as ET

import httpx2
from twilio.request_validator import RequestValidator

from mailqueue.core.secret import Secret
from tests import make
from tests.portal.visiting import HOME, ORIGIN, Visiting
from tests.watch.fake_twilio import message_id
from tests.watch.watching import ACCOUNT, AUTH_TOKEN, PHONE, SENDER, TEMPLATE

CONNECT, HOOK = "/channels/whatsapp", "/channels/whatsapp"
SETTINGS: dict[str, Any] = {
    "twilio_account_sid": ACCOUNT,
    "twilio_auth_token": Secret(AUTH_TOKEN),
    "twilio_sender": SENDER,
    "twilio_template": TEMPLATE,
}
OTHER_PHONE = "+15550000077"
CHANNELS = """
    SELECT u.email, c.status, o.phone_number, o.wording IS NOT NULL, o.window_until > now()
      FROM mailqueue.notification_channels AS c JOIN mailqueue.inbox_users AS u ON u.id = c.user_id
      LEFT JOIN mailqueue.channel_consents AS o ON o.channel_id = c.id
     ORDER BY c.created_at
"""


@dataclass
class Phones:
    """The pages, and the messages that Twilio passes on from phones."""

    portal: Visiting
    sent: int = 0
    answers: list[str] = field(default_factory=list)

    async def code(self, email: str = "ann@example.com", home: str = HOME) -> str:
        """Return the message that a person is shown on the page."""
        async with self.portal.visitor(home) as visitor:
            await visitor.log_in(email)
            shown = await visitor.submit(CONNECT, CONNECT, agrees="on")
        assert shown.status_code == 200, shown.text
        (link,) = re.findall(r'href="(https://wa\.me/[^"]*)"', shown.text)
        parts = urlsplit(unescape(link))
        assert parts.path == f"/{SENDER.removeprefix('+')}"
        (message,) = parse_qs(parts.query)["text"]
        assert message in unescape(shown.text)
        return message

    async def send(self, body: str, number: str = PHONE, **given: str) -> httpx2.Response:
        """Send a message from a phone; `token` signs it, other fields replace those of Twilio."""
        token = given.pop("token", AUTH_TOKEN)
        self.sent += 1
        fields = {
            "MessageSid": message_id(self.sent),
            "AccountSid": ACCOUNT,
            "From": f"whatsapp:{number}",
            "To": f"whatsapp:{SENDER}",
            "Body": body,
            **given,
        }
        signature = RequestValidator(token).compute_signature(f"{ORIGIN}{HOOK}", fields)
        async with self.portal.visitor() as visitor:
            headers = {"X-Twilio-Signature": signature}
            return await visitor.http.post(HOOK, data=fields, headers=headers)

    async def said(self, body: str, number: str = PHONE) -> str | None:
        """Return what a person is answered to a message; None: nothing."""
        response = await self.send(body, number)
        assert response.status_code == 200, response.text
        found = ET.fromstring(response.text).find("Message")
        return None if found is None else found.text

    async def channels(self) -> list[tuple[Any, ...]]:
        async with self.portal.connection() as conn:
            return await make.rows(conn, CHANNELS)
