"""A name server on loopback with scripted answers, by UDP and TCP."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

from mailqueue.domains.resolver import Resolver
from mailqueue.settings.nameserver import NameServer

TEXT_OCTETS = 255


@dataclass
class Zone:
    """What is said of each name; names of `failing` get SERVFAIL, those of `silent` no answer.

    Answers about names of `large` do not fit into a datagram: they are cut, and whole by TCP.
    """

    records: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    failing: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    large: set[str] = field(default_factory=set)
    port: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)
    by_tcp: int = 0

    def says(self, name: str, kind: str, *values: str) -> "Zone":
        """Set the records of a name and type."""
        self.records[name.lower().rstrip("."), kind] = list(values)
        return self

    def text(self, name: str, *values: str) -> "Zone":
        """Set the TXT records of a name, cut into strings of 255 bytes."""
        return self.says(name, "TXT", *(quoted(value) for value in values))

    @property
    def server(self) -> NameServer:
        return NameServer("127.0.0.1", self.port)

    def resolver(self, *, answer_s: float = 30.0) -> Resolver:
        """Return a resolver that queries this server, with long timeouts for busy machines."""
        return Resolver([self.server], answer_s=answer_s)

    def answer(self, wire: bytes, *, by_tcp: bool) -> bytes | None:
        """Return the scripted answer to one query; None for no answer."""
        query = dns.message.from_wire(wire)
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True).lower()
        kind = dns.rdatatype.to_text(question.rdtype)
        self.asked.append((name, kind))
        self.by_tcp += by_tcp
        if name in self.silent:
            return None
        response = dns.message.make_response(query)
        if name in self.failing:
            response.set_rcode(dns.rcode.SERVFAIL)
        elif values := self.records.get((name, kind)):
            if name in self.large and not by_tcp:
                response.flags |= dns.flags.TC
            else:
                found = dns.rrset.from_text(question.name, 60, "IN", kind, *values)
                response.answer.append(found)
        elif not any(known == name or known.endswith(f".{name}") for known, _ in self.records):
            response.set_rcode(dns.rcode.NXDOMAIN)
        return response.to_wire()


def quoted(text: str) -> str:
    """Return a text as the strings of one TXT record."""
    parts = [text[at : at + TEXT_OCTETS] for at in range(0, len(text), TEXT_OCTETS)] or [""]
    return " ".join('"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"' for part in parts)


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, zone: Zone) -> None:
        self._zone = zone

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        answer = self._zone.answer(data, by_tcp=False)
        if answer is not None:
            self._transport.sendto(answer, addr)


@asynccontextmanager
async def serving(zone: Zone) -> AsyncIterator[Zone]:
    """Serve the zone on one port of loopback, UDP and TCP."""

    async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        (length,) = struct.unpack("!H", await reader.readexactly(2))
        answer = zone.answer(await reader.readexactly(length), by_tcp=True)
        if answer is not None:
            writer.write(struct.pack("!H", len(answer)) + answer)
        writer.close()

    loop = asyncio.get_running_loop()
    tcp = await asyncio.start_server(stream, "127.0.0.1", 0)
    zone.port = tcp.sockets[0].getsockname()[1]
    udp, _ = await loop.create_datagram_endpoint(
        lambda: _Datagrams(zone), local_addr=("127.0.0.1", zone.port)
    )
    try:
        yield zone
    finally:
        udp.close()
        tcp.close()
