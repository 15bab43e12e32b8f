"""SQL checks addresses by the same table of cases as Python.

`sql` false: SQL refuses it, whatever Python does, and in other words where both do. A spelling that
stands for another has to come in A-labels, which Python writes.
"""

import json
import unicodedata
from pathlib import Path
from typing import Any

import idna
import pytest
from idna import idnadata
from psycopg.errors import InvalidParameterValue

from mailqueue.core.address import InvalidAddress, key_of, parse_address
from mailqueue.core.lettercase import lower_letters
from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio

TABLE = Path(__file__).parents[2] / "payloads" / "addresses.json"
CASES: list[dict[str, Any]] = [
    case for case in json.loads(TABLE.read_text("utf-8")) if "\0" not in case["input"]
]
ALIKE = [case for case in CASES if case["sql"]]
REFUSED = [case for case in CASES if not case["sql"] and "sql_takes" not in case]
KEYED = [case for case in CASES if case["ok"]]


def named(case: dict[str, Any]) -> str:
    return ascii(case["input"][:40])


@pytest.mark.parametrize("case", ALIKE, ids=named)
async def test_an_address_is_judged_as_the_table_says(conn: Conn, case: dict[str, Any]) -> None:
    given = case["input"].strip(" \t")

    fault = await make.scalar(conn, "SELECT mailqueue.address_fault(%s)", given)

    assert fault == case.get("reason")
    if case["ok"]:
        email_id = await make.queued_email(conn, recipient_email=case["input"])
        sent = "SELECT recipient_email FROM mailqueue.email_queue WHERE id = %s"
        found = await make.scalar(conn, sent, email_id)
        assert parse_address(found).key == case["key"]
        assert found.rpartition("@")[2].isascii()


@pytest.mark.parametrize("field", ["recipient_email", "also_to", "cc", "bcc", "from_email"])
async def test_a_spelling_that_sql_cannot_read_is_refused_with_the_column(
    conn: Conn, field: str
) -> None:
    taken, named_as = [], set[str | None]()
    for case in REFUSED:
        given: Any = case["input"] if field.endswith("email") else [f"Ann <{case['input']}>"]
        try:
            async with conn.transaction():
                await make.queued_email(conn, **{field: given})
        except InvalidParameterValue as exc:
            named_as.add(exc.diag.column_name)
        else:
            taken.append(case["input"])

    assert taken == []
    # What no text may have is said of all copies alike.
    assert named_as - {"cc"} <= {field.replace("also_", "")}


async def test_every_spelling_has_the_same_key_in_sql_and_in_python(conn: Conn) -> None:
    spelled = [case["input"].strip(" \t") for case in KEYED]

    found = await make.rows(
        conn,
        "SELECT mailqueue.address_key(a), mailqueue.address_key(mailqueue.address_sent(a)),"
        " mailqueue.domain_of(a) FROM unnest(%s::text[]) WITH ORDINALITY AS s(a, n) ORDER BY n",
        spelled,
    )

    keys = [case["key"] for case in KEYED]
    assert found == [(key, key, key.rpartition("@")[2]) for key in keys]
    assert [key_of(each) for each in spelled] == keys


def assigned(step: int = 1) -> list[str]:
    """Return the characters assigned in this Python's version of Unicode, some or all."""
    kinds = ("Cn", "Co", "Cs")
    found = [
        chr(one) for one in range(0x80, 0x110000) if unicodedata.category(chr(one)) not in kinds
    ]
    return found[::step]


async def test_sql_maps_every_character_of_a_domain_as_uts_46_does(conn: Conn) -> None:
    labels = [(f"a{one}b", on_wire) for one in assigned() if (on_wire := mapped(f"a{one}b"))]
    # What is written as itself says little; of those, some.
    labels = [each for n, each in enumerate(labels) if each[0] != each[1] or n % 50 == 0]

    found = await make.rows(
        conn,
        "SELECT mailqueue.mapped_domain(d), normalize(d, NFKC)"
        " FROM unnest(%s::text[]) WITH ORDINALITY AS l(d, n) ORDER BY n",
        [label for label, _ in labels],
    )

    assert len(labels) > 5_000
    assert [
        (label, got, on_wire)
        for (label, on_wire), (got, normal) in zip(labels, found, strict=True)
        # Else the server has another version of Unicode.
        if got != on_wire and normal == unicodedata.normalize("NFKC", label)
    ] == []


def mapped(label: str) -> str | None:
    try:
        return idna.uts46_remap(label, std3_rules=True)
    except idna.IDNAError:
        return None


async def test_sql_takes_no_character_of_a_domain_that_does_not_go_on_the_wire_as_python_says(
    conn: Conn,
) -> None:
    spelled = [form.format(one) for one in assigned(60) for form in ("a{}b", "{}", "\u05d0{}")]
    await conn.execute(
        "CREATE FUNCTION pg_temp.taken(p_label text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM mailqueue.check_address('x', 'x@' || p_label || '.example');"
        " RETURN mailqueue.domain_of(mailqueue.wire_address('x', 'x@' || p_label || '.example'));"
        " EXCEPTION WHEN invalid_parameter_value THEN RETURN NULL; END $$"
    )

    taken = await make.rows(
        conn,
        "SELECT l, t FROM unnest(%s::text[]) AS l, pg_temp.taken(l) AS t WHERE t > ''",
        spelled,
    )

    assert len(taken) > len(spelled) / 4
    assert [(label, got) for label, got in taken if got != domain_of(label)] == []


def domain_of(label: str) -> str | None:
    try:
        return parse_address(f"x@{label}.example").domain
    except InvalidAddress:
        return None


async def test_lower_case_is_the_same_in_sql_and_in_python_for_every_letter(conn: Conn) -> None:
    letters = "".join(chr(code) for code in range(1, 0x1F000) if not 0xD800 <= code < 0xE000)

    assert await make.scalar(conn, "SELECT mailqueue.lower_letters(%s)", letters) == lower_letters(
        letters
    )


async def test_letters_of_a_domain_are_those_of_idna(conn: Conn) -> None:
    asked = "SELECT lower(r), upper(r) FROM unnest(mailqueue.domain_letters()) AS r"
    found = {code for low, high in await make.rows(conn, asked) for code in range(low, high)}

    known = {
        code
        for each in idnadata.codepoint_classes["PVALID"]
        for code in range(each >> 32, each & 0xFFFFFFFF)
        if code > 0x7F
    }
    assert found <= known
    from_right = {code for code in known if unicodedata.bidirectional(chr(code)) == "AN"}
    assert known - found <= from_right


@pytest.mark.parametrize("text", ["", "@", "\u00fc", "\u00fc@", "@\u00fc", "\u00fc" * 1_000_000])
async def test_what_is_no_address_has_a_key_all_the_same(conn: Conn, text: str) -> None:
    found = await make.scalar(conn, "SELECT mailqueue.address_key(%s)", text)

    assert isinstance(found, str)


async def test_comparing_addresses_calls_nothing_for_one_that_is_ascii(conn: Conn) -> None:
    """The plan contains the condition; the function is called only after it."""
    plan = await make.rows(
        conn,
        "EXPLAIN (VERBOSE, COSTS OFF) SELECT mailqueue.address_key(q.recipient_email),"
        " mailqueue.domain_of(q.recipient_email) FROM mailqueue.email_queue AS q",
    )

    text = "\n".join(line for (line,) in plan)
    assert "CASE WHEN (octet_length(" in text
    assert "address_key(" not in text
    assert "domain_of(" not in text
