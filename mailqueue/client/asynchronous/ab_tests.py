"""A/B tests."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from mailqueue.client import ab_tests, answers
from mailqueue.client.asynchronous.calls import AsyncCalls


class AsyncAbTests(AsyncCalls):
    """Methods for A/B tests."""

    async def create_ab_test(self, **fields: Any) -> answers.AbTest:
        """Create a test of two to four variants of an email; the fields are those of the API."""
        return await self._ask(ab_tests.create(fields))

    async def get_ab_test(self, test_id: UUID | str) -> answers.AbTest:
        """Return a test with the counts of its variants."""
        return await self._ask(ab_tests.show(test_id))

    async def send_ab_test(
        self, test_id: UUID | str, recipients: Sequence[Mapping[str, Any] | str]
    ) -> answers.AbTestResults:
        """Send a test to up to 1,000 recipients: addresses, or objects with `email` and more."""
        return await self._ask(ab_tests.add(test_id, recipients))

    async def decide_ab_test(self, test_id: UUID | str, variant: str) -> answers.AbTest:
        """Make a variant the winner before the evaluation."""
        return await self._ask(ab_tests.decide(test_id, variant))

    async def cancel_ab_test(self, test_id: UUID | str) -> answers.AbTest:
        """Cancel a test: recipients that wait get no email."""
        return await self._ask(ab_tests.cancel(test_id))
