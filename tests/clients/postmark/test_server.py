"""The published library postmarker shows the server of a token, and confirms its settings."""

from typing import Any

import pytest
import requests
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError

from mailqueue.projects.model import Scope
from tests.clients.keys import key_with
from tests.clients.serving import Served


@pytest.mark.parametrize("is_on", [True, False])
def test_the_server_tracks_what_the_project_does(
    site: Served, postmark: PostmarkClient, is_on: bool
) -> None:
    site.rows(
        "UPDATE mailqueue.projects SET track_opens = %s, track_clicks = %s"
        " WHERE name = 'default' RETURNING 1",
        is_on,
        is_on,
    )
    server = postmark.server.get()

    assert (server.Name, server.DeliveryType) == ("default", "Live")
    assert (server.TrackOpens, server.TrackLinks) == (is_on, "HtmlOnly" if is_on else "None")
    server.edit(TrackOpens=is_on, Name="default")
    with pytest.raises(ClientError, match="'TrackOpens'"):
        server.edit(TrackOpens=not is_on)
    assert postmark.server.get().TrackOpens is is_on


@pytest.mark.parametrize(
    ("given", "code", "named"),
    [
        ({"Name": "other"}, 300, "'Name'"),
        ({"Color": "red"}, 300, "'Color'"),
        ({"TrackLinks": "TextOnly"}, 300, "'TrackLinks'"),
        ({"TrackOpens": "perhaps"}, 403, "'TrackOpens'"),
        ({"InboundHookUrl": "https://app.example.com"}, 403, "'InboundHookUrl'"),
    ],
)
def test_what_is_not_set_so_is_refused_by_name(
    postmark: PostmarkClient, given: Any, code: int, named: str
) -> None:
    before = postmark.server.get().as_dict()
    with pytest.raises(ClientError, match=named) as caught:
        postmark.call("PUT", "/server", data=given)

    assert int(caught.value.error_code) == code
    assert postmark.server.get().as_dict() == before


def test_a_key_needs_the_scope_and_a_test_key_confirms_nothing(site: Served) -> None:
    for key in (key_with(site, Scope.EMAIL_SEND), site.keys.test):
        head = {"X-Postmark-Server-Token": key}
        shown = requests.get(f"{site.url}/server", headers=head, timeout=60)
        refused = requests.put(f"{site.url}/server", json={}, headers=head, timeout=60)

        assert shown.status_code == 200
        assert (refused.status_code, refused.json()["ErrorCode"]) == (422, 405)
