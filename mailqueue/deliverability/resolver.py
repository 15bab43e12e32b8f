"""Asks name servers: the system's, or those that are named."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dns.asyncresolver
import dns.exception
import dns.name
import dns.nameserver
import dns.rdatatype
import dns.resolver
import dns.reversename

from mailqueue.core.errors import Unavailable
from mailqueue.settings.nameserver import NameServer

ANSWER_SECONDS = 5.0
"""For one question, all servers and repetitions together."""
MAX_TEXT = 10_000
"""Characters of a TXT record that are given: more than those who read one accept."""


class Unresolved(Exception):
    """Nobody could say: a server failed or did not answer. Not that there is no record."""

    def __init__(self, name: str, why: str) -> None:
        self.why = why
        super().__init__(f"{name}: {why}")


@dataclass(frozen=True, slots=True)
class MailHost:
    """A host that takes a domain's mail; an empty name says that it takes none (RFC 7505)."""

    preference: int
    host: str


class Resolver:
    """Looks names up. An empty answer means that there is no such record, or no such name."""

    def __init__(
        self, servers: Sequence[NameServer] = (), *, answer_s: float = ANSWER_SECONDS
    ) -> None:
        """Prepare; without `servers` the system's are asked.

        Raises:
            Unavailable: the system names none.
        """
        try:
            self._resolver = dns.asyncresolver.Resolver(configure=not servers)
        except dns.resolver.NoResolverConfiguration as exc:
            raise Unavailable(
                "this machine names no DNS server: name one with --resolver or MAILQUEUE_RESOLVER"
            ) from exc
        if servers:
            self._resolver.nameservers = [
                dns.nameserver.Do53Nameserver(server.address, server.port) for server in servers
            ]
        self._resolver.lifetime = answer_s
        self._resolver.timeout = answer_s / 2

    async def texts(self, name: str) -> list[str]:
        """Return the TXT records of a name, the strings of each joined and cut at MAX_TEXT."""
        found = await self._ask(name, dns.rdatatype.TXT)
        joined = (b"".join(record.strings).decode("utf-8", "replace") for record in found)
        return [text[:MAX_TEXT] for text in joined]

    async def addresses(self, name: str) -> list[str]:
        """Return the IPv4 and IPv6 addresses of a name."""
        both = await asyncio.gather(
            self._ask(name, dns.rdatatype.A), self._ask(name, dns.rdatatype.AAAA)
        )
        return [record.address for found in both for record in found]

    async def mail_hosts(self, name: str) -> list[MailHost]:
        """Return the hosts that take a domain's mail, first choice first."""
        found = [
            MailHost(record.preference, _plain(record.exchange))
            for record in await self._ask(name, dns.rdatatype.MX)
        ]
        return sorted(found, key=lambda each: (each.preference, each.host))

    async def names_of(self, address: str) -> list[str]:
        """Return the names an IP address says it has.

        Raises:
            ValueError: it is no IP address.
        """
        try:
            name = dns.reversename.from_address(address)
        except dns.exception.SyntaxError as exc:
            raise ValueError(f"{address!r} is no IP address") from exc
        found = await self._ask(name.to_text(), dns.rdatatype.PTR)
        return sorted(_plain(record.target) for record in found)

    async def _ask(self, name: str, kind: dns.rdatatype.RdataType) -> list[Any]:
        try:
            absolute = dns.name.from_text(name if name.endswith(".") else f"{name}.")
            answer = await self._resolver.resolve(
                absolute, kind, raise_on_no_answer=False, search=False
            )
        except dns.resolver.NXDOMAIN:
            return []
        except dns.resolver.LifetimeTimeout:
            raise Unresolved(name, "no name server answered in time") from None
        except dns.resolver.NoNameservers as exc:
            raise Unresolved(name, _fault_of(exc)) from None
        except (dns.exception.DNSException, UnicodeError, OSError) as exc:
            raise Unresolved(name, f"{type(exc).__name__}: {exc}") from None
        return [] if answer.rrset is None else list(answer.rrset)


def _plain(name: dns.name.Name) -> str:
    return name.to_text(omit_final_dot=True).lower().removeprefix(".")


def _fault_of(exc: dns.resolver.NoNameservers) -> str:
    errors: Sequence[Any] = exc.kwargs.get("errors", ())
    said = [str(error[3]) for error in errors if len(error) > 3]
    return f"the name servers failed: {said[-1]}" if said else "the name servers failed"
