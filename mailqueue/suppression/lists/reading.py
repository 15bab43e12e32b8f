"""Parse lists of addresses in CSV or JSON into valid and bad lines. Pure."""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO

from mailqueue.contract.suppression import BadLine, ListEncoding, SuppressionReason
from mailqueue.core.errors import InvalidField
from mailqueue.core.mailboxes import ERASED_ADDRESS
from mailqueue.suppression.acceptable import new_suppression
from mailqueue.suppression.lists.encoding import text_of
from mailqueue.suppression.lists.formula import plain
from mailqueue.suppression.lists.json_list import elements
from mailqueue.suppression.model import ListLine

ADDRESS_NAMES = ("email", "address", "email_address", "recipient_email", "recipient")
MAX_HEADER_CHARACTERS = 10_000
"""Characters of a header in which the separator is looked for."""
MAX_LINE_CHARACTERS = 1024 * 1024
"""Longest line of CSV, with the line breaks between its quotes."""
MAX_COLUMNS = 1_000
_SEPARATORS = (",", ";", "\t")
_HASH = re.compile("[0-9a-f]{64}")
_OTHERS = ("reason", "category", "detail", "expires_at")

ListRecord = tuple[int, Mapping[str, object] | str]
"""Number of a line, and its values by column name or the reason why it is invalid."""


def read_lines(
    file: BinaryIO,
    encoding: ListEncoding = ListEncoding.UTF_8,
    *,
    otherwise: SuppressionReason | None = None,
    skip: Callable[[], None] = lambda: None,
) -> Iterator[ListLine | BadLine]:
    """Yield the lines of a list in order; an invalid line does not stop the reading.

    Lines of erased persons in an exported list are not yielded: they have a hash under the key of
    their project in place of an address. `skip` is called for each.

    A list that begins like an array or object is JSON, any other is CSV with commas, semicolons or
    tabs. Lines without a reason get
    `otherwise`.

    Raises:
        InvalidField: field `file`; it is neither, or no column is named for the address.
    """
    for number, values in read_records(file, encoding):
        if _is_erased(values):
            skip()
        else:
            yield _line(number, values, otherwise)


def read_records(
    file: BinaryIO, encoding: ListEncoding = ListEncoding.UTF_8, *, keeps_names: bool = False
) -> Iterator[ListRecord]:
    """Yield the values of each line by column name, or why the line is invalid.

    Names of columns are in lower case with underscores for spaces, or with `keeps_names`, apart
    from that of the address, as they are written; values of CSV are texts.

    Raises:
        InvalidField: field `file`; it is neither CSV nor JSON, no column is named for the address,
            or a line or the header is too long.
    """
    text = text_of(file, encoding)
    try:
        start, above = _leading(text)
        is_json = start[:1] in ("[", "{")
        if is_json:
            yield from _objects(start, text)
        else:
            yield from _rows(start, text, above=above, keeps_names=keeps_names)
    finally:
        text.detach()


def _leading(text: io.TextIOWrapper) -> tuple[str, int]:
    """Return the first line that is not blank, without leading white space, and the number of lines
    above.
    """
    above = 0
    while line := text.readline(MAX_LINE_CHARACTERS):
        if stripped := line.lstrip():
            return stripped, above
        above += 1
    return "", above


def _line(
    number: int, values: Mapping[str, object] | str, otherwise: SuppressionReason | None
) -> ListLine | BadLine:
    if isinstance(values, str):
        return BadLine(number, values)
    email = _email(values)
    try:
        others = {name: values.get(name) for name in _OTHERS}
        return ListLine(number, new_suppression(email, **others, otherwise=otherwise))
    except InvalidField as exc:
        return BadLine(number, exc.why, exc.field)


def _email(values: Mapping[str, object]) -> object:
    return next((values[name] for name in ADDRESS_NAMES if values.get(name)), None)


def _is_erased(values: Mapping[str, object] | str) -> bool:
    """Return whether a line has the placeholder of erased persons, or a hash and no address."""
    if isinstance(values, str):
        return False
    email, known_as = _email(values), values.get("email_hash")
    if email is None:
        return isinstance(known_as, str) and _HASH.fullmatch(known_as) is not None
    return isinstance(email, str) and email.strip().lower() == ERASED_ADDRESS


def _objects(start: str, text: io.TextIOWrapper) -> Iterator[ListRecord]:
    for number, element in elements(start, text):
        match element:
            case str():
                yield number, {"email": element}
            case dict():
                yield number, element
            case _:
                yield number, "must be an address, or an object with an email"


def _rows(
    start: str, text: io.TextIOWrapper, *, above: int, keeps_names: bool
) -> Iterator[ListRecord]:
    separator = _separator(start)
    lines = _Lines(start, text, above=above)
    reader = csv.reader(lines, strict=True, delimiter=separator)
    header: list[str] | None = None
    while True:
        number = above + reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as exc:
            if header is None:
                raise InvalidField("file", f"the header is not valid CSV: {exc}") from None
            yield number, f"this is not valid CSV: {exc}"
            continue
        finally:
            lines.room = MAX_LINE_CHARACTERS
        if header is None and row:
            header, is_data = _header(row, keeps_names=keeps_names)
            if not is_data:
                continue
        if header is not None and row:
            yield number, _values(header, row)


class _Lines:
    """The lines of a text, of which one line of CSV may take a bounded number of characters."""

    def __init__(self, start: str, text: io.TextIOWrapper, *, above: int) -> None:
        self.room = MAX_LINE_CHARACTERS
        self._start, self._text = start, text
        self._count = above

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line, self._start = self._start or self._text.readline(self.room + 1), ""
        if not line:
            raise StopIteration
        self._count += 1
        self.room -= len(line)
        if self.room <= 0:
            why = f"line {self._count} has more than {MAX_LINE_CHARACTERS:,} characters"
            raise InvalidField("file", why)
        return line


def _separator(header: str) -> str:
    """Return the separator of the columns: the one that sets a column of addresses apart."""
    for separator in _SEPARATORS:
        try:
            cells = next(csv.reader([header[:MAX_HEADER_CHARACTERS]], delimiter=separator), [])
        except csv.Error:
            continue  # reported when the header is read
        if not set(_names(cells)).isdisjoint(ADDRESS_NAMES):
            return separator
    return _SEPARATORS[0]


def _names(row: list[str]) -> list[str]:
    return [name.strip().lower().replace(" ", "_") for name in row]


def _header(row: list[str], *, keeps_names: bool) -> tuple[list[str], bool]:
    """Return the column names, and whether the row is data: it holds an address instead of
    names.
    """
    if len(row) > MAX_COLUMNS:
        raise InvalidField("file", f"the header has more than {MAX_COLUMNS:,} columns")
    names = _names(row)
    if len(row) == 1 and "@" in row[0]:
        return ["email"], True
    if not set(names) & set(ADDRESS_NAMES):
        shown = ", ".join(name[:40] for name in names[:20]) or "none"
        raise InvalidField("file", f"the header has no column email; it has {shown}")
    if keeps_names:
        written = zip(names, row, strict=True)
        names = [name if name in ADDRESS_NAMES else cell.strip() for name, cell in written]
    twice = sorted(name for name, times in Counter(names).items() if name and times > 1)
    if twice:
        raise InvalidField("file", f"the header has the column {twice[0][:40]} twice")
    return names, False


def _values(header: list[str], row: list[str]) -> Mapping[str, object] | str:
    if len(row) != len(header):
        counts = f"{len(row)} value{'' if len(row) == 1 else 's'}"
        return f"it has {counts}, the header has {len(header)}"
    return {name: plain(cell) for name, cell in zip(header, row, strict=True)}
