"""`mailqueue dkim`: arguments and output."""

import asyncio
import threading
from collections.abc import Iterator
from ipaddress import IPv6Address
from pathlib import Path

import pytest

from mailqueue.vault.masterkey import create_master_key
from tests.cli.support.invoked import Cli
from tests.domains.nameserver import Zone, serving


@pytest.fixture
def cli(on_fresh_db: Cli, tmp_path: Path) -> Cli:
    create_master_key(tmp_path)
    return on_fresh_db


@pytest.fixture
def zone(cli: Cli) -> Iterator[Zone]:
    """A name server in a thread: commands have their own event loop."""
    served, stop, ready = Zone(), asyncio.Event(), threading.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with serving(served):
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert ready.wait(30)
    cli.environment["MAILQUEUE_RESOLVER"] = f"127.0.0.1:{served.port}"
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def test_a_key_is_made_published_and_seen(cli: Cli, zone: Zone) -> None:
    (made,) = cli.json("dkim", "create", "example.com")["data"]
    missing = cli("dkim", "verify", "example.com")
    zone.text(made["dns_name"], made["dns_txt_record"])
    (seen,) = cli.json("dkim", "verify", "example.com")["data"]

    assert made["status"] == "pending"
    assert "".join(made["dns_strings"]) == made["dns_txt_record"]
    assert missing.exit_code == 1
    assert "there is no record" in missing.stdout
    assert (seen["key"]["status"], seen["in_dns"]) == ("active", "published")
    (listed,) = cli.json("dkim", "list", "--project", "default")["data"]
    assert listed["status"] == "active"
    assert not any("private" in name for name in listed)
    assert listed["domain_records"] is None
    cli("dkim", "check", "example.com")
    assert "pass/fail/fail" in cli("dkim", "list").stdout


def test_records_are_printed_ready_to_paste(cli: Cli) -> None:
    said = cli("dkim", "create", "example.com", "--algorithm", "both").stdout

    assert said == cli("dkim", "show", "example.com").stdout
    assert said.count("type:   TXT") == 2
    assert "value:  v=DKIM1; k=rsa; p=" in said
    assert '-ed25519._domainkey.example.com. IN TXT "v=DKIM1; k=ed25519; p=' in said
    assert said.endswith("run `mailqueue dkim verify example.com`.\n")


def test_a_key_is_replaced_and_revoked(cli: Cli) -> None:
    (first,) = cli.json("dkim", "create", "example.com", "--algorithm", "ed25519")["data"]
    cli.json("dkim", "verify", "example.com", "--force")
    (second,) = cli.json("dkim", "rotate", "example.com")["data"]
    (old, new) = cli.json("dkim", "verify", "example.com", "--force", "--keep", "3d")["data"]
    revoked = cli.json("dkim", "revoke", "example.com", first["selector"], "--yes")

    assert (old["selector"], old["status"]) == (first["selector"], "retired")
    assert (new["selector"], new["status"]) == (second["selector"], "active")
    assert (revoked["status"], revoked["dns_txt_record"]) == ("revoked", "v=DKIM1; k=ed25519; p=")
    assert "retired" not in cli("dkim", "list").stdout


def test_a_project_can_be_told_to_send_signed_mail_only(cli: Cli) -> None:
    assert cli.json("dkim", "require", "default") == {
        "project": "default",
        "is_dkim_required": True,
    }
    assert "no" in cli("dkim", "require", "default", "off").stdout


REFUSED = (
    (("create", "nowhere"), "domain: 'nowhere' is not the domain of an address"),
    (("show", "example.com"), "create one with `mailqueue dkim add example.com`"),
    (("rotate", "example.com"), "no active DKIM key of example.com"),
    (("revoke", "example.com", "x", "--yes"), "no DKIM key x of example.com"),
    (("verify", "example.com", "--keep", "long"), "keep:"),
    (("require", "nowhere"), "no project nowhere"),
)


def test_what_cannot_be_done_is_said(cli: Cli) -> None:
    for words, says in REFUSED:
        refused = cli("dkim", *words)

        assert refused.exit_code == 1, words
        assert says in refused.stderr


def test_a_resolver_that_is_none_is_named(cli: Cli) -> None:
    cli("dkim", "create", "example.com")

    refused = cli("dkim", "verify", "example.com", "--resolver", "ns.example.com")

    assert refused.exit_code == 4
    assert "--resolver: 'ns.example.com' is not an IP address" in refused.stderr


def test_a_domain_is_checked_and_told_what_to_publish(cli: Cli, zone: Zone) -> None:
    zone.text("example.com", "v=spf1 ip4:192.0.2.0/24 -all")

    document = cli.json("dkim", "check", "example.com", "--ip", "192.0.2.1", exit_code=1)
    printed = cli("dkim", "check", "example.com")

    assert (document["domain"], document["is_good"]) == ("example.com", False)
    assert {each["topic"]: each["status"] for each in document["findings"]} == {
        "SPF": "pass",
        "DKIM": "fail",
        "DMARC": "fail",
        "MX": "fail",
        "reverse name": "fail",
    }
    assert printed.exit_code == 1
    lines = printed.stdout.splitlines()
    assert lines[0] == "pass     SPF: the record needs 0 of 10 DNS lookups"
    assert lines[1] == "         found    v=spf1 ip4:192.0.2.0/24 -all"
    assert (
        '         publish  _dmarc.example.com. IN TXT "v=DMARC1; p=none; '
        'rua=mailto:dmarc@example.com"' in lines
    )
    assert "         publish  example.com. IN MX 10 mail.example.com." in lines


def test_mail_from_an_ipv6_address_is_checked(cli: Cli, zone: Zone) -> None:
    zone.text("example.com", "v=spf1 ip6:2001:db8:25::/48 -all")
    reverse = IPv6Address("2001:db8:25::1").reverse_pointer
    zone.says(reverse, "PTR", "mail.example.com.").says(
        "mail.example.com", "AAAA", "2001:db8:25::1"
    )

    inside = cli.json("dkim", "check", "example.com", "--ip", "2001:DB8:25:0::1", exit_code=1)
    outside = cli.json("dkim", "check", "example.com", "--ip", "2001:db8:26::1", exit_code=1)

    for document, is_ours in ((inside, "pass"), (outside, "fail")):
        states = {each["topic"]: each["status"] for each in document["findings"]}
        assert (states["SPF"], states["reverse name"]) == (is_ours, is_ours)


def test_a_domain_that_is_none_is_refused(cli: Cli) -> None:
    refused = cli("dkim", "check", "example.com", "--resolver", "127.0.0.1:1", "--ip", "here")

    assert (refused.exit_code, "ip: 'here' is not an IP address" in refused.stderr) == (1, True)
