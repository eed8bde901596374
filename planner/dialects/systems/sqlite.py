"""SQLite's functions that sqlglot and DuckDB do not have, or have with another meaning.

Examples are the manual's, https://sqlite.org/lang_corefunc.html and the pages beside it.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.as_written import remember_dialect
from planner.dialects.number_beginnings import beginning
from planner.dialects.overloads import PREFIX
from planner.dialects.printf import printed
from planner.dialects.systems.mysql_json import changed
from planner.dialects.systems.sqlite_dates import SQLITE_DATES
from planner.dialects.systems.sqlite_kinds import collated, compared
from planner.dialects.undefined_values import NULL_WHERE_UNDEFINED
from planner.native.templates import Args, Meanings, call_of, is_native, sql

_KIND = (
    "CASE json_type({JSON}) WHEN 'UBIGINT' THEN 'integer' WHEN 'BIGINT' THEN 'integer'"
    " WHEN 'DOUBLE' THEN 'real' WHEN 'VARCHAR' THEN 'text' WHEN 'BOOLEAN' THEN CAST({JSON} AS VARCHAR)"
    " ELSE lower(json_type({JSON})) END"
)
_TYPE = (
    "CASE WHEN {0} IS NULL THEN 'null' WHEN typeof({0}) IN ('VARCHAR', 'JSON') THEN 'text'"
    " WHEN typeof({0}) = 'BLOB' THEN 'blob' WHEN typeof({0}) IN ('FLOAT', 'DOUBLE')"
    " OR typeof({0}) LIKE 'DECIMAL%' THEN 'real' ELSE 'integer' END"
)
_DONE = "has_its_meaning"


def _signs(args: Args) -> exp.Expression:
    """CHAR(72, 105) is Hi."""
    return sql(f"concat({', '.join(f'chr({{{place}}})' for place in range(len(args)))})", args)


def _rounded(args: Args) -> exp.Expression:
    """ROUND(123.456, -1) is 123.0."""
    return sql("round({0}, 0)" if isinstance(args[1], exp.Neg) else "round({0}, {1})", args)


def _without(args: Args) -> exp.Expression:
    """JSON_REMOVE('[0,1,2,3,4]', '$[2]', '$[0]') is [1,3,4]: one path after the other."""
    document = "CAST({0} AS JSON)"
    for place in range(1, len(args)):
        document = f"json_remove({document}, {{{place}}})"
    return sql(document, args)


SQLITE: Meanings = {
    **NULL_WHERE_UNDEFINED,
    **SQLITE_DATES,
    # LOG(100) is 2
    "LOG(value)": "CASE WHEN {0} > 0 THEN log10({0}) END",
    "CHAR(code, ...)": _signs,
    "FORMAT(pattern, ...)": printed,
    "JSON_INSERT(json, path, value, ...)": changed("json_insert"),
    "JSON_REPLACE(json, path, value, ...)": changed("json_replace"),
    "JSON_SET(json, path, value, ...)": changed("json_set"),
    # JSON_PATCH('{"a":[1,2],"b":2}', '{"a":null}') is {"b":2}
    "JSON_PATCH(json, patch)": "json_merge_patch(CAST({0} AS JSON), CAST({1} AS JSON))",
    "JSON_REMOVE(json, path, ...)": _without,
    "JSON_TYPE(json)": _KIND.replace("{JSON}", "CAST({0} AS JSON)"),
    "JSON_TYPE(json, path)": _KIND.replace("{JSON}", "json_extract(CAST({0} AS JSON), {1})"),
    "JSON_QUOTE(value)": "CAST(to_json({0}) AS VARCHAR)",
    "LIKELIHOOD(value, share)": "{0}",
    "LIKELY | UNLIKELY(value)": "{0}",
    "MOD(a, b)": "CAST({0} AS DOUBLE) % nullif(CAST({1} AS DOUBLE), 0)",
    # QUOTE('it''s') is 'it''s', QUOTE(NULL) is NULL
    "QUOTE(value)": (
        "CASE WHEN {0} IS NULL THEN 'NULL' WHEN typeof({0}) = 'VARCHAR'"
        " THEN '''' || replace(CAST({0} AS VARCHAR), '''', '''''') || '''' ELSE CAST({0} AS VARCHAR) END"
    ),
    "ROUND(value, digits)": _rounded,
    "TOTAL(value)": "coalesce(sum(CAST({0} AS DOUBLE)), 0)",
    "TYPEOF(value)": _TYPE,
    # UNHEX('xyz') is NULL
    "UNHEX(text)": "CASE WHEN regexp_full_match({0}, '([0-9A-Fa-f][0-9A-Fa-f])*') THEN unhex({0}) END",
    "ZEROBLOB(count)": "unhex(repeat('00', greatest({0}, 0)))",
    "UNICODE(text)": "CASE WHEN {0} <> '' THEN unicode({0}) END",
}


def sqlite_node(node: exp.Expression) -> exp.Expression:
    match node:
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            return compared(node) or node
        case exp.Collate():
            return collated(node) or node
        case exp.Upper() | exp.Lower() if not (is_native(node) or _is_plain(node.this)):
            # UPPER(1.5) is 1.5
            return sql(f"{node.key}({{0}})", [call_of(f"{PREFIX}text_of_sqlite", [node.this], node.key)])
        case exp.Length() if not (is_native(node) or _is_plain(node.this)):
            return call_of(f"{PREFIX}length_of_sqlite", [node.this], "length")
        case exp.Abs(this=exp.Literal(is_string=True) as text):
            # ABS('x') is 0.0
            return exp.Abs(this=exp.cast(exp.Literal.number(beginning(text.name)), "double"))
        case exp.BitwiseLeftShift() | exp.BitwiseRightShift() if _is_negative(node.expression):
            # 1 << -1 is 0
            turned = exp.BitwiseRightShift if isinstance(node, exp.BitwiseLeftShift) else exp.BitwiseLeftShift
            return turned(this=node.this.copy(), expression=node.expression.this.copy())
        case exp.In(args={"field": exp.Column() as table}) if not table.table:
            # id IN works_for is id IN (SELECT * FROM works_for)
            rows = exp.select(exp.Star()).from_(exp.table_(table.this.copy()))
            return exp.In(this=node.this.copy(), query=exp.Subquery(this=rows))
        case exp.Mod() if _DONE not in node.meta:
            # 7.9 % 3 is 1
            rest = exp.Mod(this=_whole(node.this), expression=_whole(node.expression))
            rest.meta[_DONE] = True
            return rest
        case exp.Glob(this=text, expression=exp.Literal() as pattern) if "[^" in pattern.name:
            shape = exp.Literal.string(pattern.name.replace("[^", "[!"))
            return exp.Glob(this=text.copy(), expression=shape, negate=node.args.get("negate"))
    return node


def _whole(node: exp.Expression) -> exp.Expression:
    is_whole = isinstance(node, exp.Literal) and node.name.isdigit()
    return node.copy() if is_whole else remember_dialect(exp.cast(node.copy(), "bigint"), "sqlite")


def _is_plain(node: exp.Expr) -> bool:
    """Whether a value is a text or NULL as it is written."""
    return isinstance(node, exp.Null) or (isinstance(node, exp.Literal) and bool(node.is_string))


def _is_negative(node: exp.Expr) -> bool:
    return isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal)
