"""Refuses recursive ad-hoc queries that DuckDB would answer with other rows than a view of the same text has.

DuckDB feeds the step of a recursion the rows of the last round alone, as PostgreSQL does. A view does the
same where the system of its dialect runs the query. Where that does not, the view has the fixed point, which
reads all rows so far, and DuckDB would give another answer in silence.
"""

from __future__ import annotations

from sqlglot import exp

from planner.bind.recursions.search_cycle import has_clauses
from planner.bind.references import components
from planner.bind.working_table import beyond_working_table
from planner.dialects.traits import Trait, has
from planner.errors import Unsupported
from planner.parsing.mutually import declaration_of
from planner.parsing.table_references import table_names
from planner.positions import fail, refuse

_HINT = "create a view of the query, and SELECT from the view"


def check_recursion(query: exp.Expression, dialect: str) -> None:
    """Raise Unsupported, with its place, for a recursion that only a view can compute."""
    for with_ in query.find_all(exp.With):
        if declaration_of(with_) is not None:
            refuse(with_, "WITH MUTUALLY RECURSIVE outside a view is not supported", _HINT)
        for cte in with_.expressions:
            if cte.args.get("key_expressions") and not has(dialect, Trait.STEPS_READ_ANYTHING):
                error = Unsupported(f"USING KEY in the dialect {dialect} is not supported", "use duckdb")
                fail(error, cte.args["alias"])
            if has_clauses(cte):
                refuse(cte.args["alias"], "SEARCH or CYCLE outside a view is not supported", _HINT)
        if with_.args.get("recursive"):
            _check_names({cte.alias.lower(): cte for cte in with_.expressions}, dialect)


def _check_names(ctes: dict[str, exp.CTE], dialect: str) -> None:
    for group in components({name: table_names(cte.this) for name, cte in ctes.items()}):
        name = group[0]
        if len(group) > 1:
            names = ", ".join(group)
            error = f"recursive names that refer to each other ({names}) are not supported outside a view"
            refuse(ctes[name].args["alias"], error, _HINT)
        if name not in table_names(ctes[name].this):
            continue
        found = beyond_working_table(name, ctes[name], dialect)
        if found is not None:
            construct, node = found
            error = f'recursive "{name}" with {construct} is not supported outside a view'
            refuse(node, error, _HINT)
