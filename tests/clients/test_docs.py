"""The examples of the pages about clients work."""

from pathlib import Path
from typing import Any

import django
import postmarker.core
import pytest
import resend
from django.conf import settings
from django.test import override_settings

from mailqueue.api.compat.model import CompatApi
from mailqueue.api.table import SHAPES
from tests.clients.node import run_text
from tests.clients.operations import LIBRARIES
from tests.clients.requested import page_of, shown_on, table_of
from tests.clients.serving import Served
from tests.docs.reading import Block, blocks

SHOWN_URL, SHOWN_KEY = "127.0.0.1:8025", "mq_live_…"


@pytest.fixture(scope="module", autouse=True)
def furnished(site: Served) -> None:
    if not settings.configured:
        settings.configure(INSTALLED_APPS=["anymail"], ANYMAIL={}, USE_TZ=True)
        django.setup()
    site.add_template("order-confirmation", subject="Your order", html="<p>{{ product }}</p>")


@pytest.fixture(autouse=True)
def afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the settings of the libraries."""
    monkeypatch.setattr(resend, "api_url", resend.api_url)
    monkeypatch.setattr(resend, "api_key", "")
    assert postmarker.core.DEFAULT_API.startswith("https://")


def shown(page: str, *languages: str) -> list[Block]:
    found = [each for each in blocks(*languages) if each.page == f"docs/clients/{page}.md"]
    assert found
    return found


def after(block: Block) -> str:
    """Return the program after a change of the page, or the program itself."""
    if block.language != "diff":
        return block.text
    return "\n".join(line[1:] for line in block.text.splitlines() if not line.startswith("-"))


def real(site: Served, text: str) -> str:
    return text.replace(SHOWN_URL, site.host).replace(SHOWN_KEY, site.keys.live)


@pytest.mark.parametrize(("page", "mails"), [("resend", 3), ("postmark", 3)])
def test_python_on_the_page_sends(site: Served, page: str, mails: int) -> None:
    before = site.count()
    program = "\n".join(after(each) for each in shown(page, "diff", "python"))

    exec(compile(real(site, program), page, "exec"), {})

    assert site.count() == before + mails


@pytest.mark.parametrize("place", [0, 1])
def test_settings_and_message_of_django_send(site: Served, place: int) -> None:
    before = site.count()
    configured: dict[str, Any] = {}
    text = real(site, after(shown("django", "diff")[place]))
    exec(compile(text, "settings", "exec"), configured)
    configured = {name: value for name, value in configured.items() if name.isupper()}

    with override_settings(**configured):
        exec(compile(real(site, shown("django", "python")[place].text), "django", "exec"), {})

    assert site.count() == before + 1 + place


@pytest.mark.node_clients
@pytest.mark.parametrize(("page", "name"), [("resend", "id"), ("postmark", "MessageID")])
def test_javascript_on_the_page_sends(site: Served, page: str, name: str) -> None:
    (program,) = shown(page, "js")

    said = run_text(real(site, program.text))

    assert site.email(said[name])["status"] == "pending"


def test_every_page_is_listed() -> None:
    folder = Path(__file__).parents[2] / "docs" / "clients"
    index = (folder / "index.md").read_text("utf-8")

    for page in folder.glob("*.md"):
        assert page.name == "index.md" or f"({page.name})" in index, page.name


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_each_page_lists_the_requests_that_are_answered(shape: CompatApi) -> None:
    """After a change: python -m tests.clients.requested --write."""
    assert shown_on(page_of(shape).read_text("utf-8")) == table_of(shape)


@pytest.mark.parametrize(
    ("library", "known"),
    [
        ("resend", {("POST", "/emails"), ("GET", "/domains/{}"), ("PATCH", "/webhooks/{}")}),
        ("postmark", {("POST", "/email/batch"), ("PUT", "/templates/{}"), ("GET", "/server")}),
        ("sendgrid", {("POST", "/v3/mail/send"), ("GET", "/v3/templates/{}/versions/{}")}),
        ("mailgun", {("POST", "/v3/{}/messages"), ("GET", "/v3/domains/{}/webhooks")}),
    ],
)
def test_the_calls_of_a_library_are_those_that_it_has(
    library: str, known: set[tuple[str, str]]
) -> None:
    found = LIBRARIES[library][1]()

    assert known <= found
    assert all(path.startswith("/") and "%" not in path and "<" not in path for _, path in found)
