"""Statements as Npgsql sends them for EF Core: parameters of explicit types in binary, and a batch.

Npgsql binds every parameter, also NULL, with the type of its property, and asks for results in
binary. `SaveChanges` sends the statements of several rows one after another without waiting, with
one Sync at the end: they are one transaction.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from struct import pack, unpack
from typing import Any, NamedTuple
from uuid import UUID

from psycopg import pq

from mailqueue.db.fetch import Conn

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_OID = {"bool": 16, "int8": 20, "text": 25, "varchar": 1043, "timestamptz": 1184, "uuid": 2950}
_OID["jsonb"] = 3802

Parameter = tuple[str, object]
"""The name of a type, and a value of it or None."""


class Statement(NamedTuple):
    """A statement with the parameters $1, $2 and so on."""

    text: str
    parameters: Sequence[Parameter]


class Answer(NamedTuple):
    """SQLSTATE and constraint of an error, else None; the rows and the command tag."""

    sqlstate: str | None
    constraint: str | None
    rows: list[tuple[Any, ...]]
    tag: str


def insert(row: dict[str, Parameter], *, returning: Sequence[str] = ()) -> Statement:
    """Return an INSERT into the view as EF Core writes it: quoted names in alphabetical order."""
    names = [*sorted(row, key=lambda name: (name != "id", name))]
    values = ", ".join(f"${number}" for number in range(1, len(names) + 1))
    text = f'INSERT INTO mailqueue."outboxes" ({", ".join(map(_quoted, names))})\nVALUES ({values})'
    if returning:
        text += f"\nRETURNING {', '.join(map(_quoted, returning))}"
    return Statement(text, [row[name] for name in names])


def save_changes(conn: Conn, statements: Sequence[Statement]) -> list[Answer]:
    """Send a batch and return the answer to each statement; those after an error have none."""
    link = conn.pgconn
    link.enter_pipeline_mode()
    for one in statements:
        link.send_query_params(
            one.text.encode(),
            [_bytes_of(kind, value) for kind, value in one.parameters],
            [_OID[kind] for kind, _ in one.parameters],
            [pq.Format.BINARY] * len(one.parameters),
            pq.Format.BINARY,
        )
    link.pipeline_sync()
    answers = list[Answer]()
    while (result := link.get_result()) is None or result.status != pq.ExecStatus.PIPELINE_SYNC:
        if result is not None and result.status != pq.ExecStatus.PIPELINE_ABORTED:
            answers.append(_answer(result))
    link.exit_pipeline_mode()
    return answers


def _quoted(name: str) -> str:
    return f'"{name}"'


def _bytes_of(kind: str, value: object) -> bytes | None:
    match kind, value:
        case _, None:
            return None
        case "uuid", UUID():
            return value.bytes
        case "bool", bool():
            return pack("!?", value)
        case "int8", int():
            return pack("!q", value)
        case "timestamptz", datetime():
            return pack("!q", (value - _EPOCH) // timedelta(microseconds=1))
        case "jsonb", str():
            return b"\x01" + value.encode()
        case (("text" | "varchar"), str()):
            return value.encode()
        case _:
            raise TypeError(f"{value!r} is no {kind}")


def _answer(result: pq.abc.PGresult) -> Answer:
    state = result.error_field(pq.DiagnosticField.SQLSTATE)
    constraint = result.error_field(pq.DiagnosticField.CONSTRAINT_NAME)
    rows = [
        tuple(
            _value_of(result.ftype(column), result.get_value(row, column))
            for column in range(result.nfields)
        )
        for row in range(result.ntuples)
    ]
    return Answer(
        state.decode() if state else None,
        constraint.decode() if constraint else None,
        rows,
        (result.command_status or b"").decode(),
    )


def _value_of(oid: int, value: bytes | None) -> object:
    if value is None:
        return None
    kind = {number: name for name, number in _OID.items()}[oid]
    if kind == "timestamptz":
        return _EPOCH + timedelta(microseconds=unpack("!q", value)[0])
    reading: dict[str, Callable[[bytes], object]] = {
        "uuid": lambda octets: UUID(bytes=octets),
        "bool": lambda octets: octets == b"\x01",
        "int8": lambda octets: unpack("!q", octets)[0],
        "text": bytes.decode,
        "varchar": bytes.decode,
    }
    return reading[kind](value)
