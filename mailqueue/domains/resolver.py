"""DNS lookups with the system's name servers or configured ones."""

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

QUERY_SECONDS = 5.0
"""Seconds for one query, all servers and retries together."""
MAX_TEXT = 10_000
"""Characters of a TXT record that are returned: more than any check accepts."""


class Unresolved(Exception):
    """A lookup failed: a server failed or did not answer.

    It does not mean that there is no record.
    """

    def __init__(self, name: str, why: str) -> None:
        self.why = why
        super().__init__(f"{name}: {why}")


@dataclass(frozen=True, slots=True)
class MailHost:
    """A mail host of a domain; an empty name means that the domain accepts no mail (RFC 7505)."""

    preference: int
    host: str


class Resolver:
    """Looks up names. An empty result means that the record or the name does not exist."""

    def __init__(
        self, servers: Sequence[NameServer] = (), *, answer_s: float = QUERY_SECONDS
    ) -> None:
        """Prepare; without `servers` those of the system are used.

        Raises:
            Unavailable: the system has none.
        """
        try:
            self._resolver = dns.asyncresolver.Resolver(configure=not servers)
        except dns.resolver.NoResolverConfiguration as exc:
            raise Unavailable(
                "no DNS server is configured on this host: set --resolver or MAILQUEUE_RESOLVER"
            ) from exc
        if servers:
            self._resolver.nameservers = [
                dns.nameserver.Do53Nameserver(server.address, server.port) for server in servers
            ]
        self._resolver.lifetime = answer_s
        self._resolver.timeout = answer_s / 2

    async def texts(self, name: str) -> list[str]:
        """Return the TXT records of a name, the strings of each joined and cut at MAX_TEXT.

        What is not UTF-8, or NUL, which no column holds, is U+FFFD.
        """
        found = await self._ask(name, dns.rdatatype.TXT)
        joined = (b"".join(record.strings).decode("utf-8", "replace") for record in found)
        return [text[:MAX_TEXT].replace("\0", "\ufffd") for text in joined]

    async def addresses(self, name: str, *, version: int | None = None) -> list[str]:
        """Return the addresses of a name, of IP version 4 or 6; None: both."""
        types = {4: dns.rdatatype.A, 6: dns.rdatatype.AAAA}
        both = await asyncio.gather(
            *(self._ask(name, kind) for of, kind in types.items() if version in (None, of))
        )
        return [record.address for found in both for record in found]

    async def mail_hosts(self, name: str) -> list[MailHost]:
        """Return the mail hosts of a domain, most preferred first."""
        found = [
            MailHost(record.preference, _plain(record.exchange))
            for record in await self._ask(name, dns.rdatatype.MX)
        ]
        return sorted(found, key=lambda each: (each.preference, each.host))

    async def names_of(self, address: str) -> list[str]:
        """Return the reverse names (PTR) of an IP address.

        Raises:
            ValueError: it is not an IP address.
        """
        try:
            name = dns.reversename.from_address(address)
        except dns.exception.SyntaxError as exc:
            raise ValueError(f"{address!r} is not an IP address") from exc
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
    texts = [str(error[3]) for error in errors if len(error) > 3]
    return f"the name servers failed: {texts[-1]}" if texts else "the name servers failed"
