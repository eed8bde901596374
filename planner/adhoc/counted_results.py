"""Functions that count: DuckDB's have unsigned types, or wider ones, and ours are BIGINT, as in views.

    regr_count(y, x) - 2::UINTEGER   →   CAST(regr_count(y, x) AS BIGINT) - 2::UINTEGER

Sums of integers stay HUGEINT, as DuckDB has them: views have BIGINT, and refuse those that are larger.
"""

from __future__ import annotations

from sqlglot import exp

_COUNTING = frozenset(
    {"array_unique", "count_if", "countif", "json_array_length", "list_unique", "regr_count"}
)
_WRAPPERS = (exp.Filter, exp.Window)


def with_counted_results(query: exp.Expression) -> None:
    """Casts the counts in a query of DuckDB's."""
    for node in list(query.find_all(exp.Func)):
        name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        if name.lower() not in _COUNTING:
            continue
        whole: exp.Expr = node
        while isinstance(whole.parent, _WRAPPERS) and whole.parent.this is whole:
            whole = whole.parent
        if not isinstance(whole.parent, exp.Cast) and node.find_ancestor(exp.Pivot) is None:
            whole.replace(exp.cast(whole.copy(), exp.DType.BIGINT))
