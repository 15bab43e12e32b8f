"""One server for each file of tests."""

from collections.abc import Iterator

import pytest
import resend
from postmarker.core import PostmarkClient

from mailqueue.api.http import auth
from tests.clients.serving import Served, served


@pytest.fixture(scope="module")
def site(module_db: str) -> Iterator[Served]:
    """The API on a real socket, with a database that the tests of one file share."""
    with served(module_db) as running:
        yield running


@pytest.fixture
def no_request_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse requests above a rate almost at once."""
    monkeypatch.setattr(auth, "MAX_WAIT_SECONDS", 0.1)


@pytest.fixture
def resend_here(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point Resend's library at the server; its settings are variables of its module."""
    monkeypatch.setattr(resend, "api_url", site.url)
    monkeypatch.setattr(resend, "api_key", site.keys.live)


@pytest.fixture
def postmark(site: Served) -> PostmarkClient:
    """Return the library's client."""
    return PostmarkClient(server_token=site.keys.live, root_api_url=site.url)
