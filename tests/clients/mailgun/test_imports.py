"""The published `mailgun` library imports files of suppressed addresses, all lines or none."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
from mailgun.client import Client

from mailqueue.api.compat.mailgun.address_lists import LISTS
from mailqueue.api.compat.mailgun.faults import NamedParameter
from mailqueue.api.compat.mailgun.imports import addresses_in
from mailqueue.projects.model import Scope
from tests.clients.keys import key_with
from tests.clients.mailgun.mails import DOMAIN
from tests.clients.serving import Served
from tests.clients.suppressing import clear, stored

BOUNCES = b"""address,code,error,created_at
a@example.org,550,No such mailbox,"Fri, 21 Oct 2011 11:02:55 UTC"
B@Example.org,,,
"""


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    clear(site)
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


def reasons(site: Served) -> dict[str, str]:
    return {address: reason for address, reason, _ in stored(site)}


def test_bounces_are_imported_with_what_the_server_said(site: Served, client: Client) -> None:
    answer = client.bounces_import.create(domain=DOMAIN, files={"file": BOUNCES})
    shown = client.bounces.get(domain=DOMAIN, bounce_address="a@example.org").json()

    assert (answer.status_code, "successfully" in answer.json()["message"]) == (202, True)
    assert reasons(site) == {"a@example.org": "hard_bounce", "b@example.org": "hard_bounce"}
    assert (shown["code"], shown["error"]) == ("550", "550 No such mailbox")
    again = client.bounces_import.create(domain=DOMAIN, files={"file": BOUNCES})
    assert (again.status_code, len(reasons(site))) == (202, 2)


def test_complaints_and_unsubscribes_are_imported(site: Served, client: Client) -> None:
    complaints = client.complaints_import.create(
        domain=DOMAIN, files={"file": b"address\r\nc@example.org\r\n"}
    )
    unsubscribes = client.unsubscribes_import.create(
        domain=DOMAIN, files={"file": b'address,tags\nu@example.org,*\nv@example.org,"[""*""]"\n'}
    )

    assert (complaints.status_code, unsubscribes.status_code) == (202, 202)
    assert reasons(site) == {
        "c@example.org": "complaint",
        "u@example.org": "unsubscribed",
        "v@example.org": "unsubscribed",
    }


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"address\na@example.org\nnobody\n", "line 3"),
        (b"address\nnul\0@example.org\n", "'file' parameter"),
        (b"address,code\na@example.org,999\n", "line 2: code"),
        (b'address\n"a@example.org\n', "line 2"),
        (b"name\nAnn\n", "'file' parameter"),
        (b"address\n", "has no addresses"),
        (b"[" * 100_000, "'file' parameter"),
        (b"\xff\xfe\xfd", "'file' parameter"),
        (b"address\n" + b"a@example.org\n" * 100_001, "more than 100,000 lines"),
    ],
)
def test_a_file_with_an_invalid_line_adds_nothing_and_is_refused_by_it(
    site: Served, client: Client, content: bytes, why: str
) -> None:
    answer = client.bounces_import.create(domain=DOMAIN, files={"file": content})

    assert (answer.status_code, why in answer.json()["message"]) == (400, True), answer.text
    assert reasons(site) == {}


def test_a_person_does_not_unsubscribe_from_one_tag(site: Served, client: Client) -> None:
    content = b"address,tags\nu@example.org,*\nv@example.org,newsletter\n"
    answer = client.unsubscribes_import.create(domain=DOMAIN, files={"file": content})

    assert (answer.status_code, "line 3: tags" in answer.json()["message"]) == (400, True)
    assert reasons(site) == {}


@pytest.mark.parametrize("files", [{}, {"csv": BOUNCES}, {"file": BOUNCES, "other": b"x"}])
def test_a_form_without_the_file_is_refused(site: Served, client: Client, files: Any) -> None:
    assert client.bounces_import.create(domain=DOMAIN, files=files).status_code == 400
    assert reasons(site) == {}


def test_an_import_needs_the_permission_and_is_of_the_project(site: Served, client: Client) -> None:
    def code(key: str) -> int:
        return requests.post(
            f"{site.url}/v3/{DOMAIN}/bounces/import",
            files={"file": BOUNCES},
            auth=("api", key),
            timeout=60,
        ).status_code

    assert code(key_with(site, Scope.EMAIL_SEND)) == 403
    assert code(site.keys.test) == 403
    assert reasons(site) == {}
    assert code(site.keys.other) == 202
    assert client.bounces.get(domain=DOMAIN).json()["items"] == []


def test_a_header_of_many_columns_is_read_once() -> None:
    octets = b"address" + b",x" * 200_000 + b"\na@example.org" + b",1" * 200_000

    with pytest.raises(NamedParameter, match="the header has more than 1,000 columns"):
        addresses_in(LISTS[0], octets)
