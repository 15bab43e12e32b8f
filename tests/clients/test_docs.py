"""The examples of the pages about clients work."""

import re
from pathlib import Path
from typing import Any

import django
import postmarker.core
import pytest
import requests
import resend
from django.conf import settings
from django.test import override_settings

from mailqueue.api.compat.model import CompatApi
from mailqueue.api.table import SHAPES
from tests.api.support.modes import credentials
from tests.clients.node import run_text
from tests.clients.operations import LIBRARIES, Operation, operation, present_in
from tests.clients.requested import page_of, shown_on, table_of
from tests.clients.serving import Served
from tests.docs.reading import Block, blocks

SHOWN_URL, SHOWN_KEY = "127.0.0.1:8025", "mq_live_…"
EXPLAINED = [shape for shape in SHAPES if shape.name in ("mailgun", "postmark", "resend")]
PUSH = Operation("PUT", "/templates/push")
_SECTION = re.compile(r"\n## Not here\n(.*?)\n## ", re.DOTALL)


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


def left_out(shape: CompatApi) -> list[Operation]:
    """Return the operations of a provider's libraries that are not here."""
    wanted = LIBRARIES[shape.name][1]()
    missing = wanted - present_in(shape, wanted)
    return sorted(missing | ({PUSH} if shape.name == "postmark" else set()))


def explained(shape: CompatApi) -> set[str]:
    """Return the beginnings of paths that a page gives reasons for, their variables as `{}`."""
    section = _SECTION.search(page_of(shape).read_text("utf-8"))
    assert section is not None, shape.name
    named = re.findall(r"`(/[^`]*)`(?=[^|]*\|[^|]*\|\n)", section[1])
    return {operation("", path).path for path in named}


@pytest.mark.parametrize("shape", EXPLAINED, ids=lambda shape: shape.name)
def test_each_request_that_is_left_out_has_its_reason_on_the_page(shape: CompatApi) -> None:
    missing, named = left_out(shape), explained(shape)

    def is_below(one: Operation, path: str) -> bool:
        return one.path == path or one.path.startswith(f"{path}/")

    silent = [one for one in missing if not any(is_below(one, path) for path in named)]
    idle = [path for path in named if not any(is_below(one, path) for one in missing)]
    assert (silent, idle) == ([], [])


@pytest.mark.parametrize("shape", EXPLAINED, ids=lambda shape: shape.name)
def test_each_request_that_is_left_out_is_refused_by_its_name(
    site: Served, shape: CompatApi
) -> None:
    given = credentials(shape.name, site.keys.live)
    unnamed = []
    for one in left_out(shape):
        path = one.path.replace("{}", "x")
        answer = requests.request(one.method, f"{site.url}{path}", headers=given, timeout=60)
        is_named = f"{one.method} {path} is not supported here" in answer.text
        if not (answer.status_code == 404 and is_named) and answer.status_code != 405:
            unnamed.append((one, answer.status_code, answer.text[:200]))

    assert unnamed == []
