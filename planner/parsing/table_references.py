"""The tables that a statement names, without those that it defines itself in WITH."""

from __future__ import annotations

from sqlglot import exp


def table_names(node: exp.Expression, hidden: frozenset[str] = frozenset()) -> frozenset[str]:
    """The lower-case names of the tables that a query refers to, without those that it defines itself."""
    return frozenset(table.name.lower() for table in table_nodes(node, hidden))


def table_nodes(node: exp.Expression, hidden: frozenset[str] = frozenset()) -> list[exp.Table]:
    """The references to tables by names without a schema, in the order of the text, without those to names
    that the query defines."""
    with_ = node.args.get("with_")
    found: list[exp.Table] = []
    if with_ is not None:
        own = frozenset(cte.alias.lower() for cte in with_.expressions)
        recursive = bool(with_.args.get("recursive"))
        for cte in with_.expressions:
            found += table_nodes(cte.this, hidden | own if recursive else hidden)
            hidden = hidden if recursive else hidden | {cte.alias.lower()}
        hidden = hidden | own
    if isinstance(node, exp.Table) and not node.args.get("db") and node.name.lower() not in hidden:
        found.append(node)
    for child in node.iter_expressions():
        if child is not with_:
            found += table_nodes(child, hidden)
    return found


def recurring_nodes(name: str, node: exp.Expression) -> list[exp.Table]:
    """The references to `recurring.name`: in DuckDB, all rows so far of the recursion of that name."""
    return [table for table in node.find_all(exp.Table) if recurring_name(table) == name]


def recurring_name(table: exp.Table) -> str | None:
    """The recursive name, in lower case, all of whose rows so far `recurring.name` reads."""
    return table.name.lower() if table.text("db").lower() == "recurring" else None
