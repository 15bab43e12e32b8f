"""The published Python library of Resend creates, lists, renames and revokes API keys."""

from typing import Any
from uuid import uuid4

import pytest
import requests
import resend
from resend.exceptions import ResendError

from mailqueue.projects.model import EVERY_SCOPE, Scope
from tests.clients.resend.mails import HELLO
from tests.clients.serving import Served

pytestmark = pytest.mark.usefixtures("resend_here")
WRITES = (Scope.PROJECT_READ, Scope.PROJECT_WRITE)


def added(**fields: Any) -> Any:
    given: Any = {"name": f"Shop {uuid4()}", **fields}
    return resend.ApiKeys.create(given)


def listed() -> dict[str, Any]:
    found: Any = resend.ApiKeys.list({"limit": 100})
    return {one["id"]: one for one in found["data"]}


def asked(key: str, method: str, path: str, body: Any = None) -> requests.Response:
    headers = {"Authorization": f"Bearer {key}"}
    return requests.request(method, resend.api_url + path, headers=headers, json=body, timeout=60)


def test_a_key_that_may_only_send_sends_and_does_nothing_else(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = added(permission="sending_access")
    stored = site.rows("SELECT scopes, is_test FROM mailqueue.api_keys WHERE id = %s", made["id"])
    monkeypatch.setattr(resend, "api_key", made["token"])

    assert stored == [(["email:send"], False)]
    assert resend.Emails.send(HELLO)["id"]
    for forbidden in (resend.Emails.list, resend.ApiKeys.list, lambda: added()):
        with pytest.raises(ResendError, match="lacks scope") as caught:
            forbidden()
        assert caught.value.code == 401


def test_a_key_with_full_access_has_every_scope(site: Served) -> None:
    made = added(permission="full_access")
    ((scopes,),) = site.rows("SELECT scopes FROM mailqueue.api_keys WHERE id = %s", made["id"])

    assert set(scopes) == EVERY_SCOPE


@pytest.mark.parametrize("permission", ["full_access", "sending_access"])
def test_a_key_gives_no_more_than_it_has(site: Served, permission: str) -> None:
    before = listed()
    body = {"name": "More", "permission": permission}
    answer = asked(site.key_with(*WRITES), "POST", "/api-keys", body)

    assert (answer.status_code, answer.json()["name"]) == (401, "restricted_api_key")
    assert "More" not in {one["name"] for key, one in listed().items() if key not in before}


def test_a_test_key_creates_test_keys_and_sees_no_others(site: Served) -> None:
    live = added()
    made = asked(site.keys.test, "POST", "/api-keys", {"name": "Trial"}).json()
    shown = asked(site.keys.test, "GET", "/api-keys?limit=100").json()["data"]
    revoked = asked(site.keys.test, "DELETE", f"/api-keys/{live['id']}")

    assert site.rows("SELECT is_test FROM mailqueue.api_keys WHERE id = %s", made["id"]) == [
        (True,)
    ]
    assert made["id"] in {one["id"] for one in shown}
    assert live["id"] not in {one["id"] for one in shown}
    assert revoked.status_code == 404
    assert live["id"] in listed()


def test_the_key_itself_is_in_no_other_answer_and_not_stored(site: Served) -> None:
    made = added()
    shown = asked(site.keys.live, "GET", "/api-keys?limit=100").text
    ((row,),) = site.rows(
        "SELECT to_jsonb(k)::text FROM mailqueue.api_keys AS k WHERE id = %s", made["id"]
    )

    assert made["token"] not in shown
    assert made["token"] not in row


def test_a_renamed_key_has_its_new_name_alone() -> None:
    made = added()
    name = f"Shop {uuid4()}"
    changed: Any = resend.ApiKeys.update({"id": made["id"], "name": name})

    assert (changed["object"], changed["id"]) == ("api_key", made["id"])
    assert listed()[made["id"]]["name"] == name


def test_a_removed_key_is_refused_and_no_longer_shown(site: Served) -> None:
    made = added()
    assert asked(made["token"], "GET", "/api-keys").status_code == 200
    assert listed()[made["id"]]["last_used_at"] is not None
    gone: Any = resend.ApiKeys.remove(made["id"])

    assert (gone["object"], gone["id"], gone["deleted"]) == ("api_key", made["id"], True)
    assert made["id"] not in listed()
    assert asked(made["token"], "GET", "/api-keys").json()["name"] == "invalid_api_key"
    for again in (
        resend.ApiKeys.remove,
        lambda id_: resend.ApiKeys.update({"id": id_, "name": "x"}),
    ):
        with pytest.raises(ResendError, match="Key not found"):
            again(made["id"])
    actions = site.rows(
        "SELECT action FROM mailqueue.audit_events WHERE detail ->> 'id' = %s ORDER BY id",
        made["id"],
    )
    assert actions == [("api_key.created",), ("api_key.revoked",)]


def test_pages_have_each_key_once_newest_first() -> None:
    ids = [added()["id"] for _ in range(3)]
    first: Any = resend.ApiKeys.list({"limit": 2})
    second: Any = resend.ApiKeys.list({"limit": 2, "after": first["data"][-1]["id"]})
    back: Any = resend.ApiKeys.list({"limit": 2, "before": second["data"][0]["id"]})

    shown = [one["id"] for page in (first, second) for one in page["data"]]
    assert shown[:3] == ids[::-1]
    assert first["has_more"]
    assert back["data"] == first["data"]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"name": "Shop", "permission": "root"}, "permission"),
        ({"name": "Shop", "domain_id": str(uuid4())}, "domain_id"),
        ({"name": "Shop", "scopes": ["email:send"]}, "scopes"),
    ],
)
def test_what_is_invalid_is_named_and_creates_nothing(given: Any, named: str) -> None:
    before = listed()
    with pytest.raises(ResendError, match=named):
        resend.ApiKeys.create(given)
    assert listed() == before


def test_a_name_is_one_keys_until_that_is_removed() -> None:
    made = added(name="Only one")
    with pytest.raises(ResendError, match="already exists"):
        added(name="Only one")
    resend.ApiKeys.remove(made["id"])

    assert added(name="Only one")["id"] != made["id"]


def test_a_key_of_another_project_is_not_found(site: Served) -> None:
    made = added()
    for method, body in (("PATCH", {"name": "Mine"}), ("DELETE", None)):
        answer = asked(site.keys.other, method, f"/api-keys/{made['id']}", body)
        assert (answer.status_code, answer.json()["message"]) == (404, "Key not found")
    shown = asked(site.keys.other, "GET", "/api-keys").json()["data"]

    assert made["id"] not in {one["id"] for one in shown}
    assert made["id"] in listed()
