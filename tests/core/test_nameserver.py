"""The setting of DNS servers."""

from mailqueue.settings.nameserver import parse_name_servers


def test_name_servers_are_addresses_with_or_without_a_port() -> None:
    read = parse_name_servers("127.0.0.1:5353, 192.0.2.1 [2001:db8::1]:54 2001:db8::2")

    assert [(each.address, each.port) for each in read] == [
        ("127.0.0.1", 5353),
        ("192.0.2.1", 53),
        ("2001:db8::1", 54),
        ("2001:db8::2", 53),
    ]
