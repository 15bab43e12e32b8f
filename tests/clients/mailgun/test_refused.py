"""Invalid and unsupported requests to Mailgun's API get Mailgun's errors."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from uuid import uuid4

import pytest
import requests
from mailgun.client import Client

from tests.clients.mailgun.mails import DOMAIN, HI, email_of, mails
from tests.clients.serving import Served


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"from": None}, "from parameter is missing"),
        ({"to": None}, "to parameter is missing"),
        ({"to": ""}, "to parameter is missing"),
        (
            {"from": "wrongFrom"},
            "'from' parameter is not a valid address. please check documentation",
        ),
        ({"to": "wrongTo"}, "'to' parameter is not a valid address. please check documentation"),
        (
            {"cc": "a@example.com, b"},
            "'cc' parameter is not a valid address. please check documentation",
        ),
        (
            {"text": None},
            "Need at least one of 'text', 'html', 'amp-html' or 'template' parameters specified",
        ),
        ({"recipient-variables": "no"}, "'recipient-variables' parameter is not a valid JSON"),
        ({"recipient-variables": "[]"}, "'recipient-variables' parameter is not a valid JSON"),
        (
            {"recipient-variables": '{"a@example.com": {"a": [' + "[]," * 150_000 + "[]]}}"},
            "'recipient-variables' parameter is not a valid JSON",
        ),
        ({"to": "a@example.com," * 150_000}, "'to' parameter: has more than 2000000 characters"),
        (
            {"to": [f"p{n}@example.com" for n in range(1001)]},
            "'to' parameter: at most 1000 recipients",
        ),
        (
            {"bcc": [f"p{n}@example.com" for n in range(50)], "recipient-variables": "{}"},
            "'bcc' parameter: with recipient-variables at most 49 in cc and bcc, got 50",
        ),
        ({"subject": None}, "'subject' parameter: a subject is needed"),
        ({"subject": "a\nb"}, "'subject' parameter: "),
        ({"amp-html": "<html amp4email>"}, "'amp-html' parameter: is not supported"),
        ({"colour": "red"}, "'colour' parameter: is not supported"),
        ({"o:colour": "red"}, "'o:colour' parameter: is not supported"),
        ({"o:dkim": "no"}, "'o:dkim' parameter: is not supported"),
        ({"o:require-tls": "yes"}, "'o:require-tls' parameter: is not supported"),
        ({"o:tracking": "maybe"}, "'o:tracking' parameter: must be yes or no"),
        ({"o:deliverytime": "soon"}, "'o:deliverytime' parameter: a date as in RFC 2822"),
        ({"o:deliverytime": "Fri, 14 Oct 9999999 23:10:10 +0000"}, "'o:deliverytime' parameter: "),
        (
            {"o:deliverytime": format_datetime(datetime.now(UTC) + timedelta(days=4))},
            "'o:deliverytime' parameter: at most 3 days",
        ),
        ({"o:tag": [str(n) for n in range(11)]}, "'o:tag' parameter: at most 10"),
        ({"o:sending-ip-pool": "gone"}, "'o:sending-ip-pool' parameter: this project has no"),
        ({"h:To": "x@example.com"}, "'h:' parameter: To is set by mailqueue"),
        ({"h:X": ["a", "b"]}, "'h:X' parameter: may be given once"),
        ({"v:x": "x" * 17_000}, "'o:' parameter: with h:, v: and t: may have 16384 bytes"),
        ({"text": None, "template": "gone"}, "'template' parameter: there is no template"),
        ({"template": "gone"}, "'text' parameter: cannot be given together with template"),
        ({"t:variables": "{}"}, "'t:variables' parameter: without template"),
        ({"text": "%mailing_list_unsubscribe_url%"}, "'text' parameter: %mailing_list"),
        ({"attachment": "words"}, "'attachment' parameter: must be a file"),
        ({"text": "\0"}, "'text' parameter: a NUL character"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_refused_is_named_as_mailgun_names_it(
    client: Client, change: dict[str, Any], message: str
) -> None:
    data = {name: text for name, text in (HI | change).items() if text is not None}

    response = client.messages.create(data=data, domain=DOMAIN)

    assert (response.status_code, list(response.json())) == (400, ["message"])
    assert response.json()["message"].startswith(message)


def test_files_are_refused_by_the_rules_of_the_project(client: Client) -> None:
    def sent(field: str, *file: Any) -> str:
        response = client.messages.create(data=HI, files=[(field, file)], domain=DOMAIN)
        assert response.status_code == 400
        message: str = response.json()["message"]
        return message

    assert sent("attachment", "a.exe", b"MZ").startswith("'attachment' parameter: application/x-")
    assert sent("attachment", "a.pdf", b"no pdf").startswith("'attachment' parameter: declared as")
    assert sent("text", "a.txt", b"text").startswith("'text' parameter: must be text")
    assert sent("colour", "a.txt", b"text").startswith("'colour' parameter: is not supported")


def test_keys_and_domains_are_refused_as_mailgun_does(site: Served, client: Client) -> None:
    def answered(key: str, domain: str = DOMAIN) -> Any:
        with Client(auth=("api", key), api_url=site.url) as other:
            return other.messages.create(data=HI, domain=domain)

    allowed = "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING id"
    site.rows(allowed, ["shop@example.com", "*.example.net"])
    try:
        known = [
            answered(site.keys.live, one).status_code for one in ("example.com", "a.example.net")
        ]
        missing = answered(site.keys.live, "example.net")
        listed = client.domains.get(filters={"limit": 1}).json()
        foreign = client.messages.create(data=HI | {"from": "x@example.com"}, domain=DOMAIN)
    finally:
        site.rows(allowed, None)
    unknown = answered("key-123")
    with Client(auth=("api", "key-123"), api_url=site.url) as stranger:
        assert (client.ping(), stranger.ping()) == (True, False)
    assert (listed["total_count"], listed["items"][0]["name"]) == (1, "example.com")

    assert (unknown.status_code, unknown.text) == (401, "Forbidden")
    assert (answered(site.keys.reads).status_code, known) == (403, [200, 200])
    assert (missing.status_code, missing.json()) == (
        404,
        {"message": "Domain not found: example.net"},
    )
    assert (foreign.status_code, "'from' parameter" in foreign.text) == (400, True)
    assert answered(site.keys.live, "no domain").status_code == 404


def test_a_library_that_asks_for_more_hears_that_there_is_no_such_thing(client: Client) -> None:
    response = client.routes.get(domain=DOMAIN)

    assert (response.status_code, list(response.json())) == (404, ["message"])


def test_a_body_too_large_is_told(site: Served) -> None:
    response = requests.post(
        f"{site.url}/v3/{DOMAIN}/messages",
        auth=("api", site.keys.live),
        data=HI,
        files=[("attachment", ("a.pdf", b"x" * (27 * 1024 * 1024)))],
        timeout=120,
    )

    assert (response.status_code, list(response.json())) == (413, ["message"])


def test_what_is_no_form_is_refused(site: Served) -> None:
    def posted(**more: Any) -> requests.Response:
        url = f"{site.url}/v3/{DOMAIN}/messages"
        return requests.post(url, auth=("api", site.keys.live), timeout=60, **more)

    multipart = {"Content-Type": "multipart/form-data; boundary=x"}
    assert posted(json=HI).status_code == 400
    assert posted().json() == {"message": "from parameter is missing"}
    assert posted(data=b"--x\r\n\r\n", headers=multipart).status_code == 400
    assert posted(data=b"--x", headers={"Content-Type": "multipart/form-data"}).status_code == 400


def test_an_idempotency_key_makes_it_happen_once(site: Served, client: Client) -> None:
    tag = uuid4().hex
    data = HI | {"to": f"ann-{tag}@example.com"}
    headers = {"Idempotency-Key": tag}

    first, again = (
        client.messages.create(data=data, domain=DOMAIN, headers=headers) for _ in range(2)
    )
    other = client.messages.create(data=data | {"text": "x"}, domain=DOMAIN, headers=headers)

    assert first.json() == again.json()
    assert len(mails(site, f"ann-{tag}@example.com")) == 1
    assert (other.status_code, "Idempotency-Key" in other.text) == (400, True)


@pytest.mark.parametrize(
    ("sender", "name", "address"),
    [
        ("Shop, Inc. <shop@example.com>", "Shop, Inc.", "shop@example.com"),
        ('"Shop, Inc." <shop@example.com>', "Shop, Inc.", "shop@example.com"),
        ("=?utf-8?q?Caf=C3=A9?= <shop@example.com>", "Café", "shop@example.com"),
        ("shop@bücher.example", None, "shop@xn--bcher-kva.example"),
    ],
)
def test_a_sender_is_read_as_mailgun_reads_it(
    site: Served, client: Client, sender: str, name: str | None, address: str
) -> None:
    mail = email_of(site, client.messages.create(data=HI | {"from": sender}, domain=DOMAIN))

    assert (mail["from_name"], mail["from_email"]) == (name, address)


def test_two_senders_are_refused(client: Client) -> None:
    for senders in (["a@example.com", "b@example.com"], "a@example.com, b@example.com"):
        response = client.messages.create(data=HI | {"from": senders}, domain=DOMAIN)

        assert "'from' parameter is not a valid address" in response.json()["message"]
