"""The published library postmarker adds, lists, verifies, rotates and removes domains."""

from typing import Any
from uuid import UUID

import pytest
import requests
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError

from mailqueue.projects.model import Scope
from tests.clients.keys import key_with
from tests.clients.serving import Served


@pytest.fixture
def postmark(site: Served) -> PostmarkClient:
    """Return the library's client with an account token."""
    return PostmarkClient(
        server_token=site.keys.live, account_token=site.keys.live, root_api_url=site.url
    )


@pytest.fixture(autouse=True)
def without_domains(postmark: PostmarkClient) -> None:
    for one in postmark.domains.all():
        one.delete()


def added(postmark: PostmarkClient, name: str = "shop.example.com") -> Any:
    return postmark.domains.create(name)


def code_of(caught: pytest.ExceptionInfo[ClientError]) -> int:
    return int(caught.value.error_code)


def activate(site: Served) -> None:
    site.rows(
        "UPDATE mailqueue.dkim_keys SET status = 'active', active_at = now()"
        " WHERE status = 'pending' RETURNING 1"
    )


def states(site: Served, domain: str) -> list[str]:
    query = "SELECT status::text FROM mailqueue.dkim_keys WHERE domain = %s ORDER BY created_at"
    return [row[0] for row in site.rows(query, domain)]


def test_a_domain_is_added_with_the_record_to_publish(
    site: Served, postmark: PostmarkClient
) -> None:
    made = added(postmark, "Shop.Example.COM")
    shown = postmark.domains.get(made.ID).as_dict()

    assert shown == made.as_dict()
    assert (made.Name, made.DKIMVerified, made.DKIMUpdateStatus) == (
        "shop.example.com",
        False,
        "Pending",
    )
    assert made.DKIMPendingHost.endswith("._domainkey.shop.example.com")
    assert made.DKIMPendingTextValue.startswith("v=DKIM1;")
    assert (made.DKIMHost, made.DKIMTextValue, made.DKIMRevokedHost) == ("", "", "")
    assert states(site, "shop.example.com")[-1:] == ["pending"]


def test_a_domain_whose_key_signs_is_verified(site: Served, postmark: PostmarkClient) -> None:
    made = added(postmark)
    activate(site)
    shown = postmark.domains.get(made.ID)

    assert (shown.DKIMVerified, shown.DKIMUpdateStatus) == (True, "Verified")
    assert (shown.DKIMHost, shown.DKIMTextValue) == (
        made.DKIMPendingHost,
        made.DKIMPendingTextValue,
    )
    assert shown.DKIMPendingHost == ""
    (listed,) = postmark.domains.all()
    assert (listed.ID, listed.Name, listed.DKIMVerified) == (made.ID, made.Name, True)


def test_a_domain_keeps_its_number_while_its_key_is_renewed(
    site: Served, postmark: PostmarkClient
) -> None:
    made = added(postmark)
    activate(site)

    rotated = made.rotatedkim()
    assert rotated["ID"] == made.ID
    assert (rotated["DKIMHost"], rotated["DKIMUpdateStatus"]) == (made.DKIMPendingHost, "Pending")
    assert rotated["DKIMPendingHost"] not in ("", rotated["DKIMHost"])
    with pytest.raises(ClientError) as caught:
        made.rotatedkim()
    assert code_of(caught) == 505
    assert states(site, made.Name)[-2:] == ["active", "pending"]


def test_pages_have_each_domain_once_and_the_number_of_all(
    site: Served, postmark: PostmarkClient
) -> None:
    for number in range(3):
        added(postmark, f"d{number}.example.com")

    pages = [
        requests.get(
            f"{site.url}/domains?count=2&offset={offset}",
            headers={"X-Postmark-Account-Token": site.keys.live},
            timeout=60,
        ).json()
        for offset in (0, 2)
    ]
    assert [page["TotalCount"] for page in pages] == [3, 3]
    assert [[one["Name"] for one in page["Domains"]] for page in pages] == [
        ["d0.example.com", "d1.example.com"],
        ["d2.example.com"],
    ]


def test_a_domain_whose_records_are_not_in_dns_stays_unverified(postmark: PostmarkClient) -> None:
    made = added(postmark, "no.example.com")

    assert made.verifydkim()["DKIMVerified"] is False
    assert made.verifyreturnpath()["ReturnPathDomainVerified"] is False
    spf = made.verifyspf()
    assert (spf["SPFHost"], spf["SPFVerified"]) == ("no.example.com", False)


def test_a_removed_domain_has_no_key_left_and_can_be_added_again(
    site: Served, postmark: PostmarkClient
) -> None:
    made = added(postmark, "gone.example.com")

    assert made.delete() == "Domain gone.example.com removed."
    assert set(states(site, "gone.example.com")) == {"revoked"}
    assert postmark.domains.all() == []
    with pytest.raises(ClientError) as caught:
        postmark.domains.get(made.ID)
    assert code_of(caught) == 510
    assert added(postmark, "gone.example.com").Name == "gone.example.com"


@pytest.mark.parametrize(
    ("given", "code", "named"),
    [
        ({"Name": "not a domain"}, 516, "'Name'"),
        ({"Name": ""}, 403, "'Name'"),
        ({}, 300, "'Name'"),
        ({"Name": 7}, 403, "'Name'"),
        ({"Name": "a.example.com", "ReturnPathDomain": "pm.a.example.com"}, 300, "'ReturnPath"),
        ({"Name": "a.example.com", "Color": "blue"}, 403, "'Color'"),
    ],
)
def test_what_is_invalid_is_named_and_adds_nothing(
    postmark: PostmarkClient, given: Any, code: int, named: str
) -> None:
    with pytest.raises(ClientError, match=named) as caught:
        postmark.call("POST", "/domains", token_type="account", data=given)

    assert code_of(caught) == code
    assert postmark.domains.all() == []


def test_a_domain_is_added_once(postmark: PostmarkClient) -> None:
    made = added(postmark)
    with pytest.raises(ClientError) as caught:
        added(postmark, "SHOP.example.com")

    assert code_of(caught) == 512
    assert [one.ID for one in postmark.domains.all()] == [made.ID]


def test_only_a_return_path_that_is_empty_is_confirmed(postmark: PostmarkClient) -> None:
    made = added(postmark)

    assert postmark.domains.edit(made.ID, "")["ReturnPathDomain"] == ""
    with pytest.raises(ClientError, match="'ReturnPathDomain'"):
        postmark.domains.edit(made.ID, "pm.shop.example.com")


@pytest.mark.parametrize(
    ("method", "end"),
    [
        *(("GET", ""), ("PUT", ""), ("DELETE", ""), ("PUT", "/verifyDkim")),
        *(("POST", "/verifyspf"), ("POST", "/rotatedkim"), ("PUT", "/verifyReturnPath")),
    ],
)
def test_a_domain_of_another_project_is_not_found(
    site: Served, postmark: PostmarkClient, method: str, end: str
) -> None:
    made = added(postmark)
    answer = requests.request(
        method,
        f"{site.url}/domains/{made.ID}{end}",
        json={} if method != "GET" else None,
        headers={"X-Postmark-Account-Token": site.keys.other},
        timeout=60,
    )

    assert (answer.status_code, answer.json()["ErrorCode"]) == (422, 510)
    assert [one.ID for one in postmark.domains.all()] == [made.ID]


def test_the_scope_of_a_key_decides_with_either_token(site: Served) -> None:
    key = key_with(site, Scope.PROJECT_READ)
    for header in ("X-Postmark-Account-Token", "X-Postmark-Server-Token"):
        listed = requests.get(f"{site.url}/domains", headers={header: key}, timeout=60)
        refused = requests.post(
            f"{site.url}/domains", json={"Name": "a.example.com"}, headers={header: key}, timeout=60
        )
        assert (listed.status_code, listed.json()["TotalCount"]) == (200, 0)
        assert (refused.status_code, refused.json()["ErrorCode"]) == (422, 405)
        assert "project:write" in refused.json()["Message"]


def test_the_same_path_is_resends_by_its_credential(site: Served, postmark: PostmarkClient) -> None:
    added(postmark)
    answer = requests.get(
        f"{site.url}/domains", headers={"Authorization": f"Bearer {site.keys.live}"}, timeout=60
    )

    (listed,) = answer.json()["data"]
    assert (UUID(listed["id"]).version, listed["name"]) == (4, "shop.example.com")
