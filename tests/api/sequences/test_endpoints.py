"""Sequences and enrollments over HTTP."""

from typing import Any

import pytest

from mailqueue.db.pool import connect
from tests.api.support.calling import Calling, error_of
from tests.rows import each_row
from tests.sequences.running import contact, project_with_template

pytestmark = pytest.mark.anyio
PATH = "/v1/sequences"
ONE = f"{PATH}/onboarding"
STEPS: list[dict[str, Any]] = [
    {"name": "welcome", "template": "hello"},
    {
        "name": "tips",
        "template": "hello",
        "delay": "2d",
        "at": "09:00",
        "weekdays": ["mon", "tue"],
        "condition": {"event": "opened", "step": "welcome", "happened": True},
    },
]


@pytest.fixture
async def api(api: Calling) -> Calling:
    async with connect(api.database) as conn:
        project = await project_with_template(conn)
        await contact(conn, project, "known@example.com")
    return api


async def added(api: Calling, **given: object) -> dict[str, Any]:
    answer = await api.post(PATH, {"name": "onboarding", "steps": STEPS} | given)
    assert answer.status_code == 201, answer.text
    published = await api.post(f"{ONE}/publish")
    assert published.status_code == 200, published.text
    return dict(published.json())


async def test_a_sequence_is_added_changed_published_paused_and_removed(api: Calling) -> None:
    one = await added(api, goal={"event": "Paid"})
    assert (one["published_version"], one["draft_version"], one["reenroll"]) == (1, None, "never")
    assert (await api.post(PATH, {"name": "onboarding", "steps": STEPS})).status_code == 409

    changed = await api.put(ONE, {"steps": STEPS[:1], "reenroll": "restart"})
    assert (changed.json()["draft_version"], changed.json()["reenroll"]) == (2, "restart")
    versions = (await api.get(f"{ONE}/versions")).json()["data"]
    assert [(each["version"], len(each["steps"])) for each in versions] == [(2, 1), (1, 2)]
    assert versions[1]["steps"] == STEPS
    assert versions[0]["goal"] == versions[1]["goal"] == {"event": "Paid"}
    assert (await api.post(f"{ONE}/pause")).json()["is_paused"] is True
    assert (await api.post(f"{ONE}/resume")).json()["is_paused"] is False
    assert [each["name"] for each in (await api.get(PATH)).json()["data"]] == ["onboarding"]

    assert (await api.delete(ONE)).status_code == 204
    assert (await api.get(ONE)).status_code == 404
    for path in ("publish", "pause", "resume", "move"):
        assert (await api.post(f"{ONE}/{path}", {})).status_code == 404


async def test_a_contact_is_enrolled_shown_moved_and_ended(api: Calling) -> None:
    await added(api)
    enroll = f"{ONE}/enrollments"
    first = await api.post(enroll, {"email": "ann@example.com", "variables": {"plan": "pro"}})
    again = await api.post(enroll, {"email": "Ann@Example.com"})
    assert (first.status_code, first.json()["outcome"]) == (201, "enrolled")
    assert again.json() == first.json() | {"outcome": "already_enrolled"}

    path = f"/v1/enrollments/{first.json()['enrollment_id']}"
    shown = (await api.get(path)).json()
    assert (shown["state"], shown["step"], shown["version"]) == ("active", "welcome", 1)
    assert (shown["variables"], shown["steps"]) == ({"plan": "pro"}, [])
    await api.put(ONE, {"steps": [STEPS[0] | {"delay": "1d"}]})
    await api.post(f"{ONE}/publish")
    moved = await api.post(f"{ONE}/move", {"from_version": 1})
    assert moved.json() == {"moved": 1, "remaining": 0}
    counts = (await api.get(f"{ONE}/counts")).json()
    assert counts["version"] == 2
    assert counts["steps"] == [
        {
            "step": "welcome",
            "entered": 1,
            "sent": 0,
            "skipped": 0,
            "waiting": 1,
            "departures": {},
        }
    ]

    ended = await api.delete(path)
    assert (ended.json()["state"], ended.json()["reason"]) == ("left", "removed")
    assert (await api.delete(path)).status_code == 409
    listed = (await api.get("/v1/enrollments?state=left&email=ann@example.com")).json()["data"]
    assert [each["id"] for each in listed] == [shown["id"]]
    assert (await api.get("/v1/enrollments?state=active")).json()["data"] == []


async def test_a_list_is_enrolled_and_its_bad_lines_are_named(api: Calling) -> None:
    await added(api)
    text = "email,plan\nann@example.com,pro\nnone,pro\nbob@example.com\nann@example.com,free\n"

    answer = await api.post(f"{ONE}/enrollments/import", text.encode(), Content_Type="text/csv")

    found = answer.json()
    assert (found["enrolled"], found["unchanged"], found["bad"]) == (1, 1, 2), answer.text
    assert [bad["line"] for bad in found["errors"]] == [3, 4]
    listed = (await api.get("/v1/enrollments?sequence=onboarding")).json()["data"]
    shown = (await api.get(f"/v1/enrollments/{listed[0]['id']}")).json()
    assert shown["variables"] == {"plan": "pro"}


async def test_variables_of_a_list_have_the_names_that_its_header_writes(api: Calling) -> None:
    """A template that asks for firstName gets it from a column of that name."""
    await added(api)
    text = "E-Mail,Email Address, firstName ,Plan Name\n7,ann@example.com,Ann,pro\n"

    answer = await api.post(f"{ONE}/enrollments/import", text.encode(), Content_Type="text/csv")

    assert answer.json()["enrolled"] == 1, answer.text
    (listed,) = (await api.get("/v1/enrollments?sequence=onboarding")).json()["data"]
    shown = (await api.get(f"/v1/enrollments/{listed['id']}")).json()
    assert shown["variables"] == {"E-Mail": "7", "firstName": "Ann", "Plan Name": "pro"}


@each_row(
    "body, field",
    [
        ({"steps": [{"name": "a", "template": "none"}]}, "steps.0.template"),
        ({"steps": [{"name": "a", "template": "hello", "delay": "400d"}]}, "steps.0.delay"),
        ({"steps": [{"name": "a", "template": "hello", "next": "a"}]}, "steps.0.next"),
        ({"steps": []}, "steps"),
        ({"steps": STEPS, "category": "system"}, "category"),
    ],
)
async def test_what_cannot_be_done_is_refused_with_the_field(
    api: Calling, body: dict[str, Any], field: str
) -> None:
    answer = await api.post(PATH, {"name": "other"} | body)

    assert answer.status_code == 422
    assert field in str(error_of(answer))


async def test_an_unknown_sequence_is_not_found(api: Calling) -> None:
    answer = await api.post(f"{PATH}/none/enrollments", {"email": "ann@example.com"})

    assert answer.status_code == 404
