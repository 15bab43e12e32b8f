"""Mail leaves with its domain's signature, and running workers follow a rotation."""

import dkim
import pytest

from tests.whole.running import Up, eventually

pytestmark = pytest.mark.timeout(300)
DOMAIN = "signed.example"


def sent(up: Up, recipient: str) -> bytes:
    """Send a mail of the domain and return it as the trap received it."""
    done = up.home.run(
        *("send", "--from", f"Shop <shop@{DOMAIN}>", "--to", recipient),
        *("--subject", "Grüße"),
        *("--text", "Hello  Ann \n\n"),
    )
    assert done.returncode == 0, done.stderr
    domain = recipient.partition("@")[2]
    (message,) = eventually(lambda: up.caught(domain))
    return message


def test_mail_is_signed_from_the_moment_the_key_is_in_force(shared_up: Up) -> None:
    home = shared_up.home
    records = home.json("dkim", "create", DOMAIN, "--algorithm", "both")["data"]
    assert b"DKIM-Signature" not in sent(shared_up, "ann@one.example")

    home.json("dkim", "verify", DOMAIN, "--force")
    first = sent(shared_up, "ann@two.example")
    (successor, _) = home.json("dkim", "rotate", DOMAIN)["data"]
    home.json("dkim", "verify", DOMAIN, "--force")
    second = sent(shared_up, "ann@three.example")

    published = {
        each["dns_name"]: each["dns_txt_record"]
        for each in [*records, *home.json("dkim", "show", DOMAIN)["data"]]
    }
    for message in (first, second):
        judge = dkim.DKIM(message)
        for place in (0, 1):
            assert judge.verify(
                idx=place, dnsfunc=lambda name, **_: published[name.decode().rstrip(".")].encode()
            )
    assert f"s={successor['selector']};".encode() in second
    assert f"s={successor['selector']};".encode() not in first
