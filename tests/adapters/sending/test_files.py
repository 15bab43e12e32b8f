"""Attachments and inline images in each provider's format."""

import base64
from typing import Any

import pytest

from mailqueue.adapters.sending.parts import parts_of
from mailqueue.core.address import parse_mailbox
from mailqueue.mime.compose import PerMail, compose
from mailqueue.mime.files import MessageFile as Attached
from mailqueue.mime.skeleton import MessageContent, compile_skeleton
from mailqueue.ports.transport import Envelope, SendAttempt
from tests.adapters.sending.documented import DocumentedProvider
from tests.adapters.sending.fake import Request, fake
from tests.adapters.sending.mails import (
    DOCUMENT,
    ID,
    IMAGE,
    MESSAGE_ID,
    WRITTEN_AT,
    verdict_of,
    with_files,
)
from tests.adapters.sending.providers import (
    POSTMARK,
    RESEND,
    SENDGRID,
    SMTP2GO,
)

pytestmark = [pytest.mark.anyio]


async def request_of(provider: DocumentedProvider, one: SendAttempt, **settings: Any) -> Request:
    async with fake([provider.accepts]) as server:
        await verdict_of(provider.service(server.site, **settings), one)
    [request] = server.requests
    return request


PNG, PDF = base64.b64encode(IMAGE).decode(), base64.b64encode(DOCUMENT).decode()
NAME = "Rechnung für Ann.pdf"
FILES: tuple[tuple[DocumentedProvider, str, list[dict[str, str]]], ...] = (
    (
        SENDGRID,
        "attachments",
        [
            {
                "content": PNG,
                "filename": "logo.png",
                "type": "image/png",
                "disposition": "inline",
                "content_id": "logo",
            },
            {
                "content": PDF,
                "filename": NAME,
                "type": "application/pdf",
                "disposition": "attachment",
            },
        ],
    ),
    (
        POSTMARK,
        "Attachments",
        [
            {
                "Name": "logo.png",
                "Content": PNG,
                "ContentType": "image/png",
                "ContentID": "cid:logo",
            },
            {"Name": NAME, "Content": PDF, "ContentType": "application/pdf"},
        ],
    ),
    (
        RESEND,
        "attachments",
        [
            {
                "filename": "logo.png",
                "content": PNG,
                "content_type": "image/png",
                "content_id": "logo",
            },
            {"filename": NAME, "content": PDF, "content_type": "application/pdf"},
        ],
    ),
    (
        SMTP2GO,
        "attachments",
        [{"filename": NAME, "fileblob": PDF, "mimetype": "application/pdf"}],
    ),
    (SMTP2GO, "inlines", [{"filename": "logo", "fileblob": PNG, "mimetype": "image/png"}]),
)


@pytest.mark.parametrize(("provider", "field", "wanted"), FILES)
async def test_files_and_inline_images_arrive_whole(
    provider: DocumentedProvider, field: str, wanted: list[dict[str, str]]
) -> None:
    request = await request_of(provider, with_files())

    assert request.json[field] == wanted


def test_files_are_read_as_our_own_composer_writes_them() -> None:
    names = (
        "a.pdf",
        "Rechnung für Ann.pdf",
        'it\'s "quoted".pdf',
        "長" * 60 + ".png",
        "50% off.txt",
    )
    files = tuple(
        Attached(name, "application/pdf", DOCUMENT, f"cid{n}@example.com" if n % 2 else "")
        for n, name in enumerate(names)
    )
    for html, text in (("<p>x</p>", "y"), ("<p>x</p>", None)):
        skeleton = compile_skeleton(MessageContent("s", html, text, files=files))
        ann = parse_mailbox("ann@example.org")
        message = compose(
            skeleton, PerMail(sender=ann, to=[ann], written_at=WRITTEN_AT, message_id=MESSAGE_ID)
        )

        parts = parts_of(SendAttempt(ID, Envelope("a@example.org", ("ann@example.org",)), message))

        assert (parts.html, parts.text) == (html, text)
        read = {(one.name, one.content_type, one.octets, one.content_id) for one in parts.files}
        assert read == {(one.name, one.content_type, one.octets, one.content_id) for one in files}
