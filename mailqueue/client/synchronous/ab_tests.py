# Made from mailqueue/client/asynchronous, which is to be changed instead:
# python -m tests.client.made --write

"""A/B tests."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from mailqueue.client import ab_tests, answers
from mailqueue.client.synchronous.calls import Calls


class AbTests(Calls):
    """Methods for A/B tests."""

    def create_ab_test(self, **fields: Any) -> answers.AbTest:
        """Create a test of two to four variants of an email; the fields are those of the API."""
        return self._ask(ab_tests.create(fields))

    def get_ab_test(self, test_id: UUID | str) -> answers.AbTest:
        """Return a test with the counts of its variants."""
        return self._ask(ab_tests.show(test_id))

    def send_ab_test(
        self, test_id: UUID | str, recipients: Sequence[Mapping[str, Any] | str]
    ) -> answers.AbTestResults:
        """Send a test to up to 1,000 recipients: addresses, or objects with `email` and more."""
        return self._ask(ab_tests.add(test_id, recipients))

    def decide_ab_test(self, test_id: UUID | str, variant: str) -> answers.AbTest:
        """Make a variant the winner before the evaluation."""
        return self._ask(ab_tests.decide(test_id, variant))

    def cancel_ab_test(self, test_id: UUID | str) -> answers.AbTest:
        """Cancel a test: recipients that wait get no email."""
        return self._ask(ab_tests.cancel(test_id))
