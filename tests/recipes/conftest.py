"""One shop for each file of tests."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.conftest import Server
from tests.recipes.shop import Shop, opened, shown


@pytest.fixture(scope="module")
def shop(server: Server, module_db: str) -> Iterator[Shop]:
    """A shop set up as the page says."""
    (setup,) = shown("index", "sh")
    granted = re.search(r"'(GRANT [^']+)'", setup)
    assert granted is not None
    with opened(server.superuser_url(urlsplit(module_db).path[1:]), granted[1]) as found:
        yield found
