"""Who unsubscribed and then complained is not sent to again by the end of the unsubscribe."""

from typing import Any

import pytest
import requests

from tests.clients.serving import Served
from tests.clients.suppressing import clear, put, stored

WHO = "angry-too@example.org"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", f"/v3/asm/suppressions/global/{WHO}", None),
        ("DELETE", f"/v3/example.com/unsubscribes/{WHO}", None),
        ("DELETE", f"/suppressions/{WHO}", None),
        (
            "POST",
            "/message-streams/outbound/suppressions/delete",
            {"Suppressions": [{"EmailAddress": WHO}]},
        ),
    ],
)
def test_the_end_of_a_choice_ends_no_complaint(
    site: Served, method: str, path: str, body: Any
) -> None:
    clear(site)
    put(site, WHO, "unsubscribed")
    site.rows(
        "INSERT INTO mailqueue.bounce_list (project, email, bounce_type)"
        " VALUES ('default', %s, 'complaint') ON CONFLICT DO NOTHING RETURNING 1",
        WHO,
    )
    headers = {"Accept": "application/json", "X-Postmark-Server-Token": site.keys.live}
    is_mailgun = "unsubscribes" in path
    if not path.startswith("/message-streams"):
        headers = {} if is_mailgun else {"Authorization": f"Bearer {site.keys.live}"}

    answer = requests.request(
        method,
        site.url + path,
        json=body,
        headers=headers,
        auth=("api", site.keys.live) if is_mailgun else None,
        timeout=60,
    )

    assert answer.status_code in (200, 400, 422), answer.text
    if answer.status_code == 200:
        assert answer.json()["Suppressions"][0]["Status"] == "Failed"
    else:
        assert "/v1/suppressions" in answer.text
    assert (WHO, "unsubscribed", "") in stored(site)
    assert site.rows("SELECT 1 FROM mailqueue.bounce_list WHERE email = %s", WHO)
