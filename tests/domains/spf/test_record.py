"""The syntax of SPF records and their terms."""

from ipaddress import ip_network

import pytest

from mailqueue.domains.spf.record import SpfError, Term, is_spf, read_terms


@pytest.mark.parametrize("text", ["v=spf1", "v=spf1 -all", "V=SPF1 ~all", "v=spf1  mx"])
def test_a_record_begins_with_its_version(text: str) -> None:
    assert is_spf(text)


@pytest.mark.parametrize("text", ["", "v=spf10 -all", " v=spf1 -all", "spf2.0/pra -all", "v=spf1;"])
def test_other_texts_are_no_records(text: str) -> None:
    assert not is_spf(text)


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("all", Term("all")),
        ("-ALL", Term("all", "-")),
        ("a", Term("a")),
        ("?a/24", Term("a", "?", prefix4=24)),
        ("a:Mail.Example.com.", Term("a", domain="mail.example.com")),
        ("a:mail.example.com/24//64", Term("a", "+", "mail.example.com", None, 24, 64)),
        ("mx//96", Term("mx", prefix6=96)),
        ("ptr", Term("ptr")),
        ("include:_spf.example.net", Term("include", domain="_spf.example.net")),
        ("~exists:%{i}.example.net", Term("exists", "~", "%{i}.example.net")),
        ("ip4:192.0.2.0/24", Term("ip4", network=ip_network("192.0.2.0/24"))),
        ("IP6:2001:db8::/32", Term("ip6", network=ip_network("2001:db8::/32"))),
        ("redirect=_spf.example.net", Term("redirect", domain="_spf.example.net")),
    ],
)
def test_every_kind_of_term_is_read(word: str, term: Term) -> None:
    assert read_terms(f"v=spf1 {word}") == [term]


def test_a_redirect_counts_last_and_unknown_modifiers_do_not_count() -> None:
    terms = read_terms("v=spf1 redirect=b.example exp=why.example x-new=1 a")

    assert [term.kind for term in terms] == ["a", "redirect"]


@pytest.mark.parametrize(
    "word",
    [
        "foo", "include", "include:", "include:a.example/24", "exists", "all:x", "a:", "a/33",
        "a//129", "ip4:example.com", "ip4:2001:db8::1", "ip6:192.0.2.1", "ip4:192.0.2.0/33", "ip4",
        "-", "++all", "redirect=", "redirect=a.example redirect=b.example",
    ],
)  # fmt: skip
def test_what_is_no_term_is_named(word: str) -> None:
    with pytest.raises(SpfError):
        read_terms(f"v=spf1 {word}")


def test_a_record_that_is_longer_than_any_receiver_reads_is_refused() -> None:
    with pytest.raises(SpfError, match="longer than 8192"):
        read_terms("v=spf1 " + "a " * 5000)
