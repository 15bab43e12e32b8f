"""The published library postmarker manages the triggers of tags, and rules on bounce mail."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError

from mailqueue.projects.model import Scope
from tests.clients.keys import key_with
from tests.clients.postmark.mails import HELLO, post
from tests.clients.serving import Served

OPENS = 1


@pytest.fixture(autouse=True)
def without_rules(site: Served) -> Iterator[None]:
    site.rows("DELETE FROM mailqueue.project_rules RETURNING 1")
    yield
    site.rows("DELETE FROM mailqueue.project_rules RETURNING 1")


def refused(work: Any, *given: Any, **named: Any) -> int:
    with pytest.raises(ClientError) as caught:
        work(*given, **named)
    return int(caught.value.error_code)


def is_tracked(site: Served, **fields: Any) -> bool:
    """Return whether opens of a new mail are tracked."""
    answer = post(site, "/email", {**HELLO, "HtmlBody": "<p>Hi</p>", **fields}).json()
    assert answer["ErrorCode"] == 0, answer
    return bool((site.email(answer["MessageID"])["tracking_options"] or 0) & OPENS)


def test_a_tag_decides_whether_opens_are_tracked(site: Served, postmark: PostmarkClient) -> None:
    tags = postmark.triggers.tags
    made, off = tags.create("welcome"), tags.create("receipt", TrackOpens=False)

    assert (made.MatchName, made.TrackOpens, off.TrackOpens) == ("welcome", True, False)
    assert is_tracked(site, Tag="welcome")
    assert not is_tracked(site, Tag="welcome", TrackOpens=False)
    assert not is_tracked(site, Tag="Welcome")
    assert not is_tracked(site)
    default = "UPDATE mailqueue.projects SET track_opens = %s WHERE name = 'default' RETURNING 1"
    site.rows(default, True)
    try:
        assert is_tracked(site)
        assert not is_tracked(site, Tag="receipt")
        assert is_tracked(site, Tag="receipt", TrackOpens=True)
    finally:
        site.rows(default, False)

    made.edit(MatchName="hello", TrackOpens=False)
    shown = tags.get(made.ID)
    assert (shown.MatchName, shown.TrackOpens) == ("hello", False)
    assert not is_tracked(site, Tag="welcome")
    tags.edit(made.ID, "hello", TrackOpens=True)
    assert is_tracked(site, Tag="hello")
    assert [one.MatchName for one in tags.all()] == ["hello", "receipt"]
    assert [one.MatchName for one in tags.all(match_name="EL")] == ["hello"]
    assert made.delete() == "Tag hello removed."
    assert not is_tracked(site, Tag="hello")


def test_a_tag_has_one_trigger_and_a_name(site: Served, postmark: PostmarkClient) -> None:
    tags = postmark.triggers.tags
    made, other = tags.create("welcome"), tags.create("receipt")

    assert refused(tags.create, "welcome") == 803
    assert refused(tags.edit, other.ID, "welcome") == 803
    assert refused(tags.create, " ") == 808
    assert refused(tags.create, "t" * 129) == 403
    assert refused(tags.get, 1) == refused(tags.delete, 1) == refused(tags.edit, 1, "x") == 801
    assert [one.as_dict() for one in tags.all()] == [other.as_dict(), made.as_dict()]
    of_other_project = PostmarkClient(server_token=site.keys.other, root_api_url=site.url)
    assert refused(of_other_project.triggers.tags.get, made.ID) == 801
    assert refused(of_other_project.triggers.tags.delete, made.ID) == 801
    assert of_other_project.triggers.tags.all() == []


def test_rules_on_bounce_mail_are_of_an_address_or_a_domain(
    site: Served, postmark: PostmarkClient
) -> None:
    rules = postmark.triggers.inboundrules
    address, domain = rules.create("MAILER-daemon@Example.org"), rules.create("Example.NET")

    found = [(one.ID, one.Rule) for one in rules.all()]
    assert found == [(domain.ID, "example.net"), (address.ID, "mailer-daemon@example.org")]
    assert refused(rules.create, "example.net") == 810
    for wrong in ("no domain", "a@b@c", ""):
        assert refused(rules.create, wrong) == 813
    assert refused(rules.delete, 1) == 812
    of_other_project = PostmarkClient(server_token=site.keys.other, root_api_url=site.url)
    assert refused(of_other_project.triggers.inboundrules.delete, domain.ID) == 812
    assert domain.delete() == "Rule example.net removed."
    assert [one.Rule for one in rules.all()] == ["mailer-daemon@example.org"]


def test_the_scopes_of_projects_decide(site: Served) -> None:
    key = key_with(site, Scope.PROJECT_READ)
    head = {"X-Postmark-Server-Token": key}
    for path in ("/triggers/tags", "/triggers/inboundrules"):
        assert requests.get(f"{site.url}{path}", headers=head, timeout=60).ok
        answer = post(site, path, {"Rule": "example.com"}, token=key)
        assert (answer.status_code, answer.json()["ErrorCode"]) == (422, 405)
        page = requests.get(f"{site.url}{path}?count=0", headers=head, timeout=60)
        assert page.json()["TotalCount"] == 0
