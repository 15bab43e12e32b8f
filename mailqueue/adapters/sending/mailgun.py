"""Mailgun, POST /v3/{domain}/messages.mime with the message unchanged.

Follows github.com/mailgun/documentation (source/api-sending.rst), read in November 2026. The whole
request fails if one address is invalid.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from urllib.parse import quote

from mailqueue.adapters.http.model import HttpOrigin, HttpRequest, HttpResponse
from mailqueue.adapters.sending import outcomes
from mailqueue.adapters.sending.api import (
    ProviderAccount,
    ProviderApi,
    ProviderMail,
    metadata_of,
    tags_of,
)
from mailqueue.adapters.sending.limits import MEGABYTE, ProviderLimits, objection, of_account
from mailqueue.adapters.sending.outcomes import Meaning, cannot_carry
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Accepted, Rejected, Verdict
from mailqueue.ports.transport import SendAttempt

# Mailgun garbles the headers of addresses beyond ASCII: refused.
BOUNDS = ProviderLimits("Mailgun", octets=25 * MEGABYTE, recipients=1000, tags=3)
MAX_OPTION_BYTES = 16 * 1024
OPTION_PREFIXES = ("o:", "v:", "t:")  # other fields name recipients or carry the message
_ABOUT_SANDBOX = ("authorized recipient", "sandbox")
_ABOUT_MESSAGE = re.compile(
    r"parameter|missing|invalid|not valid|too large|malformed|mime|header|must |required|attachment"
)


class Mailgun(ProviderApi):
    """The API for one key and one sending domain, which is part of the path of each request."""

    def __init__(self, access: ProviderAccount) -> None:
        self._bounds = of_account(BOUNDS, access.settings)
        self.site = access.site or HttpOrigin("https", "api.mailgun.net", 443)
        self._domain = access.setting("domain")
        self._extra = {
            name: str(value)
            for name, value in access.extra().items()
            if name.startswith(OPTION_PREFIXES)
        }
        login = f"api:{access.secret.reveal()}".encode()
        encoded = base64.b64encode(login).decode()
        self.secrets = (Secret(encoded), access.secret)  # a server may echo either
        self._authorization = f"Basic {encoded}"

    def write(self, mail: SendAttempt) -> ProviderMail | Rejected:
        options = [
            *self._extra.items(),
            *(("o:tag", tag) for tag in tags_of(mail)),
            *((f"v:{name}", value) for name, value in metadata_of(mail).items()),
        ]
        size = sum(len(name.encode()) + len(value.encode()) for name, value in options)
        if size > MAX_OPTION_BYTES:
            return cannot_carry(
                f"Mailgun takes at most {MAX_OPTION_BYTES} bytes of options, this one has {size}"
            )
        fields = [("to", one) for one in mail.envelope.recipients] + options
        refused = objection(self._bounds, mail, octets=len(mail.message))
        return refused or ProviderMail(mail, form(fields, message=mail.message))

    def call(self, group: Sequence[ProviderMail]) -> HttpRequest:
        body = group[0].octets
        boundary = body[2 : body.index(b"\r\n")].decode()
        headers = (
            ("Authorization", self._authorization),
            ("Content-Type", f"multipart/form-data; boundary={boundary}"),
            ("Accept", "application/json"),
        )
        return HttpRequest(
            "POST", f"/v3/{quote(self._domain, safe='')}/messages.mime", headers, body
        )

    def judge(self, group: Sequence[ProviderMail], answer: HttpResponse) -> Sequence[Verdict]:
        return [_judged(group[0].mail, answer)]


def form(fields: Sequence[tuple[str, str]], *, message: bytes) -> bytes:
    """Return a multipart/form-data body (RFC 7578) with the message as its file. Pure."""
    octets = [message, *(value.encode() for _, value in fields)]
    digest = hashlib.blake2b(message, digest_size=16)
    while any((mark := f"mq-{digest.hexdigest()}".encode()) in one for one in octets):
        digest.update(mark)
    pieces = [
        b'--%b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n'
        % (mark, _quoted(name), value.encode())
        for name, value in fields
    ]
    head = b'name="message"; filename="message.eml"\r\nContent-Type: message/rfc822'
    pieces.append(b"--%b\r\nContent-Disposition: form-data; %b\r\n\r\n" % (mark, head))
    return b"".join((*pieces, message, b"\r\n--%b--\r\n" % mark))


def _quoted(name: str) -> bytes:
    # As in HTML, section "multipart/form-data encoding algorithm".
    return name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22").encode()


def _judged(mail: SendAttempt, answer: HttpResponse) -> Verdict:
    parsed = answer.document()
    parsed = parsed if isinstance(parsed, dict) else {}
    if answer.is_success and isinstance(message_id := parsed.get("id"), str) and message_id:
        # The Message-ID in angle brackets, which events leave out.
        return Accepted("200", outcomes.cleaned(str(parsed.get("message"))), "", message_id)
    if answer.status < 400:
        return outcomes.not_understood(answer)
    detail = str(parsed.get("message") or "") or outcomes.plain(answer)
    lowered = detail.lower()
    if answer.status == 400 and "not a valid address" in lowered:
        return outcomes.about_recipient(mail, answer, detail)
    return outcomes.refused(answer, _meaning(answer.status, lowered), detail)


def _meaning(status: int, lowered: str) -> Meaning:
    if status in (400, 401, 403) and any(words in lowered for words in _ABOUT_SANDBOX):
        return outcomes.SENDER
    if status == 404:  # the domain; Mailgun documents it as temporary
        return outcomes.PAUSED
    meaning = outcomes.meaning_of(status, lowered)
    if status == 402:  # "Request Failed": the parameters were valid, the request failed
        return outcomes.UNRECOGNIZED if meaning is outcomes.PAUSED else meaning
    is_open = status == 400 and meaning is outcomes.UNRECOGNIZED
    return outcomes.MESSAGE if is_open and _ABOUT_MESSAGE.search(lowered) else meaning
