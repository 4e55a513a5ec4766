"""Mutants of a module: one small change of its syntax tree each."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

_COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
_FLOAT_FACTOR = 1.25


# Characters of the source that are shown on each side of a change.
_CONTEXT = 40
_LONGEST = 80


@dataclass(frozen=True)
class Mutant:
    """One change of a module."""

    path: Path
    source: str
    number: int
    place: str
    """the qualified name of the function, or the constant that the module assigns"""
    line: int
    change: str
    """the statement with `[before -> after]` in it"""

    @property
    def name(self) -> str:
        """Does not change if lines are added elsewhere."""
        return f"{self.path.stem}.{self.place}: {self.change}"

    def tree(self) -> ast.Module:
        """The changed module."""
        tree = ast.parse(self.source)
        next(islice(_changed(tree), self.number, None))
        return ast.fix_missing_locations(tree)


def mutants_of(path: Path) -> list[Mutant]:
    """All mutants, in the order of the source."""
    source = path.read_text()
    found = enumerate(_changed(ast.parse(source)))
    return [Mutant(path, source, number, *what) for number, what in found]


def _changed(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    """Place, line and change of each mutant. The tree is changed while they are handed out."""
    for place, body in _places(tree.body):
        for k, statement in enumerate(body):
            for spot in list(_walk(_Spot(body, k, statement, statement))):
                before = ast.unparse(spot.shown)
                for new in _changes(spot.node):
                    spot.put(new)
                    after = ast.unparse(new if spot.shown is spot.node else spot.shown)
                    yield place, spot.line, _difference(before, after)
                    spot.put(spot.node)


@dataclass(frozen=True)
class _Spot:
    """Where a node is in the tree, and the part of the source to show for it."""

    holder: Any
    """the list, or the fields of the parent"""
    key: Any
    node: ast.AST
    shown: ast.AST

    def put(self, node: ast.AST) -> None:
        """Set another node, or the old one again."""
        self.holder[self.key] = node

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", 0)


def _difference(before: str, after: str) -> str:
    old, new = (re.findall(r"[\w.]+|[^\w\s]+|\s+", text) for text in (before, after))
    start = _equal_words(old, new)
    same = _equal_words(old[start:][::-1], new[start:][::-1])
    left, right = "".join(old[:start]), "".join(old[len(old) - same :])
    changed = [_line("".join(words[start : len(words) - same]))[:_LONGEST] for words in (old, new)]
    return _line(f"{left[-_CONTEXT:]}[{changed[0]} -> {changed[1]}]{right[:_CONTEXT]}")


def _equal_words(one: list[str], other: list[str]) -> int:
    """How many words at the beginning are equal."""
    pairs = enumerate(zip(one, other))
    return next((k for k, (a, b) in pairs if a != b), min(len(one), len(other)))


def _line(text: str) -> str:
    return " ".join(text.split())


def _places(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, list[ast.stmt]]]:
    """Functions, methods and constants of the module, with the statements to change."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + statement.name, statement.body
        elif isinstance(statement, ast.ClassDef):
            yield from _places(statement.body, f"{prefix}{statement.name}.")
        elif isinstance(statement, ast.Assign) and not prefix:
            target = statement.targets[0]
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            found = [name.id for name in names if isinstance(name, ast.Name)]
            if len(found) == len(names) and "__all__" not in found:
                yield ",".join(found), [statement]


def _walk(spot: _Spot) -> Iterator[_Spot]:
    """The node and all in it, but no annotations and no texts of errors."""
    node = spot.node
    if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Assert)):
        return
    yield spot
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        inside = enumerate(value) if isinstance(value, list) else [(field, value)]
        for key, child in inside:
            if isinstance(child, ast.AST):
                # Of a loop or condition only its head is shown.
                head = isinstance(node, ast.stmt) and hasattr(node, "body")
                alone = head or isinstance(child, ast.stmt)
                holder = value if isinstance(value, list) else vars(node)
                yield from _walk(_Spot(holder, key, child, child if alone else spot.shown))


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """What the node could be replaced with."""
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            new = [*node.ops[:i], _COMPARISONS[type(operator)](), *node.ops[i + 1 :]]
            yield _with(node, ops=new)
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in _OPERATORS:
        yield _with(node, op=_OPERATORS[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp):
        yield copy.copy(node.operand)
    elif isinstance(node, ast.Constant):
        yield from _changed_constant(node)
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)) and isinstance(
        node.test, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
    ):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.copy_location(ast.Pass(), node)
    elif isinstance(node, ast.Continue):
        yield ast.copy_location(ast.Break(), node)
    elif isinstance(node, ast.Break):
        yield ast.copy_location(ast.Continue(), node)


def _changed_constant(node: ast.Constant) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield _with(node, value=not value)
    elif isinstance(value, int):
        yield _with(node, value=value + 1)
    elif isinstance(value, float):
        yield _with(node, value=value * _FLOAT_FACTOR if value else 1.0)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new
