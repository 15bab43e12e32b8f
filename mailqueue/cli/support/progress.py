"""A progress bar on standard error, if that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(words: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar, of unknown length without a total; yield a function that advances it."""
    if not sys.stderr.isatty():
        yield lambda _some: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(words, total=total)
        yield lambda some: bar.advance(task, some)
