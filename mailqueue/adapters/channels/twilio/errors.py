"""What error codes of Twilio mean. https://www.twilio.com/docs/api/errors

Twilio's texts are not repeated: they may name the number of the person.
"""

from collections.abc import Mapping

from mailqueue.ports.channel import PostResult

_WORDS: Mapping[PostResult, Mapping[int, str]] = {
    PostResult.CHANNEL: {
        10001: "the account is not active",
        20003: "the account refuses the token",
        20005: "the account is not active",
        20404: "there is no such account",
        21608: "a trial account, which sends to verified numbers alone",
        63001: "the account refuses the token",
        63007: "the sender number is not one of WhatsApp",
        63020: "the business account is not accepted",
    },
    PostResult.REFUSED: {
        21211: "the number is not valid",
        21614: "the number is not that of a phone",
        30005: "the number is not known",
        30006: "the number is not that of a phone",
        63003: "the number has no WhatsApp",
        63024: "the number is not valid",
        63033: "the person blocked the sender",
        30007: "it was filtered",
        63005: "the content was refused",
        63013: "the content violates a policy",
        63019: "media could not be read",
        63021: "the content is not valid",
        63027: "the template does not exist in this language",
        63028: "the number of variables is not that of the template",
        63030: "the content is not supported",
        63032: "WhatsApp limits messages to this person",
        63049: "WhatsApp limits messages to this person",
        63051: "WhatsApp limits messages of this account",
    },
    PostResult.OPTED_OUT: {21610: "the person opted out"},
    PostResult.OUTSIDE: {63016: "free text outside of the 24 hours after a reply"},
    PostResult.WAIT: {
        20429: "too many requests",
        63018: "too many messages",
    },
    PostResult.FAILED: {
        21730: "maintenance",
        30001: "the queue of the provider is full",
        30003: "the phone is not reachable",
        63010: "an error of the provider",
        63012: "an error of the provider",
    },
}
MEANING_BY_CODE: Mapping[int, PostResult] = {
    code: meaning for meaning, words in _WORDS.items() for code in words
}


def reason_of(code: int | None) -> str:
    """Return a reason for people, with the code."""
    if code is None:
        return "Twilio: no error code"
    words = _WORDS.get(MEANING_BY_CODE.get(code, PostResult.DELIVERED), {}).get(code)
    return f"Twilio: {code}" if words is None else f"Twilio: {words} ({code})"
