"""TABLESAMPLE with a seed: the rows whose content, hashed with the seed, falls into the sample.

    t TABLESAMPLE BERNOULLI (10) REPEATABLE (7)  →  (SELECT * FROM t WHERE left(md5(7, row), 8) < '1999999a')
    t TABLESAMPLE RESERVOIR (10 ROWS) ...        →  (SELECT * FROM t ORDER BY md5(7, row) LIMIT 10)

The hash is that of the values' texts.

So a row stays in the sample for as long as it is there, and equal rows are in it together.
"""

from __future__ import annotations

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.native import templates
from planner.positions import fail, refuse
from planner.rewriting.enclosed_rows import alone, enclose, named

_HASH = "md5(concat_ws(chr(31), '{seed}', *COLUMNS(*)))"
_PLACE, _PLACED = "hash#", "hashed#"
_DIGITS = 8
"""Hexadecimal digits of the hash that decide about a row."""


def row_sample(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The rows of the sample; None for what has none, and for a sample without a seed."""
    sample = node.args.get("sample")
    if sample is None or sample.args.get("seed") is None:
        return None
    if not isinstance(node, exp.Table | exp.Subquery | exp.Select):
        return None
    if isinstance(node, exp.Select):
        if alone(node) is None:
            hint = "put the join into a query in FROM, and sample its rows"
            refuse(sample, "a sample of a join is not supported", hint)
        query = node.copy()
        query.set("sample", None)
        enclose(query)
        _keep(query.args["from_"].this.this, sample)
        return query
    table = node.copy()
    name, joins = named(table).copy(), table.args.get("joins")
    for part in ("sample", "joins"):
        table.set(part, None)
    rows = exp.select(exp.Star()).from_(table)
    _keep(rows, sample)
    return exp.Subquery(this=rows, alias=exp.TableAlias(this=name), joins=joins)


def _keep(rows: exp.Select, sample: exp.TableSample) -> None:
    seed = sample.args["seed"].name.replace("'", "''")
    place = templates.sql(_HASH.replace("{seed}", seed), ())
    size, percent = (sample.args.get(part) for part in ("size", "percent"))
    if size is not None:
        rows.select(exp.alias_(place, _PLACE), copy=False)
        placed = exp.Subquery(this=rows.copy(), alias=exp.TableAlias(this=exp.to_identifier(_PLACED)))
        rows.set("expressions", [exp.Star(except_=[exp.to_identifier(_PLACE)])])
        rows.set("from_", exp.From(this=placed))
        rows.set("joins", None)
        rows.set("order", exp.Order(expressions=[exp.Ordered(this=exp.column(_PLACE))]))
        rows.set("limit", exp.Limit(expression=size.copy()))
        return
    if not isinstance(percent, exp.Literal):
        fail(InvalidQuery("a sample's size is a number of percent or of rows"), sample)
    first = round(float(percent.this) / 100 * 16**_DIGITS)
    if first < 16**_DIGITS:
        bound = exp.Literal.string(f"{max(first, 0):0{_DIGITS}x}")
        rows.where(templates.sql(f"left({{0}}, {_DIGITS}) < {{1}}", (place, bound)), copy=False)
