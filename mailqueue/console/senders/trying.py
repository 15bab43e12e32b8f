"""A test of a sender account: connect and log in, and show what its server answered."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mailqueue.console.frame.context import PageContext
from mailqueue.contract.senders import SenderTest
from mailqueue.core.errors import ConfigError, Conflict, Locked, SealBroken
from mailqueue.db.fetch import Conn
from mailqueue.senders import accounts
from mailqueue.senders.model import SenderAccount
from mailqueue.senders.trial import try_out
from mailqueue.senders.values import test_of
from mailqueue.smtp.client.transcript import Transcript
from mailqueue.vault.masterkey import master_key_of


@dataclass(frozen=True, slots=True)
class TriedSender:
    """A sender account and the result of its test."""

    account: SenderAccount
    result: SenderTest

    @property
    def is_key_untried(self) -> bool:
        """Return whether the key is used first with an email: no token is fetched with it."""
        facts = self.account.provider.facts
        return facts.has_api and "token_url" not in facts.settings


async def try_account(
    context: PageContext, find: Callable[[Conn], Awaitable[SenderAccount]]
) -> TriedSender:
    """Connect to the server of the account that `find` returns, and log in.

    Raises:
        NotFound: as `find` does.
        Conflict: the password cannot be decrypted, or this process tests no accounts.
    """
    transcript = Transcript()
    try:
        async with context.connection() as conn:
            account = await find(conn)
            sealed = account.smtp_password
            master = master_key_of(context.console.settings) if sealed else None
            password = await accounts.password_of(conn, account, master=master)
        # The connection is released before the network is used.
        transport = context.console.open_transport(account, password, transcript)
    except (ConfigError, Locked, SealBroken) as exc:
        raise Conflict(str(exc)) from exc
    return TriedSender(account, test_of(await try_out(transport), transcript))
