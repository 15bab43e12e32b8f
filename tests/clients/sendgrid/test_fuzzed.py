"""Any request to the APIs of SendGrid and Mailgun is accepted, or refused in their format."""

import copy
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.clients.serving import Served

WHOLE: dict[str, Any] = {
    "personalizations": [
        {
            "to": [{"email": "a@example.com", "name": "A"}],
            "cc": [{"email": "b@example.com"}],
            "subject": "x",
            "headers": {"X-A": "b"},
            "substitutions": {"-a-": "b"},
            "custom_args": {"a": "b"},
            "send_at": 1,
        }
    ],
    "from": {"email": "f@example.com"},
    "reply_to": {"email": "r@example.com"},
    "content": [{"type": "text/plain", "value": "x -a-"}, {"type": "text/html", "value": "<b>"}],
    "attachments": [{"content": "JVBERi0x", "filename": "a.pdf", "content_id": "x"}],
    "categories": ["a"],
    "sections": {"-s-": "x"},
    "headers": {"X-B": "c"},
    "custom_args": {"q": "r"},
    "asm": {"group_id": 1},
    "mail_settings": {"sandbox_mode": {"enable": True}},
    "tracking_settings": {"click_tracking": {"enable": False}},
}
FORM = {
    "from": "F <f@example.com>",
    "to": "a@example.com, b@example.com",
    "subject": "%recipient.a%",
    "text": "x",
    "html": "<b>",
    "recipient-variables": '{"a@example.com": {"a": "b"}}',
    "o:tag": "x",
    "o:deliverytime": "Fri, 14 Oct 2011 23:10:10 -0000",
    "o:tracking": "no",
    "o:testmode": "yes",
    "h:Reply-To": "a@example.com",
    "v:a": "b",
    "t:variables": "{}",
    "template": "gone",
}
ODD: list[Any] = [None, True, 0, -1, 2**70, 1.5, "", "\0", "a\nb", "é" * 400, [], {}, [[]], [None]]
ODD += [{"": ""}, {"\0": "\0"}, {"email": None}, "a@b", "-a-" * 100, "x"]
TEXTS = [one for one in ODD if isinstance(one, str)]
TEXTS += ["{}", "[]", '{"a@example.com": 1}', '{"a": {"b": [{}]}}', "<>", "a@b <", '"', "1" * 5000]
TEXTS += ["=?utf-8?q?=?= <a@example.com>", "%recipient.%", "Fri, 32 Foo 99999 99:99:99 +9999"]


@pytest.fixture(scope="module")
def http(site: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=site.url) as made:
        yield made


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a document."""
    named = document.items() if isinstance(document, dict) else ()
    for name, each in enumerate(document) if isinstance(document, list) else named:
        yield (*path, name)
        yield from places(each, (*path, name))


@settings(max_examples=25)
@given(
    changes=st.lists(
        st.tuples(st.sampled_from(sorted(places(WHOLE), key=str)), st.sampled_from(ODD)),
        min_size=1,
        max_size=3,
    )
)
def test_odd_json_is_refused_in_sendgrids_words(
    site: Served, http: httpx2.Client, changes: list[tuple[tuple[Any, ...], Any]]
) -> None:
    document = copy.deepcopy(WHOLE)
    for path, value in changes:
        inside: Any = document
        try:
            for name in path[:-1]:
                inside = inside[name]
            inside[path[-1]] = copy.deepcopy(value)
        except (KeyError, TypeError, IndexError):
            continue  # another change took its place

    answer = http.post(
        "/v3/mail/send", json=document, headers={"Authorization": f"Bearer {site.keys.live}"}
    )

    assert answer.status_code in (200, 202, 400), answer.text
    if answer.status_code == 400:
        errors = answer.json()["errors"]
        assert errors
        assert all(one["message"] for one in errors)


@settings(max_examples=25)
@given(
    changes=st.dictionaries(
        st.sampled_from(
            [*FORM, "cc", "o:x", "h:X", "h:\n", "v:", "", "é", "message", "attachment"]
        ),
        st.lists(st.sampled_from(TEXTS), max_size=2),
        min_size=1,
        max_size=5,
    ),
    is_mime=st.booleans(),
)
def test_odd_forms_are_refused_in_mailguns_words(
    site: Served, http: httpx2.Client, changes: dict[str, list[str]], is_mime: bool
) -> None:
    path = "/v3/example.com/messages" + (".mime" if is_mime else "")

    answer = http.post(path, data=FORM | changes, auth=("api", site.keys.live))

    assert answer.status_code in (200, 400), answer.text
    assert answer.json()["message"]
