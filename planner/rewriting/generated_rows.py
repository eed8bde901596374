"""Snowflake's GENERATOR: so many rows, which have a number for SEQ1 to SEQ8 and no column of their own.

SELECT SEQ4() FROM TABLE(GENERATOR(ROWCOUNT => 3)) AS g
→  SELECT g."seq#" FROM UNNEST(GENERATE_SERIES(0, 2)) AS g("seq#")
"""

from __future__ import annotations

from sqlglot import exp

from planner.native import templates
from planner.positions import refuse

_NUMBER = "seq#"
"""The column of the numbers; a user cannot write this name without quotes."""
_NUMBERS = (exp.Seq1, exp.Seq2, exp.Seq4, exp.Seq8)
_WRAPPED = {exp.Seq1: "{0} % 256", exp.Seq2: "{0} % 65536"}
_HINT = "write GENERATOR(ROWCOUNT => 10), with a constant number of rows"


def generated_rows(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The rows of a GENERATOR in FROM; None for any other item."""
    call = node.this if isinstance(node, exp.TableFromRows) else None
    if not isinstance(call, exp.Generator) or dialect != "snowflake":
        return None
    count = call.args.get("rowcount")
    if call.args.get("timelimit") is not None or not (isinstance(count, exp.Literal) and count.is_int):
        refuse(call, "GENERATOR without a constant number of rows is not supported", _HINT)
    alias = node.args.get("alias") or exp.TableAlias()
    if alias.this is None:
        alias.set("this", exp.to_identifier("generator"))
    alias.set("columns", [exp.to_identifier(_NUMBER, quoted=True)])
    _set_numbers(node, alias.this)
    numbers = templates.sql("generate_series(0, {0} - 1)", [count])
    rows = exp.Unnest(expressions=[numbers], alias=alias)
    joins = node.args.get("joins")
    return exp.Table(this=rows, joins=joins) if joins else rows


def _set_numbers(node: exp.Expression, table: exp.Identifier) -> None:
    """Makes columns of the calls that number the rows of the query around the generator."""
    query = node.find_ancestor(exp.Select)
    if query is None:
        return
    for call in list(query.find_all(*_NUMBERS)):
        if call.find_ancestor(exp.Select) is not query:
            continue
        if query.args.get("joins") or node.args.get("joins"):
            hint = "number them in a query of its own: FROM (SELECT SEQ4() AS n FROM TABLE(GENERATOR(...)))"
            refuse(call, f"{call.sql_name()} beside a join is not supported", hint)
        if call.this is not None and call.this.name != "0":
            hint = f"write {call.sql_name()}()"
            refuse(call, f"{call.sql_name()} with a sign is not supported", hint)
        column = exp.column(exp.to_identifier(_NUMBER, quoted=True), table.copy())
        call.replace(templates.sql(_WRAPPED.get(type(call), "{0}"), [column]))
