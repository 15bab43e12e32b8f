"""Contact lists in the console: listed, and added by a form whose errors stand at their fields."""

import pytest

from tests.console.visiting import Visiting

pytestmark = pytest.mark.anyio

PATH = "/console/projects/default/groups"


async def test_a_list_is_added_once_and_errors_stand_at_their_fields(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.visitor() as visitor:
        await visitor.log_in("ann")
        empty = await visitor.get(PATH)
        fields = await visitor.form(f"{PATH}/new", f"{PATH}/new")
        wrong = await visitor.post(f"{PATH}/new", fields | {"opt_in": "maybe", "name": "<b>"})
        without = await visitor.post(f"{PATH}/new", fields | {"name": " "})
        typed = {"name": "readers", "description": "All <readers>", "opt_in": "confirmed"}
        made = await visitor.post(f"{PATH}/new", fields | typed)
        again = await visitor.post(f"{PATH}/new", fields | {"name": "others"})
        second = await visitor.submit(f"{PATH}/new", f"{PATH}/new", name="readers")
        page = await visitor.get(made.headers["location"])

    assert "No list yet" in empty.text
    assert '<a href="/console/projects/default/groups" aria-current="page">Groups</a>' in empty.text
    assert (wrong.status_code, without.status_code, second.status_code) == (422, 422, 422)
    assert 'id="fault-opt_in"' in wrong.text
    assert 'value="&lt;b&gt;"' in wrong.text
    assert "Is needed." in without.text
    assert 'id="fault-name"' in second.text
    assert again.headers["location"] == f"{PATH}?done=before"
    assert "All &lt;readers&gt;" in page.text
    assert "others" not in page.text
