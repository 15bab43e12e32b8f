"""The two ceremonies of WebAuthn: what a browser is asked for, and whether its answer holds. Pure.

A device has to verify its user, by a PIN or a fingerprint, and a passkey has to name its user by
itself. Attestations are not asked for: any device will do.
"""

import ipaddress
import json
from collections.abc import Sequence
from urllib.parse import urlsplit
from uuid import UUID

from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import (
    parse_authentication_credential_json,
    parse_cbor,
    parse_registration_credential_json,
)
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from mailqueue.admin.users.passkeys.canonical import (
    check_authenticator_data,
    check_value,
)
from mailqueue.admin.users.passkeys.model import (
    Assertion,
    ListedPasskey,
    NewPasskey,
    RelyingParty,
    StoredPasskey,
)

MAX_ANSWER_CHARACTERS = 16_384
"""Characters of the answer of a browser, as JSON."""
MAX_ID_BYTES = 1023
"""Bytes of a credential id, by WebAuthn."""
LASTS_SECONDS = 300
"""Seconds that a challenge may be answered."""
_NAME = "mailqueue"
_TRANSPORTS = frozenset(each.value for each in AuthenticatorTransport)


class NotValid(Exception):
    """The answer of a browser is none to this challenge, or not of this key."""


def relying_party_of(url: str | None) -> RelyingParty | None:
    """Return what passkeys are bound to by the URL of the console; None if they cannot be.

    Browsers make them for host names, never for addresses, and over https or on this machine.
    """
    found = urlsplit(url or "")
    host = found.hostname
    if host is None or _is_address(host):
        return None
    if found.scheme != "https" and not (host == "localhost" or host.endswith(".localhost")):
        return None
    return RelyingParty(host, f"{found.scheme}://{found.netloc.lower()}")


def creation_options(
    party: RelyingParty,
    challenge: bytes,
    *,
    user: UUID,
    name: str,
    present: Sequence[ListedPasskey],
) -> str:
    """Return what a browser is asked to make, as JSON; none on devices that have one of these."""
    made = generate_registration_options(
        rp_id=party.id,
        rp_name=_NAME,
        user_id=user.bytes,
        user_name=name,
        challenge=challenge,
        timeout=LASTS_SECONDS * 1000,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=_described(present),
    )
    return options_to_json(made)


def request_options(
    party: RelyingParty, challenge: bytes, present: Sequence[ListedPasskey] = ()
) -> str:
    """Return what a browser is asked to sign, as JSON, by any passkey or one of these."""
    made = generate_authentication_options(
        rp_id=party.id,
        challenge=challenge,
        timeout=LASTS_SECONDS * 1000,
        allow_credentials=_described(present),
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return options_to_json(made)


def new_passkey(party: RelyingParty, challenge: bytes, answer: str) -> NewPasskey:
    """Return the passkey that a browser made.

    Raises:
        NotValid: the answer is none to this challenge, or cannot be read.
    """
    _check_length(answer)
    try:
        read = parse_registration_credential_json(answer)
        check_value(read.response.attestation_object)
        check_authenticator_data(parse_cbor(read.response.attestation_object)["authData"])
        made = verify_registration_response(
            credential=read,
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
        )
        transports = _transports(answer)
    except Exception as exc:
        raise NotValid from exc
    if len(made.credential_id) > MAX_ID_BYTES:
        raise NotValid
    return NewPasskey(made.credential_id, made.credential_public_key, made.sign_count, transports)


def read_assertion(answer: str) -> Assertion:
    """Return what an answer says of itself; nothing is verified yet.

    Raises:
        NotValid: it cannot be read.
    """
    _check_length(answer)
    try:
        read = parse_authentication_credential_json(answer)
    except Exception as exc:
        raise NotValid from exc
    if len(read.raw_id) > MAX_ID_BYTES:
        raise NotValid
    return Assertion(read.raw_id, read.response.user_handle)


def verified_count(
    party: RelyingParty, challenge: bytes, answer: str, passkey: StoredPasskey
) -> int:
    """Return the count of signatures of an answer that this passkey has signed.

    The count is compared afterwards: without a right signature it says nothing.

    Raises:
        NotValid: the answer is none to this challenge, or not signed by this passkey.
    """
    try:
        read = parse_authentication_credential_json(answer)
        check_authenticator_data(read.response.authenticator_data)
        verified = verify_authentication_response(
            credential=read,
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=0,
            require_user_verification=True,
        )
    except Exception as exc:
        raise NotValid from exc
    return verified.new_sign_count


def _described(present: Sequence[ListedPasskey]) -> list[PublicKeyCredentialDescriptor]:
    return [
        PublicKeyCredentialDescriptor(
            id=each.credential_id,
            transports=[
                AuthenticatorTransport(way) for way in each.transports if way in _TRANSPORTS
            ],
        )
        for each in present
    ]


def _transports(answer: str) -> tuple[str, ...]:
    named = json.loads(answer)["response"].get("transports") or []
    return tuple(way for way in sorted(_TRANSPORTS) if way in named)


def _check_length(answer: str) -> None:
    if len(answer) > MAX_ANSWER_CHARACTERS:
        raise NotValid


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
