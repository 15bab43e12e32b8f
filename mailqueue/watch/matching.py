"""Filter rules: whether a mail is one that a person wants to be notified of. Pure."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from mailqueue.contract.watch import RuleType

# Scripts that are written without spaces, in which a word begins and ends anywhere.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True)
class ActiveRule:
    """A rule in the order of evaluation; `id` None: it is not saved."""

    id: UUID | None
    rule_type: RuleType
    pattern: str


def first_match(rules: Sequence[ActiveRule], *, sender: str, subject: str) -> ActiveRule | None:
    """Return the first rule that a mail matches."""
    return next((rule for rule in rules if matches(rule, sender=sender, subject=subject)), None)


def matches(rule: ActiveRule, *, sender: str, subject: str) -> bool:
    """Return whether a mail matches a rule."""
    if rule.rule_type is RuleType.SENDER:
        return is_from(rule.pattern, sender)
    return has_phrase(subject, rule.pattern)


def is_from(pattern: str, sender: str) -> bool:
    """Return whether an address is the one of a pattern, or of its domain or a part of it."""
    wanted, address = _folded(pattern.strip()), _folded(sender.strip())
    if "@" in wanted.lstrip("@"):
        return _ascii_domain(wanted) == _ascii_domain(address)
    domain = _ascii_domain("any@" + wanted.lstrip("@")).partition("@")[2]
    given = _ascii_domain(address).rpartition("@")[2]
    return bool(domain) and (given == domain or given.endswith(f".{domain}"))


def has_phrase(subject: str, phrase: str) -> bool:
    """Return whether a subject has a word or phrase, whatever the case and the white space.

    Words are whole ones: `port` is not in `report`.
    """
    text, wanted = _folded(subject), _folded(phrase)
    if not wanted:
        return False
    before = "" if not _joins(wanted[0]) else r"(?<!\w)"
    behind = "" if not _joins(wanted[-1]) else r"(?!\w)"
    return re.search(f"{before}{re.escape(wanted)}{behind}", text) is not None


def _joins(character: str) -> bool:
    return (character.isalnum() or character == "_") and not _UNSPACED.match(character)


def _folded(text: str) -> str:
    # Twice, as folding can undo the normal form (UAX 15).
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def _ascii_domain(address: str) -> str:
    local, at, domain = address.rpartition("@")
    try:
        return f"{local}{at}{domain.encode('idna').decode()}" if domain else address
    except UnicodeError:
        return address
