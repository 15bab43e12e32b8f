"""The published `sendgrid` library makes ids of batches, pauses them and cancels their mail."""

import json
from typing import Any

import pytest
import requests
from python_http_client.exceptions import BadRequestsError, ForbiddenError, NotFoundError
from sendgrid import SendGridAPIClient

from mailqueue.projects.model import Scope
from tests.clients.sendgrid.mails import raw
from tests.clients.serving import Served

SENDS = "/v3/user/scheduled_sends"


@pytest.fixture(autouse=True)
def emptied(site: Served) -> None:
    site.rows("DELETE FROM mailqueue.bulk_operations RETURNING 1")
    site.rows("DELETE FROM mailqueue.pauses RETURNING 1")


def client_of(site: Served, key: str) -> Any:
    return SendGridAPIClient(key, host=site.url).client


@pytest.fixture
def client(site: Served) -> Any:
    return client_of(site, site.keys.live)


def read(response: Any) -> Any:
    return json.loads(response.body)


def put(client: Any, batch: str, status: str) -> Any:
    body = {"batch_id": batch, "status": status}
    return client.user.scheduled_sends.post(request_body=body)


def operations(site: Served) -> list[tuple[Any, ...]]:
    return site.rows("SELECT verb::text, filter FROM mailqueue.bulk_operations ORDER BY id")


def pauses(site: Served) -> list[str]:
    headers = {"X-API-Key": site.keys.live}
    url = f"{site.url}/v1/projects/default/pauses?kind=campaign"
    found = requests.get(url, headers=headers, timeout=30).json()["data"]
    return [one["name"] for one in found]


def test_an_id_is_made_checked_and_names_the_campaign_of_mail(site: Served, client: Any) -> None:
    made = client.mail.batch.post()
    batch = read(made)["batch_id"]
    client.mail.send.post(request_body=raw(batch_id=batch))

    assert made.status_code == 201
    assert read(client.mail.batch.post())["batch_id"] != batch
    assert read(client.mail.batch._(batch).get()) == {"batch_id": batch}
    assert site.rows("SELECT 1 FROM mailqueue.email_queue WHERE campaign_id = %s", batch) == [(1,)]
    with pytest.raises(BadRequestsError):
        client.mail.batch._("spring").get()


def test_a_batch_is_paused_shown_and_resumed(site: Served, client: Any) -> None:
    made = put(client, "spring", "pause")
    one = client.user.scheduled_sends._("spring")

    shown = {"batch_id": "spring", "status": "pause"}
    assert (made.status_code, read(made)) == (201, shown)
    assert read(client.user.scheduled_sends.get()) == read(one.get()) == [shown]
    assert pauses(site) == ["spring"]
    assert one.delete().status_code == 204
    assert pauses(site) == read(one.get()) == read(client.user.scheduled_sends.get()) == []
    with pytest.raises(NotFoundError):
        one.delete()


def test_a_batch_is_cancelled_by_an_operation_on_its_mail_alone(site: Served, client: Any) -> None:
    put(client, "spring", "cancel")
    one = client.user.scheduled_sends._("spring")

    assert operations(site) == [("cancel", {"campaign_id": "spring"})]
    assert read(one.get()) == [{"batch_id": "spring", "status": "cancel"}]
    assert pauses(site) == []
    with pytest.raises(BadRequestsError, match="Bad Request"):
        one.delete()


def test_a_status_is_given_once_and_then_changed(site: Served, client: Any) -> None:
    one = client.user.scheduled_sends._("spring")
    with pytest.raises(NotFoundError):
        one.patch(request_body={"status": "pause"})
    put(client, "spring", "pause")
    for status in ("pause", "cancel"):
        with pytest.raises(BadRequestsError) as caught:
            put(client, "spring", status)
        assert caught.value.to_dict["errors"][0]["field"] == "batch_id"
    assert operations(site) == []

    assert one.patch(request_body={"status": "cancel"}).status_code == 204
    assert one.patch(request_body={"status": "cancel"}).status_code == 204
    assert read(one.get()) == [{"batch_id": "spring", "status": "cancel"}]
    assert operations(site) == [("cancel", {"campaign_id": "spring"})]
    assert pauses(site) == ["spring"]  # its mail waits until it is cancelled
    one.patch(request_body={"status": "pause"})
    assert read(one.get()) == [{"batch_id": "spring", "status": "pause"}]


def test_a_batch_keeps_its_status_behind_a_hundred_newer_operations(
    site: Served, client: Any
) -> None:
    put(client, "spring", "cancel")
    site.rows(
        "INSERT INTO mailqueue.bulk_operations (project_id, verb, filter, reason, requested_by,"
        " is_test, status) SELECT o.project_id, 'cancel', jsonb_build_object('campaign_id', n),"
        " 'why', 'test', false, 'done' FROM mailqueue.bulk_operations AS o,"
        " generate_series(1, 100) AS n RETURNING 1"
    )
    one = client.user.scheduled_sends._("spring")

    assert read(one.get()) == [{"batch_id": "spring", "status": "cancel"}]
    assert len(read(client.user.scheduled_sends.get())) == 100
    with pytest.raises(BadRequestsError):
        put(client, "spring", "pause")
    assert one.patch(request_body={"status": "pause"}).status_code == 204


def test_a_batch_is_found_behind_a_thousand_other_pauses(site: Served, client: Any) -> None:
    put(client, "zulu", "pause")
    site.rows(
        "INSERT INTO mailqueue.pauses (project_id, kind, value, actor)"
        " SELECT p.project_id, p.kind, 'a' || n, p.actor"
        " FROM mailqueue.pauses AS p, generate_series(1, 1000) AS n RETURNING 1"
    )
    one = client.user.scheduled_sends._("zulu")

    assert read(one.get()) == [{"batch_id": "zulu", "status": "pause"}]
    assert one.delete().status_code == 204


def test_cancelling_again_cancels_mail_accepted_since(site: Served, client: Any) -> None:
    put(client, "spring", "cancel")
    one = client.user.scheduled_sends._("spring")
    one.patch(request_body={"status": "cancel"})
    assert len(operations(site)) == 1  # which has not ended
    site.rows(
        "UPDATE mailqueue.bulk_operations SET status = 'done', finished_at = now() RETURNING 1"
    )
    assert one.patch(request_body={"status": "cancel"}).status_code == 204

    assert operations(site) == [("cancel", {"campaign_id": "spring"})] * 2


def test_an_operation_with_more_conditions_cancels_no_batch(site: Served, client: Any) -> None:
    headers = {"X-API-Key": site.keys.live}
    some: Any = {"verb": "cancel", "filter": {"campaign_id": "spring", "tag": "a"}}
    answer = requests.post(f"{site.url}/v1/operations", json=some, headers=headers, timeout=30)

    assert answer.status_code == 201
    assert read(client.user.scheduled_sends.get()) == []


def test_cancelling_needs_the_scope_of_sending_and_pausing_that_of_the_project(
    site: Served,
) -> None:
    sends = client_of(site, site.key_with(Scope.EMAIL_SEND))
    reads = client_of(site, site.key_with(Scope.EMAIL_READ, Scope.PROJECT_WRITE))

    for word in ("pause", "cancel"):
        with pytest.raises(ForbiddenError):
            put(reads, "spring", word)
    with pytest.raises(ForbiddenError):
        put(sends, "spring", "pause")
    for call in (reads.user.scheduled_sends.get, sends.user.scheduled_sends.get):
        with pytest.raises(ForbiddenError):
            call()
    assert (operations(site), pauses(site)) == ([], [])
    put(sends, "spring", "cancel")
    with pytest.raises(ForbiddenError):
        sends.user.scheduled_sends._("spring").patch(request_body={"status": "pause"})
    assert pauses(site) == []


def test_a_key_sees_and_changes_the_batches_of_its_project_alone(site: Served, client: Any) -> None:
    put(client, "spring", "pause")
    put(client, "summer", "cancel")
    other = client_of(site, site.keys.other)

    assert read(other.user.scheduled_sends.get()) == []
    for batch in ("spring", "summer"):
        one = other.user.scheduled_sends._(batch)
        assert read(one.get()) == []
        for call in (one.delete, lambda one=one: one.patch(request_body={"status": "pause"})):
            with pytest.raises(NotFoundError):
                call()
    put(other, "spring", "cancel")
    assert read(client.user.scheduled_sends._("spring").get())[0]["status"] == "pause"


def test_a_test_key_cancels_test_mail_and_pauses_nothing(site: Served, client: Any) -> None:
    tests = client_of(site, site.keys.test)
    with pytest.raises(ForbiddenError):
        put(tests, "spring", "pause")
    put(tests, "spring", "cancel")

    assert site.rows("SELECT is_test FROM mailqueue.bulk_operations") == [(True,)]
    assert read(client.user.scheduled_sends.get()) == []


CANNOT: list[tuple[Any, str]] = [
    ({"status": "pause"}, "batch_id"),
    ({"batch_id": "spring"}, "status"),
    ({"batch_id": "", "status": "pause"}, "batch_id"),
    ({"batch_id": 7, "status": "pause"}, "batch_id"),
    ({"batch_id": "x" * 201, "status": "pause"}, "batch_id"),
    ({"batch_id": "a\0b", "status": "cancel"}, "batch_id"),
    ({"batch_id": "spring", "status": "stop"}, "status"),
    ({"batch_id": "spring", "status": None}, "status"),
    ({"batch_id": "spring", "status": "pause", "until": 1}, "until"),
]


@pytest.mark.parametrize(("body", "named"), CANNOT)
def test_what_is_invalid_is_named_and_stops_nothing(site: Served, body: Any, named: str) -> None:
    headers = {"Authorization": f"Bearer {site.keys.live}"}
    answer = requests.post(f"{site.url}{SENDS}", json=body, headers=headers, timeout=30)

    assert answer.status_code == 400, answer.text
    assert answer.json()["errors"][0]["field"] == named
    assert (operations(site), pauses(site)) == ([], [])
