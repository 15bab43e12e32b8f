"""Texts of a project's public pages: what tenants write is checked before it is stored."""

import json
import re
from typing import Any

import pytest
from psycopg.errors import InvalidParameterValue

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.projects import manage
from mailqueue.suppression.wording.texts import MAX_CHARACTERS, REPLACEABLE, TEXTS, filled
from tests import make

pytestmark = pytest.mark.anyio

EN = "page_texts.en.intro"


async def changed(conn: Conn, texts: object) -> Any:
    found = await manage.change(conn, "default", changes={"page_texts": texts}, by="ann")
    return found.page_texts


async def test_the_texts_and_their_names_in_braces_are_those_of_the_built_in_ones(
    conn: Conn,
) -> None:
    names = "SELECT n, mailqueue.page_text_slots(n) FROM unnest(%s::text[]) AS n"
    stored = dict(await make.rows(conn, names, sorted(TEXTS["en"])))
    may = {name: set(slots) for name, slots in stored.items() if slots is not None}

    assert set(may) == set(REPLACEABLE)
    for tag, texts in TEXTS.items():
        used = {name: set(re.findall(r"\{(\w+)\}", texts[name])) for name in REPLACEABLE}
        assert used == may, tag


async def test_every_built_in_text_can_be_a_project_s_own(conn: Conn) -> None:
    for tag, texts in TEXTS.items():
        own = {name: texts[name] for name in REPLACEABLE}
        assert (await changed(conn, {tag: own}))[tag] == own
    assert set(await changed(conn, {})) == set(TEXTS), "the languages are those of the pages"


async def test_a_language_is_changed_alone_and_reset_alone(conn: Conn) -> None:
    german = {"de": {"intro": "Hallo", "saved": "Gut"}}
    await changed(conn, german)

    assert await changed(conn, {"en": {"intro": "Hi"}}) == german | {"en": {"intro": "Hi"}}
    assert await changed(conn, {"de": {"intro": "Na"}}) == {
        "de": {"intro": "Na"},
        "en": {"intro": "Hi"},
    }
    assert await changed(conn, {"de": None}) == {"en": {"intro": "Hi"}}
    assert await changed(conn, {"en": {}}) is None
    await changed(conn, german)
    assert await changed(conn, None) is None


@pytest.mark.parametrize(
    ("texts", "field"),
    [
        ([], "page_texts"),
        ("en", "page_texts"),
        (7, "page_texts"),
        ({"xx": {}}, "page_texts.xx"),
        ({"": {}}, "page_texts."),
        ({"en-GB": {}}, "page_texts.en-GB"),
        ({"en": ["x"]}, "page_texts.en"),
        ({"en": "x"}, "page_texts.en"),
        ({"en": {"nothing": "x"}}, "page_texts.en.nothing"),
        ({"en": {"months": ["x"]}}, "page_texts.en.months"),
        ({"en": {"date": "{day}"}}, "page_texts.en.date"),
        ({"en": {"language": "x"}}, "page_texts.en.language"),
        ({"en": {"missing": "x"}}, "page_texts.en.missing"),
        ({"en": {"away": "x"}}, "page_texts.en.away"),
        ({"en": {"fault_until": "x"}}, "page_texts.en.fault_until"),
        ({"en": {"unsubscribe": "Stay"}}, "page_texts.en.unsubscribe"),
        ({"en": {"scope_all": "Nothing"}}, "page_texts.en.scope_all"),
        ({"en": {"off": "Yes"}}, "page_texts.en.off"),
        ({"en": {"data_offer": "x"}}, "page_texts.en.data_offer"),
        ({"en": {"intro": None}}, EN),
        ({"en": {"intro": 1}}, EN),
        ({"en": {"intro": {"x": "y"}}}, EN),
        ({"en": {"intro": ""}}, EN),
        ({"en": {"intro": " \u00a0\u200b\u2003\ufeff"}}, EN),
        ({"en": {"leave": "\u3164"}}, "page_texts.en.leave"),
        (
            {"en": {"leave": "\u00ad\u2800\u034f\u061c\u115f\ufe0f\uffa0\U000e0020"}},
            "page_texts.en.leave",
        ),
        ({"en": {"intro": "x" * (MAX_CHARACTERS + 1)}}, EN),
        ({"en": {"intro": "a\nb"}}, EN),
        ({"en": {"intro": "a\x1bb"}}, EN),
        ({"en": {"intro": "a\u2028b"}}, EN),
        ({"en": {"intro": "a\u202eb"}}, EN),
        ({"en": {"intro": "a\u2066b"}}, EN),
        *(
            ({"en": {"intro": f"From {slot}"}}, EN)
            for slot in (
                "{list}",
                "{}",
                "{0}",
                "{project.x}",
                "{project.__class__}",
                "{project[0]}",
                "{project!r}",
                "{project:>1000000000}",
                "{project:{project}}",
                "{{project}}",
                "{ project }",
                "{Project}",
                "{project",
                "project}",
                "{",
                "}{",
                "{pro\u200bject}",
            )
        ),
        ({"en": {"saved": "{project}"}}, "page_texts.en.saved"),
        ({"en": {"confirm_question": "{list}, {list}"}}, "page_texts.en.confirm_question"),
        ({"en": {"confirm_question": "x" * 501}}, "page_texts.en.confirm_question"),
        ({"en": {"confirm_yes": "x" * 501}}, "page_texts.en.confirm_yes"),
        ({"en": {"intro": "Hi"}, "de": {"intro": "{"}}, "page_texts.de.intro"),
    ],
)
async def test_what_cannot_be_shown_is_refused_by_its_name(
    conn: Conn, texts: object, field: str
) -> None:
    await changed(conn, {"de": {"intro": "Hallo"}})

    with pytest.raises(InvalidField) as refused:
        async with conn.transaction():
            await changed(conn, texts)

    assert refused.value.field == field
    assert await changed(conn, {}) == {"de": {"intro": "Hallo"}}, "nothing is half written"


async def test_all_texts_together_are_bounded(conn: Conn) -> None:
    own = dict.fromkeys(REPLACEABLE, "ä" * MAX_CHARACTERS)
    own |= dict.fromkeys(("confirm_question", "confirm_yes"), "ä" * (MAX_CHARACTERS // 2))
    await changed(conn, {"en": own})

    with pytest.raises(InvalidField, match=r"^page_texts: at most 65536 bytes together"):
        await changed(conn, {"de": own})


async def test_users_of_psql_get_the_same_refusal(conn: Conn) -> None:
    texts = json.dumps({"page_texts": {"en": {"intro": "{project.x}"}}})

    with pytest.raises(InvalidParameterValue) as refused:
        await conn.execute("SELECT mailqueue.change_project('default', %s)", (texts,))

    assert refused.value.sqlstate == "22023"
    assert refused.value.diag.column_name == EN
    assert "only {project} may be in braces" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("From {project}: {list}", "From <b>{list}: news"),
        ("{project}{project}", "<b>{list}<b>{list}"),
        ("{project.x} {0} {} {{list}} {", "{project.x} {0} {} {news} {"),
        ("{other}", "{other}"),
    ],
)
def test_a_text_is_filled_once_and_never_fails(text: str, shown: str) -> None:
    assert filled(text, {"project": "<b>{list}", "list": "news"}) == shown
