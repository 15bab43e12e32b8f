"""Templates that the published `mailgun` library adds, and what is shown of them."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
from mailgun.builders import MailgunTemplateBuilder
from mailgun.client import Client

from tests.clients.mailgun.mails import DOMAIN
from tests.clients.serving import Served

HTML = "<p>Hello {{name}}</p>{{#each lines}}<li>{{this.sku}}</li>{{/each}}"
MODEL = {"name": "Ann", "lines": [{"sku": "A"}, {"sku": "<B>"}]}


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        assert made.templates.delete(domain=DOMAIN).status_code == 200
        yield made


def added(client: Client, name: str = "receipt", **fields: Any) -> Any:
    builder = MailgunTemplateBuilder(name="any").set_template_content(HTML)
    words = builder.set_headers({"Subject": "Order {{id}}"}).build()
    data = {**words, "name": name, **fields}
    return client.templates.create(data=data, domain=DOMAIN)


def version_added(client: Client, tag: str, name: str = "receipt", **fields: Any) -> Any:
    data = {"tag": tag, "template": f"<p>{tag} {{{{name}}}}</p>", **fields}
    return client.templates.create(data=data, domain=DOMAIN, template_name=name, versions=True)


def versions_of(client: Client, name: str = "receipt", **filters: Any) -> Any:
    answer = client.templates.get(
        domain=DOMAIN, template_name=name, versions=True, filters=filters or None
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["template"]["versions"]


def shown_in(site: Served, slug: str, variables: Any) -> Any:
    answer = requests.post(
        f"{site.url}/v1/projects/default/templates/{slug}/preview",
        json={"variables": variables},
        headers={"X-API-Key": site.keys.live},
        timeout=60,
    )
    assert answer.ok, answer.text
    return answer.json()


def sent(client: Client, **fields: Any) -> Any:
    data = {"from": "a@example.com", "to": "b@example.org", "template": "receipt", **fields}
    return client.messages.create(data=data, domain=DOMAIN)
