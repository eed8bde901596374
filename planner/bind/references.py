"""The tables that a query names, and the components of names that refer to each other."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp


def table_names(node: exp.Expression, hidden: frozenset[str] = frozenset()) -> frozenset[str]:
    """The lower-case names of the tables that a query refers to, without those that it defines itself."""
    return frozenset(table.name.lower() for table in table_nodes(node, hidden))


def table_nodes(node: exp.Expression, hidden: frozenset[str] = frozenset()) -> list[exp.Table]:
    """The references to tables, in the order of the text, without those to names that the query defines."""
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


def components(uses: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """The strongly connected components of the graph of names: used names first, otherwise in the given
    order."""
    order = list(uses)
    reach = {name: _reachable(name, uses) for name in order}
    groups: list[list[str]] = []
    done: set[str] = set()

    def visit(name: str) -> None:
        if name in done:
            return
        group = [other for other in order if other == name or (other in reach[name] and name in reach[other])]
        done.update(group)
        for member in group:
            for used in order:
                if used in uses[member]:
                    visit(used)
        groups.append(group)

    for name in order:
        visit(name)
    return groups


def _reachable(name: str, uses: Mapping[str, frozenset[str]]) -> frozenset[str]:
    found: set[str] = set()
    stack = [name]
    while stack:
        for used in uses.get(stack.pop(), frozenset()):
            if used in uses and used not in found:
                found.add(used)
                stack.append(used)
    return frozenset(found)
