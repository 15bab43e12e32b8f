"""Decides whether a regular expression can take more than linear time.

A backtracking engine takes time n² and more where a text can be read in several ways: by two loops
one behind the other, or by a search that begins anew within what a loop has read already. Both are
looked for in the automaton of the expression, not by a clock:

- two different loops p and q with a word that leads from p to p, from p to q, and from q to q;
- one loop with a word that leads from p to p in two ways.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tests.rules.patterns.automaton import Built, Node

MAX_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class Fault:
    """The classes of characters that can be read in several ways."""

    kind: str
    loops: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind} by {' and '.join(self.loops)}"


class _Automaton:
    """Positions that read a character, and their successors before the expression has matched."""

    def __init__(self, built: Built) -> None:
        positions = [node for node in built.nodes if node.chars]
        follows = {node: _followers(node) for node in positions}
        # Where it matches whatever comes, nothing is tried again.
        done = {node for node, ends in follows.items() if ends[1] and not built.is_whole}
        self.after = {
            node: [] if node in done else [each for each in ends[0] if each not in done]
            for node, ends in follows.items()
        }
        self.loops = _components(self.after)


def _followers(node: Node) -> tuple[list[Node], bool]:
    """Return the positions that may follow one, and whether the expression surely matches here."""
    assert node.chars is not None
    found: list[Node] = []
    is_end = False
    seen: set[tuple[int, bool]] = set()
    waiting = [(other, only, False) for other, only in node.after]
    while waiting:
        at, only, is_doubtful = waiting.pop()
        if (only is not None and not node.chars & only) or (id(at), is_doubtful) in seen:
            continue
        seen.add((id(at), is_doubtful))
        if at.is_end:
            is_end = is_end or not is_doubtful
        elif not at.chars:
            doubt = is_doubtful or at.is_doubtful
            waiting += [(other, o, doubt) for other, o in at.after]
        elif at not in found:
            found.append(at)
    return found, is_end


def _ways(node: Node, goal: Node) -> int:
    """Return the number of ways in which one position follows another; a loop may be left and
    entered.
    """
    steps, count = 0, 0
    waiting: list[tuple[Node, tuple[int, ...]]] = [(other, ()) for other, _ in node.after]
    while waiting and steps < MAX_STEPS and count < 2:
        steps += 1
        at, seen = waiting.pop()
        if at is goal:
            count += 1
        elif not at.chars and seen.count(id(at)) < 2:
            waiting += [(other, (*seen, id(at))) for other, _ in at.after]
    return count


def _components(after: dict[Node, list[Node]]) -> dict[Node, int]:
    """Number the positions of each loop; those of none are left out."""
    reach = {node: _reached(node, after) for node in after}
    found: dict[Node, int] = {}
    for node in after:
        if node in reach[node] and node not in found:
            number = len(found) + 1
            for other in reach[node]:
                if node in reach[other]:
                    found[other] = number
    return found


def _reached(start: Node, after: dict[Node, list[Node]]) -> set[Node]:
    found: set[Node] = set()
    waiting = [start]
    while waiting:
        for other in after[waiting.pop()]:
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def _shown(node: Node) -> str:
    if node.is_search:
        return "the search"
    chars = sorted(node.chars or ())
    return (
        "[" + "".join(chars[:12]).encode("unicode_escape").decode() + ("…]" if chars[12:] else "]")
    )


def fault_of(pattern: re.Pattern[Any], how: str) -> Fault | None:
    """Return why an expression used by `search`, `match` or `fullmatch` is not linear; None if
    it is.
    """
    return _fault(pattern, how)


@lru_cache(maxsize=4096)
def _fault(pattern: re.Pattern[Any], how: str) -> Fault | None:
    built = Built(pattern, is_searched=how == "search", is_whole=how == "fullmatch")
    automaton = _Automaton(built)
    if all(node.is_search for node in automaton.loops):
        return None
    return _twice(automaton) or _one_behind_other(automaton)


def _twice(automaton: _Automaton) -> Fault | None:
    """Find a loop that reads a word in two ways."""
    for start in automaton.loops:
        if not start.is_search and _is_read_twice(automaton, start):
            return Fault("read in two ways", (_shown(start),))
    return None


def _is_read_twice(automaton: _Automaton, start: Node) -> bool:
    number = automaton.loops[start]
    # From (start, start), apart at some time, to (start, start).
    seen = {(start, start, False)}
    waiting = [(start, start, False)]
    while waiting:
        one, other, is_apart = waiting.pop()
        for a in automaton.after[one]:
            for b in automaton.after[other]:
                if {automaton.loops.get(a), automaton.loops.get(b)} != {number}:
                    continue
                if not a.mask & b.mask:
                    continue
                now = is_apart or a is not b or (one is other and _ways(one, a) > 1)
                if now and a is start and b is start:
                    return True
                if (a, b, now) not in seen:
                    seen.add((a, b, now))
                    waiting.append((a, b, now))
    return False


def _one_behind_other(automaton: _Automaton) -> Fault | None:
    """Find a word that two loops can read, one after the other."""
    for p in automaton.loops:
        reach = _reached(p, automaton.after)
        for q in automaton.loops:
            if q.is_search or q not in reach or automaton.loops[p] == automaton.loops[q]:
                continue
            if any(group not in q.groups for group in p.groups):
                continue  # what it has read it does not give back
            if _word_for(automaton, p, q):
                return Fault("read one behind the other", (_shown(p), _shown(q)))
    return None


def _word_for(automaton: _Automaton, p: Node, q: Node) -> bool:
    start, goal = (p, p, q), (p, q, q)
    seen, waiting = {start}, [start]
    first, last = automaton.loops[p], automaton.loops[q]
    while waiting:
        one, middle, other = waiting.pop()
        for a in automaton.after[one]:
            if automaton.loops.get(a) != first:
                continue
            for c in automaton.after[other]:
                if automaton.loops.get(c) != last:
                    continue
                both = a.mask & c.mask
                if not both:
                    continue
                for b in automaton.after[middle]:
                    if not both & b.mask:
                        continue
                    if (a, b, c) == goal:
                        return True
                    if (a, b, c) not in seen:
                        seen.add((a, b, c))
                        waiting.append((a, b, c))
    return False
