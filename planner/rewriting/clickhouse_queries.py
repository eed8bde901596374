"""ClickHouse's clauses as those of all dialects.

PREWHERE a WHERE b            →  WHERE a AND b
WITH 1 AS x SELECT x          →  SELECT (1)
ORDER BY a LIMIT 2 BY b       →  QUALIFY row_number() OVER (PARTITION BY b ORDER BY a) <= 2 ORDER BY a
FROM t ARRAY JOIN xs AS x     →  FROM t CROSS JOIN UNNEST(xs) AS x(x)
FROM numbers(3)               →  FROM (SELECT unnest(range(0, 3)) AS number)
FROM values('a Int32', 1, 2)  →  FROM (SELECT CAST(a AS Int32) AS a FROM (VALUES (1), (2)) AS v(a))
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from planner.errors import InvalidQuery
from planner.native.templates import sql
from planner.positions import fail, refuse

_DIALECTS = frozenset({"clickhouse"})
_AGGREGATES = frozenset({"avg", "count", "max", "min", "sum"})
_STRICTNESS = frozenset({"ALL", "ANTI", "ANY", "ASOF", "PASTE", "SEMI"})
_HARMLESS = frozenset({"max_threads", "max_block_size", "optimize_read_in_order", "max_memory_usage"})
"""Settings that change no answer."""


def clickhouse_query(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The node in the words of all dialects; None for any other node."""
    if dialect not in _DIALECTS:
        return None
    match node:
        case exp.Select():
            return _select(node)
        case exp.Table(this=exp.Anonymous() as call):
            return _table(node, call)
        case exp.Join() if node.kind in _STRICTNESS or node.args.get("global_"):
            return _join(node)
        case exp.Apply(this=exp.Star() | exp.Columns(), expression=exp.Var() as function):
            return _applied(node.this, function.name)
        case exp.Values(expressions=[exp.Tuple(expressions=[exp.Literal(is_string=True), *_])]):
            return _typed_values(node)
    return None


def _select(node: exp.Select) -> exp.Select | None:
    scalars = [cte for cte in _ctes(node) if cte.args.get("scalar")]
    joins = [join for join in node.args.get("joins") or () if join.kind == "ARRAY"]
    settings = node.args.get("settings")
    if not (node.args.get("limit_by") or scalars or joins or settings or node.args.get("prewhere")):
        return None
    found = node.copy()
    if settings and all(isinstance(s, exp.EQ) and s.this.name.lower() in _HARMLESS for s in settings):
        found.set("settings", None)
    if prewhere := found.args.get("prewhere"):
        found.set("prewhere", None)
        found.where(prewhere.this, copy=False)
    if scalars:
        _inline(found)
    if found.args.get("limit_by"):
        _limit_by(found)
    if joins:
        _join_arrays(found)
    return found if found != node else None


def _ctes(node: exp.Select) -> list[exp.CTE]:
    with_ = node.args.get("with_")
    return list(with_.expressions) if with_ is not None else []


def _inline(query: exp.Select) -> None:
    """WITH expression AS name: the expression wherever the name is a column."""
    values: dict[str, exp.Expression] = {}
    for cte in _ctes(query):
        if not cte.args.get("scalar"):
            continue
        value = cte.this.transform(lambda node: _value_of(node, values))
        values[cte.alias] = value if isinstance(value, exp.Subquery) else exp.paren(value)
    rest = [cte for cte in _ctes(query) if not cte.args.get("scalar")]
    query.set(
        "with_",
        exp.With(expressions=rest, recursive=query.args["with_"].args.get("recursive")) if rest else None,
    )
    for part in list(query.args.values()):
        for each in part if isinstance(part, list) else [part]:
            if isinstance(each, exp.Expression):
                named = (
                    each.alias_or_name
                    if isinstance(each, exp.Column) and each.arg_key == "expressions"
                    else ""
                )
                new = each.transform(lambda node: _value_of(node, values), copy=False)
                if new is not each:
                    each.replace(exp.alias_(new, named, quoted=True) if named else new)


def _value_of(node: exp.Expr, values: dict[str, exp.Expression]) -> exp.Expr:
    if isinstance(node, exp.Column) and not node.table and node.name in values:
        return values[node.name].copy()
    return node


def _limit_by(query: exp.Select) -> None:
    """The first rows of each group, in the query's order."""
    limit = query.args["limit_by"]
    count, skipped = limit.expression, limit.args.get("offset")
    order = query.args.get("order")
    number = exp.Window(this=exp.RowNumber(), partition_by=[key.copy() for key in limit.expressions])
    number.set(
        "order",
        order.copy()
        if order is not None
        else exp.Order(expressions=[exp.Ordered(this=exp.Literal.string(""))]),
    )
    first = skipped.expression if isinstance(skipped, exp.Offset) else skipped
    kept: exp.Expression = sql("{0} <= {1}", [number, count])
    if first is not None:
        kept = sql("{0} > {1} AND {0} <= {1} + {2}", [number, first, count])
    query.set("limit_by", None)
    given = query.args.get("qualify")
    query.set("qualify", exp.Qualify(this=exp.and_(given.this, kept) if given is not None else kept))


def _join_arrays(query: exp.Select) -> None:
    """ARRAY JOIN: a row for each place of the arrays, whose names mean the elements."""
    for number, join in enumerate(query.args["joins"]):
        if join.kind != "ARRAY":
            continue
        items = [join.this, *join.expressions]
        arrays = [item.this if isinstance(item, exp.Alias) else item for item in items]
        names = [item.alias_or_name for item in items]
        if any(not name for name in names):
            fail(InvalidQuery("an array in ARRAY JOIN is a column or has a name"), join)
        table = f"array join {number}"
        hidden = {item.name for item in items if isinstance(item, exp.Column)}
        if hidden and any(star.find_ancestor(exp.Select) is query for star in query.find_all(exp.Star)):
            refuse(join, "* beside ARRAY JOIN without a name is not supported", "write ARRAY JOIN xs AS x")
        if join.side == "LEFT":
            arrays = [_never_empty(array) for array in arrays]
        elif join.side:
            refuse(join, f"{join.side} ARRAY JOIN is not supported")
        _point_to(query, hidden, table)
        alias = exp.TableAlias(
            this=exp.to_identifier(table, quoted=True),
            columns=[exp.to_identifier(name, quoted=True) for name in names],
        )
        unnested = exp.Unnest(expressions=[array.copy() for array in arrays], alias=alias)
        join.replace(exp.Join(this=unnested, kind="CROSS"))


def _never_empty(array: exp.Expression) -> exp.Expression:
    """An array with the default of its elements, if it is empty."""
    first = exp.Bracket(this=array.copy(), expressions=[exp.Literal.number(1)], offset=1)
    return sql("CASE WHEN len({0}) = 0 THEN [{1}] ELSE {0} END", [array, first])


def _point_to(query: exp.Select, names: set[str], table: str) -> None:
    """Columns of these names mean those of the table, outside of FROM."""
    for key, part in query.args.items():
        if key in ("joins", "from_", "with_"):
            continue
        for each in part if isinstance(part, list) else [part]:
            for column in each.find_all(exp.Column) if isinstance(each, exp.Expression) else ():
                if not column.table and column.name in names:
                    column.set("table", exp.to_identifier(table, quoted=True))


def _table(node: exp.Table, call: exp.Anonymous) -> exp.Expression | None:
    """numbers(count), numbers(first, count) and numbers(first, count, step)."""
    name, args = call.name.lower(), call.expressions
    if name != "numbers" or not 0 < len(args) <= 3:
        return None
    forms = ("range(0, {0})", "range({0}, {0} + {1})", "range({0}, {0} + {1}, {2})")
    rows = exp.Explode(this=sql(forms[len(args) - 1], args))
    return _enclosed(node, exp.select(exp.alias_(rows, "number")), "numbers")


def _enclosed(node: exp.Expression, query: exp.Query, name: str) -> exp.Subquery:
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name))
    return exp.Subquery(this=query, alias=alias, joins=node.args.get("joins"))


def _applied(star: exp.Expression, function: str) -> exp.Expression:
    """* APPLY(sum): the function of every column."""
    columns = exp.Columns(this=star.copy()) if isinstance(star, exp.Star) else star.copy()
    if function.lower() in _AGGREGATES:
        return exp.func(function, columns)  # type: ignore[return-value]
    return exp.Anonymous(this=function, expressions=[columns])


def _join(node: exp.Join) -> exp.Join | None:
    """A join with its strictness: ASOF is the method of one, ALL what others do too."""
    found = node.copy()
    if node.kind in ("ANY", "PASTE") or (node.kind in ("SEMI", "ANTI") and node.side == "RIGHT"):
        written = f"{node.side} {node.kind} JOIN".strip()
        hint = "write LEFT JOIN with a query of one row for each key"
        refuse(node, f"{written} is not supported", hint)
    found.set("global_", None)  # which only says where the right side is read
    if node.kind in ("ASOF", "ALL"):
        found.set("kind", None)
    if node.kind == "ASOF":
        found.set("method", "ASOF")
    return found if found != node else None


def _typed_values(node: exp.Values) -> exp.Expression | None:
    """values('a Int32, b String', (1, 'x'), (2, 'y'))."""
    ((structure, *rows),) = [row.expressions for row in node.expressions]
    try:
        columns = exp.DataType.build(f"Tuple({structure.name})", dialect="clickhouse").expressions
    except (SqlglotError, ValueError):
        return None
    if not rows or not all(isinstance(column, exp.ColumnDef) for column in columns):
        return None
    tuples = [row if isinstance(row, exp.Tuple) else exp.Tuple(expressions=[row]) for row in rows]
    names = [column.this.copy() for column in columns]
    values = exp.Values(expressions=[row.copy() for row in tuples])
    values.set("alias", exp.TableAlias(this=exp.to_identifier("given"), columns=names))
    items = [
        exp.alias_(
            exp.Cast(this=exp.column(column.this.copy()), to=column.args["kind"].copy()), column.this.copy()
        )
        for column in columns
    ]
    return _enclosed(node, exp.select(*items).from_(values), "values")
