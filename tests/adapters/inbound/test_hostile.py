"""Malformed requests raise nothing, and their valid events are read."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailqueue.adapters.inbound.json_values import elements_of, instant, network
from mailqueue.adapters.inbound.sendgrid import SendGridEvents
from mailqueue.adapters.providers import providers
from mailqueue.ports.inbound import BadEvent, NotVerified, ProviderEvent
from tests.adapters.inbound.signed_requests import NOW, knowing, request

pytestmark = pytest.mark.anyio

ALL = tuple(providers().values())
GOOD = b'{"event":"open","email":"ann@example.com","sg_event_id":"1"}'
ODD = (
    b"",
    b"null",
    b"7",
    b'"text"',
    b"[]",
    b"{}",
    b"[[]]",
    b"[null,7,true]",
    b"\xff\xfe\x00",
    b"\xef\xbb\xbf{}",
    b"{" * 50_000,
    b"[" * 200_000,
    b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    b'{"event":1e999,"timestamp":1e999}',
    b'{"event":"open","timestamp":' + b"9" * 5_000 + b"}",
    b'{"event":"open","event":"click","email":{"x":1}}',
    b'{"event":"\\ud800","email":"\\udfff@example.com"}',
    b'{"event":"open\\u0000","email":"a\\u0000@example.com"}',
    b"event=open&" * 5_000,
    b'{"Type":"Notification","MessageId":[],"Message":{}}',
    b'{"Type":"Notification","Message":"{\\"eventType\\":\\"Bounce\\",\\"bounce\\":[]}"}',
    b'{"Type":"Notification","Message":"' + b"[" * 60_000 + b'"}',
    b'{"RecordType":["Bounce"],"Metadata":[1]}',
    b'{"RecordType":"Bounce","Type":{},"ID":{},"BouncedAt":[]}',
    b'{"type":"email.bounced","data":"x"}',
    b'{"type":"email.bounced","data":{"to":{"a":1},"tags":7,"headers":[7,{"name":9}]}}',
    b'{"event-data":{"event":"failed","delivery-status":[],"message":7,"flags":"x"}}',
)


@pytest.mark.parametrize("body", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("provider", ALL, ids=lambda one: one.name)
async def test_odd_bodies_are_refused_and_read_without_a_word(provider: Any, body: bytes) -> None:
    for headers in ({}, {"content_type": "application/x-www-form-urlencoded"}):
        told = request(body, **headers)
        for found in provider.events(told):
            assert isinstance(found, ProviderEvent | BadEvent)
        if provider.name != "smtp":
            assert isinstance(await provider.verify(told, knowing("secret"), NOW), NotVerified)


BAD = (
    b'{"event":"\\ud83d"}',
    b"[" * 3_000 + b"]" * 3_000,
    b'{"a":"' + b"x" * 10 + b'\\q"}',
    b"nul",
    b"7",
    b'"},{"',
    b'{"event":7.5e400}',
    b"{'event':'open'}",
)


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_one_bad_element_takes_none_of_the_good_ones_with_it(bad: bytes) -> None:
    found = SendGridEvents().events(request(b"[" + b",".join((GOOD, bad, GOOD)) + b"]\r\n"))

    assert len(found) == 3
    good = [one for one in found if isinstance(one, ProviderEvent) and one.type == "opened"]
    assert len(good) == 2
    assert all(one.recipient == "ann@example.com" for one in good)


def test_too_many_elements_are_cut_and_that_is_recorded() -> None:
    found = elements_of(b"[" + b",".join([b'{"event":"open"}'] * 20_050) + b"]")

    assert len(found) == 20_001
    assert found[-1] == BadEvent("50 elements beyond 20000")


@pytest.mark.parametrize(
    ("value", "is_read"),
    [
        (1767323045, True),
        (1767323045.5, True),
        ("1767323045", True),
        (1767323045123, True),
        ("2026-01-02T03:04:05.1234567Z", True),
        ("2026-01-02T03:04:05-08:00", True),
        ("2026-01-02 03:04:05", True),
        (float("inf"), False),
        (float("nan"), False),
        (-5, False),
        (10**400, False),
        (True, False),
        ("", False),
        ("0001-01-01T00:00:00+14:00", False),
        (None, False),
        ([1767323045], False),
    ],
)
def test_instants_in_any_form(value: object, *, is_read: bool) -> None:
    assert (instant(value) is not None) is is_read


@pytest.mark.parametrize("value", ["", "x", None, 7, "1.2.3", "fe80::1%eth0", "1.2.3.4/8"])
def test_what_is_no_address_is_no_network(value: object) -> None:
    assert network(value) is None


ODD_NAMES = ("mail", "Message", "tags", "timestamp", "reason", "status", "Metadata", "headers")
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
_NAMES = st.sampled_from(
    [*ODD_NAMES, "event", "email", "type", "data", "RecordType", "event-data", "bounce", "to"]
)


@settings(max_examples=60)
@given(said=st.dictionaries(_NAMES, _JSON, max_size=8))
def test_any_json_is_read(said: dict[str, Any]) -> None:
    inner = {"eventType": "Bounce", "mail": said, "bounce": said}
    for body in (
        said,
        [said, said],
        {"event-data": said | {"event": "failed"}},
        {"type": "email.bounced", "data": said},
        {"RecordType": "Bounce", **said},
        {"Type": "Notification", "MessageId": "1", "Message": json.dumps(inner)},
    ):
        for provider in ALL:
            for one in provider.events(request(body)):
                assert isinstance(one, ProviderEvent | BadEvent)


@settings(max_examples=60)
@given(body=st.binary(max_size=200))
def test_any_octets_are_read(body: bytes) -> None:
    for provider in ALL:
        provider.events(request(body))
        provider.events(request(b"[" + body + b"]"))
