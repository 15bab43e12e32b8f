"""The examples of Mailgun's library, of its documentation page and of Django work."""

import asyncio
import inspect
from pathlib import Path
from uuid import uuid4

import pytest
from mailgun.config import Config
from mailgun.examples import builder_examples, messages_examples

from tests.clients.mailgun.mails import DOMAIN, mails
from tests.clients.serving import PDF, Served
from tests.clients.test_docs import after, real, shown


@pytest.fixture(scope="module")
def template(site: Served) -> str:
    site.add_template("promo-template", subject="Promo", html="<p>{{ code }} {{ user }}</p>")
    return "promo-template"


def test_anymails_backend_sends_and_tells_errors(site: Served) -> None:
    import django
    from anymail.exceptions import AnymailRequestsAPIError
    from anymail.message import AnymailMessage
    from django.conf import settings
    from django.core.mail import get_connection

    if not settings.configured:
        settings.configure(INSTALLED_APPS=["anymail"], ANYMAIL={}, USE_TZ=True)
        django.setup()
    connection = get_connection(
        "anymail.backends.mailgun.EmailBackend", api_key=site.keys.live, api_url=f"{site.url}/v3"
    )
    tag = uuid4().hex[:8]
    to = [f"ann-{tag}@example.com", f"bob-{tag}@example.com"]
    message = AnymailMessage(
        "Hi %recipient.name%", "Hello", "Shop <shop@example.com>", to, connection=connection
    )
    message.attach_alternative("<b>%recipient.name%</b>", "text/html")
    message.attach("bill.pdf", PDF, "application/pdf")
    message.merge_data = {to[0]: {"name": "Ann"}, to[1]: {"name": "Bob"}}
    message.merge_metadata = {to[0]: {"order": 81}}
    message.metadata = {"shop": "x"}
    message.tags = ["news"]
    message.reply_to = ["help@example.com"]

    assert message.send() == 1

    ann, bob = mails(site, f"%-{tag}@example.com")
    assert (ann["subject"], bob["html"]) == ("Hi Ann", "<b>Bob</b>")
    assert ann["custom_data"] == {"user_variables": {"shop": "x", "order": "81"}}
    assert (bob["tags"], bob["reply_to"]) == (["news"], "help@example.com")
    assert message.anymail_status.status == {"queued"}
    assert message.anymail_status.message_id.endswith("@example.com>")
    message.extra_headers = {"Sender": "x@example.com"}
    with pytest.raises(AnymailRequestsAPIError, match="Sender is set by mailqueue"):
        message.send()


def test_python_on_the_page_sends(site: Served) -> None:
    site.add_template("order-confirmation", subject="Your order", html="<p>{{ product }}</p>")
    before = site.count()
    text = "\n".join(after(each) for each in shown("mailgun", "diff", "python"))

    exec(compile(real(site, text), "mailgun.md", "exec"), {})

    assert site.count() == before + 5


@pytest.fixture
def published(site: Served, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The values that the library's examples need; they name no server."""
    monkeypatch.setattr(Config, "DEFAULT_API_URL", site.url)
    return {
        "api_key": site.keys.live,
        "domain": DOMAIN,
        "from_email": "from@example.com",
        "to_email": "to@example.com",
        "cc_email": "cc@example.com",
    }


@pytest.mark.parametrize("name", ["message", "message_tags", "mime", "no_tracking", "scheduled"])
def test_published_examples_run_unmodified(
    published: dict[str, str], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    folder = Path(messages_examples.__file__).parents[1] / "doc_tests" / "files"
    given = published | {
        "html_body": "<b>Hello!</b>",
        "file_path_1": str(folder / "test1.txt"),
        "file_path_2": str(folder / "test2.txt"),
        "mime_file_path": str(folder / "test_mime.mime"),
    }

    for kind in ("sync", "async"):
        example = getattr(messages_examples, f"post_{name}_{kind}")
        wanted = {each: given[each] for each in inspect.signature(example).parameters}
        done = example(**wanted)
        if kind == "async":
            asyncio.run(done)

    assert capsys.readouterr().out.count("'message': 'Queued. Thank you.'") == 2


def test_published_examples_of_the_builder_run_unmodified(
    published: dict[str, str],
    template: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(builder_examples, "MESSAGES_TO", "alice@example.com", raising=False)
    given = (published["api_key"], DOMAIN)

    builder_examples.send_standard_email_sync(*given)
    builder_examples.send_batch_email_sync(*given)
    said = capsys.readouterr().out
    asyncio.run(builder_examples.send_template_email_async(*given))
    asyncio.run(builder_examples.send_amp_and_inline_images_async(*given))
    refused = capsys.readouterr().out

    assert said.count("'message': 'Queued. Thank you.'") == 2
    assert template in refused
    assert "no version 2" in refused, "it asks for v2, and there is one version"
    assert "'amp-html' parameter: is not supported" in refused
