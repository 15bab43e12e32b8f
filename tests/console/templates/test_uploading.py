"""Pictures that Chromium encodes are uploaded by the form, and shown by it from their URL."""

from base64 import b64decode

import pytest
from playwright.async_api import Browser, FilePayload, expect

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.looking import Seen, faults_of, looking_at, shown

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

PATH = "/console/projects/shop/templates/pictures"
ENCODED = """(type) => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [320, 80];
    const context = canvas.getContext("2d");
    context.fillStyle = "teal";
    context.fillRect(20, 10, 280, 60);
    return canvas.toDataURL(type).split(",")[1];
}"""
SIDES = "(picture) => picture.decode().then(() => [picture.naturalWidth, picture.naturalHeight])"


async def chosen(seen: Seen, media_type: str) -> None:
    """Choose a picture on the form."""
    octets = b64decode(await seen.page.evaluate(ENCODED, media_type))
    kind = media_type.removeprefix("image/")
    file: FilePayload = {"name": f"logo.{kind}", "mimeType": media_type, "buffer": octets}
    await seen.page.get_by_label("Picture: PNG").set_input_files(file)


async def test_a_picture_is_uploaded_copied_and_shown_from_its_url(
    database: DatabaseSettings, browser: Browser
) -> None:
    public_url = "http://localhost:1"
    async with looking_at(database, browser, public_url=public_url) as seen:
        async with seen.console.connection() as conn:
            await make.project(conn, "shop")
        await seen.log_in()
        faults = await faults_of(seen, "none", path=PATH, text="None yet.")
        await shown(seen, "pictures-none")
        for media_type in ("image/png", "image/jpeg", "image/webp"):
            await seen.page.goto(f"{seen.url}{PATH}/new")
            await chosen(seen, media_type)
            await seen.page.get_by_role("button", name="Upload").click()
            await expect(seen.page.get_by_text("The picture was stored.")).to_be_visible()
            assert await seen.page.locator(".picture img").evaluate(SIDES) == [320, 80]
            copied = seen.page.get_by_role("button", name="Copy").first
            url = await copied.get_attribute("data-copy")
            assert url is not None
            assert url.startswith(f"{public_url}/t/p/")
            await expect(copied).to_be_visible()
            public = await seen.page.context.new_page()
            answer = await public.goto(url.replace(public_url, seen.url))
            assert answer is not None
            assert (answer.status, answer.headers["content-type"]) == (200, media_type)
            assert await public.locator("img").evaluate(SIDES) == [320, 80]
            await public.close()
        faults += await faults_of(seen, "one", text="The picture was stored.")
        await shown(seen, "pictures-one")
        faults += await faults_of(seen, "many", path=PATH, text="logo.webp")
        await shown(seen, "pictures-many")
        faults += await faults_of(seen, "form", path=f"{PATH}/new", text="Upload a picture")
        await shown(seen, "pictures-form")
        complaints = seen.complaints

    assert (faults, complaints) == ([], [])
