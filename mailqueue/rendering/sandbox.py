"""Restrict what expressions in a template can reach: variables, and a few methods."""

import operator
from collections.abc import Callable, Mapping
from types import BuiltinMethodType, MappingProxyType
from typing import Any, ClassVar

from jinja2 import BaseLoader, StrictUndefined, Template
from jinja2.compiler import CodeGenerator, Frame
from jinja2.environment import TemplateModule
from jinja2.exceptions import SecurityError
from jinja2.nodes import Expr
from jinja2.nodes import Template as Tree
from jinja2.runtime import (
    BlockReference,
    Context,
    LoopContext,
    Macro,
    TemplateReference,
    Undefined,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.tests import TESTS
from jinja2.utils import Namespace
from markupsafe import Markup

from mailqueue.rendering import guards
from mailqueue.rendering.contexts.stream import Escaped, captured, joined, mended
from mailqueue.rendering.counters import comparing, counters
from mailqueue.rendering.faults import Exceeded, TemplateFault
from mailqueue.rendering.filters import filters_of
from mailqueue.rendering.meter import Meter, describe

LONGEST_RANGE = 10_000
_STEPS_A_CALL = 20

# fmt: off
_TEXT_METHODS = frozenset({
    "capitalize", "endswith", "lower", "lstrip", "rstrip", "split", "startswith", "strip", "title",
    "upper",
})
_OBJECT_METHODS = frozenset({"get", "items", "keys", "values"})
_LOOP = frozenset({
    "changed", "cycle", "depth", "depth0", "first", "index", "index0", "last", "length",
    "nextitem", "previtem", "revindex", "revindex0",
})
_TESTS = (
    "boolean", "defined", "divisibleby", "even", "false", "float", "integer", "iterable", "lower",
    "mapping", "none", "number", "odd", "sequence", "string", "true", "undefined", "upper",
)
_COMPARING = (
    "eq", "==", "equalto", "ne", "!=", "lt", "<", "lessthan", "le", "<=", "gt", ">", "greaterthan",
    "ge", ">=", "in",
)
# fmt: on
_METHODS: Mapping[type, frozenset[str]] = MappingProxyType(
    {
        str: _TEXT_METHODS,
        Markup: _TEXT_METHODS,
        Escaped: _TEXT_METHODS,
        dict: _OBJECT_METHODS,
        LoopContext: _LOOP,
    }
)


class MissingVariable(StrictUndefined):
    """A missing variable; using it raises an error with its name."""

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return self._undefined_hint
        name = f"the variable {self._undefined_name}"
        if isinstance(self._undefined_obj, dict | str | list):
            name = f"{self._undefined_name} of {describe(self._undefined_obj)}"
        return f"{name} is missing"


class _CodeGenerator(CodeGenerator):
    """Yields the value of an expression of HTML as a tuple, not yet escaped."""

    def _output_child_pre(self, node: Expr, frame: Frame, finalize: Any) -> None:
        if not frame.eval_ctx.autoescape:
            super()._output_child_pre(node, frame, finalize)
            return
        self.write("(")
        if finalize.src is not None:
            self.write(finalize.src)

    def _output_child_post(self, node: Expr, frame: Frame, finalize: Any) -> None:
        if not frame.eval_ctx.autoescape:
            super()._output_child_post(node, frame, finalize)
            return
        if finalize.src is not None:
            self.write(")")
        self.write(",)")


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja environment in which loop turns, calls and text are charged. Renders one mail at a
    time.
    """

    code_generator_class = _CodeGenerator
    intercepted_binops: ClassVar[frozenset[str]] = frozenset({"+", "-", "*", "/", "//", "**", "%"})  # type: ignore[misc]

    def __init__(self, meter: Meter, *, autoescape: bool, loader: BaseLoader | None = None) -> None:
        self.meter = meter
        super().__init__(
            autoescape=autoescape,
            finalize=meter.shown,
            undefined=MissingVariable,
            optimized=False,
            cache_size=64,
            auto_reload=False,
            keep_trailing_newline=True,
            loader=loader,
        )
        if autoescape:
            self.concat = captured  # type: ignore[method-assign]  # of an instance, for its macros
        self.globals = {"range": _ranges(meter), "dict": dict, "namespace": Namespace}
        self.filters = filters_of(meter) | counters(meter)
        self.tests = {name: TESTS[name] for name in _TESTS} | {
            name: comparing(meter, TESTS[name]) for name in _COMPARING
        }

    def _generate(
        self, source: Tree, name: str | None, filename: str | None, defer_init: bool = False
    ) -> str:
        guards.check(source, name or "")
        return super()._generate(guards.counted(source), name, filename, defer_init)

    def get_template(self, *args: Any, **named: Any) -> Template:
        """Return a layout or partial; each costs one step."""
        self.meter.step(10)
        return super().get_template(*args, **named)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return the value of a dot: an entry of the object, else an allowed method."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        if attribute in _METHODS.get(type(obj), ()):
            return getattr(obj, attribute)
        if isinstance(obj, Undefined):
            return getattr(obj, attribute)  # raises, with the name of the missing variable
        missing = self.undefined(obj=obj, name=attribute)
        match obj:
            case Namespace():
                return _contents(obj).get(attribute, missing)
            case BlockReference() if attribute == "super":
                return obj.super
            case TemplateModule() if not attribute.startswith("_"):
                return getattr(obj, attribute, missing)
            case TemplateReference() if not attribute.startswith("_"):
                return obj[attribute]
            case _:
                return missing

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return an entry of a list or object."""
        if type(obj) in (dict, list, tuple, str, Markup, Escaped, range):
            try:
                found = obj[argument]
                return mended(found) if type(found) is Markup else found
            except (LookupError, TypeError):
                return self.undefined(obj=obj, name=argument)
        if isinstance(argument, str):
            return self.getattr(obj, argument)
        return self.undefined(obj=obj, name=argument)

    def is_safe_callable(self, obj: Any) -> bool:
        """Return whether a value may be called: macros, blocks, and the few methods that getattr
        returns.
        """
        if isinstance(obj, Macro | BlockReference | LoopContext) or obj in self.globals.values():
            return True
        found = getattr(obj, "__self__", None)
        return getattr(obj, "__name__", "") in _METHODS.get(type(found), ())

    def call(__self, __context: Context, __obj: Any, *args: Any, **named: Any) -> Any:  # noqa: N805
        """Call a value; charges one step and the size of its arguments."""
        meter = __self.meter
        meter.step(_STEPS_A_CALL)
        for one in (*args, *named.values()):
            meter.see(one)
        if isinstance(__obj, BuiltinMethodType):
            meter.see(__obj.__self__)
        if isinstance(__obj, Undefined) or not __self.is_safe_callable(__obj):
            if isinstance(__obj, Undefined):
                str(__obj)  # raises, with the name of the missing variable
            raise SecurityError("this value cannot be called")
        found = __context.call(__obj, *args, **named)
        if type(found) is Markup:
            return mended(found)
        if type(found) is list and found and type(found[0]) is Markup:  # split()
            return [mended(one) for one in found]
        return found

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002
        """Return the result of an operator; numbers are limited, and + also joins texts and
        lists.
        """
        meter = self.meter
        meter.step()
        for one in (left, right):
            if isinstance(one, Undefined):
                str(one)  # raises, with the name of the missing variable
        if operator == "+" and isinstance(left, str) and isinstance(right, str):
            meter.write(len(left) + len(right))
            return joined((left, right)) if self.autoescape else left + right
        if operator == "+" and isinstance(left, list) and isinstance(right, list):
            return meter.see(left + right)
        if not (_is_number(left) and _is_number(right)):
            raise TemplateFault(f"{describe(left)} {operator} {describe(right)} is not possible")
        if operator == "**" and (abs(left) > 10**6 or abs(right) > 30):
            raise Exceeded("a number is too large")
        try:
            found = _OPERATORS[operator](left, right)
        except (ArithmeticError, ValueError) as exc:
            raise TemplateFault(f"{operator}: {exc}") from None
        return meter.number(found)


_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
        "//": operator.floordiv,
        "**": operator.pow,
        "%": operator.mod,
    }
)


def _contents(namespace: Namespace) -> dict[str, Any]:
    return object.__getattribute__(namespace, "_Namespace__attrs")  # type: ignore[no-any-return]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _ranges(meter: Meter) -> Callable[..., range]:
    def bounded(*args: int) -> range:
        found = range(*args)
        if len(found) > LONGEST_RANGE:
            raise Exceeded(f"a range may have {LONGEST_RANGE} numbers")
        meter.step(len(found))
        return found

    return bounded
