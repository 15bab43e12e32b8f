"""Published libraries verify the signatures, and refuse any change."""

import base64
import hashlib
import hmac
import time
from collections.abc import Callable
from typing import Any

import pytest
import standardwebhooks
import svix.webhooks

from mailqueue.core.errors import InvalidField
from mailqueue.core.secret import Secret
from mailqueue.webhooks.signing import headers_of, key_of, logged, new_secret, secret_of

BODY = '{"type": "email.delivered", "data": {"recipient": "zoë@example.com"}}'.encode()
OLD, NEW = new_secret(), new_secret()


def signed(*secrets: Secret, body: bytes = BODY, at: float | None = None) -> dict[str, str]:
    keys = [key_of(secret) for secret in secrets]
    return dict(headers_of("msg-1", body, at=int(at or time.time()), keys=keys))


@pytest.mark.parametrize("verifier", [standardwebhooks.Webhook, svix.webhooks.Webhook])
@pytest.mark.parametrize("secret", [OLD, NEW])
def test_the_published_verifiers_accept_either_of_two_secrets(
    verifier: Callable[[str], Any], secret: Secret
) -> None:
    headers = {name.lower(): text for name, text in signed(NEW, OLD).items()}

    verifier(secret.reveal()).verify(BODY.decode(), headers)
    with pytest.raises(
        (standardwebhooks.WebhookVerificationError, svix.webhooks.WebhookVerificationError)
    ):
        verifier(new_secret().reveal()).verify(BODY.decode(), headers)


@pytest.mark.parametrize("name", ["Webhook-Id", "Webhook-Timestamp"])
def test_the_published_verifier_refuses_what_was_altered(name: str) -> None:
    headers = signed(NEW)
    altered = headers | {name: str(int(time.time()) + 1)}

    with pytest.raises(standardwebhooks.WebhookVerificationError):
        _verify(altered)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        _verify(headers, BODY + b" ")


def test_what_is_too_old_is_refused_by_its_receiver() -> None:
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        _verify(signed(NEW, at=time.time() - 600))


def _verify(headers: dict[str, str], body: bytes = BODY) -> object:
    lower = {name.lower(): text for name, text in headers.items()}
    return standardwebhooks.Webhook(NEW.reveal()).verify(body.decode(), lower)


def test_a_known_answer() -> None:
    """The test vector of the specification."""
    secret = secret_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")

    headers = dict(
        headers_of(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            b'{"test": 2432232314}',
            at=1614265330,
            keys=[key_of(secret)],
        )
    )

    assert headers["Webhook-Signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_plain_signature_is_an_hmac_of_the_body_alone() -> None:
    given = signed(NEW, OLD)["X-Mailqueue-Signature"]

    key = base64.b64decode(NEW.reveal().removeprefix("whsec_"))
    assert given == "sha256=" + hmac.new(key, BODY, hashlib.sha256).hexdigest()


def test_the_log_keeps_no_signature() -> None:
    kept = logged(headers_of("msg-1", BODY, at=1, keys=[key_of(NEW)]))

    assert kept == {
        "content-type": "application/json",
        "webhook-id": "msg-1",
        "webhook-timestamp": "1",
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "whsec_",
        base64.b64encode(bytes(32)).decode(),
        "whsec_" + base64.b64encode(bytes(23)).decode(),
        "whsec_" + base64.b64encode(bytes(65)).decode(),
        "whsec_not base64 at all!!!!!!!!!!!!!!!!!!",
        "whsec_é" + base64.b64encode(bytes(32)).decode(),
    ],
)
def test_a_secret_that_is_none_is_refused_without_being_told(text: str) -> None:
    with pytest.raises(InvalidField) as refused:
        secret_of(text)

    assert len(text) < 8 or text not in str(refused.value)


@pytest.mark.parametrize("octets", [24, 32, 64])
def test_secrets_of_the_allowed_lengths_are_taken(octets: int) -> None:
    text = "whsec_" + base64.b64encode(bytes(octets)).decode()

    assert len(key_of(secret_of(text))) == octets


def test_new_secrets_differ_and_are_secrets() -> None:
    assert OLD != NEW
    assert secret_of(NEW.reveal()) == NEW
    assert "whsec" not in repr(NEW)
