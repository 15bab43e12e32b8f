"""Authenticates submission clients by API key, and delays clients that guess keys.

Many programs may share one address, of a host or behind a gateway: a correct key is accepted
however many wrong ones came from its address. Look-ups of wrong keys are limited by address.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network
from uuid import UUID

from mailqueue.core.errors import MailqueueError
from mailqueue.projects.keys.cache import KeyCache
from mailqueue.projects.model import Scope
from mailqueue.smtp.server.answer import LOGIN_REFUSED, SmtpReply
from mailqueue.smtp.server.handler import LoggedIn, LoginAttempt
from mailqueue.submission.model import SubmissionClient
from mailqueue.submission.shares import ConnectionShares
from mailqueue.telemetry.log import get_logger

MAX_FAILURES = 10
"""Failed logins of one address within the window, above which its keys are checked one by one."""
CHECK_SECONDS = 0.2
"""Interval between two checks of keys from such an address; a key that was right is not counted."""
WINDOW_SECONDS = 600.0
MAX_KEPT = 10_000
PAUSE_SECONDS = 0.5
"""Seconds before the first refusal of an address; doubled for each further one."""
MAX_PAUSE_SECONDS = 8.0

MAY_NOT_SEND = SmtpReply(535, "5.7.8", "the API key lacks the scope email:send")
TOO_MANY = SmtpReply(454, "4.7.0", "too many failed logins from your address, try again later")
TOO_MANY_CONNECTIONS = SmtpReply(
    454, "4.7.0", "too many connections of your project, try again later"
)
"""RFC 4954 section 6: a temporary failure, whose reason clients show. A third try gets 421."""
UNAVAILABLE = SmtpReply(454, "4.7.0", "login is not possible now, try again later")

log = get_logger(__name__)


class FailedLogins:
    """Counts the failed logins of each address within the window."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._by_address: OrderedDict[str, deque[float]] = OrderedDict()
        self._next_check: dict[str, float] = {}

    def count(self, address: str) -> int:
        """Return the number of failures within the window."""
        found = self._by_address.get(network_of(address))
        if found is None:
            return 0
        while found and found[0] <= self._now() - WINDOW_SECONDS:
            found.popleft()
        return len(found)

    def wait_for_check(self, address: str) -> float:
        """Reserve the next check of a key from an address that sent wrong ones; return the wait for
        it in seconds. More than MAX_PAUSE_SECONDS: too many wait, and none was reserved.
        """
        network, now = network_of(address), self._now()
        at = max(now, self._next_check.get(network, now))
        if at - now <= MAX_PAUSE_SECONDS:
            if len(self._next_check) >= MAX_KEPT:
                self._next_check = {one: by for one, by in self._next_check.items() if by > now}
            self._next_check[network] = at + CHECK_SECONDS
        return at - now

    def add(self, address: str) -> int:
        """Count one failure; return the number within the window."""
        network = network_of(address)
        found = self._by_address.setdefault(network, deque(maxlen=MAX_FAILURES))
        self._by_address.move_to_end(network)
        while len(self._by_address) > MAX_KEPT:
            self._by_address.popitem(last=False)
        found.append(self._now())
        return self.count(address)


def network_of(address: str) -> str:
    """Return the key by which a client is counted: its IPv4 address, or its IPv6 /64 network."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or ip_network((found, 64), strict=False))
    return str(found)


class RightKeys:
    """Digests of the keys with which clients have logged in, the latest ones."""

    def __init__(self) -> None:
        self._digests: OrderedDict[bytes, None] = OrderedDict()

    def __contains__(self, key: str) -> bool:
        return _digest(key) in self._digests

    def add(self, key: str) -> None:
        """Note that the key was right; it may be revoked later."""
        digest = _digest(key)
        self._digests[digest] = None
        self._digests.move_to_end(digest)
        while len(self._digests) > MAX_KEPT:
            self._digests.popitem(last=False)


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogateescape")).digest()


class Authenticator:
    """Authenticates clients with an API key as password and any user name."""

    def __init__(
        self,
        callers: KeyCache,
        message_bytes: Callable[[UUID], Awaitable[int]],
        shares: ConnectionShares,
        *,
        now: Callable[[], float] = time.monotonic,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._callers = callers
        self._message_bytes = message_bytes
        self._shares = shares
        self._failures = FailedLogins(now)
        self._right_keys = RightKeys()
        self._wait = wait

    async def enter(self, attempt: LoginAttempt) -> LoggedIn | SmtpReply:
        """Return the authenticated client, or the refusal."""
        is_guessing = self._failures.count(attempt.address) >= MAX_FAILURES
        if is_guessing and attempt.password not in self._right_keys:
            wait = self._failures.wait_for_check(attempt.address)
            if wait > MAX_PAUSE_SECONDS:
                log.warning("submission.locked_out", client=attempt.address)
                await self._wait(PAUSE_SECONDS)
                return TOO_MANY
            await self._wait(wait)
        try:
            caller = await self._callers.find(attempt.password, address=attempt.address)
            if caller is None:
                refusal = TOO_MANY if is_guessing else LOGIN_REFUSED
                return await self._refused(attempt.address, refusal)
            if Scope.EMAIL_SEND not in caller.scopes:
                return MAY_NOT_SEND
            most = await self._message_bytes(caller.project_id)
        except MailqueueError as exc:
            log.warning("submission.closed", error=str(exc))
            return UNAVAILABLE
        self._right_keys.add(attempt.password)
        leave = self._shares.enter(caller.project_id)  # nothing is awaited between here and its use
        if leave is None:
            log.warning(
                "submission.too_many_connections", project=caller.project, client=attempt.address
            )
            return TOO_MANY_CONNECTIONS
        return LoggedIn(SubmissionClient(caller, attempt.address), most, leave)

    async def _refused(self, address: str, refusal: SmtpReply) -> SmtpReply:
        failures = self._failures.add(address)
        log.warning("submission.login_failed", client=address, failures=failures)
        await self._wait(min(PAUSE_SECONDS * 2 ** (failures - 1), MAX_PAUSE_SECONDS))
        return refusal
