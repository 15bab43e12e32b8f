"""Split the recipients of one message over several mails. Pure."""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

MAX_RECIPIENTS = 1_000
"""Most recipients of one message, over all its mails."""
MAX_OF_MAIL = 50
"""Most recipients of one mail in the queue."""


class Share(NamedTuple):
    """The recipients of one of the mails; at least one."""

    to: list[str]
    cc: list[str]
    bcc: list[str]

    @property
    def first(self) -> str:
        """Return the recipient that is stored in the mail's row."""
        return next(chain(self.to, self.cc, self.bcc))


def shares_of(to: Sequence[str], cc: Sequence[str], bcc: Sequence[str]) -> list[Share]:
    """Return the recipients of each mail, in groups of about equal size.

    They are distributed in turn, so that as many mails as possible have a recipient in To or Cc:
    some providers refuse mail with blind copies only.
    """
    given = [(text, kind) for kind, some in enumerate((to, cc, bcc)) for text in some]
    count = -(-len(given) // MAX_OF_MAIL)
    shares = []
    for start in range(count):
        share = Share([], [], [])
        for text, kind in given[start::count]:
            share[kind].append(text)
        shares.append(share)
    return shares


def group_of(to: Sequence[str], cc: Sequence[str], bcc: Sequence[str]) -> str:
    """Return a hash of all recipients, which the mails of one message share."""
    digest = hashlib.sha256()
    for kind in (to, cc, bcc):
        for text in sorted(kind):
            digest.update(text.encode() + b"\n")
        digest.update(b"\0")
    return digest.hexdigest()


def key_of_share(key: str, number: int) -> str:
    """Return the idempotency key of one of the mails, from 0; the first has the message's own."""
    if number == 0:
        return key
    return f"share {number + 1} of {hashlib.sha256(key.encode()).hexdigest()}"


def messages_of(
    message: Mapping[str, object],
    everyone: Share,
    *,
    headers: Mapping[str, Sequence[str]] | None = None,
) -> list[dict[str, object]]:
    """Return the arguments of SQL's enqueue_batch() for each mail: the same, with its own
    recipients.

    `headers` are the recipients of To and Cc, where the message is not finished.
    """
    shares = shares_of(*everyone)
    of = group_of(*everyone) if len(shares) > 1 else None
    mails = []
    for number, share in enumerate(shares):
        mail = dict(message) | {"recipient": share.first}
        for kind, some in share._asdict().items():
            if rest := [one for one in some if one != share.first]:
                mail[kind] = rest
        if of is not None:
            mail["split"] = {"of": of} | ({} if headers is None else {"headers": headers})
            if "idempotency_key" in message:
                mail["idempotency_key"] = key_of_share(str(message["idempotency_key"]), number)
        mails.append(mail)
    return mails
