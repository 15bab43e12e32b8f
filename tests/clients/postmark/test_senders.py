"""The published library postmarker manages sender signatures, within what the project allows."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError

from mailqueue.projects.model import Scope
from tests.clients.keys import key_with
from tests.clients.postmark.mails import HELLO, post
from tests.clients.serving import Served

ALLOWED = "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING 1"


@pytest.fixture
def postmark(site: Served) -> Iterator[PostmarkClient]:
    """Return the library's client with an account token, of a project without signatures."""
    site.rows("DELETE FROM mailqueue.project_rules RETURNING 1")
    yield PostmarkClient(
        server_token=site.keys.live, account_token=site.keys.live, root_api_url=site.url
    )
    site.rows(ALLOWED, None)
    site.rows("DELETE FROM mailqueue.project_rules RETURNING 1")


def refused(work: Any, *given: Any, **named: Any) -> tuple[int, str]:
    with pytest.raises(ClientError) as caught:
        work(*given, **named)
    return int(caught.value.error_code), str(caught.value)


def sent(site: Served, **fields: Any) -> dict[str, Any]:
    answer = post(site, "/email", {**HELLO, **fields}).json()
    assert answer["ErrorCode"] == 0, answer
    return site.email(answer["MessageID"])


def test_a_signature_gives_mail_of_its_address_a_name_and_a_reply_address(
    site: Served, postmark: PostmarkClient
) -> None:
    made = postmark.senders.create("Shop@Example.com", "The shop", ReplyToEmail="help@example.com")
    assert (made.EmailAddress, made.Name, made.Confirmed) == ("shop@example.com", "The shop", True)
    assert (made.Domain, made.ReplyToEmailAddress) == ("example.com", "help@example.com")
    assert postmark.senders.get(made.ID).as_dict() == made.as_dict()

    mail = sent(site, From="shop@example.com")
    assert (mail["from_name"], mail["reply_to"]) == ("The shop", "help@example.com")
    own = sent(site, From="Ann <shop@example.com>", ReplyTo="ann@example.com")
    assert (own["from_name"], own["reply_to"]) == ("Ann", "ann@example.com")
    other = sent(site, From="sender@example.com")
    assert (other["from_name"], other["reply_to"]) == (None, None)

    made.edit(Name="Shop & Co")
    assert (made.ID, made.Name, made.ReplyToEmailAddress) == (made.ID, "Shop & Co", "")
    batch = post(site, "/email/batch", [{**HELLO, "From": "shop@example.com"}, {"From": "x"}])
    first, second = batch.json()
    assert (first["ErrorCode"], second["ErrorCode"]) == (0, 300)
    mail = site.email(first["MessageID"])
    assert (mail["from_name"], mail["reply_to"]) == ("Shop & Co", None)

    assert made.delete() == "Signature shop@example.com removed."
    assert postmark.senders.all() == []
    assert sent(site, From="shop@example.com")["from_name"] is None


def test_administrators_decide_which_addresses_have_signatures(
    site: Served, postmark: PostmarkClient
) -> None:
    create = postmark.senders.create
    site.rows(ALLOWED, ["shop@example.com", "example.org", "*.example.net"])

    for address in ("a@example.org", "b@mail.example.net"):
        assert create(address, "A").Confirmed
    for address in ("a@example.com", "a@example.net", "a@sub.example.org"):
        assert refused(create, address, "A")[0] == 400
    assert refused(create, "A@example.org", "A")[0] == 504
    assert refused(create, "shop@example.com", "A")[0] == 504
    shop = postmark.senders.all()[-1]
    assert (shop.EmailAddress, shop.Name) == ("shop@example.com", "")
    assert refused(shop.delete)[0] == 405
    shop.edit(Name="The shop")
    assert sent(site, From="shop@example.com")["from_name"] == "The shop"

    site.rows(ALLOWED, ["example.org"])
    stands = {one.EmailAddress: one.Confirmed for one in postmark.senders.all()}
    assert stands == {"a@example.org": True, "b@mail.example.net": False, "shop@example.com": False}
    answer = post(site, "/email", {**HELLO, "From": "shop@example.com"})
    assert answer.json()["ErrorCode"] == 400


def test_a_signature_has_the_records_of_its_domain(site: Served, postmark: PostmarkClient) -> None:
    for one in postmark.domains.all():
        one.delete()
    made = postmark.senders.create("shop@shop.example.com", "The shop")
    assert "DKIMHost" not in made.as_dict()

    with pytest.warns(DeprecationWarning, match="deprecated"):
        keyed = made.requestnewdkim()
    assert (keyed["ID"], keyed["DKIMUpdateStatus"]) == (made.ID, "Pending")
    assert keyed["DKIMPendingHost"].endswith("._domainkey.shop.example.com")
    assert [one.Name for one in postmark.domains.all()] == ["shop.example.com"]
    with pytest.warns(DeprecationWarning, match="deprecated"):
        assert refused(made.requestnewdkim)[0] == 505
    site.rows("UPDATE mailqueue.dkim_keys SET status = 'active', active_at = now() RETURNING 1")
    assert postmark.senders.get(made.ID).DKIMVerified is True
    spf = made.verifyspf()
    assert (spf["SPFHost"], spf["SPFVerified"]) == ("shop.example.com", False)
    postmark.domains.all()[0].delete()


def test_what_is_invalid_is_named_and_adds_nothing(site: Served, postmark: PostmarkClient) -> None:
    good = {"FromEmail": "a@example.com", "Name": "A"}
    for given, code, named in (
        ({"FromEmail": "nobody"}, 300, "'FromEmail'"),
        ({"Name": ""}, 403, "'Name'"),
        ({"Name": None}, 403, "'Name'"),
        ({"Name": "A\x01"}, 300, "'Name'"),
        ({"ReplyToEmail": "nobody"}, 300, "'ReplyToEmail'"),
        ({"ReturnPathDomain": "pm.example.com"}, 300, "'ReturnPathDomain'"),
        ({"Color": "blue"}, 403, "'Color'"),
    ):
        found, why = refused(
            postmark.call, "POST", "/senders", token_type="account", data=good | given
        )
        assert (found, why.count(named)) == (code, 1), why
    assert postmark.senders.all() == []
    reads = key_with(site, Scope.PROJECT_READ)
    answer = post(site, "/senders", good, token=reads)
    assert (answer.status_code, answer.json()["ErrorCode"]) == (422, 405)


def test_a_signature_of_another_project_is_not_found(
    site: Served, postmark: PostmarkClient
) -> None:
    made = postmark.senders.create("a@example.com", "A")
    head = {"X-Postmark-Account-Token": site.keys.other}
    for method, end in (
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("POST", "/verifyspf"),
        ("POST", "/requestnewdkim"),
    ):
        answer = requests.request(
            method,
            f"{site.url}/senders/{made.ID}{end}",
            json=None if method == "GET" else {"Name": "B"},
            headers=head,
            timeout=60,
        )
        assert (answer.status_code, answer.json()["ErrorCode"]) == (422, 501), (method, end)
    (listed,) = postmark.senders.all()
    assert listed.Name == "A"
    assert made.get().Name == "A"
    audit = site.rows(
        "SELECT action FROM mailqueue.audit_events WHERE action LIKE 'sender_signature.%%'"
        " ORDER BY id DESC LIMIT 1"
    )
    assert audit == [("sender_signature.added",)]


def test_the_addresses_that_the_project_sends_from_are_its_signatures(
    site: Served, postmark: PostmarkClient
) -> None:
    allowed = "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING 1"
    site.rows(allowed, ["Shop@Example.com", "example.org", "*.example.net", "a@example.com"])
    try:
        found = postmark.senders.all()
        assert [one.EmailAddress for one in found] == ["a@example.com", "shop@example.com"]
        assert (found[1].Domain, found[1].Confirmed) == ("example.com", True)
        assert found[1].get().EmailAddress == "shop@example.com"
        head = {"X-Postmark-Account-Token": site.keys.other}
        for number in (found[1].ID, 0):
            answer = requests.get(f"{site.url}/senders/{number}", headers=head, timeout=60)
            assert (answer.status_code, answer.json()["ErrorCode"]) == (422, 501)
        page = requests.get(
            f"{site.url}/senders?count=1&offset=1",
            headers={"X-Postmark-Account-Token": site.keys.live},
            timeout=60,
        ).json()
        assert page["TotalCount"] == 2
        assert [one["ID"] for one in page["SenderSignatures"]] == [found[1].ID]
    finally:
        site.rows(allowed, None)
