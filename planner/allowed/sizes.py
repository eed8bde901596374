"""Bounds on the size of the values that an expression makes: characters of a text, elements of a list.

DuckDB's memory limit does not count the values that a function makes, and no interrupt stops a running
function. So the bounds come from the query's text. A bound is a float. `check_growth` counts a column or an
unknown number as 1, so it measures how many times larger than its arguments a value is, from the literals
alone. `largest` counts them as infinite and every other value at its largest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.allowed.parse_tree import Closed, Node, arguments, parts
from planner.errors import ConstantTooLarge

MOST = 1_000_000
"""Characters or elements that one constant may make of another."""
_MOST_STEPS = 1e8
_ROOM = 64.0  # characters of a number, a time or a UUID
_WORD = 20.0  # characters of a whole number, or of the name of a type

HINT = f"a value may have at most {MOST} characters or elements"

Bounds = Sequence[float]


def _series(call: Node, sizes: Bounds, values: Bounds) -> float:
    """Elements of a range from zero, or from its first bound, to the other bound, in steps."""
    ends = [_literal(argument) for argument in arguments(call)]
    if len(ends) == 1:
        return values[0]
    step = ends[2] if len(ends) > 2 else 1.0
    if ends[0] is None or ends[1] is None or not step:
        return math.inf if math.inf in values or step != 1 else sum(values)
    return abs(ends[1] - ends[0]) / abs(step) + 1


def _product(call: Node, sizes: Bounds, values: Bounds) -> float:
    return math.prod(max(size, 1.0) for size in sizes)


def _mapped(call: Node, sizes: Bounds, values: Bounds) -> float:
    """Elements that a lambda gives; a list that is written out counts the elements that are written."""
    listed = arguments(call)[0]
    written = listed.get("function_name") == "list_value"
    count = len(listed["arguments"]) if written else sizes[0]
    return max(count, 1.0) * math.prod(max(size, 1.0) for size in sizes[1:])


def _times(call: Node, sizes: Bounds, values: Bounds) -> float:
    """The first argument, repeated as often as the second says."""
    return max(sizes[0], 1.0) * values[1] if len(values) > 1 else math.inf


def _to(call: Node, sizes: Bounds, values: Bounds) -> float:
    """The larger of the first argument's size and the second argument's value."""
    return max(sizes[0], values[1]) if len(values) > 1 else math.inf


def _widths(call: Node, sizes: Bounds, values: Bounds) -> float:
    """The characters written, and the widths that the format spells out."""
    widths = re.findall(r"\d+", _text(arguments(call)[0]))
    return sum(sizes) + sum(float(width) for width in widths)


def _endless(call: Node, sizes: Bounds, values: Bounds) -> float:
    return math.inf


_GROWING: Mapping[str, Callable[[Node, Bounds, Bounds], float]] = {
    "repeat": _times,
    **dict.fromkeys(("lpad", "rpad", "bitstring", "list_resize", "array_resize"), _to),
    "to_base": lambda call, sizes, values: sum(sizes) + sum(values[2:]),
    **dict.fromkeys(("range", "generate_series"), _series),
    **dict.fromkeys(("format", "printf"), _widths),
    **dict.fromkeys(
        ("replace", "regexp_replace", "array_to_string", "list_aggregate", "list_string_agg"), _product
    ),
    **dict.fromkeys(("list_reduce", "array_reduce", "reduce"), _endless),
    **dict.fromkeys(("list_transform", "array_transform", "list_apply", "array_apply", "apply"), _mapped),
    "list_value": lambda call, sizes, values: sum(sizes),
    "equi_width_bins": lambda call, sizes, values: max(values),
}
"""Functions whose value is larger than their arguments together."""
_LESS = frozenset(
    {"list_filter", "array_filter", "filter", "list_extract"}
    | {"json_extract", "json_extract_string", "json_extract_path", "->", "->>"}
)
"""Functions whose value is no larger than their first argument; a path with `..` finds parts repeatedly."""
_SHORT = frozenset(
    {"contains", "json_array_length", "json_exists", "json_type", "json_valid", "list_contains", "list_count"}
    | {"regexp_full_match", "regexp_matches", "starts_with"}
)
"""Functions whose value is a number, a truth value or a word."""
_TRUTHS = frozenset({"COMPARISON", "CONJUNCTION"})
_LONG = frozenset({"levenshtein", "damerau_levenshtein", "editdist3", "jaccard", "~~", "~~*", "~~~"})
"""Functions whose steps grow with each pair of characters."""
_SIZES = frozenset({"length", "len", "strlen", "char_length", "octet_length", "bit_length", "array_length"})
_SUMS = frozenset({"+", "-", "add", "subtract", "greatest", "least", "coalesce", "abs", "@"})
_PRODUCTS = frozenset({"*", "multiply"})
_PASSING = frozenset({"CAST", "OPERATOR"})
"""Expressions whose number is that of one of their parts."""


@dataclass(frozen=True)
class _Bound:
    """How large a value may be: its size, the absolute value of a number, and `steps`, the product of the
    sizes of a function's arguments."""

    size: float
    value: float
    steps: float = 0.0


def check_growth(query: Node) -> None:
    """Raise Closed if a function makes too large a value from the literals alone."""
    for node, bound in _bounds(query, unknown=1.0, room=0.0):
        name = str(node.get("function_name", "")).lower()
        if name in _GROWING and MOST < bound.size < math.inf:
            what = f"{name} makes a value of up to {bound.size:.0f} characters or elements"
            raise Closed(ConstantTooLarge(what, HINT), node.get("query_location"))
        if name in _LONG and bound.steps > _MOST_STEPS:
            raise Closed(ConstantTooLarge(f"{name} takes too many steps", HINT), node.get("query_location"))


def largest(query: Node) -> float:
    """The bound of the largest value in the query."""
    return max((bound.size for _, bound in _bounds(query, math.inf, _ROOM)), default=0.0)


def _bounds(query: Node, unknown: float, room: float) -> Iterator[tuple[Node, _Bound]]:
    """Every expression of the query with its bound, inner expressions first."""
    order: list[tuple[Node, list[Node]]] = []
    waiting = [query]
    while waiting:
        node = waiting.pop()
        below = _below(node)
        waiting += below
        if "class" in node:
            order.append((node, below))
    bounds: dict[int, _Bound] = {}
    for node, below in reversed(order):
        bounds[id(node)] = _bound(node, [bounds[id(part)] for part in below], unknown, room)
        yield node, bounds[id(node)]


def _below(node: Node) -> list[Node]:
    """The nearest expressions below a node; a function's arguments come first, and the choices of a CASE."""
    found: list[Node] = []
    waiting: list[object] = list(node.values())
    if node.get("class") == "FUNCTION":
        found = arguments(node)
        waiting = [child for key, child in node.items() if key != "arguments"]
    elif node.get("class") == "CASE":
        found = _choices(node)
        waiting = [check["when_expr"] for check in node["case_checks"]]
    while waiting:
        for part in parts(waiting.pop()):
            if "class" in part:
                found.append(part)
            elif part.get("type") == "TABLE_FUNCTION":
                waiting.append(
                    part["function"]["arguments"]
                )  # its arguments do not bound the rows: it gives them one by one
            else:
                waiting += part.values()
    return found


def _choices(node: Node) -> list[Node]:
    """The expressions that a CASE chooses from."""
    return [*(check["then_expr"] for check in node["case_checks"]), node["else_expr"]]


def _is_less(node: Node, name: str) -> bool:
    """Whether a function's value is no larger than its first argument."""
    return name in _LESS and not any(".." in _text(argument) for argument in arguments(node)[1:])


def _bound(node: Node, below: Sequence[_Bound], unknown: float, room: float) -> _Bound:
    match node["class"]:
        case "CONSTANT":
            number = _literal(node)
            return _Bound(max(1.0, len(_text(node))), unknown if number is None else abs(number))
        case "COLUMN_REF":
            return _Bound(1.0, unknown)
        case "FUNCTION":
            given = below[: len(node["arguments"])]
            sizes, values = [part.size for part in given], [part.value for part in given]
            name = node["function_name"].lower()
            grows = _GROWING.get(name) if given else None
            size = sum(sizes) + room if grows is None else grows(node, sizes, values)
            if given and (name in _SHORT or _is_less(node, name)):
                size = max(1.0, min(room, _WORD)) if name in _SHORT else sizes[0]
            return _Bound(size, _reckoned(node, sizes, values, unknown), math.prod(sizes))
        case "CASE":
            sizes = [part.size for part in below[: len(_choices(node))]]
            return _Bound(max(sizes), max(part.value for part in below))
        case "LAMBDA" if len(below) > 1:  # the body comes first; an arrow may be one of JSON too
            is_arrow = node.get("syntax_type") != "LAMBDA_KEYWORD"
            return _Bound(max(part.size for part in below) if is_arrow else below[0].size, unknown)
        case name if name in _TRUTHS:
            return _Bound(1.0, unknown)
    total = sum(part.size for part in below) + room
    passes = node["class"] in _PASSING and below
    return _Bound(total, max(part.value for part in below) if passes else unknown)


def _reckoned(call: Node, sizes: Bounds, values: Bounds, unknown: float) -> float:
    """The bound of the number that a function gives."""
    name = call["function_name"].lower()
    if name in _SIZES:
        return 8 * sum(sizes)
    if name in _SUMS:
        return sum(values)
    return math.prod(values) if name in _PRODUCTS else unknown


def _text(node: Node) -> str:
    literal = node.get("literal") or node.get("value") or {}
    return str(literal.get("text", literal.get("value", "")))


def _literal(node: Node) -> float | None:
    """The number that the node writes, or None."""
    if node["class"] == "FUNCTION" and node["function_name"] == "-" and len(node["arguments"]) == 1:
        number = _literal(arguments(node)[0])
        return None if number is None else -number
    try:
        return float(_text(node))
    except ValueError:
        return None
