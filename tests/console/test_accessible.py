"""Every page of the table in Chromium: axe-core has no fault, and none is wider than the screen."""

import re

import pytest
from playwright.async_api import Browser

from mailqueue.console.frame.page import Access
from mailqueue.console.table import PAGES
from mailqueue.settings.environment import DatabaseSettings
from tests.console.examples import path_of, seed
from tests.console.looking import faults_of, looking_at, shown

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

NO_PAGES = {
    "/console/login/issuer",
    "/console/login/issuer/back",
    "/console/confirm/issuer",
    "/console/projects/{project}/emails/live",
    "/console/projects/{project}/emails/suggestions",
    "/console/projects/{project}/emails/{email_id}/live",
    "/console/account/second-factor/on/qr",
    "/console/projects/{project}/emails/{email_id}/message/html",
    "/console/projects/{project}/emails/{email_id}/message/download",
    "/console/projects/{project}/emails/{email_id}/message/files/{number}",
    "/console/projects/{project}/recipient/erasure",
    "/console/projects/{project}/suppressions/export",
    "/console/projects/{project}/exports/{export_id}/file",
    "/console/projects/{project}/templates/{template}/preview/html",
    "/console/projects/{project}/templates/pictures/{picture_id}/file",
    "/console/templates/{platform_template}/preview/html",
    "/console/find/suggestions",
    "/console/dashboard/live",
    "/console/infrastructure/live",
    "/console/projects/{project}/activity/live",
}
"""Paths that lead to an issuer, or answer with a picture, a part of a page, an email's document or
a file.
"""
LONG_NAME = "a-project-whose-name-is-as-long-as-a-name-may-be".ljust(63, "x")
SUBJECT = "Your order: " + "a subject without end " * 12


LOOKED_AT = sorted(
    (page for page in PAGES if page.method == "GET" and page.path not in NO_PAGES),
    key=lambda page: page.access is not Access.PUBLIC,
)
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
async def test_no_page_hinders_anyone_by_keyboard_screen_reader_or_telephone(
    database: DatabaseSettings, browser: Browser, part: int
) -> None:
    faults: list[str] = []
    pages = LOOKED_AT[part::PARTS]
    async with looking_at(database, browser) as seen:
        async with seen.console.connection() as conn:
            values = await seed(conn, "shop", subject=SUBJECT)
            await seed(conn, LONG_NAME, subject=SUBJECT)
        in_session = False
        for page in pages:
            if not in_session and page.access is not Access.PUBLIC:
                in_session = True
                await seen.log_in()
            path = path_of(page.path, values)
            faults += await faults_of(seen, path, path=path)
            await shown(seen, re.sub(r"\W+", "-", page.path).strip("-"))

    assert faults == []
    assert in_session
    assert len(pages) >= 12
    assert seen.complaints == []
