"""Signatures for Amazon's services: a published example, and an independent implementation."""

from datetime import UTC, datetime
from hashlib import sha256

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as TheirCredentials
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.adapters.sending.sigv4 import (
    AwsCredentials,
    canonical_request,
    signed_headers,
    signing_key,
)
from mailqueue.core.secret import Secret

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SECRET = Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
HOST, PATH = "email.us-east-1.amazonaws.com", "/v2/email/outbound-emails"
BODY = (
    b'{"FromEmailAddress":"sender@example.com","Destination":{"ToAddresses":["rcpt@example.com"]},'
    b'"Content":{"Simple":{"Subject":{"Data":"Hi","Charset":"UTF-8"},"Body":{"Text":'
    b'{"Data":"Hello","Charset":"UTF-8"}}}}}'
)


def signed(body: bytes, *, region: str = "us-east-1", token: str | None = None) -> dict[str, str]:
    credentials = AwsCredentials("AKIDEXAMPLE", SECRET, Secret(token) if token else None)
    return dict(
        signed_headers(
            credentials,
            method="POST",
            host=HOST,
            path=PATH,
            body=body,
            content_type="application/json",
            region=region,
            service="ses",
            at=AT,
        )
    )


def test_every_step_of_the_known_answer() -> None:
    headers = {"content-type": "application/json", "host": HOST, "x-amz-date": "20260102T030405Z"}
    request = canonical_request("POST", PATH, headers=headers, body=BODY)

    assert sha256(BODY).hexdigest() == (
        "888f5045882322d196a96557eb1d33cdb853453c8e0edd7ef8b8194e417bbcda"
    )
    assert sha256(request.encode()).hexdigest() == (
        "2211b33a55f19c42ec540115c319146fbd9cd0613d5ef86b55d33a21132aaa9e"
    )
    assert signing_key(SECRET, at=AT, region="us-east-1", service="ses").hex() == (
        "b8da7b268ae48b5a6be5a7ff09acd36d6a3ceed189df17e610601b188ad8f561"
    )
    assert signed(BODY)["Authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/ses/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, "
        "Signature=b9870f4a7bca836773391e396800d5b29488b1ea1c878b0696af8f344389b928"
    )


@given(
    body=st.binary(max_size=200),
    region=st.from_regex(r"[a-z]{2}-[a-z]{4,9}-[1-9]", fullmatch=True),
    token=st.none() | st.from_regex(r"[A-Za-z0-9/+=]{1,40}", fullmatch=True),
)
def test_the_vendors_own_signer_agrees(body: bytes, region: str, token: str | None) -> None:
    ours = signed(body, region=region, token=token)

    theirs = AWSRequest("POST", f"https://{HOST}{PATH}", data=body)
    theirs.headers["Content-Type"] = "application/json"
    theirs.context["timestamp"] = ours["X-Amz-Date"]
    signer = SigV4Auth(TheirCredentials("AKIDEXAMPLE", SECRET.reveal(), token), "ses", region)
    theirs.headers["X-Amz-Date"] = ours["X-Amz-Date"]
    if token:
        theirs.headers["X-Amz-Security-Token"] = token
    to_sign = signer.string_to_sign(theirs, signer.canonical_request(theirs))

    assert ours["Authorization"].endswith(f"Signature={signer.signature(to_sign, theirs)}")
