"""Validate the fields of a suppression: address, reason, category, detail and end."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from mailqueue.contract.suppression import SuppressionReason
from mailqueue.core.address import Address, InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.suppression.model import NewSuppression

MAX_DETAIL_CHARACTERS = 998
MAX_DURATION = timedelta(days=3_650)
"""Longest time until a suppression expires."""
_CATEGORY = re.compile(r"(?:[a-z][a-z0-9_-]{0,62}|\*)?")
_BEYOND_UTF8 = re.compile("[\ud800-\udfff]")
# Other spellings of the reasons.
_REASON_BY_WORD: Mapping[str, SuppressionReason] = {
    **{reason.value: reason for reason in SuppressionReason},
    "unsubscribe": SuppressionReason.UNSUBSCRIBED,
}


def new_suppression(
    email: object,
    *,
    reason: object = None,
    category: object = None,
    detail: object = None,
    expires_at: object = None,
    otherwise: SuppressionReason | None = None,
) -> NewSuppression:
    """Return the suppression for the given fields.

    `otherwise` is the reason where `reason` is empty. If `reason` is then no known reason, it is
    stored as the detail: lists of other providers have the server's reply there.

    Raises:
        InvalidField: a field is invalid; the first one is named.
    """
    address = address_of(email)
    said = text_of("detail", detail)
    named = text_of("reason", reason)
    why = _REASON_BY_WORD.get((named or "").lower())
    if why is None:
        if named and otherwise is None:
            reason_of(named)
        why, said = otherwise or SuppressionReason.MANUAL, said or named
    return NewSuppression(
        address=address,
        reason=why,
        category=category_of(text_of("category", category) or ""),
        detail=said,
        expires_at=instant_of(text_of("expires_at", expires_at)),
    )


def address_of(email: object, *, field: str = "email") -> Address:
    """Return a valid address.

    Raises:
        InvalidField: the text is not an address.
    """
    if not isinstance(email, str):
        raise InvalidField(field, "an address is needed")
    try:
        return parse_address(email)
    except InvalidAddress as exc:
        raise InvalidField(field, str(exc)) from None


def reason_of(word: str) -> SuppressionReason:
    """Return a valid reason.

    Raises:
        InvalidField: the reason is unknown; the text lists the known ones.
    """
    found = _REASON_BY_WORD.get(word.lower())
    if found is None:
        raise InvalidField(
            "reason", f"must be one of {', '.join(SuppressionReason)}, got {word[:100]!r}"
        )
    return found


def category_of(word: str) -> str:
    """Return the category of mail that a suppression is for.

    "" stands for all mail, "*" for all mail that recipients can unsubscribe from.

    Raises:
        InvalidField: the text is not a category.
    """
    if not _CATEGORY.fullmatch(word):
        raise InvalidField(
            "category", f"must be lower-case letters, digits, - and _, got {word[:100]!r}"
        )
    return word


def instant_of(text: str | None) -> datetime | None:
    """Return the time at which a suppression expires: ISO 8601, by default in UTC; None: never.

    Raises:
        InvalidField: the text is not such a time.
    """
    if text is None:
        return None
    try:
        instant = datetime.fromisoformat(text)
        instant = (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidField(
            "expires_at", f"must be a time such as 2030-01-31T08:00:00Z, got {text[:100]!r}"
        ) from None
    if instant > datetime.now(UTC) + MAX_DURATION:
        raise InvalidField("expires_at", f"must be within ten years, got {text[:100]!r}")
    return instant


def text_of(field: str, value: object) -> str | None:
    """Return text in one line; None where it is empty.

    Raises:
        InvalidField: it is not text, or has control characters.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidField(field, "must be text")
    words = " ".join(value.split())
    if not words.isprintable():
        why = "is not UTF-8" if _BEYOND_UTF8.search(words) else "has control characters"
        raise InvalidField(field, why)
    return words[:MAX_DETAIL_CHARACTERS] or None
