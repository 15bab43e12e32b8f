"""Rules match senders by address or domain, and subjects by whole words in any script and case."""

import pytest

from mailqueue.contract.watch import RuleType
from mailqueue.watch.matching import ActiveRule, first_match, has_phrase, is_from


@pytest.mark.parametrize(
    ("pattern", "sender", "is_match"),
    [
        ("ann@example.com", "Ann@EXAMPLE.com", True),
        ("ann@example.com", "joann@example.com", False),
        ("example.com", "ann@example.com", True),
        ("@example.com", "ann@example.com", True),
        ("example.com", "ann@mail.example.com", True),
        ("example.com", "ann@notexample.com", False),
        ("example.com", "ann@example.com.evil.net", False),
        ("bücher.example", "ann@xn--bcher-kva.example", True),
        ("xn--bcher-kva.example", "ann@bücher.example", True),
        ("example.com", "", False),
    ],
)
def test_senders(pattern: str, sender: str, is_match: bool) -> None:
    assert is_from(pattern, sender) is is_match


@pytest.mark.parametrize(
    ("subject", "phrase", "is_match"),
    [
        ("Your INVOICE of May", "invoice", True),
        ("Report of May", "port", False),
        ("Re: invoice,paid", "invoice", True),
        ("Straße gesperrt", "STRASSE", True),
        ("Cafe\u0301 Paris", "CAFÉ", True),
        ("Ａｌｅｒｔ", "alert", True),
        ("Your   new\tinvoice", "new invoice", True),
        ("İstanbul", "i\u0307stanbul", True),
        ("Срочный счёт", "СЧЁТ", True),
        ("新しい発票です", "発票", True),
        ("ใบแจ้งหนี้ใหม่", "แจ้งหนี้", True),
        ("C++ jobs", "c++", True),
        ("50% off", "50%", True),
        ("a.b", "a?b", False),
        ("anything", "   ", False),
        ("fix_me now", "me", False),
    ],
)
def test_subjects(subject: str, phrase: str, is_match: bool) -> None:
    assert has_phrase(subject, phrase) is is_match


def test_the_first_rule_in_order_that_matches_is_named() -> None:
    rules = [
        ActiveRule(None, RuleType.SUBJECT, "urgent"),
        ActiveRule(None, RuleType.SENDER, "example.com"),
        ActiveRule(None, RuleType.SUBJECT, "invoice"),
    ]
    found = first_match(rules, sender="ann@example.com", subject="Invoice")
    assert found is rules[1]
    assert first_match(rules, sender="a@other.example", subject="Hello") is None
