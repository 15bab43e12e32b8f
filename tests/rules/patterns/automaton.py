"""The automaton of a regular expression: positions that read a character, and their successors.

A search is a loop of its own before the expression. A repeat of up to FEW times is no loop.
"""

import re
from dataclasses import dataclass, field
from re import _constants as op
from re import _parser
from typing import Any

FEW = 400
"""Maximum repetitions that count as a constant."""
_COPIES = 3
_BEYOND = "ſKİı\u2013\u2028\u2029\u3002\uff0e中Ωя\ud800\U0001f600"
_CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}
_LOOPS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
Chars = frozenset[str]


@dataclass(slots=True, eq=False)
class Node:
    chars: Chars | None = None  # None: reads nothing
    after: list[tuple["Node", Chars | None]] = field(default_factory=list)
    groups: tuple[int, ...] = ()  # atomic ones it stands in
    mask: int = 0  # chars, as bits of their classes
    is_end: bool = False
    is_search: bool = False
    is_doubtful: bool = False  # a condition that may not hold


class Built:
    """The automaton of one expression."""

    def __init__(self, pattern: re.Pattern[Any], *, is_searched: bool, is_whole: bool) -> None:
        self._is_bytes = isinstance(pattern.pattern, bytes)
        self._flags = pattern.flags
        self._alphabet = frozenset(map(chr, range(256))) | frozenset(
            "" if self._is_bytes else _BEYOND
        )
        self._groups: tuple[int, ...] = ()
        self._atomic = 0
        self.is_whole = is_whole
        self.begin = Node()
        self.end = Node(is_end=True)
        tree = _parser.parse(pattern.pattern, pattern.flags)
        first, last = Node(), Node()
        _link(last, self.end)
        self._sequence(list(tree), first, last)
        _link(self.begin, first)
        self.nodes = _reachable(self.begin)
        if is_searched:
            self._search(first)
        self.number()

    def _search(self, first: Node) -> None:
        sets = {node.chars for node in self.nodes if node.chars} | set(self._edges())
        classes = classes_of(list(sets), self._alphabet)
        states = [Node(chars=each, is_search=True) for each in classes]
        for one in states:
            _link(self.begin, one)
            _link(one, first)
            for other in states:
                _link(one, other)
        self.nodes = _reachable(self.begin)

    def number(self) -> None:
        """Write what is read, and what edges ask for, as bits: for a quick look at many."""
        sets = {node.chars for node in self.nodes if node.chars} | set(self._edges())
        classes = classes_of(list(sets), self._alphabet)
        mask_of = {
            each: sum(1 << n for n, one in enumerate(classes) if one <= each) for each in sets
        }
        for node in self.nodes:
            node.mask = mask_of[node.chars] if node.chars else 0

    def _edges(self) -> list[Chars]:
        return [only for node in self.nodes for _, only in node.after if only is not None]

    def _sequence(self, items: list[Any], start: Node, end: Node) -> None:
        at = start
        for n, item in enumerate(items):
            to = end if n == len(items) - 1 else Node(groups=self._groups)
            self._one(item, at, to)
            at = to
        if not items:
            _link(start, end)

    def _one(self, item: tuple[Any, Any], start: Node, end: Node) -> None:
        kind, given = item
        if kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            node = Node(chars=self._chars(kind, given), groups=self._groups)
            _link(start, node)
            _link(node, end)
        elif kind in _LOOPS:
            self._repeat(kind, given, start, end)
        elif kind is op.BRANCH:
            for branch in given[1]:
                self._sequence(list(branch), start, end)
        elif kind is op.SUBPATTERN:
            kept = self._flags
            self._flags = (self._flags | given[1]) & ~given[2]
            self._sequence(list(given[3]), start, end)
            self._flags = kept
        elif kind is op.ATOMIC_GROUP:
            self._within(list(given), start, end)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            self._look(kind, given, start, end)
        elif kind is op.GROUPREF:
            self._repeat(op.MAX_REPEAT, (0, op.MAXREPEAT, [(op.ANY, None)]), start, end)
        elif kind is op.AT:
            self._at(given, start, end)
        else:
            raise AssertionError(f"{kind} in a pattern: nobody has said here what it reads")

    def _within(self, items: list[Any], start: Node, end: Node) -> None:
        self._atomic += 1
        kept, self._groups = self._groups, (*self._groups, self._atomic)
        self._sequence(items, start, end)
        self._groups = kept

    def _repeat(self, kind: Any, given: Any, start: Node, end: Node) -> None:
        least, most, items = given
        kept = self._groups
        if kind is op.POSSESSIVE_REPEAT:
            self._atomic += 1
            self._groups = (*self._groups, self._atomic)
        at = start
        for _ in range(min(least, _COPIES)):
            to = Node(groups=self._groups)
            self._sequence(list(items), at, to)
            at = to
        if most is op.MAXREPEAT or most > FEW:
            loop, back = Node(groups=self._groups), Node(groups=self._groups)
            _link(at, loop)
            self._sequence(list(items), loop, back)
            _link(back, loop)
            _link(loop, end)
        else:
            for _ in range(min(most, _COPIES + 1) - min(least, _COPIES)):
                _link(at, end)
                to = Node(groups=self._groups)
                self._sequence(list(items), at, to)
                at = to
            _link(at, end)
        self._groups = kept

    def _look(self, kind: Any, given: Any, start: Node, end: Node) -> None:
        direction, items = given
        one = list(items)
        if direction < 0:
            if len(one) == 1 and one[0][0] in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
                chars = self._chars(*one[0])
                _link(start, end, chars if kind is op.ASSERT else self._alphabet - chars)
            else:
                _link(start, end)
            return
        _doubted(start, end)
        self._sequence(one, start, Node())  # what it looks at leads nowhere, and takes time

    def _at(self, where: Any, start: Node, end: Node) -> None:
        is_begin = where in (op.AT_BEGINNING, op.AT_BEGINNING_STRING)
        if where is op.AT_BEGINNING and self._flags & re.MULTILINE:
            _link(start, end, frozenset("\n"))
        elif is_begin:
            _link(start, end, frozenset())
        else:
            _doubted(start, end)

    def _chars(self, kind: Any, given: Any) -> Chars:
        if kind is op.ANY:
            return self._alphabet - (frozenset() if self._flags & re.DOTALL else frozenset("\n"))
        if kind is op.LITERAL:
            return self._folded(frozenset(chr(given)))
        if kind is op.NOT_LITERAL:
            return self._alphabet - self._folded(frozenset(chr(given)))
        found: set[str] = set()
        is_negated = False
        for what, value in given:
            if what is op.NEGATE:
                is_negated = True
            elif what is op.LITERAL:
                found.add(chr(value))
            elif what is op.RANGE:
                low, high = value
                found |= {c for c in self._alphabet if low <= ord(c) <= high}
                found.add(chr(low))
            else:
                found |= self._category(value)
        folded = self._folded(frozenset(found))
        return self._alphabet - folded if is_negated else folded

    def _category(self, which: Any) -> Chars:
        flags = re.ASCII if self._is_bytes or self._flags & re.ASCII else 0
        wanted = re.compile(_CATEGORIES[which], flags)
        return frozenset(c for c in self._alphabet if wanted.match(c))

    def _folded(self, chars: Chars) -> Chars:
        if not self._flags & re.IGNORECASE:
            return chars
        return chars | {c for each in chars for c in (each.lower(), each.upper()) if len(c) == 1}


def _link(one: Node, other: Node, only: Chars | None = None) -> None:
    one.after.append((other, only))


def _doubted(one: Node, other: Node) -> None:
    between = Node(is_doubtful=True)
    _link(one, between)
    _link(between, other)


def _reachable(start: Node) -> list[Node]:
    found, waiting = {id(start): start}, [start]
    while waiting:
        for other, _ in waiting.pop().after:
            if id(other) not in found:
                found[id(other)] = other
                waiting.append(other)
    return list(found.values())


def classes_of(sets: list[Chars], alphabet: Chars) -> list[Chars]:
    """Partition the alphabet into the fewest classes that no set divides."""
    by_sign: dict[tuple[bool, ...], set[str]] = {}
    for char in alphabet:
        by_sign.setdefault(tuple(char in each for each in sets), set()).add(char)
    return [frozenset(each) for each in by_sign.values()]
