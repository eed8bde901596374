"""A running view as a listing: its operators, with the rows that they hold and the work that they have done.

The steps follow from the plan alone, and name the nodes of the dataflow listing. Only their figures vary, and
the views that share them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence

from engine.plan.nodes import Entry, Node, Recursive, Source, Variable
from engine.runtime.observation import Figures, Observed
from planner.explain.engine_plan import node_names
from planner.explain.listing import Listing, ListingStep
from planner.spans import NO_SPANS, Span, Spans

MILLION = 1_000_000


def running_listing(plan: Node, operators: Sequence[Observed], spans: Spans = NO_SPANS) -> Listing:
    """The operators of a view with this plan, its history last."""
    steps = operator_steps(plan, operators, spans, [_shown(operator.figures) for operator in operators])
    return Listing("analyze", steps, steps[-1].name)


def operator_steps(
    plan: Node, operators: Sequence[Observed], spans: Spans, figures: Sequence[Mapping[str, float]]
) -> tuple[ListingStep, ...]:
    """A step for each operator of a dataflow of the plan, with its figures."""
    names, by_key = node_names(plan), _SpansByKey(spans)
    return tuple(
        _step(place, operator, names, by_key, shown)
        for place, (operator, shown) in enumerate(zip(operators, figures, strict=True))
    )


class _SpansByKey:
    """The spans of operators by their keys. A loop's key has its bindings, a variable's its name."""

    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        self._loops = {node.bindings: spans[node] for node in spans if isinstance(node, Recursive)}
        self._variables = {node.name: spans[node] for node in spans if isinstance(node, Variable)}

    def of(self, key: Hashable) -> tuple[Span, ...]:
        match key:
            case ("loop", tuple() as bindings, *_):
                return self._loops.get(bindings, ())
            case ("variable", str() as name):
                return self._variables.get(name, ())
            case ("entry", Entry() as entry):
                return self._spans.get(entry.input, ())
        return next((self._spans[node] for node in nodes_of(key) if node in self._spans), ())


def _step(
    place: int,
    operator: Observed,
    names: Mapping[Node, str],
    spans: _SpansByKey,
    figures: Mapping[str, float],
) -> ListingStep:
    details = []
    if isinstance(operator.key, tuple) and operator.key[0] == "arrange":
        details.append("by " + " ".join(f"#{column}" for column in operator.key[2]))
    if operator.values:
        details.append("values " + ", ".join(map(_name, operator.values)))
    if operator.shared:
        details.append("shared with " + ", ".join(operator.shared))
    inputs = tuple(map(_name, operator.inputs))
    title = _title(operator, names)
    return ListingStep(
        _name(place), title, tuple(details), inputs, (), operator.depth, figures, spans.of(operator.key)
    )


def _name(place: int) -> str:
    return f"o{place}"


def _title(operator: Observed, names: Mapping[Node, str]) -> str:
    """The operator's kind, and the plan node that it computes."""
    if isinstance(operator.key, Source):
        return f"source {operator.key.name} ({names[operator.key]})"
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", operator.kind).lower()
    found = next((names[node] for node in nodes_of(operator.key) if node in names), "")
    return f"{kind} ({found})" if found else kind


def nodes_of(key: Hashable) -> Iterator[Node]:
    """The nodes that an operator's key names, in order."""
    if isinstance(key, Node):
        yield key
    elif isinstance(key, tuple):
        for part in key:
            yield from nodes_of(part)


def _shown(figures: Figures) -> dict[str, float]:
    return {
        "rows": figures.rows,
        "batches": figures.batches,
        "memory": figures.memory,
        "mapped": figures.mapped,
        "in": figures.rows_in,
        "out": figures.rows_out,
        "elsewhere": figures.elsewhere,
        "milliseconds": round(figures.nanoseconds / MILLION, 3),
    }
