"""The DNS record of a key, and the validation of such records."""

import pytest

from mailqueue.dkim.keys import Algorithm, public_value
from mailqueue.dkim.record import (
    key_fault,
    read_tags,
    record_name,
    record_text,
    strings,
    zone_line,
)
from tests.dkim.signing import BOTH, private

PUBLIC = public_value(private(Algorithm.RSA))
GOOD = record_text(Algorithm.RSA, PUBLIC)


def fault(text: str, algorithm: Algorithm = Algorithm.RSA) -> str | None:
    return key_fault(text, algorithm=algorithm, public=PUBLIC)


@pytest.mark.parametrize("algorithm", BOTH)
def test_the_record_of_a_key_publishes_it(algorithm: Algorithm) -> None:
    public = public_value(private(algorithm))

    assert key_fault(record_text(algorithm, public), algorithm=algorithm, public=public) is None


def test_no_string_is_longer_than_dns_takes_and_together_they_are_the_record() -> None:
    parts = strings(GOOD)

    assert len(parts) == 2
    assert max(map(len, parts)) <= 255
    assert "".join(parts) == GOOD


def test_a_line_of_a_zone_file_quotes_each_string() -> None:
    line = zone_line(record_name("mq1", "example.com"), GOOD)

    assert line.startswith('mq1._domainkey.example.com. IN TXT ( "v=DKIM1; k=rsa; p=')
    assert line.endswith('" )')
    assert zone_line("x.example.com", "v=DKIM1; p=") == 'x.example.com. IN TXT "v=DKIM1; p="'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("; ", ";"),
        GOOD.replace("k=rsa; ", ""),
        GOOD.replace("v=DKIM1; ", ""),
        f"{GOOD};",
        f"{GOOD}; n=a note; t=y; s=email; h=sha1:sha256; unknown=1",
        GOOD.replace(PUBLIC, f"{PUBLIC[:100]} {PUBLIC[100:]}"),
    ],
)
def test_a_record_may_be_written_in_many_ways(text: str) -> None:
    assert fault(text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "p= is empty"),
        ("hello", "not a list of tags"),
        (f"{GOOD}; p=x", "not a list of tags"),
        (GOOD.replace(PUBLIC, ""), "revoked"),
        (GOOD.replace(PUBLIC, PUBLIC[:-8]), "another key"),
        (GOOD.replace(PUBLIC, "***"), "another key"),
        (GOOD.replace("k=rsa", "k=ed25519"), "type 'ed25519'"),
        (GOOD.replace("DKIM1", "DKIM2"), "version is 'DKIM2'"),
        (f"k=rsa; v=DKIM1; p={PUBLIC}", "first tag"),
        (f"{GOOD}; h=sha1", "sha256"),
        (f"{GOOD}; s=other", "email"),
    ],
)
def test_a_record_that_does_not_publish_the_key_says_why(text: str, why: str) -> None:
    assert why in (fault(text) or "")


def test_tags_are_read_with_their_blanks_around_them() -> None:
    assert read_tags(" v = DKIM1 ;\tp= a b ; ") == {"v": "DKIM1", "p": "a b"}


def test_a_record_that_no_key_needs_is_not_read() -> None:
    long = GOOD.replace("p=", "p=" + " " * 9000)

    assert fault(long) == "the record is longer than 8192 characters"
    assert read_tags(long) is None
