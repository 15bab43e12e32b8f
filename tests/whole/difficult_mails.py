"""Mails with unusual content, and their content after a transfer without changes."""

import email.policy
import re
from dataclasses import dataclass, replace
from email.message import EmailMessage
from email.parser import BytesParser
from functools import cache

from psycopg import sql

_PARSER = BytesParser(policy=email.policy.default)

_LONG = "x" * 990
SUBJECTS = (
    "plain",
    "🎉 für Zoë 🚀 mañana, 日本語",
    "=?utf-8?q?not_encoded?= and =?x-nothing?b?aGk=?= as typed",
    "<b>bold</b> & 50% \"off\", 'now'; a\\b",
    "many words " * 25 + "end",
    "é" * 120,
    "a  gap of   spaces",
)
NAMES = (
    None,
    "Ann",
    'Bob "the Builder", Jr.',
    "Käthe, née Müller",
    "=?utf-8?q?Eve?=",
    "O'Neil (sales) <x>",
    "back\\slash; and: more",
    "李 🐉",
)
TEXTS = (
    "short",
    f"{_LONG}{'y' * 8}\nsecond line of 998\n{'z' * 998}\n",
    ".\n..\n. \n.leading\n...\n\n.\n",
    "spaces at the end   \ntab at the end\t\n \n   \n",
    "From here\nFrom there\n>From nowhere\n",
    "Grüße, 日本語 und 🎉\n.dot after: ✓\n",
    "é" * 999 + "\n" + "longer than a line may be " * 60 + "\n",
    "no line end at the end\n\n\nlast",
    "= =3D =20 soft=\nbreak --=_not-a-boundary\n--\n",
    "one\r\ntwo\r\n.\r\nthree\r\n",
)
_HTML = "<html><body>\n<p class='a'>Grüße {n} 🎉</p>\n.<br>   \n" + "<i>" * 300 + "\n</body></html>"


@dataclass(frozen=True, slots=True, order=True)
class Letter:
    """The content of one mail, as submitted or as received; a part that is None is absent."""

    to: str
    name: str
    subject: str
    text: str | None
    html: str | None

    def arrived(self) -> "Letter":
        """Return what must arrive: line ends are CRLF, and a single part ends with one."""
        text, html = self.text, self.html or None
        if html is None:
            return replace(self, text=_single(text or ""), html=None)
        if text is None:
            return replace(self, html=_single(html))
        return replace(self, text=_lines(text), html=_lines(html))


def letters(count: int, domain: str) -> list[Letter]:
    """Return mails of every kind, all different, each to its own address."""
    return [_letter(n, domain) for n in range(count)]


def _letter(n: int, domain: str) -> Letter:
    text: str | None = f"{TEXTS[n // 4 % len(TEXTS)]}{n if n % 3 else ''}"
    html: str | None = _HTML.replace("{n}", str(n))
    match n % 4:
        case 0:
            html = None
        case 1:
            text = None
        case 2:
            text = ""
    return Letter(
        to=f"n{n}@{domain}",
        name=NAMES[n % len(NAMES)] or "",
        subject=f"{n} {SUBJECTS[n % len(SUBJECTS)]}",
        text=text,
        html=html,
    )


def inserts(mails: list[Letter], *, rows: int = 250, **columns: str) -> str:
    """Return the statements that a program would send; `columns` are the same in every row."""
    names = ("recipient_email", "recipient_name", "subject", "text_body", "html_body", *columns)
    head = f"INSERT INTO mailqueue.email_queue ({', '.join(names)}) VALUES\n"
    same = [_quoted(value) for value in columns.values()]
    values = [
        "("
        + ", ".join([*map(_quoted, (m.to, m.name or None, m.subject, m.text, m.html)), *same])
        + ")"
        for m in mails
    ]
    groups = (values[start : start + rows] for start in range(0, len(values), rows))
    return "".join(head + ",\n".join(group) + ";\n" for group in groups)


def _quoted(value: str | None) -> str:
    return sql.Literal(value).as_string(None)


def read(raw: bytes) -> Letter:
    """Parse a message received by SMTP with an independent parser."""
    assert re.search(rb"(?<!\r)\n|\r(?!\n)", raw) is None, "a line does not end with CRLF"
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    message = _PARSER.parsebytes(raw)
    assert isinstance(message, EmailMessage)
    to = message["To"].addresses[0]
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    return Letter(
        to=to.addr_spec,
        name=to.display_name,
        subject=str(message["Subject"]),
        text=None if text is None else _content(text),
        html=None if html is None else _content(html),
    )


def _content(part: object) -> str:
    assert isinstance(part, EmailMessage)
    octets = part.get_payload(decode=True)
    assert isinstance(octets, bytes)
    return octets.decode("utf-8")


@cache
def message_id_of(raw: bytes) -> str:
    found = re.search(rb"^Message-ID: (.*)\r$", raw, re.MULTILINE)
    assert found is not None
    return found[1].decode()


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _single(text: str) -> str:
    return _lines(text if text.endswith("\n") else f"{text}\n")
