"""The addresses that connections on behalf of a tenant may be made to."""

from ipaddress import ip_address, ip_network

import pytest

from mailqueue.core.outbound_guard import is_public, may_reach, normal_host

INSIDE = (
    "0.0.0.0",
    "0.1.2.3",
    "10.1.2.3",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "64:ff9b:1::7f00:1",
    "100::1",
    "2001::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:808:808::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%1",
    "2600::1%1",
    "fec0::1",
    "ff02::1",
)
PUBLIC = (
    "8.8.8.8",
    "1.1.1.1",
    "100.63.255.255",
    "100.128.0.1",
    "172.32.0.1",
    "192.0.1.1",
    "223.255.255.254",
    "2001:4860:4860::8888",
    "2606:4700:4700::1111",
    "2a00:1450:4001::1a",
)


@pytest.mark.parametrize("text", INSIDE)
def test_an_address_that_can_lead_inside_is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_an_ordinary_address_is_public(text: str) -> None:
    assert is_public(ip_address(text))


def test_the_operator_can_allow_a_network_of_his_own() -> None:
    allowed = (ip_network("10.1.0.0/16"), ip_network("fd00::/8"))

    assert may_reach(ip_address("10.1.2.3"), allowed)
    assert may_reach(ip_address("fd00::1"), allowed)
    assert not may_reach(ip_address("10.2.0.1"), allowed)
    assert not may_reach(ip_address("::ffff:10.1.2.3"), allowed)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Mail.Example.COM", "mail.example.com"),
        ("mail.example.com.", "mail.example.com"),
        ("localhost", "localhost"),
        ("192.0.2.1", "192.0.2.1"),
        ("[2001:DB8::1]", "2001:db8::1"),
        ("2001:db8:0::1", "2001:db8::1"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("3com.example", "3com.example"),
    ],
)
def test_a_host_has_one_normal_form(text: str, normal: str) -> None:
    assert normal_host(text) == normal


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        "127\u30020\u30020\u30021",
        "\u2460\u2461\u2466.\u24ea.\u24ea.\u2460",
        "127\uff0e0.0.1",
        "b\u00fccher.example",
        "0x7f.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.5",
        "127.0.0.08",
        "1.2.3.0x",
        "fe80::1%eth0",
        "[::1",
        "[::1]:25",
        "example.com:25",
        "a b.example",
        " example.com",
        "example.com\r\nX",
        "example.com\n",
        "user@example.com",
        "-a.example",
        "a-.example",
        "a..example",
        "x" * 64 + ".example",
        ".".join(["x" * 60] * 5),
    ],
)
def test_an_odd_spelling_of_a_host_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="host"):
        normal_host(text)
