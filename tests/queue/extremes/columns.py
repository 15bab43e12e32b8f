"""The extremes of every column of every table, read from the catalogue of the database."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mailqueue.db.fetch import Conn
from tests import make

LONG = "repeat('x', 1000000)"
ODD = r"E'\x01\x7f\r\n\u202e\u0000'".replace(r"\u0000", r"\U0010ffff")
_TIMES = (
    "'infinity'",
    "'-infinity'",
    "'294276-12-31 23:59:59+00'",
    "'4713-01-01 00:00:00+00 BC'",
)
_DATES = ("'infinity'", "'-infinity'", "'5874897-12-31'", "'4713-01-01 BC'")
_NUMBERS = ("'NaN'", "'-Infinity'", "'Infinity'", "1e131071", "1e-16383")
_DEEP = "repeat('[', 6000) || repeat(']', 6000)"
_JSON = (
    f"({_DEEP})::json",
    """'{"a": [1e60000, -1e60000, null], "id": {}}'""",
    "'[null, 1, {}]'",
    "'null'",
    "'\"\"'",
    "'{}'",
    "'[]'",
)
EXTREMES: Mapping[str, Sequence[str]] = {
    "text": (LONG, "''", ODD, r"'\u0000'"),
    "name": ("''", "repeat('x', 63)"),
    "timestamptz": _TIMES,
    "timestamp": _TIMES,
    "date": _DATES,
    "time": ("'24:00'", "'00:00'", "'23:59:59.999999'"),
    "int2": ("32767", "-32768", "0"),
    "int4": ("2147483647", "-2147483648", "0"),
    "int8multirange": ("'{}'", "'{(,)}'"),
    "int8": ("9223372036854775807", "-9223372036854775808", "0"),
    "numeric": _NUMBERS,
    "float8": ("'NaN'", "'-Infinity'", "'Infinity'", "1e308"),
    "bool": ("true", "false"),
    "uuid": (
        "'00000000-0000-0000-0000-000000000000'",
        "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
    ),
    "bytea": ("''", f"convert_to({LONG}, 'UTF8')", r"'\x00ff'"),
    "jsonb": tuple(value.replace("::json", "::jsonb") for value in _JSON),
    "json": (*_JSON, r"""'{"a": "\u0000", "a": 1}'"""),
    "inet": ("'0.0.0.0/0'", "'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/0'"),
    "interval": ("'178000000 years'", "'-178000000 years'", "'0'"),
    "xid8": ("'18446744073709551615'", "'0'"),
}
"""The extremes of each type, as SQL, the worst first."""

_COLUMNS = """
    SELECT c.relname::text, a.attname::text, t.typname::text, a.attnotnull,
           coalesce((SELECT string_agg(pg_get_constraintdef(k.oid), ' ')
                       FROM pg_constraint AS k
                      WHERE k.conrelid = c.oid AND k.contype = 'c' AND a.attnum = ANY (k.conkey)),
                    ''),
           EXISTS (SELECT FROM pg_constraint AS f
                    WHERE f.conrelid = c.oid AND f.contype = 'f' AND a.attnum = ANY (f.conkey))
    FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type AS t ON t.oid = a.atttypid
    WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p')
      AND NOT c.relispartition AND a.attgenerated = '' AND a.attidentity <> 'a'
    ORDER BY c.relname, a.attnum
"""


@dataclass(frozen=True, slots=True)
class Column:
    """A column, and its extremes as SQL, the worst first."""

    table: str
    name: str
    values: Sequence[str]


async def columns(conn: Conn) -> dict[str, list[Column]]:
    """Return all columns by table, but those that can only name a row which exists.

    Among the extremes of a column of words that a CHECK lists is each of them.
    """
    found: dict[str, list[Column]] = {}
    for table, name, kind, is_needed, checks, is_foreign in await make.rows(conn, _COLUMNS):
        values = [] if is_foreign else [*values_of(kind)]
        if kind == "text":
            values = [*sorted(set(re.findall(r"'[\w-]*'(?=::text)", checks))), *values]
        if not is_needed:
            values.insert(1, "NULL")
        if values:
            found.setdefault(table, []).append(Column(table, name, values))
    return found


def values_of(kind: str) -> Sequence[str]:
    """Return the extremes of a type.

    Raises:
        KeyError: EXTREMES lacks the type; add it.
    """
    if not kind.startswith("_"):
        return EXTREMES[kind]
    inner = EXTREMES[kind[1:]]
    return (
        "'{NULL, NULL}'",
        "'{}'",
        f"ARRAY(SELECT ({inner[0]})::{kind[1:]} FROM generate_series(1, 3))",
        f"ARRAY[NULL, ({inner[1]})::{kind[1:]}]",
    )
