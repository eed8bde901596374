"""DuckDB as the referee of a view: its answer to the view's query, compared with the maintained rows.

DuckDB shares nothing with the planner's plan and the engine's operators. It answers over the relations that
the query names, a view among them as it is maintained, all at one epoch. Where its answer may differ from the
view's rows and both be right, the comparison is refused.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.codec.arrow import encode_arrow
from engine.plan.clocked import CLOCK
from engine.plan.nodes import sources_of
from engine.schema import FLOATS, Type
from engine.state.dictionary import Dictionary
from planner.adhoc.adhoc_query import adhoc_query
from planner.parsing.parse import parse_query
from planner.rewriting.open_pivots import with_values
from planner.sql_types import duckdb_type
from service.definitions.definition import Definition
from service.definitions.readable import Readable
from service.definitions.seeing import seen_now
from service.errors import Invalid
from service.reading.duck import QueryEvaluator
from service.reading.given_tables import arrow_table
from service.reading.reads import check_health
from service.running.view_comparison import ViewComparison, compare


def judge(name: str, readable: Readable, dictionary: Dictionary, duck: QueryEvaluator) -> ViewComparison:
    """Compare a view with DuckDB's answer at the newest epoch.

    Raises NotFound, Conflict for a view that has failed or has errors, Invalid for one that DuckDB cannot
    judge, and what `QueryEvaluator.run` raises.
    """
    view, snapshot, epoch = readable.definition(name, view=True), readable.snapshot, readable.newest
    check_health(view, snapshot, epoch)
    _check_judgeable(view, readable)
    tree = parse_query(view.sql, view.dialect)
    if view.details.lists:
        with_values(tree, view.details.lists)
    query = adhoc_query(tree, readable.known.all)
    tables = {}
    for reference in query.references:
        read = readable.definition(reference.relation)
        check_health(read, snapshot, epoch)
        rows = snapshot.rows(read.name, epoch)
        tables[reference.alias] = arrow_table(rows, read.schema, dictionary, None, reference.row)
    with dictionary.holding():
        answer = duck.cast(duck.run(query, tables), tuple(map(duckdb_type, view.schema.types)))
        words = encode_arrow(answer, view.loose, dictionary)
        recomputed = words, np.ones(words.shape[1], np.int64)
        maintained = snapshot.relations[view.name].balance(epoch)
        texts = (snapshot.texts, dictionary.hold())
        return compare(view.name, epoch, view.schema, (maintained, ()), (recomputed, ()), texts)


def _check_judgeable(view: Definition, readable: Readable) -> None:
    """Raises Invalid for a view whose rows DuckDB may give otherwise."""
    reason = ""
    if view.period is not None:
        reason = "its rows have periods of valid time, and DuckDB answers for one time"
    if any(map(_is_inexact, view.schema.types)):
        reason = "its floating-point numbers depend on the order of additions"
    elif CLOCK in sources_of(view.relation.plan):
        reason = "it reads the time, and DuckDB would read another"
    elif not all(view.details.lists):
        reason = "its PIVOT has no values, and DuckDB's has some"
    elif dict(view.details.sees) != _as_seen_now(view, readable):
        reason = "what it reads was altered since it was made"
    if reason:
        raise Invalid(
            f"DuckDB cannot judge view {view.name}: {reason}", "check it by rebuild", code="cannot_be_judged"
        )


def _is_inexact(type: Type) -> bool:
    return type.kind in FLOATS or any(map(_is_inexact, type.parts))


def _as_seen_now(view: Definition, readable: Readable) -> dict[str, object]:
    """What the view would see if it was made now, with the row counts of the time when it was made."""
    sees, relations = view.details.sees, readable.known.relations
    now = seen_now((name for name in sees if name in relations), relations)
    return {name: replace(seen, rows=sees[name].rows) for name, seen in now.items()}
