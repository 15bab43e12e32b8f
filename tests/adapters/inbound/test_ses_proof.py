"""SNS signs for any customer: only the account's topics and SNS's certificates are accepted."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from mailqueue.adapters.inbound.ses import SesEvents, is_of_sns, signed_text
from mailqueue.core.errors import Unavailable
from mailqueue.ports.inbound import InboundRequest, NotVerified, VerificationSecrets, Verified
from tests.adapters.inbound.signed_requests import NOW, request

pytestmark = pytest.mark.anyio

TOPIC = "arn:aws:sns:us-east-1:123456789012:ses-events"
CERTIFICATE_URL = "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-test.pem"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
NOTIFICATION = {
    "Type": "Notification",
    "MessageId": "11111111-1111-4111-8111-111111111111",
    "TopicArn": TOPIC,
    "Subject": "Amazon SES",
    "Message": '{"eventType":"Send","send":{},"mail":{}}\n',
    "Timestamp": "2026-01-02T03:04:05.500Z",
}
CONFIRMATION = {
    "Type": "SubscriptionConfirmation",
    "MessageId": "22222222-1111-4111-8111-111111111111",
    "Token": "2336412f37",
    "TopicArn": TOPIC,
    "Message": "You have chosen to subscribe",
    "SubscribeURL": "https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336",
    "Timestamp": "2026-01-02T03:04:05.500Z",
}
SECRETS = VerificationSecrets(topics=(TOPIC,))


def certificate(key: Any = KEY, *, from_days: int = -10, for_days: int = 100) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    begin = NOW + timedelta(days=from_days)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begin)
        .not_valid_after(begin + timedelta(days=for_days))
        .sign(key, SHA256())
    )
    return made.public_bytes(Encoding.PEM)


def told(said: Mapping[str, Any], *, version: str = "2", **changed: Any) -> InboundRequest:
    """Sign an envelope and then change it; headers are those of the signed body."""
    whole = dict(said) | {"SignatureVersion": version, "SigningCertURL": CERTIFICATE_URL}
    algorithm = SHA1() if version == "1" else SHA256()
    signature = KEY.sign(signed_text(whole), PKCS1v15(), algorithm)
    whole["Signature"] = base64.b64encode(signature).decode()
    sent = {name: value for name, value in (whole | changed).items() if value is not None}
    return request(
        json.dumps(sent).encode(),
        x_amz_sns_message_type=said["Type"],
        x_amz_sns_message_id=said["MessageId"],
        content_type="text/plain; charset=UTF-8",
    )


@dataclass
class Certificates:
    """Returns certificates by URL, and records the requested URLs."""

    pem: bytes | None = field(default_factory=certificate)
    fetched: list[str] = field(default_factory=list)

    async def __call__(self, url: str) -> bytes | None:
        self.fetched.append(url)
        return self.pem


async def verdict(
    sent: InboundRequest, secrets: VerificationSecrets = SECRETS, **late: float
) -> Any:
    return await SesEvents(Certificates()).verify(sent, secrets, NOW + timedelta(**late))


@pytest.mark.parametrize("version", ["1", "2"])
@pytest.mark.parametrize("subject", [None, "Amazon SES", "Grüße \U0001f600"])
async def test_both_versions_of_signatures_are_right(version: str, subject: str | None) -> None:
    said = {name: value for name, value in NOTIFICATION.items() if name != "Subject"}
    said |= {"Subject": subject} if subject else {}

    found = await verdict(told(said, version=version))

    assert found == Verified(NOTIFICATION["MessageId"])


async def test_an_account_may_ask_for_the_second_version() -> None:
    asking = VerificationSecrets(topics=(TOPIC,), settings={"require_v2": True})

    assert isinstance(await verdict(told(NOTIFICATION, version="1"), asking), NotVerified)
    assert isinstance(await verdict(told(NOTIFICATION, version="2"), asking), Verified)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Message", '{"eventType":"Send","send":{},"mail":{}}'),
        ("Subject", "Amazon SES!"),
        ("Subject", None),
        ("Timestamp", "2026-01-02T03:04:05.501Z"),
        ("MessageId", "11111111-1111-4111-8111-111111111112"),
        ("Type", "UnsubscribeConfirmation"),
        ("Type", "Odd"),
        ("Type", None),
        ("Signature", "AAAA"),
        ("Signature", ""),
        ("Signature", None),
        ("Signature", 7),
        ("SignatureVersion", "1"),
        ("SignatureVersion", "3"),
        ("SigningCertURL", None),
        ("Message", ["x"]),
    ],
)
async def test_nothing_of_what_is_signed_can_be_changed(name: str, other: object) -> None:
    changed: dict[str, Any] = {name: other}

    assert isinstance(await verdict(told(NOTIFICATION, **changed)), NotVerified)


@pytest.mark.parametrize(
    "url",
    [
        "https://sns.us-east-1.amazonaws.com.evil.example/x.pem",
        "https://sns.us-east-1.amazonaws.com@evil.example/x.pem",
        "https://evil.example/sns.us-east-1.amazonaws.com/x.pem",
        "http://sns.us-east-1.amazonaws.com/x.pem",
        "https://sns.us-east-1.amazonaws.com/x.txt",
        "https://sns.us-east-1.amazonaws.com/x.pem?y",
        "https://sns.us-east-1.amazonaws.com/x.pem#.pem",
        "https://sns.us-east-1.amazonaws.com:8443/x.pem",
        "https://sns.us-east-1.amazonaws.com:x/x.pem",
        "https://s3.amazonaws.com/bucket/x.pem",
        "https://sns.us.east.amazonaws.com/x.pem",
        "https://xsns.us-east-1.amazonaws.com/x.pem",
        "https://sns.us-east-1.amazonaws.com\\@evil.example/x.pem",
        "https://sns.us-east-1.amazonaws.com\n.evil.example/x.pem",
        "//sns.us-east-1.amazonaws.com/x.pem",
        "https://user@sns.us-east-1.amazonaws.com/x.pem",
        "file:///etc/x.pem",
        "",
    ],
)
async def test_certificates_from_elsewhere_are_not_even_fetched(url: str) -> None:
    certificates = Certificates()

    found = await SesEvents(certificates).verify(
        told(NOTIFICATION, SigningCertURL=url), SECRETS, NOW
    )

    assert isinstance(found, NotVerified)
    assert certificates.fetched == []


def test_certificates_of_all_regions_are_at_sns() -> None:
    for host in ("eu-central-1", "us-gov-west-1", "ap-southeast-2"):
        assert is_of_sns(f"https://sns.{host}.amazonaws.com/a.pem", path=".pem")
    assert is_of_sns("https://sns.cn-north-1.amazonaws.com.cn/a.pem", path=".pem")


async def test_topics_of_others_are_refused_though_sns_signed_them() -> None:
    certificates = Certificates()
    for secrets in (
        VerificationSecrets(),
        VerificationSecrets(topics=(TOPIC + "x",)),
        VerificationSecrets(topics=(TOPIC[:-1],)),
    ):
        for said in (NOTIFICATION, CONFIRMATION):
            found = await SesEvents(certificates).verify(told(said), secrets, NOW)
            assert isinstance(found, NotVerified)
    assert certificates.fetched == []


@pytest.mark.parametrize(
    "pem",
    [
        None,
        b"",
        b"no certificate",
        certificate(rsa.generate_private_key(public_exponent=65537, key_size=2048)),
        certificate(ec.generate_private_key(ec.SECP256R1())),
        certificate(from_days=-300),
        certificate(from_days=5),
    ],
    ids=["gone", "empty", "text", "other", "curve", "expired", "future"],
)
async def test_a_certificate_that_is_none_of_ours_proves_nothing(pem: bytes | None) -> None:
    found = await SesEvents(Certificates(pem)).verify(told(NOTIFICATION), SECRETS, NOW)

    assert isinstance(found, NotVerified)


async def test_a_certificate_is_fetched_once() -> None:
    certificates = Certificates()
    ses = SesEvents(certificates)

    for _ in range(3):
        assert isinstance(await ses.verify(told(NOTIFICATION), SECRETS, NOW), Verified)

    assert certificates.fetched == [CERTIFICATE_URL]


async def test_no_request_is_refused_while_certificates_cannot_be_fetched() -> None:
    async def away(_url: str) -> bytes | None:
        raise Unavailable("no way to SNS")

    with pytest.raises(Unavailable):
        await SesEvents(away).verify(told(NOTIFICATION), SECRETS, NOW)


async def test_it_is_good_for_an_hour() -> None:
    assert isinstance(await verdict(told(NOTIFICATION), minutes=59), Verified)
    assert isinstance(await verdict(told(NOTIFICATION), minutes=61), NotVerified)
    assert isinstance(await verdict(told(NOTIFICATION), minutes=-6), NotVerified)
    for odd in ("yesterday", "", "2026-13-02T03:04:05Z", "2026-01-02", "2026-W01-5T03:04:05Z"):
        assert isinstance(await verdict(told(dict(NOTIFICATION) | {"Timestamp": odd})), NotVerified)


async def test_headers_of_another_message_are_refused() -> None:
    sent = told(NOTIFICATION)
    for name in ("x-amz-sns-message-type", "x-amz-sns-message-id"):
        for value in ("", "other"):
            other = InboundRequest("POST", {**sent.headers, name: value}, {}, sent.body)
            assert isinstance(await verdict(other), NotVerified)


async def test_a_subscription_to_a_known_topic_is_to_be_confirmed() -> None:
    found = await verdict(told(CONFIRMATION))

    assert isinstance(found, Verified)
    assert found.confirm == CONFIRMATION["SubscribeURL"]


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/?Action=ConfirmSubscription",
        "http://sns.us-east-1.amazonaws.com/",
        "https://169.254.169.254/latest/meta-data",
        "https://sns.us-east-1.amazonaws.com.evil.example/",
    ],
)
async def test_nothing_elsewhere_is_confirmed_though_it_is_signed(url: str) -> None:
    assert isinstance(await verdict(told(dict(CONFIRMATION) | {"SubscribeURL": url})), NotVerified)


async def test_the_end_of_a_subscription_is_known_and_not_confirmed() -> None:
    found = await verdict(told(dict(CONFIRMATION) | {"Type": "UnsubscribeConfirmation"}))

    assert isinstance(found, Verified)
    assert found.confirm is None
    assert found.note


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b"7", b'{"eventType":"Send"}', b"\xff\xfe", b"[" * 100_000]
)
async def test_raw_delivery_and_anything_else_without_an_envelope_is_refused(body: bytes) -> None:
    assert isinstance(await verdict(request(body)), NotVerified)
