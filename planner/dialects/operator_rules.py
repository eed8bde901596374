"""Operators and texts by the dialects' rules: NULL and the empty text, division by zero, LIKE.

In Oracle the result of an expression is NULL where it would be the empty text; an empty text in a table
stays.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.overloads import PREFIX
from planner.dialects.systems.postgresql import RELATIVES
from planner.dialects.traits import Trait, has
from planner.native.templates import call_of, sql, with_parts
from planner.positions import refuse

_TEXTS = (exp.RegexpReplace, exp.Replace, exp.Substring, exp.Translate, exp.Trim, exp.Pad)
_QUOTIENT = "CASE WHEN {1} = 0 THEN CAST(1 % CAST({1} AS BIGINT) AS DOUBLE) ELSE {0} / {1} END"
"""For a zero divisor, the remainder fails where the quotient would be infinite."""
_FROM_FIRST = "CASE WHEN {1} < 1 THEN 1 ELSE {1} END"
_NEGATIVE = "CAST('the length of a substring is ' || CAST({2} AS VARCHAR) AS BIGINT)"
_DONE = "is_done"


def rule(node: exp.Expression, dialect: str) -> exp.Expression:
    """The node by the rules of its dialect, or the node itself."""
    match node:
        case exp.Div() if has(dialect, Trait.DIVISION_BY_ZERO_FAILS) and not _is_number(node.expression):
            return sql(_QUOTIENT, [node.this, node.expression])
        case exp.Div() | exp.Mod() | exp.IntDiv() if has(
            dialect, Trait.NULL_BY_ZERO
        ) and not _divisor_is_done(node):
            return _divided(node)
        case exp.Like() | exp.ILike() if isinstance(node.expression, exp.Any | exp.All) and _patterns(node):
            return _like_each(node)
        case exp.Like() if has(dialect, Trait.LIKE_IN_ANY_CASE) and not _has_bytes(node):
            negated = node.args.get("negate")
            return exp.ILike(this=_text(node.this), expression=_text(node.expression), negate=negated)
        case exp.Like() | exp.ILike() if has(dialect, Trait.BACKSLASH_ESCAPES) and not isinstance(
            node.parent, exp.Escape
        ):
            return _escaped(node)
        case exp.Is(expression=exp.JSON() as asked) if not asked.args.get("unique"):
            return _is_document(node, asked)
        case exp.ToMap(this=exp.Struct(expressions=[])):
            return sql("map([], [])", [])
        case exp.Dot(expression=exp.Star()):
            return sql("unnest({0})", [node.this])  # in a select list, a struct's fields
        case exp.Sqrt() | exp.Ln() if has(dialect, Trait.ROOTS_FAIL_OUTSIDE) and not _is_number(node.this):
            return _inside(node)
        case exp.Substring() if (
            has(dialect, Trait.SUBSTRINGS_FROM_ZERO) and _may_begin_before(node) and _DONE not in node.meta
        ):
            return _substring_from_zero(node)
        case exp.Substring(args={"length": exp.Neg()}) if has(dialect, Trait.SUBSTRINGS_BEGIN_BEFORE):
            refuse(node, "a negative length of a substring always fails")
        case exp.Substring() if (
            has(dialect, Trait.NOTHING_BEFORE_TEXTS) and _may_begin_before(node) and _DONE not in node.meta
        ):
            return _substring_inside(node)
        case exp.Substring() if has(dialect, Trait.SUBSTRINGS_BEGIN_BEFORE) and _may_begin_before(node):
            return _substring(node, dialect)
        case exp.Try():
            return exp.Anonymous(this="TRY", expressions=[node.this.copy()])
        case exp.Concat() if dialect == "redshift":
            return _joined([*node.expressions])
    return _in_oracle(node) if dialect == "oracle" else node


def _escaped(node: exp.Like | exp.ILike) -> exp.Expression:
    """LIKE with the backslash as its escape, if the pattern may have one."""
    pattern = node.expression
    if isinstance(pattern, exp.Literal) and "\\" not in pattern.name:
        return node
    return exp.Escape(this=node.copy(), expression=exp.Literal.string("\\"))


def _has_bytes(node: exp.Like) -> bool:
    """Whether a side is BINARY, whose cases differ."""
    sides = (node.this, node.expression)
    return any(isinstance(side, exp.Cast) and side.to.is_type(exp.DType.BINARY) for side in sides)


def _text(node: exp.Expression) -> exp.Expression:
    is_text = isinstance(node, exp.Literal) and node.is_string
    return node.copy() if is_text or isinstance(node, exp.Any | exp.All) else exp.cast(node.copy(), "text")


def _patterns(node: exp.Like | exp.ILike) -> list[exp.Expression]:
    """The patterns of LIKE ANY (...) and LIKE ALL (...), also those of ARRAY[...]; none for a query."""
    inner = node.expression.this
    is_listed = isinstance(inner, exp.Paren)
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.Tuple | exp.Array):
        return list(inner.expressions)
    return [inner] if is_listed and not isinstance(inner, exp.Query) else []


def _like_each(node: exp.Like | exp.ILike) -> exp.Expression:
    """LIKE ANY and LIKE ALL as a LIKE for each pattern."""
    negated = node.args.get("negate")
    each = [
        type(node)(this=node.this.copy(), expression=pattern.copy(), negate=negated)
        for pattern in _patterns(node)
    ]
    for one in each:
        one.meta.update(node.meta)
    joined = exp.or_ if isinstance(node.expression, exp.Any) else exp.and_
    return exp.paren(joined(*each, copy=False), copy=False)


def _substring_from_zero(node: exp.Substring) -> exp.Expression:
    """A substring whose start 0 is the first character too."""
    return with_parts(node, _DONE, start=sql("CASE WHEN {0} = 0 THEN 1 ELSE {0} END", [node.args["start"]]))


def _substring_inside(node: exp.Substring) -> exp.Expression:
    """A substring that is empty if it begins outside of the text."""
    found = node.copy()
    found.meta[_DONE] = True
    outside = "CASE WHEN {1} = 0 OR {1} < -length({0}) THEN '' ELSE {2} END"
    return sql(outside, [node.this, node.args["start"], found])


def _may_begin_before(node: exp.Substring) -> bool:
    """Whether a substring may begin before the first character."""
    start = node.args.get("start")
    is_inside = isinstance(start, exp.Literal) and (start.is_string or start.name.strip("0") != "")
    return start is not None and not is_inside


def _substring(node: exp.Substring, dialect: str) -> exp.Expression:
    """A substring whose length counts from its start, also where that is before the first character."""
    start, length = node.args["start"], node.args.get("length")
    if length is None:
        return sql(f"substring({{0}}, {_FROM_FIRST})", [node.this, start])
    shorter = "CASE WHEN {1} >= 1 THEN {2} WHEN {2} + {1} < 1 THEN 0 WHEN {1} < 1 THEN {2} + {1} - 1 END"
    if dialect in RELATIVES and not _is_number(length):
        shorter = shorter.replace("CASE", f"CASE WHEN {{2}} < 0 THEN {_NEGATIVE}", 1)
    return sql(f"substring({{0}}, {_FROM_FIRST}, {shorter})", [node.this, start, length])


def _inside(node: exp.Sqrt | exp.Ln) -> exp.Expression:
    """A root or a logarithm that fails for a number that has none, where DuckDB's is NaN or infinite."""
    name, test = ("sqrt", "{0} < 0") if isinstance(node, exp.Sqrt) else ("ln", "{0} <= 0")
    fails = f"CAST('{name} of ' || CAST({{0}} AS VARCHAR) AS DOUBLE)"
    return sql(f"CASE WHEN {test} THEN {fails} ELSE {name}({{0}}) END", [node.this])


def _is_number(node: exp.Expression) -> bool:
    """Whether the node is a number literal other than zero."""
    return isinstance(node, exp.Literal) and not node.is_string and node.name.strip("0.") != ""


def _divisor_is_done(node: exp.Expression) -> bool:
    return isinstance(node.expression, exp.Nullif) or _is_number(node.expression)


def _divided(node: exp.Expression) -> exp.Expression:
    """The division by a divisor that is NULL instead of zero."""
    return with_parts(
        node, expression=exp.Nullif(this=node.expression.copy(), expression=exp.Literal.number(0))
    )


def _joined(texts: list[exp.Expression]) -> exp.Expression:
    """The texts concatenated; NULL if one of them is NULL."""
    return sql(" || ".join(f"CAST({{{place}}} AS VARCHAR)" for place in range(len(texts))), texts)


_KINDS = {"OBJECT": "'OBJECT'", "ARRAY": "'ARRAY'"}


def _is_document(node: exp.Is, asked: exp.JSON) -> exp.Expression:
    """Whether a text is JSON, or an object or an array of it."""
    kind = str(asked.args.get("this") or "VALUE").upper()
    if kind == "VALUE":
        return sql("json_valid({0})", [node.this])
    if kind not in _KINDS:
        refuse(node, f"IS JSON {kind} is not supported", "IS JSON, IS JSON OBJECT and IS JSON ARRAY are")
    test = f"CASE WHEN json_valid({{0}}) THEN json_type(CAST({{0}} AS JSON)) = {_KINDS[kind]} ELSE false END"
    return sql(f"CASE WHEN {{0}} IS NOT NULL THEN {test} END", [node.this])


def _written(node: exp.Expression) -> exp.Expression:
    """A value as Oracle writes it in a text: 0.50 is .5."""
    is_text = isinstance(node, exp.DPipe | exp.Concat) or (isinstance(node, exp.Literal) and node.is_string)
    return node if is_text else call_of(f"{PREFIX}text_of_oracle", [node], "the text")


def _in_oracle(node: exp.Expression) -> exp.Expression:
    match node:
        case exp.Literal(is_string=True) if node.name == "":
            return exp.Null()
        case exp.DPipe():
            return sql("nullif(concat({0}, {1}), '')", [_written(node.this), _written(node.expression)])
        case exp.Concat():
            places = ", ".join(f"{{{place}}}" for place in range(len(node.expressions)))
            return sql(f"nullif(concat({places}), '')", [*map(_written, node.expressions)])
        case exp.Greatest() | exp.Least():
            every = node.copy()
            every.set("ignore_nulls", False)
            return every if node.args.get("ignore_nulls") is not False else node
        case exp.Cast(to=to) if to.is_type("date") and not isinstance(node.this, exp.Literal | exp.Null):
            return call_of(PREFIX + "day_of_oracle", [node.this], "cast")
    if isinstance(node, _TEXTS) and _DONE not in node.meta:
        inner = node.copy()
        inner.meta[_DONE] = True
        return sql("nullif({0}, '')", [inner])
    return node
