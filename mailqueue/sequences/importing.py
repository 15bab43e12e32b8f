"""Enroll the contacts of a list: a file with a column for the address, others are variables."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import BinaryIO
from uuid import UUID

from mailqueue.contract.automation.sequences import EnrolledList
from mailqueue.contract.suppression import BadLine
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.sequences.store import enrollments as store
from mailqueue.suppression.lists.encoding import encoding_of
from mailqueue.suppression.lists.reading import ADDRESS_NAMES, read_records

LINES_PER_COMMIT = 1_000
MAX_ERRORS = 1_000
"""Most bad lines that are kept for the report; all are counted."""


class EnrollTally:
    """Result of a list so far; all bad lines are counted, the first ones are kept."""

    def __init__(self) -> None:
        self.outcomes = Counter[str]()
        self.bad: list[BadLine] = []
        self._bad_count = 0

    def add(self, outcomes: Counter[str], bad: Sequence[BadLine]) -> None:
        """Add what became of the lines of one commit."""
        self.outcomes += outcomes
        self._bad_count += len(bad)
        self.bad.extend(bad[: max(0, MAX_ERRORS - len(self.bad))])

    def result(self) -> EnrolledList:
        """Return the counts as callers see them."""
        return EnrolledList(
            enrolled=self.outcomes["enrolled"] + self.outcomes["restarted"],
            unchanged=self.outcomes["already_enrolled"] + self.outcomes["enrolled_before"],
            suppressed=self.outcomes["suppressed"],
            bad=self._bad_count,
            errors=self.bad,
        )


async def enroll_list(
    conn: Conn,
    project_id: UUID,
    *,
    sequence: str,
    file: BinaryIO,
    is_test: bool,
    source: str,
    tally: EnrollTally,
    tell: Callable[[BadLine], None] | None = None,
) -> None:
    """Enroll the contact of each valid line, counted in `tally` once it is committed.

    The file is seekable: CSV with a header, or JSON. `tell` is called with each bad line.

    Raises:
        InvalidField: field `file`, it is not a list; or `sequence`. What was committed before
            stays.
    """
    encoding = await asyncio.to_thread(encoding_of, file)
    records = read_records(file, encoding, keeps_names=True)
    while lines := list(islice(records, LINES_PER_COMMIT)):
        outcomes, bad = Counter[str](), []
        async with conn.transaction():
            for number, values in lines:
                if isinstance(values, str):
                    bad.append(BadLine(number, values))
                    continue
                try:
                    email, variables = _contact_of(values)
                    found = await store.enroll(
                        conn,
                        project_id,
                        sequence=sequence,
                        email=email,
                        variables=variables,
                        is_test=is_test,
                        source=source,
                    )
                except InvalidField as exc:
                    if exc.field == "sequence":
                        raise
                    bad.append(BadLine(number, exc.why, exc.field))
                else:
                    outcomes[found.outcome] += 1
        tally.add(outcomes, bad)
        for line in bad:
            if tell is not None:
                tell(line)


def _contact_of(values: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    email = next((values[name] for name in ADDRESS_NAMES if values.get(name)), None)
    if not isinstance(email, str):
        raise InvalidField("email", "is needed")
    others = {name: value for name, value in values.items() if name not in ADDRESS_NAMES}
    return email, {name: value for name, value in others.items() if name}
