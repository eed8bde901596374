"""The tables of a query, each with the names of the CTEs that it can see."""

from __future__ import annotations

from sqlglot import exp


def tables_with_ctes(query: exp.Expression) -> list[tuple[exp.Table, frozenset[str]]]:
    """Every table node, in the order of the text, with the names of the CTEs that it can see."""
    found: list[tuple[exp.Table, frozenset[str]]] = []
    waiting: list[tuple[exp.Expression, frozenset[str]]] = [(query, frozenset())]
    while waiting:
        node, ctes = waiting.pop()
        if isinstance(node, exp.Table):
            found.append((node, ctes))
        with_ = node.args.get("with_")
        if with_ is not None:
            names = [cte.alias for cte in with_.expressions]
            for i, cte in enumerate(with_.expressions):
                waiting.append((cte.this, ctes.union(names if with_.recursive else names[:i])))
            ctes = ctes.union(names)
        waiting += [(child, ctes) for child in node.iter_expressions() if child is not with_]
    return sorted(found, key=lambda pair: _start(pair[0]))


def _start(table: exp.Table) -> int:
    return 0 if table.this is None else table.this.meta.get("start", 0)
