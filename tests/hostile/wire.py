"""Checks the bytes of received messages, knowing only what was submitted."""

import re
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any
from uuid import UUID

from mailqueue.core.address import parse_address
from tests.hostile.payloads import Case
from tests.mime.strict import check_octets, header_names, name_read
from tests.smtp.client.scripted import Message, ScriptedServer

COMMAND = re.compile(
    rb"EHLO \S+|MAIL FROM:<[^<> \r\n\0]*>( SIZE=\d+)?( BODY=8BITMIME)?( SMTPUTF8)?"
    rb"|RCPT TO:<[^<> \r\n\0]+>|DATA|\.|RSET|NOOP|QUIT"
)
_MANY_PARTS = {"both", "file's name", "file's type", "content id"}
_OWN = {"file's name": "text/plain", "file's type": "text/plain", "content id": "text/html"}
_TWO = "a@example.com, victim@example.net"
WRITTEN = {"From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"}


def check_conversation(server: ScriptedServer) -> None:
    """Fail for a command that was not intended."""
    odd = [line for line in server.commands if not COMMAND.fullmatch(line)]
    assert odd == []
    assert server.verbs.count("MAIL") == server.verbs.count("DATA") == len(server.messages)


def email_id_of(message: Message) -> UUID:
    """Return the id of the mail by its one Message-ID."""
    (found,) = re.findall(rb"^Message-ID: <([0-9a-f]{32})@", message.body, re.MULTILINE)
    return UUID(found.decode())


def check(case: Case, message: Message) -> None:
    """Compare a message with the mail it was made from."""
    columns, octets = case.columns, message.body
    check_octets(octets)
    optional = set() if case.place in _MANY_PARTS else {"Content-Transfer-Encoding"}
    wanted = WRITTEN | optional | set(columns.get("headers", {}))
    wanted |= {"Reply-To"} if "reply_to" in columns else set()
    wanted |= {"Cc"} if "cc" in columns else set()
    assert sorted(header_names(octets)) == sorted(wanted)
    read = message_from_bytes(octets, policy=policy.default)
    assert isinstance(read, EmailMessage)
    assert {line.decode() for line in message.recipients} == _commands(columns)
    for name in ("To", "From", "Cc", "Reply-To"):
        # Answers may go to several, where several are asked for.
        wanted_count = 2 if (name, case.value) == ("Reply-To", _TWO) else 1
        assert name not in read or len(_addresses(octets, name)) == wanted_count
    _check_value(case, octets, read)


def _commands(columns: dict[str, Any]) -> set[str]:
    everyone = [columns["recipient_email"], *columns.get("cc", []), *columns.get("bcc", [])]
    addresses = [re.sub(r"(?s)^.*<(.*)>$", r"\1", one) for one in everyone]
    return {f"RCPT TO:<{parse_address(one).sent}>" for one in addresses}


def _addresses(octets: bytes, name: str) -> list[str]:
    """Return the addresses of a header: text outside of quotes, with or without < >."""
    value = str(message_from_bytes(octets, policy=policy.compat32)[name])
    bare = re.sub(r'"(\\.|[^"\\])*"(?!@)', "", value)
    return re.findall(r"[^\s<>,;]+@[^\s<>,;]+", bare)


def _check_value(case: Case, octets: bytes, read: EmailMessage) -> None:
    match case.place:
        case "subject":
            assert str(read["Subject"]) == case.value
        case "header":
            assert str(read["X-Odd"]) == case.value
        case "unsubscribe":
            assert str(read["List-Unsubscribe"]) == case.value
        case "recipient's name":
            assert name_read(octets, "To") == case.value
        case "file's name" | "content id" | "file's type":
            (file,) = [
                part for part in _leaves(read) if part.get_content_type() != _OWN[case.place]
            ]
            assert file.get_content_type() == "application/pdf"
            assert file.get_payload(decode=True) == b"%PDF-1.7 octets"
            if case.place == "file's name":
                assert file.get_filename() == case.value
        case "sender's name":
            assert name_read(octets, "From") == case.value
        case "text" | "html" | "both":
            kinds = {"text": ["plain"], "html": ["html"], "both": ["plain", "html"]}[case.place]
            assert sorted(part.get_content_type() for part in _leaves(read)) == sorted(
                f"text/{kind}" for kind in kinds
            )
            for part in _leaves(read):
                assert _lines(_text_of(part)) == _lines(case.value)


def _leaves(read: EmailMessage) -> list[EmailMessage]:
    found = [part for part in read.walk() if not part.is_multipart()]
    return [part for part in found if isinstance(part, EmailMessage)]


def _text_of(part: EmailMessage) -> str:
    octets = part.get_payload(decode=True)
    assert isinstance(octets, bytes)
    return octets.decode("utf-8")


def _lines(text: str) -> str:
    """Return the text with uniform line ends, and one at its end."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain if plain.endswith("\n") else f"{plain}\n"
