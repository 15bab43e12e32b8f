"""Mailgun's templates that several change at once, of another project, by a key that reads."""

from concurrent.futures import ThreadPoolExecutor

from mailgun.client import Client

from mailqueue.projects.model import Scope
from tests.clients.keys import key_with
from tests.clients.mailgun.mails import DOMAIN
from tests.clients.mailgun.templating import added, client, version_added, versions_of
from tests.clients.serving import Served

__all__ = ["client"]


def test_several_at_once_add_one_template(site: Served, client: Client) -> None:
    def add(_: int) -> int:
        with Client(auth=("api", site.keys.live), api_url=site.url) as own:
            return int(added(own).status_code)

    with ThreadPoolExecutor(4) as pool:
        codes = sorted(pool.map(add, range(4)))

    assert codes == [200, 400, 400, 400]
    assert len(versions_of(client)) == 1


def test_several_at_once_add_one_version_of_a_tag(site: Served, client: Client) -> None:
    added(client)

    def add(number: int) -> int:
        with Client(auth=("api", site.keys.live), api_url=site.url) as own:
            return int(version_added(own, "spring", comment=f"{number}").status_code)

    with ThreadPoolExecutor(4) as pool:
        codes = sorted(pool.map(add, range(4)))

    assert codes == [200, 400, 400, 400]
    assert len(versions_of(client)) == 2


def test_templates_of_another_project_are_not_found(site: Served, client: Client) -> None:
    added(client)
    named = {"domain": DOMAIN, "template_name": "receipt"}
    with Client(auth=("api", site.keys.other), api_url=site.url) as other:
        found = other.templates.get(domain=DOMAIN).json()["items"]
        codes = {
            other.templates.get(**named).status_code,
            other.templates.put(**named, data={"description": "x"}).status_code,
            other.templates.delete(**named).status_code,
            version_added(other, "stolen").status_code,
            other.templates.get(**named, versions=True, tag="initial").status_code,
        }
        other.templates.delete(domain=DOMAIN)

    assert (found, codes) == ([], {404})
    assert client.templates.get(**named).status_code == 200


def test_a_key_that_only_reads_templates_changes_none(site: Served, client: Client) -> None:
    added(client)
    with Client(auth=("api", key_with(site, Scope.TEMPLATE_READ)), api_url=site.url) as reads:
        shown = reads.templates.get(domain=DOMAIN, template_name="receipt")
        refused = [
            added(reads, "another"),
            version_added(reads, "another"),
            reads.templates.delete(domain=DOMAIN, template_name="receipt"),
        ]

    assert shown.status_code == 200
    assert {one.status_code for one in refused} == {403}
