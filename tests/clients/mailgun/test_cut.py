"""A truncated form is refused as a whole."""

from uuid import uuid4

import pytest
import requests

from tests.clients.mailgun.mails import DOMAIN
from tests.clients.serving import Served

CC = b'--edge\r\nContent-Disposition: form-data; name="cc"'


def post(site: Served, body: bytes) -> requests.Response:
    return requests.post(
        f"{site.url}/v3/{DOMAIN}/messages",
        data=body,
        headers={"Content-Type": 'multipart/form-data; boundary="edge"'},
        auth=("api", site.keys.live),
        timeout=60,
    )


def parts(**fields: str) -> bytes:
    name = b'--edge\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n'
    return b"".join(name % (key.encode(), text.encode()) for key, text in fields.items())


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (b"--edge--\r\n", 200),
        (b"--edge--", 200),
        (CC + b"\r\n\r\nc@example.com\r\n--edge--\r\nwhat comes after", 200),
        (b"", 400),
        (b"--edge", 400),
        (CC, 400),
        (CC + b"\r\n\r\nc@example.com", 400),
        (CC + b"\r\n\r\nc@example.com\r\n--edge-", 400),
    ],
)
def test_a_form_without_its_end_is_refused_whole(site: Served, end: bytes, status: int) -> None:
    before = site.count()
    words = {"from": "a@example.com", "to": f"{uuid4().hex}@example.com", "subject": "s"}

    response = post(site, parts(**words, text="Hello") + end)

    assert response.status_code == status, response.text
    assert site.count() == before + (status == 200)
    if status == 400:
        assert response.json() == {"message": "the form ends before its last boundary"}
