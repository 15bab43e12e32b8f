"""A small IMAP server on loopback: folders with mail that a test adds, or scripted trouble."""

import asyncio
import base64
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime


@dataclass
class FakeFolder:
    """Messages by UID, each with the time of its arrival."""

    validity: int = 1
    next_uid: int = 1
    uses: str = ""
    mails: dict[int, tuple[datetime, bytes]] = field(default_factory=dict)

    def add(self, octets: bytes, *, at: datetime | None = None) -> int:
        """Add a message; return its UID."""
        uid = self.next_uid
        self.mails[uid] = (at or datetime.now(UTC), octets)
        self.next_uid += 1
        return uid


@dataclass
class FakeImap:
    """The folders by name, the one password, and the commands that were received."""

    folders: dict[str, FakeFolder] = field(default_factory=lambda: {"INBOX": FakeFolder()})
    password: str = "secret"
    commands: list[str] = field(default_factory=list)
    logins: int = 0
    port: int = 0
    instead: dict[str, bytes] = field(default_factory=dict)
    """Raw answers by command, sent in place of the usual one."""
    has_idle: bool = True
    idling: list[asyncio.StreamWriter] = field(default_factory=list)
    """Connections that wait."""

    def tell(self, line: bytes) -> None:
        """Send a line to every connection that waits."""
        for writer in self.idling:
            writer.write(line)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        chosen = FakeFolder()
        writer.write(b"* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SPECIAL-USE] ready\r\n")
        try:
            while line := await reader.readline():
                tag, _, words = line.decode().strip().partition(" ")
                name = words.split(" ")[0].upper()
                self.commands.append(words)
                if name in self.instead:
                    writer.write(self.instead[name].replace(b"TAG", tag.encode()))
                elif name == "IDLE" and self.has_idle:
                    writer.write(b"+ idling\r\n")
                    await writer.drain()
                    self.idling.append(writer)
                    done = await reader.readline()
                    self.idling.remove(writer)
                    if not done:
                        break
                    writer.write(f"{tag} OK done\r\n".encode())
                elif name == "AUTHENTICATE":
                    writer.write(b"+ \r\n")
                    given = base64.b64decode(await reader.readline()).split(b"\0")
                    self.logins += 1
                    is_right = given[2].decode() == self.password
                    reply = "OK done" if is_right else "NO [AUTHENTICATIONFAILED] no"
                    writer.write(f"{tag} {reply}\r\n".encode())
                else:
                    if name == "EXAMINE":
                        chosen = self.folders[re.findall(r'"([^"]*)"', words)[0]]
                    answer = self._answer(name, words, chosen)
                    writer.write(answer + f"{tag} OK done\r\n".encode())
                await writer.drain()
                if name == "LOGOUT":
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client went, or the test is over
        finally:
            writer.close()

    def _answer(self, name: str, words: str, chosen: FakeFolder) -> bytes:
        quoted = re.findall(r'"([^"]*)"', words)
        match name:
            case "CAPABILITY":
                idle = " IDLE" if self.has_idle else ""
                return f"* CAPABILITY IMAP4rev1 AUTH=PLAIN SPECIAL-USE{idle}\r\n".encode()
            case "LIST":
                found = self.folders[quoted[-1]]
                return f'* LIST (\\HasNoChildren {found.uses}) "/" "{quoted[-1]}"\r\n'.encode()
            case "STATUS":
                one = self.folders[quoted[0]]
                state = f"UIDVALIDITY {one.validity} UIDNEXT {one.next_uid}"
                return f'* STATUS "{quoted[0]}" ({state})\r\n'.encode()
            case "EXAMINE":
                return f"* {len(chosen.mails)} EXISTS\r\n".encode()
            case "UID" if "SEARCH" in words:
                low, high = map(int, words.rsplit(" ", 1)[1].split(":"))
                uids = [str(uid) for uid in chosen.mails if low <= uid <= high]
                return f"* SEARCH {' '.join(uids)}\r\n".encode()
            case "UID":
                numbers = words.split(" ")[2].split(",")
                return b"".join(_fetched(chosen, int(number)) for number in numbers)
            case _:
                return b""


def _fetched(chosen: FakeFolder, uid: int) -> bytes:
    at, octets = chosen.mails[uid]
    arrival = at.strftime("%d-%b-%Y %H:%M:%S +0000")
    head = f'* {uid} FETCH (UID {uid} INTERNALDATE "{arrival}" BODY[]<0> {{{len(octets)}}}\r\n'
    return head.encode() + octets + b")\r\n"


@asynccontextmanager
async def fake_imap() -> AsyncIterator[FakeImap]:
    """Run a server during the block."""
    state = FakeImap()
    server = await asyncio.start_server(state.serve, "127.0.0.1", 0, limit=1 << 20)
    state.port = server.sockets[0].getsockname()[1]
    try:
        yield state
    finally:
        server.close()


def mail(
    number: int = 1,
    *,
    sender: str = "Bob <bob@example.com>",
    subject: str = "Hello",
    text: str = "How are you?",
    message_id: str | None = None,
) -> bytes:
    """Return a message."""
    known = message_id or f"<{number}@example.com>"
    lines = [f"From: {sender}", f"Subject: {subject}", f"Message-ID: {known}", "", text, ""]
    return "\r\n".join(lines).encode()
