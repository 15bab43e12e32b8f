"""Compares notifications with what Slack got: each mail once, in one summary, or unknown."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from bench.mailboxes import Posted
from mailqueue.db.fetch import Conn

SUMMARY = re.compile(r"^(\d+) new emails in a minute$")
_ROWS = """
SELECT n.id::text, c.slack_channel_id, n.kind, n.status, n.subject, n.summary_id::text
  FROM mailqueue.notifications AS n
  JOIN mailqueue.notification_channels AS c ON c.id = n.notification_channel_id
"""
MAX_NAMED = 20
"""Faults of each kind that are named."""


class Row(NamedTuple):
    """A notification as stored."""

    id: str
    channel: str
    kind: str
    status: str
    subject: str
    summary_id: str | None


@dataclass(frozen=True, slots=True)
class Notified:
    """What became of the mails; `faults` name those that were lost or doubled."""

    single: int
    summarized: int
    summaries: int
    unknown: int
    faults: list[str]


async def read(conn: Conn) -> list[Row]:
    """Return all notifications."""
    return [Row(*row) for row in await (await conn.execute(_ROWS.encode())).fetchall()]


def compare(wanted: Collection[tuple[str, str]], rows: list[Row], posted: Posted) -> Notified:
    """Compare what was to be notified, as channel and subject, with rows and messages. Pure."""
    mails = [row for row in rows if row.kind == "mail"]
    summaries = {row.id: row for row in rows if row.kind == "summary"}
    faults = [
        *_differing(wanted, Counter((row.channel, row.subject) for row in mails)),
        *_of_mails(mails, summaries, _singles(posted)),
        *_of_summaries(mails, summaries, posted),
    ]
    return Notified(
        sum(row.status == "delivered" for row in mails),
        sum(row.status == "merged" for row in mails),
        len(summaries),
        sum(row.status == "held" for row in rows),
        faults,
    )


def _singles(posted: Posted) -> Counter[tuple[str, str]]:
    return Counter(
        (channel, text.partition(": ")[2])
        for channel, text, _ in posted.messages
        if SUMMARY.match(text) is None
    )


def _differing(
    wanted: Collection[tuple[str, str]], found: Counter[tuple[str, str]]
) -> Iterator[str]:
    yield from _named("has no notification", set(wanted) - set(found))
    yield from _named("was not to be notified", set(found) - set(wanted))
    yield from _named("has several notifications", {one for one in found if found[one] > 1})


def _of_mails(
    mails: list[Row], summaries: dict[str, Row], got: Counter[tuple[str, str]]
) -> Iterator[str]:
    least = {"delivered": 1, "held": 0, "merged": 0}
    most = {"delivered": 1, "held": 1, "merged": 0}
    told = Counter[tuple[str, str]]()
    for row in mails:
        named = (row.channel, row.subject)
        told[named] += 1
        if row.status not in least:
            yield f"{named} is {row.status}"
        elif row.status == "merged" and row.summary_id not in summaries:
            yield f"{named} is in no summary"
        elif not least[row.status] <= got[named] <= most[row.status]:
            yield f"{named} is {row.status}, and Slack got it {got[named]} times"
    yield from _named("is posted without a notification", set(got) - set(told))


def _of_summaries(mails: list[Row], summaries: dict[str, Row], posted: Posted) -> Iterator[str]:
    """Yield channels whose summaries do not tell of as many mails as were merged into them."""
    merged = Counter(row.summary_id for row in mails if row.status == "merged")
    got: dict[str, Counter[int]] = {}
    for channel, text, _ in posted.messages:
        found = SUMMARY.match(text)
        if found is not None:
            got.setdefault(channel, Counter())[int(found[1])] += 1
    sure: dict[str, Counter[int]] = {}
    doubtful: dict[str, Counter[int]] = {}
    for row in summaries.values():
        if row.status not in ("delivered", "held"):
            yield f"summary {row.id} is {row.status}"
            continue
        kind = sure if row.status == "delivered" else doubtful
        kind.setdefault(row.channel, Counter())[merged[row.id]] += 1
    for channel in {*got, *sure}:
        has, known = got.get(channel, Counter()), sure.get(channel, Counter())
        if known - has:
            yield f"{channel} misses summaries of {sorted((known - has).elements())} mails"
        if has - known - doubtful.get(channel, Counter()):
            yield f"{channel} got more summaries than there are"


def _named(what: str, found: Collection[tuple[str, str]]) -> Iterator[str]:
    for channel, subject in sorted(found)[:MAX_NAMED]:
        yield f"{subject} of {channel} {what}"
    if len(found) > MAX_NAMED:
        yield f"and {len(found) - MAX_NAMED} more: {what}"
