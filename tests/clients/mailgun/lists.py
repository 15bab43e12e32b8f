"""Mailing lists that tests of Mailgun's API add, and their members."""

from typing import Any

import requests
from mailgun.client import Client

from tests.clients.mailgun.mails import DOMAIN
from tests.clients.serving import Served

DEV = f"dev@{DOMAIN}"
NAME = "dev__example_com"
TABLES = ("contact_list_members", "contact_lists", "contacts")


def added(client: Client, address: str = DEV, **fields: str) -> Any:
    answer = client.lists.create(domain=DOMAIN, data={"address": address, **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()["list"]


def joined(client: Client, address: str, **fields: Any) -> Any:
    data = {"address": address, **fields}
    answer = client.lists_members.create(domain=DOMAIN, address=DEV, data=data)
    assert answer.status_code == 200, answer.text
    return answer.json()["member"]


def addresses(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [one["address"] for one in answer.json()["items"]]


def stored(site: Served) -> list[tuple[Any, ...]]:
    return site.rows(
        "SELECT l.name, l.description, array_agg(c.email ORDER BY c.email) FILTER"
        " (WHERE c.id IS NOT NULL) FROM mailqueue.contact_lists AS l"
        " LEFT JOIN mailqueue.contact_list_members AS m ON m.list_id = l.id"
        " LEFT JOIN mailqueue.contacts AS c ON c.id = m.contact_id GROUP BY 1, 2 ORDER BY 1"
    )


def followed(site: Served, url: str) -> Any:
    return requests.get(url, auth=("api", site.keys.live), timeout=60)
