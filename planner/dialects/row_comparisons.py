"""Comparisons of rows of values, expanded pair by pair: DuckDB compares structs, in which NULL is a value.
And comparisons with arrays, guarded: DuckDB takes one that is NULL for an empty one.

(a, b) < (c, d)      →   a < c OR (a = c AND b < d)
(a, b) IN ((1, 2))   →   a = 1 AND b = 2
(a, b) IS NULL       →   a IS NULL AND b IS NULL
a = ANY (list)       →   CASE WHEN list IS NOT NULL THEN a = ANY (list) END
"""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from planner.dialects.as_written import without_dialect
from planner.dialects.traits import Trait, has
from planner.positions import refuse

_STRICT: dict[type[exp.Expression], type[exp.Expression]] = {
    exp.LT: exp.LT,
    exp.LTE: exp.LT,
    exp.GT: exp.GT,
    exp.GTE: exp.GT,
}


def expanded_comparison(node: exp.Expression, dialect: str) -> exp.Expression:
    """A node with the same meaning over single values, or the node itself. Raises Unsupported for ANY and
    ALL."""
    if dialect == "duckdb":
        return node
    match node:
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            found = _compared(node, dialect)
            return _guarded(node) if found is node else found
        case exp.Is(expression=exp.Null()) if has(dialect, Trait.ROWS_OF_NULLS_ARE_NULL):
            row = row_parts(node.this, dialect)
            return _each_null(row, bool(node.args.get("negate"))) if row else node
        case exp.CountIf():
            one = exp.Case(ifs=[exp.If(this=node.this.copy(), true=exp.Literal.number(1))])
            return exp.Count(this=one)  # DuckDB's is NULL if there is nothing to count
        case exp.In() if row_parts(node.this, dialect) and not node.args.get("query"):
            row = row_parts(node.this, dialect)
            among = [row_parts(candidate, dialect) for candidate in node.expressions]
            if row is None or any(each is None or len(each) != len(row) for each in among):
                return node
            return _either([_all_equal(row, each) for each in among if each is not None])
        case exp.Between(this=this) if row_parts(this, dialect):
            low = exp.GTE(this=this.copy(), expression=node.args["low"].copy())
            high = exp.LTE(this=this.copy(), expression=node.args["high"].copy())
            return exp.paren(exp.And(this=_compared(low, dialect), expression=_compared(high, dialect)))
    return node


def _compared(node: exp.Expression, dialect: str) -> exp.Expression:
    left, right = row_parts(node.this, dialect), row_parts(node.expression, dialect)
    if left is not None and isinstance(node.expression, exp.Any | exp.All) and not isinstance(node, exp.EQ):
        refuse(node, "a comparison of rows with ANY or ALL is not supported here", "write it in a view")
    if left is None or right is None or len(left) != len(right):
        return node
    if isinstance(node, exp.EQ):
        return _all_equal(left, right)
    if isinstance(node, exp.NEQ):
        pairs = zip(left, right, strict=True)
        return _either([exp.NEQ(this=a.copy(), expression=b.copy()) for a, b in pairs])
    strict = _STRICT[type(node)]
    *before, (a, b) = zip(left, right, strict=True)
    found: exp.Expression = type(node)(this=a.copy(), expression=b.copy())
    for a, b in reversed(before):
        equal = exp.And(this=exp.EQ(this=a.copy(), expression=b.copy()), expression=found)
        found = exp.paren(
            exp.Or(this=strict(this=a.copy(), expression=b.copy()), expression=exp.paren(equal))
        )
    return found


def _guarded(node: exp.Expression) -> exp.Expression:
    """A comparison with ANY or ALL of an array that is NULL if the array is; any other node itself."""
    match node.expression:
        case exp.Any(this=array) | exp.All(this=array):
            pass
        case exp.Anonymous(expressions=[array]) if node.expression.name.upper() == "ALL":
            pass
        case _:
            return node
    if isinstance(array.unnest(), exp.Query):
        return node
    compared = without_dialect(node.copy())
    there = exp.Not(this=exp.Is(this=array.copy(), expression=exp.Null()))
    return exp.Case(ifs=[exp.If(this=there, true=compared)])


def _all_equal(left: list[exp.Expression], right: list[exp.Expression]) -> exp.Expression:
    pairs = zip(left, right, strict=True)
    parts: list[exp.Expression] = [exp.EQ(this=a.copy(), expression=b.copy()) for a, b in pairs]
    return exp.paren(reduce(lambda one, other: exp.And(this=one, expression=other), parts))


def _each_null(row: list[exp.Expression], negated: bool) -> exp.Expression:
    """Whether all values are NULL, or none is."""
    tests: list[exp.Expression] = [exp.Is(this=value.copy(), expression=exp.Null()) for value in row]
    if negated:
        tests = [exp.Not(this=test) for test in tests]
    return exp.paren(reduce(lambda one, other: exp.And(this=one, expression=other), tests))


def _either(parts: list[exp.Expression]) -> exp.Expression:
    return exp.paren(reduce(lambda one, other: exp.Or(this=one, expression=other), parts))


def row_parts(node: exp.Expression, dialect: str) -> list[exp.Expression] | None:
    """The values of a row without names: `(a, b)`, `ROW(a, b)`; None for any other node."""
    while isinstance(node, exp.Paren):
        node = node.this
    match node:
        case exp.Tuple():
            return list(node.expressions)
        case exp.Anonymous() if node.name.upper() == "ROW":
            return list(node.expressions)
        case exp.Struct() if dialect != "bigquery" and node.expressions:
            is_named = any(isinstance(part, exp.PropertyEQ | exp.Alias) for part in node.expressions)
            return None if is_named else list(node.expressions)
    return None
