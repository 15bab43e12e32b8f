"""The Amazon SES adapter against an independent implementation of its API."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from mailqueue.adapters.http.model import HttpOrigin
from mailqueue.adapters.sending.api import ProviderAccount
from mailqueue.adapters.sending.ses import Ses
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Accepted, Fault
from tests.adapters.sending.mails import mail, rejected, verdict_of, with_files

pytestmark = [pytest.mark.anyio]
START_SECONDS = 60


@pytest.fixture(scope="module")
def judge() -> Iterator[HttpOrigin]:
    """Run the server in its own process: it brings its own warnings and threads."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    environment = {**os.environ, "AWS_EC2_METADATA_DISABLED": "true"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            wait_for(port, process)
            yield HttpOrigin("http", "127.0.0.1", port)
        finally:
            process.terminate()


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/moto-api/data.json", timeout=5).close()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the judge did not start")


def service(site: HttpOrigin) -> Ses:
    return Ses(ProviderAccount(Secret("secret"), "AKIDEXAMPLE", site, {"region": "us-east-1"}))


def verify(site: HttpOrigin, address: str) -> None:
    """Verify an identity at the server, as the console would."""
    scope = "AKIDEXAMPLE/20260102/us-east-1/ses/aws4_request"
    body = json.dumps({"EmailIdentity": address}).encode()
    request = urllib.request.Request(
        f"http://{site.authority}/v2/email/identities",
        body,
        {
            "Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=",
            "Content-Type": "application/json",
            "Host": "email.us-east-1.amazonaws.com",
        },
    )
    urllib.request.urlopen(request, timeout=30).close()


async def test_the_judge_takes_a_mail_and_gives_its_id(judge: HttpOrigin) -> None:
    verify(judge, "shop@example.com")
    everyone = ("ann@example.org", "bob@example.org", "eve@example.org")
    one = mail(*everyone, cc=["bob@example.org"])

    for each in (one, with_files()):
        verdict = await verdict_of(service(judge), each)

        assert isinstance(verdict, Accepted), verdict
        assert verdict.provider_message_id


async def test_the_judge_refuses_a_sender_it_does_not_know(judge: HttpOrigin) -> None:
    verdict = await rejected(service(judge), mail(sender="other@elsewhere.example"))

    assert (verdict.code, verdict.kind) == ("400", Fault.PERMANENT_MESSAGE)  # its words are its own
    assert verdict.detail.startswith("MessageRejected: ")
