"""A shop written by the documentation of each vendor's library runs with another URL and key."""

import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import requests
import resend

from mailqueue.db.pool import connect
from tests.adapters.sending.fake import Fake, FakeReply, Request, fake
from tests.clients.serving import Served, served
from tests.rules.source import ROOT
from tests.stream.reading import read_stream
from tests.webhooks.delivering import delivering, until

SHOPS = ROOT / "docs" / "samples" / "shops"
VARIABLES = {
    "resend": ("RESEND_API_KEY", "RESEND_API_URL"),
    "postmark": ("POSTMARK_SERVER_TOKEN", "POSTMARK_API_URL"),
    "sendgrid": ("SENDGRID_API_KEY", "SENDGRID_API_URL"),
    "mailgun": ("MAILGUN_API_KEY", "MAILGUN_API_URL"),
}
QUEUED = """
SELECT e.id::text, e.recipient_email FROM mailqueue.email_queue AS e
 WHERE e.recipient_email LIKE %s ORDER BY e.recipient_email
"""


@pytest.fixture(scope="module")
def site(module_db: str) -> Iterator[Served]:
    """An installation that lets webhooks of loopback be registered."""
    with served(module_db, allowed_hosts=(ip_network("127.0.0.0/8"),)) as running:
        yield running


@dataclass(frozen=True, slots=True)
class Opened:
    """A shop, and what its preparation returned."""

    shop: Any
    receiver: Fake
    template: str
    secret: str


@pytest.fixture(scope="module", params=VARIABLES)
def opened(site: Served, request: pytest.FixtureRequest) -> Iterator[Opened]:
    """The shop of a vendor, prepared on the installation."""
    key, url = VARIABLES[request.param]
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv(key, site.keys.live)
        monkeypatch.setenv(url, site.url)
        # Resend's library reads its variables when it is imported.
        monkeypatch.setattr(resend, "api_key", site.keys.live)
        monkeypatch.setattr(resend, "api_url", site.url)
        shop = loaded(SHOPS / f"{request.param}_shop.py")
        receiving = fake([FakeReply(200)])
        receiver: Fake = site.run(receiving.__aenter__())
        try:
            template, secret = shop.prepare(f"http://127.0.0.1:{receiver.port}/bounces")
            yield Opened(shop, receiver, template, secret)
        finally:
            site.rows("DELETE FROM mailqueue.webhooks RETURNING 1")
            site.run(receiving.__aexit__(None, None, None))


def loaded(path: Path) -> Any:
    """Return a module from its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def id_of(mail: str) -> str:
    """Return our id of a mail from the vendor's."""
    return str(UUID(mail.partition("@")[0].partition(".")[0]))


def rendered(site: Served, mail: str) -> str:
    """Return a mail as it will be sent."""
    answer = requests.get(
        f"{site.url}/v1/emails/{mail}/source", headers={"X-API-Key": site.keys.live}, timeout=60
    )
    assert answer.ok, answer.text
    return answer.text


async def bounce(site: Served, mail: str, to: str, receiver: Fake) -> Request:
    """Have a mail bounce; return the request of the webhook."""
    event = {
        "type": "hard_bounce",
        "email_id": mail,
        "recipient": to,
        "source": "dsn",
        "event_id": uuid4().hex,
        "code": "5.1.1",
        "detail": "550 5.1.1 no such mailbox",
    }
    async with connect(site.database) as conn:
        await conn.execute("SELECT mailqueue.record_events(%s::jsonb)", [json.dumps([event])])
        await read_stream(conn)

    async def is_told() -> bool:
        return bool(receiver.requests)

    async with delivering(site.database):
        await until(is_told, what="a request of the webhook")
    (request,) = receiver.requests
    return request


def test_it_sends_alone_in_a_batch_and_from_a_template_and_finds_its_mail(
    site: Served, opened: Opened
) -> None:
    shop, domain = opened.shop, f"{uuid4().hex}.example"
    alone = shop.confirm("81", f"ann@{domain}")
    both = shop.announce({"82": f"bob@{domain}", "83": f"cleo@{domain}"})
    reminder = shop.remind(opened.template, "84", f"dan@{domain}")

    found = {to: id_of(mail) for mail, to in site.rows(QUEUED, f"%@{domain}")}
    assert list(found) == [f"{name}@{domain}" for name in ("ann", "bob", "cleo", "dan")]
    assert [id_of(one) for one in (alone, *both, reminder)] == list(found.values())
    assert [id_of(one) for one in shop.mails_to(f"ann@{domain}")] == [id_of(alone)]
    assert "Order 84 waits for its payment." in rendered(site, id_of(reminder))


def test_it_reads_a_bounce_that_is_verified_and_finds_the_address_among_the_suppressed(
    site: Served, opened: Opened
) -> None:
    shop, to = opened.shop, f"gone@{uuid4().hex}.example"
    mail = id_of(shop.confirm(uuid4().hex, to))

    request = site.run(bounce(site, mail, to, opened.receiver))

    assert shop.bounced(opened.secret, dict(request.headers), request.body) == [to]
    assert to in shop.blocked()
