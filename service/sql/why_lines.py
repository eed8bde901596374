"""EXPLAIN WHY: what the first row of a query follows from, as lines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from engine.plan.nodes import sources_of
from planner import PlannedQuery
from planner.errors import Unsupported
from planner.statements.show_statements import Explain
from service.derivations.asking import allowed
from service.derivations.search import SearchLimits
from service.derivations.told import lines
from service.derivations.why import AskedEpoch, Why
from service.errors import Forbidden
from service.reading.reads import check_epoch
from service.sql.sight import Sight

_MOST_ROUNDS = 10_000


def why_lines(statement: Explain, planned: PlannedQuery, sight: Sight) -> Iterator[str]:
    """The lines of the explanation. Raises Unsupported for the plan of a view and inside a block that has
    changed rows, Forbidden if it would show rows that the author may not read."""
    if statement.query is None:
        raise Unsupported("EXPLAIN WHY is about a row", "write EXPLAIN WHY SELECT * FROM name WHERE ...")
    if sight.transaction is not None and sight.transaction.changes:
        raise Unsupported("EXPLAIN WHY in a block that has changed rows is not supported", "COMMIT first")
    epoch = sight.epoch if sight.as_of is None else sight.as_of
    for source in sorted(source.name for source in sources_of(planned.plan)):
        if source in sight.snapshot.relations:
            if source not in sight.definitions:
                raise Forbidden("EXPLAIN WHY shows rows of tables, of which one may not be read")
            check_epoch(sight.snapshot, source, epoch)
    asked = AskedEpoch(
        sight.definitions,
        sight.snapshot,
        epoch,
        datetime.now(UTC).replace(tzinfo=None),
        sight.dictionary,
        _MOST_ROUNDS,
        SearchLimits(),
    )
    found = allowed("the query", lambda spending: Why(asked, spending).of_query(planned.logical))
    if found is None:
        yield "the query has no row"
        return
    _, rows, explained = found
    yield from lines(explained, sight.dictionary)
    if rows > 1:
        yield f"this is the first of {rows} rows"
