"""Clients of Postmark get Postmark's error codes and messages for refused mail."""

from typing import Any

import pytest
import requests
from postmarker.core import PostmarkClient

from tests.clients.postmark.mails import HELLO, code_of, post
from tests.clients.serving import Served


def test_a_batch_has_500_messages_at_most(site: Served) -> None:
    answer = post(site, "/email/batch", [HELLO] * 501)

    assert (answer.status_code, answer.json()["ErrorCode"]) == (422, 410)


def test_tokens_that_are_none_are_refused(site: Served) -> None:
    unknown = PostmarkClient(server_token="c0ffee", root_api_url=site.url)
    assert code_of(unknown)[0] == 10
    reads = PostmarkClient(server_token=site.keys.reads, root_api_url=site.url)
    assert code_of(reads)[0] == 405
    answer = requests.post(f"{site.url}/email", json=HELLO, timeout=60)
    assert (answer.status_code, answer.json()["ErrorCode"]) == (401, 10)


@pytest.mark.usefixtures("no_request_waits")
def test_too_many_requests_are_told_when_to_come_again(site: Served) -> None:
    for _ in range(200):
        answer = post(site, "/email", HELLO, token=site.keys.slow)
        if answer.status_code != 200:
            break

    assert (answer.status_code, answer.json()["ErrorCode"]) == (429, 429)
    assert int(answer.headers["retry-after"]) >= 1


CANNOT: list[tuple[dict[str, Any], int, str]] = [
    ({"From": "nobody"}, 300, "Invalid 'From' address: 'nobody'."),
    ({"To": ""}, 300, "'To'"),
    ({"To": "a@b"}, 300, "Error parsing 'To': Illegal email domain 'b' in address 'a@b'."),
    ({"Cc": "x"}, 300, "Invalid 'Cc' address: 'x'."),
    ({"To": ",".join(f"{n}@example.org" for n in range(51))}, 300, "50 recipients"),
    ({"ReplyTo": "a@example.com, b"}, 300, "Invalid 'ReplyTo' address: 'b'."),
    ({"Subject": ""}, 300, "Subject"),
    ({"Subject": "a\nBcc: b@example.org"}, 300, "Subject"),
    ({"Tag": "t" * 129}, 300, "Tag"),
    ({"Metadata": {str(n): "x" for n in range(11)}}, 300, "Invalid metadata content."),
    ({"Metadata": {"a": ["b"]}}, 403, "Metadata.a"),
    ({"From": "webmaster@localhost"}, 300, "Invalid 'From' address: 'webmaster@localhost'."),
    ({"TrackLinks": "TextOnly"}, 300, "TrackLinks"),
    ({"TrackLinks": "HtmlOnly", "HtmlBody": None, "TextBody": "x"}, 300, "TrackLinks"),
    ({"MessageStream": "inbound"}, 1236, "MessageStream"),
    ({"MessageStream": "No Such"}, 1235, "MessageStream"),
    ({"Headers": {"Message-ID": "<a@example.com>"}}, 300, "Message-ID"),
    ({"Headers": {"X-A": "1", "x-a": "2"}}, 300, "repeated headers"),
    ({"Attachments": [("x.exe", "TVqQ", "application/x-msdownload")]}, 411, "not allowed"),
    ({"Attachments": [("x.pdf", "TVqQ", "application/pdf")]}, 411, "declared as"),
    ({"Attachments": [("x.pdf", "*", "application/pdf")]}, 300, "base64"),
]


@pytest.mark.parametrize(("fields", "code", "why"), CANNOT)
def test_what_cannot_be_done_is_refused_by_name(
    site: Served, postmark: PostmarkClient, fields: dict[str, Any], code: int, why: str
) -> None:
    before = site.count()

    found, message = code_of(postmark, **fields)

    assert found == code, message
    assert why in message
    assert site.count() == before


def test_a_project_that_names_its_senders_says_so(site: Served, postmark: PostmarkClient) -> None:
    allow = "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING 1"
    site.rows(allow, ["example.com"])
    try:
        code, message = code_of(postmark, From="ann@example.net")
    finally:
        site.rows(allow, None)

    assert code == 400
    assert "ann@example.net" in message


def test_what_is_not_json_is_refused_as_such(site: Served) -> None:
    answers = [
        post(site, "/email", b"{"),
        post(site, "/email", b"[]"),
        post(site, "/email", {**HELLO, "Sms": True}),
        post(site, "/email", {**HELLO, "Subject": 7}),
        post(site, "/email", {**HELLO, "TrackLinks": "Sometimes"}),
        post(site, "/email/batch", {"Messages": []}),
        post(site, "/email/batchWithTemplates", []),
        post(site, "/email", b"{}", Content_Type="text/plain"),
        post(site, "/email", b"{}", Accept="text/html"),
    ]

    assert {each.status_code for each in answers} == {422}
    codes = [each.json()["ErrorCode"] for each in answers]
    assert codes == [402, 403, 403, 403, 403, 403, 403, 409, 409]


def test_a_message_of_more_than_10_mb_is_refused(site: Served) -> None:
    answer = post(site, "/email", {**HELLO, "HtmlBody": "x" * (10 * 1024 * 1024)})
    assert (answer.status_code, answer.json()["ErrorCode"]) == (413, 300)

    long = post(site, "/email", {**HELLO, "HtmlBody": "x" * (5 * 1024 * 1024 + 1)})
    assert (long.status_code, long.json()["ErrorCode"]) == (422, 300)


def test_a_path_that_is_not_there_is_refused_as_postmark_does(site: Served) -> None:
    for path in ("/email/bounced", "/stats/outbound/tracked", "/email/batch/x"):
        answer = post(site, path, {})
        assert (answer.status_code, answer.json()["ErrorCode"]) == (404, 404), path
    answer = requests.get(f"{site.url}/email", timeout=60)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert (
        requests.get(f"{site.url}/stats/outbound/tracked", timeout=60).json()["name"] == "not_found"
    )
