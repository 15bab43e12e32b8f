"""Urlencoded forms of Mailgun's clients: what is read, and what is refused before it is read."""

import threading
from types import SimpleNamespace
from typing import cast
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message

from mailqueue.api.compat.mailgun import form as forms
from mailqueue.api.compat.mailgun.form import Form, form_of, parse_form
from mailqueue.api.http.context import RequestContext

pytestmark = pytest.mark.anyio


async def read(body: bytes, content_type: bytes = b"application/x-www-form-urlencoded") -> Form:
    return await parse_form(posted(body, content_type))


def posted(body: bytes, content_type: bytes) -> Request:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    headers = [(b"content-type", content_type)]
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"to=ann%40example.com", b"application/x-www-form-urlencoded"),
        (
            b'--b\r\nContent-Disposition: form-data; name="to"\r\n\r\nann\r\n--b--\r\n',
            b"multipart/form-data; boundary=b",
        ),
    ],
)
async def test_a_request_has_the_size_of_its_form(body: bytes, content_type: bytes) -> None:
    call = SimpleNamespace(request=posted(body, content_type), size=0)
    await form_of(cast(RequestContext, call))

    assert call.size == len(body)


async def test_fields_are_read_as_browsers_write_them() -> None:
    form = await read(b"to=ann%40example.com&&text=a+b%2B%c3%A9%zz\xc3\xa9&html&v:a==1&to=b;c")

    assert form.fields == (
        ("to", "ann@example.com"),
        ("text", "a b+\u00e9%zz\u00e9"),
        ("html", ""),
        ("v:a", "=1"),
        ("to", "b;c"),
    )
    assert form.all("to") == ["ann@example.com", "b;c"]


async def test_separators_are_counted_before_fields_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_fields = list[bytes]()

    def noted(octets: bytes) -> str:
        read_fields.append(octets)
        return octets.decode()

    monkeypatch.setattr(forms, "_decoded", noted)
    for body in (b"&" * 1_000_000, b"a=1&" * 5_000):
        with pytest.raises(HTTPException, match="more than 5000 fields"):
            await read(body)
    assert read_fields == []
    await read(b"a=1&" * 4_999)
    assert len(read_fields) == 2 * 4_999


@given(
    st.lists(st.sampled_from([b"%41", b"%c3%A9", b"%", b"%4", b"x", b"yyyy", b"%zz"]), max_size=9)
)
def test_long_fields_are_unescaped_in_pieces_as_they_would_be_at_once(pieces: list[bytes]) -> None:
    octets = b"".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forms, "_PIECE_BYTES", 3)
        cut = list(forms._pieces(octets))

        assert forms._decoded(octets) == unquote_to_bytes(octets).decode("utf-8", "replace")
    assert b"".join(cut) == octets
    assert all(len(piece) <= 3 for piece in cut)


async def test_large_multipart_forms_are_parsed_in_a_thread_and_say_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = []
    parsed = forms._multipart

    async def noted(request: Request, body: bytes) -> Form:
        threads.append(threading.current_thread() is threading.main_thread())
        return await parsed(request, body)

    monkeypatch.setattr(forms, "_multipart", noted)
    found = []
    for size in (10, forms.SMALL_BYTES):
        file = b" z\r\n" * size
        body = (
            b'--b\r\nContent-Disposition: form-data; name="to"\r\n\r\nann@example.com\r\n'
            b'--b\r\nContent-Disposition: form-data; name="message"; filename="m"\r\n\r\n'
            + file
            + b"\r\n--b--\r\n"
        )
        form = await read(body, b"multipart/form-data; boundary=b")
        found.append((form.fields, [one.octets == file for one in form.files]))

    assert found == [((("to", "ann@example.com"),), [True])] * 2
    assert threads == [True, False]
