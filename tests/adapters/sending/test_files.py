"""Attachments and inline images, as each provider wants them."""

import base64
from typing import Any

import pytest

from mailqueue.ports.transport import Outgoing
from tests.adapters.sending.documented import Provider
from tests.adapters.sending.fake import Request, fake
from tests.adapters.sending.mails import (
    DOCUMENT,
    IMAGE,
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


async def request_of(provider: Provider, one: Outgoing, **settings: Any) -> Request:
    async with fake([provider.accepts]) as server:
        await verdict_of(provider.service(server.site, **settings), one)
    [request] = server.requests
    return request


PNG, PDF = base64.b64encode(IMAGE).decode(), base64.b64encode(DOCUMENT).decode()
NAME = "Rechnung für Ann.pdf"
FILES: tuple[tuple[Provider, str, list[dict[str, str]]], ...] = (
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
    provider: Provider, field: str, wanted: list[dict[str, str]]
) -> None:
    request = await request_of(provider, with_files())

    assert request.json[field] == wanted
