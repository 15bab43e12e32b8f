"""The published `sendgrid` library reads and changes bounces, spam reports and unsubscribes."""

import json
import time
from typing import Any

import pytest
from python_http_client.exceptions import (
    BadRequestsError,
    ForbiddenError,
    NotFoundError,
)
from sendgrid import SendGridAPIClient

from tests.clients.serving import Served
from tests.clients.suppressing import BOUNCED, fill, put, stored


@pytest.fixture(autouse=True)
def filled(site: Served) -> None:
    fill(site)


@pytest.fixture
def client(site: Served) -> Any:
    return SendGridAPIClient(site.keys.live, host=site.url).client


def read(response: Any) -> Any:
    return json.loads(response.body)


def emails(response: Any) -> list[str]:
    return [one["email"] for one in read(response)]


def test_each_list_has_the_addresses_of_its_reasons_newest_first(client: Any) -> None:
    lists = client.suppression

    found = read(lists.bounces.get())
    assert [one["email"] for one in found] == ["often@example.org", "hard@example.org"]
    assert (found[1]["reason"], found[1]["status"]) == (BOUNCED, "5.1.1")
    assert abs(found[1]["created"] - time.time()) < 3600
    assert set(found[1]) == {"created", "email", "reason", "status"}
    assert emails(lists.spam_reports.get()) == ["angry@example.org"]
    assert emails(lists.unsubscribes.get()) == ["manual@example.org", "all@example.org"]
    assert read(lists.blocks.get()) == read(lists.invalid_emails.get()) == []


def test_pages_and_times_choose_addresses(site: Served, client: Any) -> None:
    for number in range(5):
        put(site, f"b{number}@pages.example", "hard_bounce")
    site.rows(
        "UPDATE mailqueue.suppressions SET created_at = to_timestamp(1700000000)"
        " WHERE address = 'b0@pages.example' RETURNING 1"
    )
    bounces = client.suppression.bounces

    pages = [
        emails(bounces.get(query_params={"limit": 3, "offset": offset})) for offset in (0, 3, 6)
    ]
    assert [len(page) for page in pages] == [3, 3, 1]
    assert len({email for page in pages for email in page}) == 7
    around = {"start_time": 1699999999, "end_time": 1700000000}
    assert emails(bounces.get(query_params=around)) == ["b0@pages.example"]
    assert emails(bounces.get(query_params={"end_time": 1699999999})) == []
    assert emails(bounces.get(query_params={"email": "b4@"})) == ["b4@pages.example"]


def test_one_address_is_found_and_removed(site: Served, client: Any) -> None:
    one = client.suppression.bounces._("hard@example.org")

    assert emails(one.get()) == ["hard@example.org"]
    gone = one.delete()
    assert (gone.status_code, gone.body) == (204, b"")
    assert read(one.get()) == []
    with pytest.raises(NotFoundError):
        one.delete()
    assert ("angry@example.org", "complaint", "") in stored(site)


def test_a_list_removes_its_own_addresses_alone(site: Served, client: Any) -> None:
    with pytest.raises(NotFoundError):
        client.suppression.bounces._("angry@example.org").delete()
    client.suppression.spam_reports._("angry@example.org").delete()

    assert "angry@example.org" not in {address for address, _, _ in stored(site)}


def test_addresses_are_removed_together_or_not_at_all(site: Served, client: Any) -> None:
    before = stored(site)
    bounces = client.suppression.bounces

    with pytest.raises(NotFoundError):
        bounces.delete(request_body={"emails": ["hard@example.org", "unknown@example.org"]})
    assert stored(site) == before
    bounces.delete(request_body={"emails": ["hard@example.org", "often@example.org"]})
    assert {address for address, _, _ in before} - {address for address, _, _ in stored(site)} == {
        "hard@example.org",
        "often@example.org",
    }


def test_all_addresses_are_not_removed_at_once(site: Served, client: Any) -> None:
    before = stored(site)

    with pytest.raises(BadRequestsError) as caught:
        client.suppression.bounces.delete(request_body={"delete_all": True})

    assert caught.value.to_dict["errors"][0]["field"] == "delete_all"
    assert stored(site) == before


def test_global_unsubscribes_are_added_found_and_removed(site: Served, client: Any) -> None:
    everything = client.asm.suppressions._("global")

    added = everything.post(request_body={"recipient_emails": ["New@example.org"]})
    assert (added.status_code, read(added)) == (201, {"recipient_emails": ["New@example.org"]})
    assert ("new@example.org", "unsubscribed", "") in stored(site)
    one = everything._("new@example.org")
    assert read(one.get()) == {"recipient_email": "new@example.org"}
    assert one.delete().status_code == 204
    assert read(one.get()) == {}
    assert read(everything._("hard@example.org").get()) == {}


def test_an_unsubscribe_group_is_the_category_of_its_mail(site: Served, client: Any) -> None:
    group = client.asm.groups._("7").suppressions

    assert read(group.get()) == ["asm@example.org"]
    assert group.post(request_body={"recipient_emails": ["x@example.org"]}).status_code == 201
    assert ("x@example.org", "unsubscribed", "asm-7") in stored(site)
    assert read(group.get()) == ["x@example.org", "asm@example.org"]
    assert group._("x@example.org").delete().status_code == 204
    assert read(group.get()) == ["asm@example.org"]
    with pytest.raises(NotFoundError):
        client.asm.groups._("seven").suppressions.get()


def test_a_group_of_many_addresses_is_listed_completely(site: Served, client: Any) -> None:
    site.rows(
        "INSERT INTO mailqueue.suppressions (project_id, address, reason, category)"
        " SELECT id, 'p' || n || '@many.example', 'unsubscribed', 'asm-9'"
        " FROM mailqueue.projects, generate_series(1, 1201) AS n WHERE name = 'default' RETURNING 1"
    )

    found = read(client.asm.groups._("9").suppressions.get())

    assert len(found) == len(set(found)) == 1201


def test_a_key_sees_and_changes_its_project_alone(site: Served) -> None:
    other = SendGridAPIClient(site.keys.other, host=site.url).client

    assert emails(other.suppression.bounces.get()) == ["foreign@example.org"]
    with pytest.raises(NotFoundError):
        other.suppression.bounces._("hard@example.org").delete()
    assert ("hard@example.org", "hard_bounce", "") in stored(site)


def test_keys_without_the_scope_and_test_keys_change_nothing(site: Served) -> None:
    reads = SendGridAPIClient(site.keys.reads, host=site.url).client
    test = SendGridAPIClient(site.keys.test, host=site.url).client

    with pytest.raises(ForbiddenError):
        reads.suppression.bounces.get()
    assert "hard@example.org" in emails(test.suppression.bounces.get())
    with pytest.raises(ForbiddenError):
        test.suppression.bounces._("hard@example.org").delete()
    assert ("hard@example.org", "hard_bounce", "") in stored(site)


@pytest.mark.parametrize(
    ("query", "field"),
    [({"limit": 501}, "limit"), ({"offset": "x"}, "offset"), ({"order": "x"}, "order")],
)
def test_what_is_invalid_is_refused_by_name(client: Any, query: Any, field: str) -> None:
    with pytest.raises(BadRequestsError) as caught:
        client.suppression.bounces.get(query_params=query)

    assert caught.value.to_dict["errors"][0]["field"] == field


def test_what_is_not_there_is_refused_in_sendgrids_form(client: Any) -> None:
    with pytest.raises(NotFoundError) as caught:
        client.asm.unknown.get()

    assert set(caught.value.to_dict["errors"][0]) == {"message", "field", "help"}
