"""Restrict Jinja's language for templates, and insert the charges of the meter."""

# ruff: noqa: N802  a visitor's methods are named for the nodes

from collections.abc import Iterator
from typing import Any

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

from mailqueue.rendering.faults import TemplateFault

MAX_NODES = 20_000
DEEPEST = 100
"""Most levels of nesting; Python's own compiler allows little more."""

_ALLOWED = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Extends,
    nodes.For,
    nodes.If,
    nodes.Macro,
    nodes.CallBlock,
    nodes.FilterBlock,
    nodes.With,
    nodes.Block,
    nodes.Include,
    nodes.Import,
    nodes.FromImport,
    nodes.ExprStmt,
    nodes.Assign,
    nodes.AssignBlock,
    nodes.BinExpr,
    nodes.UnaryExpr,
    nodes.Name,
    nodes.NSRef,
    nodes.Const,
    nodes.Tuple,
    nodes.List,
    nodes.Dict,
    nodes.Pair,
    nodes.Keyword,
    nodes.CondExpr,
    nodes.Filter,
    nodes.Test,
    nodes.Call,
    nodes.Getitem,
    nodes.Getattr,
    nodes.Slice,
    nodes.Concat,
    nodes.Compare,
    nodes.Operand,
    nodes.Scope,
)
_NAMING = (nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport)
_NAMES = {
    nodes.Extends: "extends",
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "import",
}


def check(tree: nodes.Template, part: str) -> None:
    """Refuse syntax that templates may not use.

    Raises:
        TemplateFault: naming the syntax and its line.
    """
    for count, (node, depth) in enumerate(_walked(tree)):
        line = getattr(node, "lineno", None)
        if not isinstance(node, _ALLOWED):
            raise TemplateFault(
                f"{type(node).__name__} is not allowed in a template", part=part, line=line
            )
        if depth > DEEPEST:
            raise TemplateFault(f"nested deeper than {DEEPEST} levels", part=part, line=line)
        if count >= MAX_NODES:
            raise TemplateFault(f"more than {MAX_NODES} tags and expressions", part=part)
        if isinstance(node, nodes.Call | nodes.Filter | nodes.Test) and (
            node.dyn_args is not None or node.dyn_kwargs is not None
        ):
            raise TemplateFault("arguments cannot be spread with *", part=part, line=line)
        if isinstance(node, _NAMING):
            named = node.template
            if not (isinstance(named, nodes.Const) and isinstance(named.value, str)):
                raise TemplateFault(
                    f"{_NAMES[type(node)]} needs a name in quotes", part=part, line=line
                )


def parts_named(tree: nodes.Template) -> list[str]:
    """Return the names of the layouts and partials of a checked template."""
    named: list[Any] = [node for kind in _NAMING for node in tree.find_all(kind)]
    return [node.template.value for node in named]


def counted(tree: nodes.Template) -> nodes.Template:
    """Return a checked template that charges the meter for each loop turn, text and value."""
    found: nodes.Template = _Counting().visit(tree)
    return found


def _walked(tree: nodes.Node) -> Iterator[tuple[nodes.Node, int]]:
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting.extend((child, depth + 1) for child in node.iter_child_nodes())


class _Counting(NodeTransformer):
    """Wraps loops and values in internal filters that charge the meter."""

    def visit_Template(self, node: nodes.Template) -> nodes.Node:
        return self._with_text(node)

    def visit_Block(self, node: nodes.Block) -> nodes.Node:
        return self._with_text(node)

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:
        return self._with_text(node)

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:
        return self._with_text(node)

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self._with_text(node)
        node.iter = _through("_each", node.iter)  # type: ignore[arg-type]
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _through("_joined", nodes.List(node.nodes, lineno=node.lineno))

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        node.expr = _seen(node.expr)
        for operand in node.ops:
            operand.expr = _seen(operand.expr)
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        self.generic_visit(node)
        if isinstance(node.arg, nodes.Slice):
            node.node = _through("_cut", node.node)
            return _through("_mended" if node.arg.step is None else "_turned", node)
        return node

    def visit_List(self, node: nodes.List) -> nodes.Node:
        return self._made(node)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:
        return self._made(node)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        return self._made(node) if node.ctx == "load" else node

    def _made(self, node: nodes.Expr) -> nodes.Node:
        self.generic_visit(node)
        return _through("_seen", node)

    def _with_text(self, node: Any) -> nodes.Node:
        """Charge the text of a body at its start; loops in it charge their own."""
        text = sum(len(data.data) for data in _texts(node.body))
        self.generic_visit(node)
        said = _through("_text", nodes.Const(text, lineno=node.lineno))
        node.body.insert(0, nodes.ExprStmt(said, lineno=node.lineno))
        return node  # type: ignore[no-any-return]


def _texts(body: list[nodes.Node]) -> Iterator[nodes.TemplateData]:
    for node in body:
        if isinstance(node, nodes.TemplateData):
            yield node
        elif not isinstance(node, nodes.For | nodes.Macro | nodes.CallBlock | nodes.Block):
            yield from _texts(list(node.iter_child_nodes()))
        elif isinstance(node, nodes.For):
            yield from _texts(node.else_)


def _seen(node: nodes.Expr) -> nodes.Expr:
    return node if isinstance(node, nodes.Const) else _through("_seen", node)


def _through(name: str, node: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)
