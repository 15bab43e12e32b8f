"""Unusual valid messages by RFC 5322, generated from a seed."""

from random import Random

NAMES = (
    "To", "Cc", "Subject", "Date", "Message-ID", "Reply-To", "Sender", "In-Reply-To", "References",
    "MIME-Version", "Content-Type", "Content-Transfer-Encoding", "List-Id", "List-Unsubscribe",
    "List-Unsubscribe-Post", "Auto-Submitted", "Feedback-ID", "X-Mailer", "Received", "Comments",
)  # fmt: skip
BLANKS = (" ", "  ", "\t", " \t ", "      ", "\r\n ", "\r\n\t", " \r\n  ", "\r\n \t ")
PIECES = (
    "a",
    "order",
    "=",
    ";",
    ":",
    ",",
    "<x@example.com>",
    "é",
    "日本",
    "=?utf-8?q?=C3=A9?=",
    ".",
)
LINES = (
    "", "", " ", "\t", "a", "a ", " a", "a  b\t c", ".", "..", "From here", "x" * 998, "é  ü",
    "\x01", "-- ", "=20", "a\x0bb",
)  # fmt: skip


def message(random: Random) -> bytes:
    """Generate one message with a single From and otherwise arbitrary fields."""
    names = [random.choice(NAMES) for _ in range(random.randrange(12))]
    fields = [_field(random, name) for name in names]
    fields.insert(random.randrange(len(fields) + 1), "From: Shop <shop@example.com>")
    return "".join(f"{field}\r\n" for field in fields).encode() + b"\r\n" + _body(random)


def _field(random: Random, name: str) -> str:
    if random.random() < 0.3:
        name = random.choice((name.lower(), name.upper()))
    if random.random() < 0.05:
        return f"{name}:"
    value = random.choice(PIECES)
    for _ in range(random.choice((0, 1, 3, 10, 60))):
        value += random.choice(BLANKS) + random.choice(PIECES)
    return f"{name}:{random.choice(('', ' ', '  ', chr(9)))}{value}{random.choice(('', ' ', '  '))}"


def _body(random: Random) -> bytes:
    lines = [random.choice(LINES) for _ in range(random.choice((0, 0, 1, 2, 5, 40)))]
    tail = random.choice(("", "", "\r\n", "\r\n\r\n", " \r\n\t\r\n", "\r\n" * 50))
    return ("".join(f"{line}\r\n" for line in lines) + tail).encode()
