"""A project admin who looks at the analytics."""

from collections.abc import AsyncIterator

import pytest

from tests.console.visiting import Visiting, Visitor


@pytest.fixture
async def visitor(console: Visiting) -> AsyncIterator[Visitor]:
    """A project admin of the default project."""
    async with console.visitor() as visitor:
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        yield visitor
