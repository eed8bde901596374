"""Whether DuckDB may run a text on behalf of a client.

The text must be one query over known relations that calls only open functions. DuckDB reads `current_user`
and its like as columns first, and as functions if no column has that name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from planner.allowed.open_functions import AGGREGATES, AGGREGATES_BY_NAME, SESSION, TABLE_FUNCTIONS, WINDOWS
from planner.allowed.parse_tree import Closed, Node, arguments, known_functions, parts, tree
from planner.allowed.sizes import HINT, MOST, check_growth, largest
from planner.errors import (
    ConstantTooLarge,
    InvalidQuery,
    PlannerError,
    UnknownFunction,
    UnknownTable,
    Unsupported,
)
from planner.suggestions import did_you_mean

_QUERIES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
_SOURCES = frozenset(
    {"BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EMPTY", "EXPRESSION_LIST", "PIVOT", "COLUMN_DATA"}
)
_EXPRESSIONS = frozenset(
    {"BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "DEFAULT"}
    | {"FUNCTION", "LAMBDA", "LAMBDA_REF", "OPERATOR", "POSITIONAL_REFERENCE", "STAR", "SUBQUERY", "TYPE"}
    | {"WINDOW"}
)
_WITHOUT_PARENTHESES = SESSION | {
    "current_date",
    "current_time",
    "current_timestamp",
    "localtime",
    "localtimestamp",
}
_SCHEMAS = frozenset({"", "main"})
_WAITING = frozenset({"cte_map", "function"})
"""Parts of queries and table functions that have checks of their own."""
_REFUSED = 100 * MOST  # bounds are rough, so only what is far too large is refused
_ALONE = "write it as a statement of its own"
REFERENCE = "the SQL reference lists the supported functions"
"""A hint where no name is near."""


def check(
    text: str, functions: frozenset[str], relations: Iterable[str] = (), columns: Iterable[str] = ()
) -> None:
    """Raise Closed if the text may not run; it may read the `columns` of the `relations`."""
    query = tree(text)
    check_growth(query)
    known = {name.lower() for name in columns}
    _Check(functions, known).run(query, frozenset(name.lower() for name in relations))


def is_small(text: str, functions: frozenset[str]) -> bool:
    """Whether all values of a query without relations are known to be small; Closed if the query may not
    run, or if a value is known to be too large."""
    query = tree(text)
    check_growth(query)
    size = largest(query)
    if _REFUSED < size < math.inf:
        raise Closed(ConstantTooLarge(f"a constant has up to {size:.0f} characters or elements", HINT))
    _Check(functions, set()).run(query, frozenset())
    return size <= 2 * MOST + len(text)  # each function adds some room


def closed(name: str, functions: frozenset[str]) -> PlannerError:
    """The error for a name that is not in `functions`."""
    if name in WINDOWS:
        return InvalidQuery(f"{name} is a window function", f"write {name}() OVER (...)")
    if name in known_functions():
        return Unsupported(f"function {name} is not supported", REFERENCE)
    return UnknownFunction(f'unknown function "{name}"', did_you_mean(name, functions, REFERENCE))


@dataclass
class _Check:
    functions: frozenset[str]
    columns: set[str]
    waiting: list[tuple[object, frozenset[str]]] = field(default_factory=list)
    bare: list[Node] = field(default_factory=list)

    def run(self, query: Node, relations: frozenset[str]) -> None:
        self.waiting.append((query, relations))
        while self.waiting:
            value, known = self.waiting.pop()
            if not isinstance(value, dict):
                self.waiting += [(part, known) for part in parts(value)]
                continue
            self._named(value)
            if "class" in value:
                self._expression(value)
            elif "cte_map" in value:
                known = self._query(value, known)
            elif "sample" in value:
                self._source(value, known)
            below = (child for key, child in value.items() if key not in _WAITING)
            self.waiting += [(child, known) for child in below if isinstance(child, dict | list)]
        for node in self.bare:
            if node["column_names"][0].lower() not in self.columns:
                self._function(node["column_names"][0], node)

    def _named(self, node: Node) -> None:
        """Remember the names that the query gives to columns."""
        self.columns.add(str(node.get("alias", "")).lower())
        for key in ("aliases", "column_name_alias", "unpivot_names"):
            self.columns.update(name.lower() for name in node.get(key) or () if isinstance(name, str))

    def _expression(self, node: Node) -> None:
        if node["class"] not in _EXPRESSIONS:
            what = str(node["class"]).lower()
            raise Closed(
                Unsupported(f"{what} is not supported", "write the values into the query"), _offset(node)
            )
        if "function_name" in node and node["class"] in ("FUNCTION", "WINDOW"):
            self._function(node["function_name"], node)
        names: list[str] = node.get("column_names") or []
        if len(names) == 1 and str(names[0]).lower() in _WITHOUT_PARENTHESES:
            self.bare.append(node)

    def _function(self, name: str, node: Node) -> None:
        name = name.lower()
        if name not in self.functions:
            raise Closed(closed(name, self.functions), _offset(node), name)
        if name in AGGREGATES_BY_NAME and not _names_an_aggregate(node):
            hint = "write the aggregate's name as a text, as in list_aggregate(xs, 'sum')"
            raise Closed(Unsupported(f"{name} needs an aggregate that is supported", hint), _offset(node))

    def _query(self, node: Node, known: frozenset[str]) -> frozenset[str]:
        """Return the relations that the query can read; queue the queries of its WITH, each with its own."""
        if node["type"] not in _QUERIES:
            what = str(node["type"]).split("_")[0]
            raise Closed(Unsupported(f"{what} inside a query is not supported", _ALONE))
        for entry in node["cte_map"]["map"]:
            name, value = entry["key"].lower(), entry["value"]
            inner = value.get("query_node") or value.get("query", {}).get("node", {})
            recursive = inner.get("type") == "RECURSIVE_CTE_NODE"
            self.waiting.append((value, known | {name} if recursive else known))
            known |= {name}
        return known

    def _source(self, node: Node, known: frozenset[str]) -> None:
        kind = node["type"]
        if kind == "SHOW_REF":
            raise Closed(
                Unsupported("DESCRIBE, SHOW and SUMMARIZE inside a query are not supported"), _offset(node)
            )
        if kind not in _SOURCES:
            raise Closed(Unsupported(f"{kind} in FROM is not supported"), _offset(node))
        if kind == "TABLE_FUNCTION":
            name = node["function"]["function_name"].lower()
            if name not in TABLE_FUNCTIONS:
                raise Closed(closed(name, TABLE_FUNCTIONS), _offset(node), name)
            self.waiting.append((node["function"]["arguments"], known))
        if kind == "BASE_TABLE":
            self._relation(node, known)

    def _relation(self, node: Node, known: frozenset[str]) -> None:
        path = [node["catalog_name"], node["schema_name"], node["table_name"]]
        prefix = [part for part in path[:-1] if part not in ("", "recurring")]
        name = ".".join([*prefix, path[-1]])
        if prefix or name.lower() not in known:
            raise Closed(UnknownTable(f'no table or view "{name}"', did_you_mean(name, known)), _offset(node))


def _offset(node: Node) -> int | None:
    return node.get("query_location")


def _names_an_aggregate(call: Node) -> bool:
    """Whether the aggregate that the call names is open."""
    given = arguments(call)
    if call.get("schema", "") not in _SCHEMAS or len(given) < 2:
        return False
    literal = given[1].get("literal") or given[1].get("value") or {}
    return str(literal.get("text", literal.get("value", ""))).lower() in AGGREGATES
