"""Templates: every text is escaped, an unknown name is an error, values are shown alike."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from mailqueue.web.rendering import environment


def shown(folder: Path, template: str, **values: object) -> str:
    (folder / "page.html").write_text(template)
    return environment({"here": folder}).get_template("here/page.html").render(values)


def test_text_is_escaped_and_an_unknown_name_is_an_error(tmp_path: Path) -> None:
    assert shown(tmp_path, "{{ text }}", text="<b>&") == "&lt;b&gt;&amp;"
    with pytest.raises(UndefinedError):
        shown(tmp_path, "{{ tex }}", text="x")


def test_values_have_their_units_and_times_their_date_and_zone(tmp_path: Path) -> None:
    at = datetime(2030, 5, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))

    page = shown(
        tmp_path,
        '{% from "web/values.html" import when, pill %}'
        "{{ count | count }} {{ count | size }} {{ 1 | share(3) }} {{ age | age }} {{ when(none) }}"
        ' {{ when(at) }} {{ pill("hard_bounce", "bad") }}',
        count=1_234_567,
        age=timedelta(hours=2, minutes=5),
        at=at,
    )

    assert "1,234,567 1.2 MB 33 % 2 h 5 min –" in page
    assert ">2030-04-30 23:30 UTC</time>" in page
    assert 'datetime="2030-04-30T23:30:00.000Z"' in page
    assert '<span class="pill bad">hard bounce</span>' in page


def test_a_field_keeps_what_was_typed_and_names_what_is_wrong_with_it(tmp_path: Path) -> None:
    page = shown(
        tmp_path,
        '{% from "web/fields.html" import text_field, choice_field %}'
        '{{ text_field("name", "Name", typed, faults, required=true, longest=9) }}'
        '{{ text_field("password", "Password", typed, type="password") }}'
        '{{ choice_field("kind", "Kind", typed, {}, ["", "a", "b"]) }}',
        typed={"name": 'a"<b>', "password": "secret", "kind": "b"},
        faults={"name": "Is <wrong>."},
    )

    assert 'value="a&#34;&lt;b&gt;"' in page
    assert ' aria-invalid="true" aria-describedby="fault-name"' in page
    assert '<span class="fault" id="fault-name">Is &lt;wrong&gt;.</span>' in page
    assert "secret" not in page, "a password is never sent back"
    assert '<option value="">any</option>' in page
    assert "<option selected>b</option>" in page


def test_lists_have_a_table_a_pager_and_an_empty_state(tmp_path: Path) -> None:
    page = shown(
        tmp_path,
        '{% from "web/lists.html" import empty, grid, pager, table %}'
        '{% call table("Emails", ["Status"]) %}<div role="row">x</div>{% endcall %}'
        '{% call grid("Days", ["Day", "#Sent"]) %}<tr><td>1</td></tr>{% endcall %}'
        '{{ pager(none, "No more") }}{{ pager("/next", "Older") }}'
        '{% call empty("None yet") %}<p>Begin.</p>{% endcall %}'
        "{% call empty() %}None matches.{% endcall %}",
    )

    assert '<div class="rows" role="table" aria-label="Emails">' in page
    assert '<span role="columnheader">Status</span>' in page
    assert '<th scope="col">Day</th><th scope="col" class="number">Sent</th>' in page
    assert page.count('rel="next"') == 1
    assert "<h2>None yet</h2>" in page
    assert '<p class="empty">None matches.</p>' in page
