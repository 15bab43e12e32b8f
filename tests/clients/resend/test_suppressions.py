"""The published Python library of Resend reads and changes the suppressions of the project."""

from typing import Any
from uuid import UUID

import pytest
import resend
from resend.exceptions import ResendError

from tests.clients.serving import Served
from tests.clients.suppressing import clear, fill, put, stored

pytestmark = pytest.mark.usefixtures("resend_here")
ORIGINS: Any = {
    "bounce": ["often@example.org", "hard@example.org"],
    "complaint": ["angry@example.org"],
    "manual": ["manual@example.org"],
}
OTHER_ORIGIN: Any = {"origin": "other"}


@pytest.fixture(autouse=True)
def filled(site: Served) -> None:
    fill(site)


def emails(found: Any) -> list[str]:
    return [one["email"] for one in found["data"]]


def test_what_stops_all_mail_is_listed_newest_first_by_origin() -> None:
    found: Any = resend.Suppressions.list()

    assert (found["object"], found["has_more"]) == ("list", False)
    assert emails(found) == [
        "manual@example.org",
        "angry@example.org",
        "often@example.org",
        "hard@example.org",
    ]
    by_origin = {name: emails(resend.Suppressions.list({"origin": name})) for name in ORIGINS}
    assert by_origin == ORIGINS
    for one in found["data"]:
        assert UUID(one["id"])
        assert one["origin"] in ORIGINS
        assert one["source_id"] is None


def test_pages_have_each_address_once_in_both_directions() -> None:
    first: Any = resend.Suppressions.list({"limit": 3})
    second: Any = resend.Suppressions.list({"limit": 3, "after": first["data"][-1]["id"]})
    back: Any = resend.Suppressions.list({"limit": 2, "before": second["data"][0]["id"]})

    assert (first["has_more"], second["has_more"], back["has_more"]) == (True, False, True)
    assert len(emails(first) + emails(second)) == len({*emails(first), *emails(second)}) == 4
    assert emails(back) == emails(first)[1:]


def test_an_address_is_added_found_and_removed(site: Served) -> None:
    added: Any = resend.Suppressions.add({"email": "New@Example.org"})
    again: Any = resend.Suppressions.add({"email": "new@example.org"})
    shown: Any = resend.Suppressions.get(added["id"])
    same: Any = resend.Suppressions.get("new@example.org")

    assert (added["object"], added["id"]) == ("suppression", again["id"])
    assert (shown["email"], shown["origin"]) == ("new@example.org", "manual")
    assert same["id"] == added["id"]
    assert ("new@example.org", "manual", "") in stored(site)
    gone: Any = resend.Suppressions.remove("new@example.org")
    assert (gone["id"], gone["deleted"]) == (added["id"], True)
    with pytest.raises(ResendError, match="not found"):
        resend.Suppressions.get("new@example.org")
    with pytest.raises(ResendError, match="not found"):
        resend.Suppressions.remove(added["id"])


def test_batches_add_and_remove_and_leave_out_what_is_not_there(site: Served) -> None:
    added: Any = resend.Suppressions.Batch.add(
        {"emails": ["a@example.org", "b@example.org", "A@example.org"]}
    )
    by_address: Any = resend.Suppressions.Batch.remove(
        {"emails": ["a@example.org", "unknown@example.org"]}
    )
    by_id: Any = resend.Suppressions.Batch.remove({"ids": [added["data"][1]["id"]]})

    assert len(added["data"]) == 2
    assert by_address["data"] == [
        {"object": "suppression", "id": added["data"][0]["id"], "deleted": True}
    ]
    assert [one["id"] for one in by_id["data"]] == [added["data"][1]["id"]]
    assert not {"a@example.org", "b@example.org"} & {address for address, _, _ in stored(site)}


def test_a_bounced_address_is_removed_with_a_reason_in_the_history(site: Served) -> None:
    resend.Suppressions.remove("hard@example.org")

    history = site.rows(
        "SELECT ended_why FROM mailqueue.suppression_history WHERE address = 'hard@example.org'"
        " ORDER BY ended_at DESC LIMIT 1"
    )
    assert history == [("asked by the API of resend",)]


def test_a_key_sees_and_changes_its_project_alone(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear(site)
    put(site, "hard@example.org", "hard_bounce")
    monkeypatch.setattr(resend, "api_key", site.keys.other)

    assert emails(resend.Suppressions.list()) == []
    with pytest.raises(ResendError, match="not found"):
        resend.Suppressions.remove("hard@example.org")
    assert stored(site) == {("hard@example.org", "hard_bounce", "")}


def test_a_key_without_the_scope_is_refused(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resend, "api_key", site.keys.reads)

    with pytest.raises(ResendError, match="lacks scope suppression:manage"):
        resend.Suppressions.list()


@pytest.mark.parametrize(
    "call",
    [
        lambda: resend.Suppressions.add({"email": "nobody"}),
        lambda: resend.Suppressions.list({"limit": 101}),
        lambda: resend.Suppressions.list(OTHER_ORIGIN),
        lambda: resend.Suppressions.Batch.add({"emails": []}),
    ],
)
def test_what_is_invalid_is_refused_by_name(call: Any) -> None:
    with pytest.raises(ResendError) as caught:
        call()

    assert caught.value.error_type == "validation_error"
