"""Refuses the clauses that the planner does not support, each by its name and place."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from planner.positions import refuse
from planner.rewriting.valid_times import reads_all

_PLACES = frozenset({"order", "limit", "offset"})
_SELECT = _PLACES | frozenset(
    {
        *(
            "with_",
            "kind",
            "expressions",
            "distinct",
            "from_",
            "joins",
            "laterals",
            "where",
            "group",
            "having",
        ),
        *("windows", "qualify"),
    }
)
_OTHERS: dict[type[exp.Expression], frozenset[str]] = {
    exp.Select: _SELECT,
    exp.Subquery: _PLACES | frozenset({"this", "alias", "with_", "joins", "pivots"}),
    exp.Table: frozenset({"this", "alias", "catalog", "db", "joins", "pivots"}),
    exp.Lateral: frozenset({"this", "alias", "view", "outer"}),
    exp.Join: frozenset({"this", "on", "side", "kind", "using", "method", "match_condition"}),
    exp.Group: frozenset({"expressions", "all", "rollup", "cube", "grouping_sets"}),
    exp.With: frozenset({"expressions", "recursive"}),
    exp.CTE: frozenset({"this", "alias", "materialized", "scalar", "search", "cycle", "key_expressions"}),
    exp.Values: _PLACES | frozenset({"expressions", "alias", "with_"}),
}
_SET_OPERATION = _PLACES | frozenset(
    {"with_", "this", "expression", "distinct", "by_name", "side", "kind", "on"}
)
_NAMES = {
    "locks": "FOR UPDATE",
    "into": "SELECT INTO",
    "sample": "TABLESAMPLE",
    "version": "VERSION AS OF",
    "when": "TIMESTAMP AS OF",
    "ordinality": "WITH ORDINALITY",
    "exclude": "EXCLUDE",
}
HINTS = {
    "sample": "a sample is a function of its rows with a seed: REPEATABLE (1)",
    "version": "a view follows the newest state: read the past in a query, or join to the time of each row",
    "when": "a view follows the newest state: read the past in a query",
}


def check_clauses(node: exp.Expression) -> None:
    """Raise Unsupported for the first clause of `node` itself that the planner does not support."""
    allowed = _SET_OPERATION if isinstance(node, exp.SetOperation) else _OTHERS.get(type(node))
    if allowed is None:
        return
    for key, value in node.args.items():
        if not value or key in allowed or (key == "version" and reads_all(node)):
            continue
        name = _NAMES.get(key, key.strip("_").replace("_", " ").upper())
        place = value[0] if isinstance(value, list) else value
        refuse(
            place if isinstance(place, exp.Expression) else node,
            f"{name} is not supported in a view",
            HINTS.get(key, ""),
            keyword=name.split(" ")[0],
        )


def refuse_unsupported(construct: str, node: exp.Expression, hint: str = "") -> NoReturn:
    refuse(node, f"{construct} is not supported", hint)
