"""The filters of templates; each charges the meter before it works."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from types import GeneratorType
from typing import Any
from urllib.parse import quote

from jinja2 import filters as jinja
from jinja2 import pass_context
from jinja2.runtime import Context, Undefined
from markupsafe import Markup, escape

from mailqueue.rendering.contexts.stream import Escaped, Json, joined, mended, turned, unmarked
from mailqueue.rendering.dates import format_date
from mailqueue.rendering.faults import TemplateFault
from mailqueue.rendering.meter import Meter, describe, printed

Filter = Callable[..., Any]


def _reverse(value: Any) -> Any:
    found = jinja.do_reverse(value)
    return turned(found) if type(found) is Markup else found


# Filters of Jinja whose work and result are no larger than their arguments.
_PLAIN = ("first", "last", "length", "count")
_WHOLE = {
    "capitalize": jinja.do_capitalize,
    "dictsort": jinja.do_dictsort,
    "float": jinja.do_float,
    "groupby": jinja.sync_do_groupby,
    "int": jinja.do_int,
    "items": jinja.do_items,
    "list": jinja.sync_do_list,
    "map": jinja.sync_do_map,
    "max": jinja.do_max,
    "min": jinja.do_min,
    "reject": jinja.sync_do_reject,
    "rejectattr": jinja.sync_do_rejectattr,
    "reverse": _reverse,
    "round": jinja.do_round,
    "select": jinja.sync_do_select,
    "selectattr": jinja.sync_do_selectattr,
    "sort": jinja.do_sort,
    "string": jinja.do_mark_unsafe,
    "title": jinja.do_title,
    "trim": jinja.do_trim,
    "unique": jinja.do_unique,
}
# ISO 4217: symbols before the amount; other codes stand after it.
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£", "INR": "₹", "JPY": "¥", "KRW": "₩", "CNY": "CN¥"}
_WITHOUT_CENTS = ("JPY", "KRW", "VND", "CLP", "ISK", "UGX", "XAF", "XOF", "XPF")
_CURRENCY = re.compile(r"[A-Z]{3}")
_LARGEST_AMOUNT = Decimal(10) ** 30


def filters_of(meter: Meter) -> dict[str, Filter]:
    """Return all filters, charging this meter."""
    found = {name: _light(meter, jinja.FILTERS[name]) for name in _PLAIN}
    found |= {name: _bounded(meter, filter_) for name, filter_ in _WHOLE.items()}
    found |= {name: _seen(meter, filter_) for name, filter_ in _OURS.items()}
    found |= {
        "abs": _seen(meter, _abs),
        "default": pass_context(_default),
        "d": pass_context(_default),
        "e": found["escape"],
        "join": _joins(meter),
        "replace": _replaces(meter),
    }
    return found


def _abs(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TemplateFault(f"abs needs a number, got {describe(value)}")
    return abs(value)


def _default(_context: Context, value: Any, instead: Any = "", is_falsy: bool = False) -> Any:
    missing = isinstance(value, Undefined) or value is None
    return instead if missing or (is_falsy and not value) else value


def _text(value: Any) -> str:
    return printed(value)


def _upper(value: Any) -> str:
    return _like(value, _text(value).upper())


def _lower(value: Any) -> str:
    return _like(value, _text(value).lower())


def _like(value: Any, text: str) -> str:
    return type(value)(text) if isinstance(value, Markup) else text


def _truncate(value: Any, length: int = 255, end: str = "…") -> str:
    """Return a text cut to `length` characters, including `end`."""
    text = _text(value)
    if not isinstance(length, int) or length < 0 or len(text) <= length:
        return text
    return text[: max(0, length - len(end))] + end


def _url_encode(value: Any) -> str:
    if isinstance(value, dict):
        pairs = [f"{quote(_text(k), safe='')}={quote(_text(v), safe='')}" for k, v in value.items()]
        return "&".join(pairs)
    return quote(_text(value), safe="")


def _currency(value: Any, code: str = "USD") -> str:
    """Return an amount with its currency: 1234.5 with USD is $1,234.50."""
    if not isinstance(code, str) or not _CURRENCY.fullmatch(code):
        raise TemplateFault("currency needs a code of three capital letters, such as EUR")
    try:
        amount = Decimal(_text(value).strip())
    except InvalidOperation:
        raise TemplateFault(f"currency needs a number, got {describe(value)}") from None
    if not amount.is_finite() or abs(amount) > _LARGEST_AMOUNT:
        raise TemplateFault("currency needs a number of at most 30 digits")
    unit = Decimal(1) if code in _WITHOUT_CENTS else Decimal("0.01")
    rounded = amount.quantize(unit, ROUND_HALF_UP)
    sign = "-" if rounded < 0 else ""
    digits = f"{abs(rounded):,f}"
    return f"{sign}{_SIGNS[code]}{digits}" if code in _SIGNS else f"{sign}{digits} {code}"


def _format_date(value: Any, pattern: str = "%Y-%m-%d") -> str:
    if not isinstance(value, str | int | float | datetime | date) or isinstance(value, bool):
        raise TemplateFault(f"format_date needs a time or a day, got {describe(value)}")
    return format_date(value, _text(pattern))


def _safe(value: Any) -> Markup:
    return Markup(_text(value))  # noqa: S704  the template's author says so; previews warn of it


def _escape(value: Any) -> Escaped:
    return Escaped(escape(str(value)))


def _tojson(value: Any) -> Json:
    text = json.dumps(value, ensure_ascii=False, default=printed)
    for char in "<>&'":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Json(text)


def _nl2br(value: Any) -> Markup:
    return Markup("<br>\n").join(escape(line) for line in _text(value).splitlines())


def _sum(value: Any, attribute: str | None = None) -> Any:
    numbers = [one.get(attribute) if attribute and isinstance(one, dict) else one for one in value]
    if not all(isinstance(one, int | float) for one in numbers):
        raise TemplateFault("sum needs a list of numbers")
    return sum(numbers)


_OURS: dict[str, Filter] = {
    "currency": _currency,
    "escape": _escape,
    "format_date": _format_date,
    "formatDate": _format_date,
    "lower": _lower,
    "nl2br": _nl2br,
    "safe": _safe,
    "safeHTML": _safe,
    "safe_html": _safe,
    "sum": _sum,
    "toLower": _lower,
    "toUpper": _upper,
    "to_lower": _lower,
    "to_upper": _upper,
    "tojson": _tojson,
    "truncate": _truncate,
    "upper": _upper,
    "urlEncode": _url_encode,
    "url_encode": _url_encode,
    "urlencode": _url_encode,
}


def _light(meter: Meter, filter_: Filter) -> Filter:
    """Wrap a filter that reads only the ends of a value."""
    call = _with_context(filter_)

    @pass_context
    def light(context: Context, value: Any) -> Any:
        meter.step()
        return call(context, unmarked(value))

    return light


def _seen(meter: Meter, filter_: Filter) -> Filter:
    """Wrap a filter of ours: its arguments are charged, its result may be printed."""

    @pass_context
    def seen(_context: Context, value: Any, *args: Any, **named: Any) -> Any:
        meter.see(value)
        _refuse_missing(value)
        for one in (*args, *named.values()):
            meter.see(one)
        try:
            return _mended(filter_(value, *args, **named))
        except TypeError as exc:
            raise TemplateFault(f"invalid argument of a filter: {exc}") from None

    return seen


def _bounded(meter: Meter, filter_: Filter) -> Filter:
    """Wrap a filter of Jinja: its result is charged too, and generators become lists."""
    call = _with_context(filter_)

    @pass_context
    def bounded(context: Context, value: Any, *args: Any, **named: Any) -> Any:
        meter.see(value)
        _refuse_missing(value)
        for one in (*args, *named.values()):
            meter.see(one)
        given = call(context, value, *args, **named)
        if isinstance(given, GeneratorType) or hasattr(given, "__next__"):
            given = list(given)
        return meter.see(_mended(given))

    return bounded


def _mended(found: Any) -> Any:
    return mended(found) if type(found) is Markup else found


def _refuse_missing(value: Any) -> None:
    if isinstance(value, Undefined):
        str(value)  # raises, with the name of the missing variable


def _with_context(filter_: Filter) -> Filter:
    """Return a filter of Jinja that takes the context as its first argument."""
    wanted = getattr(getattr(filter_, "jinja_pass_arg", None), "name", None)
    match wanted:
        case "context":
            return filter_
        case "eval_context":
            return lambda context, *args, **named: filter_(context.eval_ctx, *args, **named)
        case "environment":
            return lambda context, *args, **named: filter_(context.environment, *args, **named)
        case _:
            return lambda _context, *args, **named: filter_(*args, **named)


def _joins(meter: Meter) -> Filter:
    @pass_context
    def join(context: Context, value: Any, between: Any = "", attribute: Any = None) -> str:
        """Return the items of a list as text, separated by `between`."""
        _refuse_missing(value)
        given = value.values() if isinstance(value, Mapping) else value
        items = [_item(context, one, attribute) for one in meter.each(given)]
        texts = [one if isinstance(one, str) else printed(one) for one in items]
        middle = _text(between)
        meter.write(sum(map(len, texts)) + len(middle) * len(texts))
        if not context.eval_ctx.autoescape:
            return middle.join(texts)
        between_all = [part for text in texts for part in (middle, text)][1:]
        return joined(between_all)

    return join


def _item(context: Context, one: Any, attribute: Any) -> Any:
    return one if attribute is None else context.environment.getitem(one, attribute)


def _replaces(meter: Meter) -> Filter:
    @pass_context
    def replace(_context: Context, value: Any, old: Any, new: Any) -> str:
        """Return a text with each `old` replaced."""
        _refuse_missing(value)
        text, was, becomes = (str(_text(each)) for each in (meter.see(value), old, new))
        if not was:
            raise TemplateFault("replace needs a text to look for")
        meter.write(len(text) + text.count(was) * len(becomes))
        return text.replace(was, becomes)

    return replace
