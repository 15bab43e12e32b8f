"""Filters and tests that charge the meter, and show values, for all templates."""

from collections.abc import Callable
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from mailqueue.rendering.contexts.stream import joined, mended, turned, unmarked
from mailqueue.rendering.meter import Meter, printed


def comparing(meter: Meter, test: Any) -> Callable[..., bool]:
    """Return a test of two values that is charged for reading them."""

    @pass_context
    def compared(_context: Context, value: Any, other: Any) -> bool:
        return bool(test(unmarked(meter.see(value)), unmarked(meter.see(other))))

    return compared


def counters(meter: Meter) -> dict[str, Callable[..., Any]]:
    """Return the filters that guards.counted() inserts into a template."""

    @pass_context
    def each(_context: Context, value: Any) -> Any:
        return meter.each(value)

    @pass_context
    def seen(_context: Context, value: Any) -> Any:
        return unmarked(meter.see(value))

    @pass_context
    def cut(_context: Context, value: Any) -> Any:
        return meter.see(value)

    @pass_context
    def part(_context: Context, value: Any) -> Any:
        return mended(value) if type(value) is Markup else value

    @pass_context
    def other(_context: Context, value: Any) -> Any:
        return turned(value) if type(value) is Markup else value

    @pass_context
    def text(_context: Context, characters: int) -> None:
        meter.step()
        meter.write(characters)

    @pass_context
    def concatenated(context: Context, values: list[Any]) -> str:
        texts = [one if isinstance(one, str) else printed(one) for one in values]
        meter.write(sum(map(len, texts)))
        return joined(texts) if context.eval_ctx.autoescape else "".join(texts)

    return {
        "_each": each,
        "_seen": seen,
        "_cut": cut,
        "_mended": part,
        "_turned": other,
        "_text": text,
        "_joined": concatenated,
    }
