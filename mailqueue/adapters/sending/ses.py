"""Amazon SES v2, SendEmail with the message unchanged.

Follows docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html and the service model
sesv2/2019-09-27, read in November 2026.
"""

import base64
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from mailqueue.adapters.http.model import HttpOrigin, HttpRequest, HttpResponse
from mailqueue.adapters.sending import outcomes
from mailqueue.adapters.sending.api import (
    ProviderAccount,
    ProviderApi,
    ProviderMail,
    named_tags_of,
)
from mailqueue.adapters.sending.limits import MEGABYTE, ProviderLimits, objection, of_account
from mailqueue.adapters.sending.outcomes import Meaning
from mailqueue.adapters.sending.parts import recipients_of, sender_of
from mailqueue.adapters.sending.sigv4 import AwsCredentials, signed_headers
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Accepted, Rejected, Verdict
from mailqueue.ports.transport import SendAttempt

PATH = "/v2/email/outbound-emails"
REGION = "us-east-1"
BOUNDS = ProviderLimits("Amazon SES", octets=40 * MEGABYTE, recipients=50, tags=40)

MEANING_BY_ERROR = {
    "TooManyRequestsException": outcomes.RATE_LIMITED,
    "ThrottlingException": outcomes.RATE_LIMITED,
    "Throttling": outcomes.RATE_LIMITED,
    "LimitExceededException": outcomes.RATE_LIMITED,
    "AccountSuspendedException": outcomes.ACCOUNT,
    "SendingPausedException": outcomes.PAUSED,  # sending may be resumed by an operator
    "MailFromDomainNotVerifiedException": outcomes.SENDER,
    "MessageRejected": outcomes.MESSAGE,
    "BadRequestException": outcomes.MESSAGE,
    "NotFoundException": outcomes.PAUSED,  # the account's configuration set
    "SignatureDoesNotMatch": outcomes.ACCOUNT,
    "InvalidSignatureException": outcomes.ACCOUNT,
    "UnrecognizedClientException": outcomes.ACCOUNT,
    "InvalidClientTokenId": outcomes.ACCOUNT,
    "AccessDeniedException": outcomes.SENDER,  # it concerns one identity
    "IncompleteSignature": outcomes.ACCOUNT,
    "MissingAuthenticationToken": outcomes.ACCOUNT,
    "ExpiredTokenException": outcomes.ACCOUNT,
    "ExpiredToken": outcomes.ACCOUNT,
    "RequestExpired": outcomes.PAUSED,
    "RequestTimeTooSkewed": outcomes.PAUSED,
    "InternalServiceErrorException": outcomes.TRANSIENT,
    "InternalFailure": outcomes.TRANSIENT,
    "ServiceUnavailable": outcomes.TRANSIENT,
}
# These stand for a rate limit, a daily quota or a suspended account: the text decides.
SEVERAL_MEANINGS = frozenset(
    {
        "TooManyRequestsException",
        "ThrottlingException",
        "Throttling",
        "LimitExceededException",
        "MessageRejected",
    }
)
CLOCK_ERRORS = frozenset({"RequestExpired", "RequestTimeTooSkewed"})
_ABOUT_CLOCK = re.compile(
    r"signature (?:has )?expired|(?:signature|request) (?:is )?not yet current"
    r"|is now (?:earlier|later) than|clock|too skewed",
    re.IGNORECASE,
)


class Ses(ProviderApi):
    """The API for one access key in one region."""

    def __init__(self, access: ProviderAccount) -> None:
        self._bounds = of_account(BOUNDS, access.settings)
        self._region = access.setting("region") or REGION
        self.site = access.site or HttpOrigin("https", f"email.{self._region}.amazonaws.com", 443)
        self._credentials = _credentials(access)
        token = self._credentials.token
        self.secrets = (self._credentials.secret, *([token] if token else []))
        self._configuration_set = access.setting("configuration_set")
        self._extra = access.extra()
        self._clock_is_behind = timedelta(0)

    def write(self, mail: SendAttempt) -> ProviderMail | Rejected:
        to, cc, bcc = recipients_of(mail)
        named = {"ToAddresses": to, "CcAddresses": cc, "BccAddresses": bcc}
        tags = named_tags_of(mail)
        sender, bounces = sender_of(mail), mail.envelope.sender
        body: dict[str, Any] = {
            **self._extra,
            "FromEmailAddress": sender,
            "Destination": {
                field: [one.address for one in people] for field, people in named.items() if people
            },
            "Content": {"Raw": {"Data": base64.b64encode(mail.message).decode()}},
            "EmailTags": [{"Name": name, "Value": value} for name, value in tags.items()],
        }
        if bounces != sender:  # SES uses a MAIL FROM of its own
            body["FeedbackForwardingEmailAddress"] = bounces
        if self._configuration_set:
            body["ConfigurationSetName"] = self._configuration_set
        octets = orjson.dumps(body)
        refused = objection(self._bounds, mail, octets=len(octets))
        return refused or ProviderMail(mail, octets)

    def call(self, group: Sequence[ProviderMail]) -> HttpRequest:
        body = group[0].octets
        headers = signed_headers(
            self._credentials,
            method="POST",
            host=self.site.authority,
            path=self.site.prefix + PATH,
            body=body,
            content_type="application/json",
            region=self._region,
            service="ses",  # of API version 2, too
            at=datetime.now(UTC) + self._clock_is_behind,
        )
        return HttpRequest("POST", PATH, headers, body)

    def judge(self, group: Sequence[ProviderMail], answer: HttpResponse) -> Sequence[Verdict]:
        return [self._judged(group[0].mail, answer)]

    def _judged(self, mail: SendAttempt, answer: HttpResponse) -> Verdict:
        parsed = answer.document()
        parsed = parsed if isinstance(parsed, dict) else {}
        if answer.is_success:
            message_id = parsed.get("MessageId")
            if isinstance(message_id, str) and message_id:
                return Accepted("200", f"MessageId {message_id}", provider_message_id=message_id)
            return outcomes.not_understood(answer)
        name = _error_name(answer, parsed)
        if answer.status < 400 or (not name and not parsed):
            return outcomes.not_understood(answer)
        text = _text(parsed)
        detail = f"{name}: {text}" if text else name
        if name == "BadRequestException" and _names_one(mail, text):
            return outcomes.about_recipient(mail, answer, detail)
        meaning = _meaning(answer, name, text)
        return outcomes.refused(answer, meaning, detail)

    def renew(self, answer: HttpResponse) -> bool:
        """Return whether a wrong local clock caused the refusal, and correct it by the server's."""
        if answer.status < 400:
            return False
        parsed = answer.document()
        parsed = parsed if isinstance(parsed, dict) else {}
        theirs = outcomes.clock_of(answer)
        if theirs is None or not _is_about_clock(_error_name(answer, parsed), _text(parsed)):
            return False
        self._clock_is_behind = theirs - datetime.now(UTC)
        return True


def _credentials(access: ProviderAccount) -> AwsCredentials:
    """Parse the secret key, or a JSON document with it and the session token of temporary keys."""
    text = access.secret.reveal()
    if not text.startswith("{"):
        return AwsCredentials(access.key_id, access.secret)
    given = orjson.loads(text)
    if not isinstance(given.get("secret_key"), str):
        raise ValueError("the key is a JSON document without secret_key")
    token = given.get("session_token")
    return AwsCredentials(
        access.key_id, Secret(str(given["secret_key"])), Secret(str(token)) if token else None
    )


def _error_name(answer: HttpResponse, parsed: dict[str, Any]) -> str:
    found = (
        answer.headers.get("x-amzn-errortype") or parsed.get("code") or parsed.get("__type") or ""
    )
    return str(found).split(":")[0].rpartition("#")[2]


def _text(parsed: dict[str, Any]) -> str:
    return str(parsed.get("message") or parsed.get("Message") or "")


def _is_about_clock(name: str, text: str) -> bool:
    is_signature = name in ("SignatureDoesNotMatch", "InvalidSignatureException")
    return name in CLOCK_ERRORS or (is_signature and _ABOUT_CLOCK.search(text) is not None)


def _names_one(mail: SendAttempt, text: str) -> bool:
    return bool(outcomes.named_in(text, mail.envelope.recipients))


def _meaning(answer: HttpResponse, name: str, text: str) -> Meaning:
    if name == "MessageRejected" and "not verified" in text.lower():
        return outcomes.SENDER  # in the sandbox it may mean the recipient
    if answer.status == 503:
        return outcomes.TRANSIENT
    if _is_about_clock(name, text):
        return outcomes.PAUSED
    known = MEANING_BY_ERROR.get(name)
    if known is None:
        return outcomes.meaning_of(answer.status, text)
    read = outcomes.meaning_of(400, text) if name in SEVERAL_MEANINGS else outcomes.UNRECOGNIZED
    return known if read is outcomes.UNRECOGNIZED else read
