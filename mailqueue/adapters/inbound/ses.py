"""Amazon SES events from SNS: notifications signed with a certificate that SNS publishes.

Follows docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html and
docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html, read in November
2026. SNS signs messages of any AWS customer: only the account's own topics are accepted.
"""

import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from mailqueue.adapters.inbound.json_values import loaded, text
from mailqueue.adapters.inbound.proof import base64_of, digest_of
from mailqueue.adapters.inbound.sns_payload import events_of
from mailqueue.ports.inbound import (
    BadEvent,
    InboundRequest,
    NotVerified,
    ProviderEvent,
    VerificationSecrets,
    Verified,
)

FetchCertificate = Callable[[str], Awaitable[bytes | None]]
"""Returns the body at an https URL, or None if there is none; raises Unavailable."""

NOTIFICATION = "Notification"
SUBSCRIPTION = "SubscriptionConfirmation"
UNSUBSCRIPTION = "UnsubscribeConfirmation"
SIGNED_BY_TYPE: Mapping[str, tuple[str, ...]] = {
    NOTIFICATION: ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    **dict.fromkeys(
        (SUBSCRIPTION, UNSUBSCRIPTION),
        ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
    ),
}
MAX_AGE = timedelta(hours=1)
MAX_AHEAD = timedelta(minutes=5)
MAX_CERTIFICATES = 16
_HOST = re.compile(r"sns\.[a-zA-Z0-9-]{3,}\.amazonaws\.com(\.cn)?")
_WRITTEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)")


class SesEvents:
    """Verifies and parses the events of SES; `fetch` fetches certificates, which are cached."""

    name = "ses"
    max_bytes = 1024 * 1024

    def __init__(self, fetch: FetchCertificate) -> None:
        self._fetch = fetch
        self._certificates: OrderedDict[str, bytes] = OrderedDict()

    async def verify(
        self, request: InboundRequest, secrets: VerificationSecrets, now: datetime
    ) -> Verified | NotVerified:
        """Check topic, age and signature.

        Subscriptions are confirmed for the account's topics only.
        """
        payload = loaded(request.body)
        if not isinstance(payload, dict):
            return NotVerified("the body is not a JSON object")
        refused = _form(request, payload) or _claims(payload, secrets, now)
        if refused is not None:
            return refused
        certificate = await self._certificate(payload["SigningCertURL"])
        if certificate is None or not _is_signed(payload, certificate, now):
            return NotVerified("the signature is not by SNS")
        match payload["Type"]:
            case "SubscriptionConfirmation":
                return Verified(
                    payload["MessageId"],
                    confirm=payload["SubscribeURL"],
                    note="subscribed to the topic",
                )
            case "UnsubscribeConfirmation":
                return Verified(payload["MessageId"], note="unsubscribed from the topic")
        return Verified(payload["MessageId"])

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Return the events of a notification, one for each recipient."""
        payload = loaded(request.body)
        if not isinstance(payload, dict):
            return [BadEvent("the body is not a JSON object")]
        event_id = text(payload.get("MessageId")) or digest_of(request.body)
        if payload.get("Type") != NOTIFICATION:
            return [ProviderEvent(None, text(payload.get("Type")) or "unknown", event_id)]
        message = payload.get("Message")
        inner = loaded(message) if isinstance(message, str) else message
        if not isinstance(inner, dict):  # plain text, sent when an event destination is created
            kind = "text"
            return [ProviderEvent(None, kind, event_id, detail=text(message))]
        return events_of(inner, event_id)

    async def _certificate(self, url: str) -> bytes | None:
        kept = self._certificates.get(url)
        if kept is not None:
            self._certificates.move_to_end(url)
            return kept
        fetched = await self._fetch(url)
        if fetched is not None:
            self._certificates[url] = fetched
            while len(self._certificates) > MAX_CERTIFICATES:
                self._certificates.popitem(last=False)
        return fetched


def is_of_sns(url: str, *, path: str = "") -> bool:
    """Return whether a URL is one of SNS; its path must end in `path`."""
    if not url.isascii() or not url.isprintable() or re.search(r"[\s\\]", url) or len(url) > 2_000:
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    return (
        parts.scheme == "https"
        and port in (None, 443)
        and "@" not in parts.netloc
        and bool(_HOST.fullmatch(parts.hostname or ""))
        and not parts.fragment
        and parts.path.endswith(path)
        and not (path and parts.query)
    )


def _form(request: InboundRequest, payload: Mapping[str, Any]) -> NotVerified | None:
    kind = payload.get("Type")
    if not isinstance(kind, str) or kind not in SIGNED_BY_TYPE:
        return NotVerified("the body is not an SNS message; raw message delivery must be disabled")
    needed = {*SIGNED_BY_TYPE[kind], "Signature", "SigningCertURL", "SignatureVersion"}
    for name in needed - {"Subject"}:
        if not isinstance(payload.get(name), str):
            return NotVerified(f"{name} is missing")
    if not isinstance(payload.get("Subject", ""), str | None):
        return NotVerified("Subject is not a string")
    for header, name in (("x-amz-sns-message-type", "Type"), ("x-amz-sns-message-id", "MessageId")):
        if request.headers.get(header) != payload[name]:
            return NotVerified(f"{header} differs from the body")
    return None


def _claims(
    payload: Mapping[str, Any], secrets: VerificationSecrets, now: datetime
) -> NotVerified | None:
    if payload["TopicArn"] not in secrets.topics:
        return NotVerified("the topic is not one of the account's")
    if not is_of_sns(payload["SigningCertURL"], path=".pem"):
        return NotVerified("the certificate's URL is not one of SNS")
    if payload["Type"] == SUBSCRIPTION and not is_of_sns(payload["SubscribeURL"]):
        return NotVerified("the URL to confirm is not one of SNS")
    is_asked = str(secrets.settings.get("require_v2", "")).lower() in ("true", "1", "yes", "on")
    versions = {"2"} if is_asked else {"1", "2"}
    if payload["SignatureVersion"] not in versions:
        return NotVerified("the signature version is not supported")
    written = payload["Timestamp"]
    if not _WRITTEN.fullmatch(written):
        return NotVerified("the timestamp is not valid")
    try:
        at = datetime.fromisoformat(written)
    except ValueError:
        return NotVerified("the timestamp is not valid")
    return (
        None
        if -MAX_AHEAD <= now - at <= MAX_AGE
        else NotVerified("the timestamp is too old or in the future")
    )


def _is_signed(payload: Mapping[str, Any], certificate: bytes, now: datetime) -> bool:
    signature = base64_of(payload["Signature"])
    if signature is None:
        return False
    try:
        read = x509.load_pem_x509_certificate(certificate)
        key = read.public_key()
    except (ValueError, UnsupportedAlgorithm):
        return False
    is_in_force = read.not_valid_before_utc <= now <= read.not_valid_after_utc
    if not is_in_force or not isinstance(key, RSAPublicKey):
        return False
    algorithm = hashes.SHA256() if payload["SignatureVersion"] == "2" else hashes.SHA1()  # noqa: S303
    try:
        key.verify(signature, signed_text(payload), PKCS1v15(), algorithm)
    except InvalidSignature:
        return False
    return True


def signed_text(payload: Mapping[str, Any]) -> bytes:
    """Return the text that the signature of a message covers."""
    names = SIGNED_BY_TYPE[payload["Type"]]
    pieces = [f"{name}\n{payload[name]}\n" for name in names if payload.get(name) is not None]
    return "".join(pieces).encode("utf-8", "surrogatepass")
