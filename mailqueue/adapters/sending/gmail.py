"""Gmail API, users.messages.send with the message unchanged.

Follows developers.google.com/gmail/api/reference/rest/v1/users.messages/send and its guide to
errors, read in November 2026. The API takes no envelope: Gmail sends to the addresses in the
headers.
"""

import base64
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import orjson

from mailqueue.adapters.http.model import HttpOrigin, HttpRequest, HttpResponse
from mailqueue.adapters.sending import outcomes
from mailqueue.adapters.sending.api import ProviderAccount, ProviderApi, ProviderMail
from mailqueue.adapters.sending.limits import MEGABYTE, ProviderLimits, objection, of_account
from mailqueue.adapters.sending.oauth import Tokens
from mailqueue.adapters.sending.outcomes import Meaning
from mailqueue.adapters.sending.parts import People, recipients_of
from mailqueue.core.address import Mailbox, parse_address
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Accepted, Rejected, Verdict
from mailqueue.mime.headers import addresses
from mailqueue.ports.transport import SendAttempt

BOUNDS = ProviderLimits("Gmail", octets=36_700_160, recipients=100, takes_unicode=True)
UPLOAD_BYTES = 5 * MEGABYTE  # larger messages are uploaded as message/rfc822, not in JSON

MEANING_BY_REASON = {
    "authError": outcomes.ACCOUNT,
    "rateLimitExceeded": outcomes.RATE_LIMITED,
    "userRateLimitExceeded": outcomes.RATE_LIMITED,
    "concurrentLimitExceeded": outcomes.RATE_LIMITED,
    "dailyLimitExceeded": outcomes.PAUSED,
    "quotaExceeded": outcomes.PAUSED,
    "limitExceeded": outcomes.PAUSED,
    "domainPolicy": outcomes.ACCOUNT,
    "insufficientPermissions": outcomes.ACCOUNT,
    "accessNotConfigured": outcomes.ACCOUNT,
    "invalidArgument": outcomes.MESSAGE,
    "uploadTooLarge": outcomes.MESSAGE,
}
_CLOSED = "mail service not enabled"
_ABOUT_RECIPIENT = re.compile(r"invalid (?:to|cc|bcc) header|recipient address required", re.I)
_HEADER = re.compile(
    rb"^(?:to|cc|bcc|dkim-signature):[^\r\n]*\r\n(?:[ \t][^\r\n]*\r\n)*",
    re.IGNORECASE | re.MULTILINE,
)


class Gmail(ProviderApi):
    """The API for one mailbox, with the consent of its owner or its domain's administrator."""

    def __init__(self, access: ProviderAccount, tokens: Tokens) -> None:
        self._bounds = of_account(BOUNDS, access.settings)
        self.site = access.site or HttpOrigin("https", "gmail.googleapis.com", 443)
        self._user = access.setting("user") or access.key_id or "me"
        self._tokens = tokens
        self._token = Secret("")

    async def authorise(self) -> Rejected | None:
        """Obtain a token that is valid for the next requests."""
        token = await self._tokens.get()
        if isinstance(token, Rejected):
            return token
        if token != self._token:  # replies to requests with the one before are still awaited
            self.secrets = tuple(filter(None, (token, self._token)))
        self._token = token
        return None

    def renew(self, answer: HttpResponse) -> bool:
        if answer.status == 401:
            self._tokens.drop()
        return answer.status == 401

    def write(self, mail: SendAttempt) -> ProviderMail | Rejected:
        message = addressed(mail)
        refused = objection(self._bounds, mail, octets=len(message))
        return refused or ProviderMail(mail, message)

    def call(self, group: Sequence[ProviderMail]) -> HttpRequest:
        message = group[0].octets
        path = f"/gmail/v1/users/{quote(self._user, safe='@')}/messages/send"
        authorization = ("Authorization", f"Bearer {self._token.reveal()}")
        if len(message) > UPLOAD_BYTES:
            headers = (authorization, ("Content-Type", "message/rfc822"))
            return HttpRequest("POST", f"/upload{path}?uploadType=media", headers, message)
        body = orjson.dumps({"raw": base64.urlsafe_b64encode(message).decode()})
        return HttpRequest(
            "POST", path, (authorization, ("Content-Type", "application/json")), body
        )

    def judge(self, group: Sequence[ProviderMail], answer: HttpResponse) -> Sequence[Verdict]:
        return [_judged(group[0].mail, answer)]


def addressed(mail: SendAttempt) -> bytes:
    """Return the message with To, Cc and Bcc naming the envelope's recipients and no others.

    A message whose headers do so already is returned unchanged. Gmail removes Bcc before delivery.
    """
    to, cc, bcc = recipients_of(mail)
    head, empty, body = mail.message.partition(b"\r\n\r\n")
    head += b"\r\n"
    named = b"".join(
        addresses(name, _mailboxes(people))
        for name, people in (("To", to), ("Cc", cc), ("Bcc", bcc))
        if people
    )
    if not bcc and _names(head) == len(to) + len(cc):
        return mail.message
    return _HEADER.sub(b"", head) + named + empty[2:] + body


def _names(head: bytes) -> int:
    """Return the number of addresses in the headers."""
    found = [one.group() for one in _HEADER.finditer(head)]
    return sum(one.count(b"@") for one in found if not one.lower().startswith(b"dkim"))


def _mailboxes(people: People) -> list[Mailbox]:
    return [Mailbox(one.name, parse_address(one.address)) for one in people]


def _judged(mail: SendAttempt, answer: HttpResponse) -> Verdict:
    parsed = answer.document()
    parsed = parsed if isinstance(parsed, dict) else {}
    if answer.is_success and isinstance(message_id := parsed.get("id"), str) and message_id:
        return Accepted("200", "accepted", provider_message_id=message_id)
    error = parsed.get("error")
    if answer.status < 400 or not isinstance(error, dict):
        return outcomes.not_understood(answer)
    text, reason = str(error.get("message") or ""), _reason(error)
    detail = f"{reason}: {text}" if reason else text
    if answer.status == 400 and _ABOUT_RECIPIENT.search(text):
        return outcomes.about_recipient(mail, answer, detail)
    return outcomes.refused(answer, _meaning(answer, reason, text), detail)


def _meaning(answer: HttpResponse, reason: str, text: str) -> Meaning:
    if answer.status >= 500:
        return outcomes.AMBIGUOUS
    if answer.status == 429 and "mail sending" in text.lower():
        return outcomes.PAUSED
    if reason == "failedPrecondition" and _CLOSED in text.lower():
        return outcomes.ACCOUNT
    return MEANING_BY_REASON.get(reason) or outcomes.meaning_of(answer.status, text)


def _reason(error: dict[str, Any]) -> str:
    """Return the first reason of the error, in its older or newer format."""
    for name in ("errors", "details"):
        listed = error.get(name)
        for each in listed if isinstance(listed, list) else []:
            if isinstance(each, dict) and each.get("reason"):
                return str(each["reason"])
    return ""
