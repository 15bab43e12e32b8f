"""Measures that parsers of untrusted text take time in proportion to its length.

Run: python -m bench.linear

Each reader gets its worst known text in three sizes; what is shown is the CPU time a byte. A reader
that takes more than MOST times as long for a byte of the longest as for one of the shortest is
named, and the exit code is 1.
"""

import sys
import time
from collections.abc import Callable

from mailqueue.adapters.inbound.json_values import elements_of
from mailqueue.dkim.canonical import relaxed_body
from mailqueue.dkim.record import read_tags
from mailqueue.inbound.bounces.report import status_part
from mailqueue.inbound.bounces.tree import read_tree
from mailqueue.mime.parse import parse_message
from mailqueue.mime.rawhead import RawField, addresses_in
from mailqueue.rendering.dialect import as_jinja
from mailqueue.tracking.footer import Footer, under_html
from mailqueue.tracking.rewriting import with_at_end

SIZES = (50_000, 200_000, 800_000)
MOST = 4.0
FOOTER = Footer("1 High Street, Oxford", "https://mail.example.com/t/u/x")


def _filled(begin: str, unit: str, end: str = "") -> Callable[[int], str]:
    return lambda size: begin + unit * (size // len(unit)) + end


def _report(size: int) -> object:
    head = b"Content-Type: message/feedback-report\n\n"
    return status_part(read_tree(head + b"Final-Recipient:\n" * (size // 17)).root)


READERS: dict[str, tuple[Callable[[str], object], Callable[[int], str]]] = {
    "footer of tags": (lambda text: under_html(text, FOOTER), _filled("&", "<")),
    "footer of links": (lambda text: under_html(text, FOOTER), _filled("&", 'href="x')),
    "end of document": (lambda text: with_at_end(text, "x"), _filled("", "</body>x")),
    "end in comments": (lambda text: with_at_end(text, "x"), _filled("", "</body><!--")),
    "record of spaces": (read_tags, _filled("v=a", " ", "b")),
    "To of one word": (
        lambda text: addresses_in([RawField("To", text.encode(), b"")]),
        _filled("", "a"),
    ),
    "template of marks": (as_jinja, _filled("", "{{")),
    "foreign JSON of quotes": (lambda text: elements_of(text.encode()), _filled('["', '\\"', "]")),
    "report of recipients": (lambda text: _report(len(text)), _filled("", "x")),
    "message of fields": (lambda text: parse_message(text.encode()), _filled("", "a: =?a?q?a?=\n")),
    "body of line ends": (lambda text: relaxed_body(text.encode()), _filled("a", "\r\n")),
}


def main() -> int:
    """Measure, print, and return 1 where a reader is not linear."""
    slow = []
    write = sys.stdout.write
    for name, (read, text_of) in READERS.items():
        costs = [_nanoseconds(read, text_of(size)) for size in SIZES]
        write(f"{name:24}" + "".join(f"{cost:10.1f}" for cost in costs) + "  ns a byte\n")
        if costs[-1] > MOST * max(costs[0], 1.0):
            slow.append(name)
    write(f"not linear: {', '.join(slow)}\n" if slow else "all of them are linear\n")
    return 1 if slow else 0


def _nanoseconds(read: Callable[[str], object], text: str) -> float:
    best = float("inf")
    for _ in range(3):
        began = time.process_time_ns()
        read(text)
        best = min(best, (time.process_time_ns() - began) / len(text))
    return best


if __name__ == "__main__":
    sys.exit(main())
