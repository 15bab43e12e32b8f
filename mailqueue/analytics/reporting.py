"""How much of what was sent is known to be delivered or not: that of accounts that report it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from mailqueue.analytics import store
from mailqueue.analytics.model import AccountRow, SentRow, StatsScope
from mailqueue.contract.analytics import Dimension
from mailqueue.contract.counts import EmailCounts
from mailqueue.db.fetch import Conn


class Reporting:
    """The sender accounts of an answer, and what each sent in its time.

    What each sent is needed, and given, only where some accounts report deliveries and some do not.
    """

    def __init__(self, accounts: Sequence[AccountRow], rows: Iterable[SentRow] = ()) -> None:
        self.by_id: Mapping[str, AccountRow] = {str(one.sender_account_id): one for one in accounts}
        self._rows = list(rows)

    @property
    def is_mixed(self) -> bool:
        """Return whether some accounts report deliveries and some do not."""
        return len({self.reports(one) for one in self.by_id}) > 1

    def of_scope(self, scope: StatsScope, counts: EmailCounts) -> int:
        """Return what of a scope was sent by accounts that report deliveries."""
        if scope.dimension is None:
            return self.of_all(counts)
        if scope.dimension is Dimension.PROVIDER:
            return self.of_provider(scope.value or "", counts)
        if scope.dimension is Dimension.ACCOUNT:
            return counts.sent if self.reports(scope.value or "") else 0
        return self.of_part(counts)

    def of_all(self, counts: EmailCounts) -> int:
        """Return the same of everything."""
        return self._of([*self.by_id], counts)

    def of_provider(self, provider: str, counts: EmailCounts) -> int:
        """Return the same of the accounts of one provider."""
        return self._of(
            [name for name, one in self.by_id.items() if one.provider == provider], counts
        )

    def of_part(self, counts: EmailCounts) -> int:
        """Return the same of a part of all emails, such as those of a campaign.

        By which accounts a part was sent is not counted: it is known where all accounts that sent
        report deliveries, and taken as unknown otherwise.
        """
        if not self.is_mixed:
            return self.of_all(counts)
        is_silent = any(row.sent and not self.reports(row.value) for row in self._rows)
        return 0 if is_silent else counts.sent

    def reports(self, account: str) -> bool:
        """Return whether an account has ever reported a delivery."""
        found = self.by_id.get(account)
        return found is not None and found.tells_since is not None

    def _of(self, accounts: Sequence[str], counts: EmailCounts) -> int:
        reporting = {one for one in accounts if self.reports(one)}
        if len(reporting) == len(accounts):
            return counts.sent if accounts else 0
        return sum(row.sent for row in self._rows if row.value in reporting)


async def reporting(conn: Conn, scope: StatsScope, starts: Sequence[datetime]) -> Reporting:
    """Read the accounts, and what they sent between the first and the last of some instants."""
    accounts = await store.accounts(conn, scope.project_id)
    found = Reporting(accounts)
    if not found.is_mixed:
        return found
    projects = sorted({one.project_id for one in accounts})
    sent = await store.sent_by_account(conn, projects, starts[0], starts[-1], is_test=scope.is_test)
    return Reporting(accounts, sent)
