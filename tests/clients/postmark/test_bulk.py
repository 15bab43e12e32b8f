"""Postmark's bulk API: one content for many recipients, accepted whole or not at all."""

from typing import Any

import pytest
import requests

from tests.clients.postmark.mails import post
from tests.clients.serving import Served

ONE = {"To": "ann@example.org", "TemplateModel": {"name": "Ann", "items": [{"n": 1}, {"n": 2}]}}
BULK: dict[str, Any] = {
    "From": "sender@example.com",
    "Subject": "Hi {{name}}",
    "HtmlBody": "<p>{{name}}{{#each items}} {{n}}{{/each}}</p>",
    "TextBody": "Hi {{name}}",
    "Tag": "news",
    "Metadata": {"issue": "7", "kind": "a"},
    "Headers": [{"Name": "X-A", "Value": "a"}, {"Name": "X-B", "Value": "b"}],
    "MessageStream": "broadcast",
    "Messages": [ONE, {"To": "bob@example.org", "Cc": "cc@example.org"}],
}


def sent(site: Served, **given: Any) -> str:
    answer = post(site, "/email/bulk", BULK | given)
    assert answer.status_code == 200, answer.text
    assert answer.json()["Status"] == "Accepted"
    return str(answer.json()["Id"])


def mails(site: Served, bulk: str) -> list[dict[str, Any]]:
    query = "SELECT unnest(email_ids) FROM mailqueue.batches WHERE id = %s"
    return [site.email(row[0]) for row in site.rows(query, bulk)]


def progress(site: Served, bulk: str, key: str | None = None) -> Any:
    headers = {"X-Postmark-Server-Token": key or site.keys.live}
    return requests.get(f"{site.url}/email/bulk/{bulk}", headers=headers, timeout=60).json()


def refused(site: Served, **given: Any) -> tuple[int, str]:
    before = site.count()
    answer = post(site, "/email/bulk", BULK | given)
    assert (answer.status_code, site.count()) == (422, before), answer.text
    return answer.json()["ErrorCode"], answer.json()["Message"]


def test_each_message_has_its_variables_and_what_all_have_in_common(site: Served) -> None:
    other = {
        "To": "Bob <bob@example.org>",
        "TemplateModel": {"name": "<B>"},
        "Metadata": {"kind": "b"},
        "Headers": [{"Name": "x-b", "Value": "own"}],
    }
    ann, bob = mails(site, sent(site, Messages=[ONE, other]))

    assert (ann["subject"], ann["html"], ann["text"]) == ("Hi Ann", "<p>Ann 1 2</p>", "Hi Ann")
    assert (bob["subject"], bob["html"]) == ("Hi <B>", "<p>&lt;B&gt;</p>")
    assert (ann["to"], bob["to"], bob["name"]) == ("ann@example.org", "bob@example.org", "Bob")
    assert ann["category"] == bob["category"] == "marketing"
    assert ann["tags"] == bob["tags"] == ["news"]
    assert ann["headers"] == {"X-A": "a", "X-B": "b"}
    assert bob["headers"] == {"X-A": "a", "x-b": "own"}
    kept = [next(iter(one["custom_data"].values())) for one in (ann, bob)]
    assert kept == [{"issue": "7", "kind": "a"}, {"issue": "7", "kind": "b"}]


def test_a_stored_template_is_sent_to_each_message(site: Served) -> None:
    site.add_template("bulk", subject="Hi {{ name }}", html="<p>Hi {{ name }}</p>")
    texts = dict.fromkeys(("Subject", "HtmlBody", "TextBody"))
    (one,) = mails(site, sent(site, **texts, TemplateAlias="bulk", Messages=[ONE]))

    assert (one["template"], one["custom_data"]["variables"]["name"]) == (True, "Ann")
    code, why = refused(site, **texts, TemplateAlias="none")
    assert (code, why.startswith("Messages[0]: The 'TemplateId' or")) == (1101, True)


def test_texts_without_variables_are_sent_as_they_are(site: Served) -> None:
    plain = {"Subject": "A {% b", "HtmlBody": None, "TextBody": "{# c", "Messages": [ONE]}
    (one,) = mails(site, sent(site, **plain))

    assert (one["subject"], one["html"], one["text"]) == ("A {% b", None, "{# c")


def test_nothing_of_a_bulk_request_is_kept_as_a_template(site: Served) -> None:
    count = "SELECT count(*) FROM mailqueue.templates"
    before = site.rows(count)
    sent(site)

    assert site.rows(count) == before


def test_its_progress_is_the_share_of_messages_that_are_done_with(site: Served) -> None:
    bulk = sent(site)
    shown = progress(site, bulk)

    assert (shown["Id"], shown["Status"], shown["Subject"]) == (bulk, "Accepted", "Hi Ann")
    assert (shown["TotalMessages"], shown["PercentageCompleted"]) == (2, 0)
    ((second,),) = site.rows("SELECT email_ids[2] FROM mailqueue.batches WHERE id = %s", bulk)
    for email_id, share, status in ((second, 0.5, "Processing"), (bulk, 1, "Completed")):
        path = f"{site.url}/v1/emails/{email_id}/cancel"
        assert requests.post(path, headers={"X-API-Key": site.keys.live}, timeout=60).ok
        shown = progress(site, bulk)
        assert (shown["PercentageCompleted"], shown["Status"]) == (share, status)
    assert progress(site, bulk, site.keys.other)["ErrorCode"] == 701
    assert progress(site, bulk, site.keys.test)["ErrorCode"] == 701


def test_one_message_alone_has_a_progress_too(site: Served) -> None:
    assert progress(site, sent(site, Messages=[ONE]))["TotalMessages"] == 1


def test_suppressed_recipients_are_done_with_at_once(site: Served) -> None:
    site.suppress("gone@example.org")
    shown = progress(site, sent(site, Messages=[{"To": "gone@example.org"}]))

    assert (shown["Status"], shown["PercentageCompleted"]) == ("Completed", 1)


@pytest.mark.parametrize(
    ("given", "code", "why"),
    [
        ({"Messages": [ONE, {"To": "nobody"}]}, 300, "Messages[1]: Invalid 'To' address"),
        ({"Messages": [ONE, {"To": ""}]}, 300, "Messages[1]: Provide at least one"),
        ({"Messages": [ONE, {"To": "a@example.org", "Tag": "x"}]}, 403, "'Tag' is not a field"),
        ({"Messages": [ONE, "ann@example.org"]}, 403, "Each of 'Messages' must be"),
        ({"Messages": []}, 403, "Provide at least one message"),
        ({"Messages": {}}, 403, "The body must be an object"),
        ({"Messages": [ONE] * 10_001}, 410, "Too many bulk messages"),
        ({"To": "ann@example.org"}, 403, "'To' belongs into each of 'Messages'."),
        ({"TemplateModel": {}}, 403, "'TemplateModel' belongs into each of"),
        ({"Metadata": "x", "Messages": [ONE | {"Metadata": {"a": "b"}}]}, 403, "Messages[0]: 'Met"),
        ({"Headers": "x", "Messages": [ONE | {"Headers": []}]}, 403, "Messages[0]: 'Headers"),
        ({"HtmlBody": "{{#each x}}"}, 300, "'HtmlBody': {{#each}} is not closed"),
        ({"TextBody": "{{ x | nothing }}"}, 300, "'TextBody': line 1"),
        ({"Subject": ""}, 300, "'Subject': "),
        ({"TemplateAlias": "x"}, 403, "Messages[0]: 'Subject': the field is not supported"),
        ({"From": "me@example.net@"}, 300, "Messages[0]: Invalid 'From' address"),
        ({"MessageStream": "No Such"}, 1235, "Messages[0]: The 'MessageStream' provided"),
        ({"HtmlBody": "x" * 40_000 + "{{name}}", "Messages": [ONE] * 2_000}, 300, "Messages[1677]"),
    ],
)
def test_a_refused_message_is_named_and_none_is_accepted(
    site: Served, given: dict[str, Any], code: int, why: str
) -> None:
    found = refused(site, **given)

    assert (found[0], found[1][: len(why)]) == (code, why)


def test_a_repeated_request_is_one_batch(site: Served) -> None:
    before = site.count()
    answers = [post(site, "/email/bulk", BULK, Idempotency_Key="bulk-1") for _ in range(2)]

    assert answers[0].json() == answers[1].json()
    assert site.count() == before + 2


def test_a_file_is_stored_once_for_all_messages(site: Served) -> None:
    file = {"Name": "a.txt", "Content": "YQ==", "ContentType": "text/plain"}
    for more in ({}, {"Idempotency_Key": "bulk-2"}):
        answer = post(site, "/email/bulk", BULK | {"Attachments": [file]}, **more)
        first, second = mails(site, answer.json()["Id"])
        assert [one["name"] for one in first["files"]] == ["a.txt"]
        assert first["files"] == second["files"]
    bad = file | {"ContentType": "application/x-msdownload"}
    assert refused(site, Attachments=[bad])[0] == 411


def test_the_test_token_tries_a_bulk_request(site: Served) -> None:
    before = site.count()
    tried = post(site, "/email/bulk", BULK, token="POSTMARK_API_TEST")
    wrong = post(
        site, "/email/bulk", BULK | {"Messages": [{"To": "no"}]}, token="POSTMARK_API_TEST"
    )

    assert (tried.json()["Status"], wrong.json()["ErrorCode"]) == ("Accepted", 300)
    assert site.count() == before


def test_a_push_of_templates_between_servers_is_named_as_not_there(site: Served) -> None:
    answer = requests.put(
        f"{site.url}/templates/push",
        json={"SourceServerID": 1, "DestinationServerID": 2, "PerformChanges": True},
        headers={"X-Postmark-Account-Token": site.keys.live},
        timeout=60,
    )

    assert (answer.status_code, answer.json()["ErrorCode"]) == (404, 404)
    assert answer.json()["Message"] == "PUT /templates/push is not supported here."
