"""Applying a replacement: one epoch at which views go on under new plans, with what differs as its changes.

  log      one transaction takes the epoch, the new definitions, and the end of the replacement
  publish  the epoch, in which only the time may change rows
  succeed  the views go on as those beside them do, which are then gone

All of this is one job of the writer, and readers see what is there at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import sqlalchemy as sa

from service.catalog.records import Definer, note_change
from service.changes.table_changes import Applied
from service.definitions.assertions import check_replaced
from service.definitions.definition import Definition
from service.definitions.former import with_past
from service.definitions.planned_replacement import PlannedReplacement, ReplacedView
from service.running.replaced_rows import ReplacedRows
from service.running.state import State
from service.writing.commits import Made


def apply(
    state: State,
    planned: PlannedReplacement,
    found: Mapping[str, ReplacedRows],
    also: Callable[[sa.Connection], None] = lambda connection: None,
) -> int:
    """Applies a replacement that is current and ready. Returns its epoch. `found` has the rows of each view
    that has another plan, by its name. Raises Conflict if a branch holds a view or an assertion is broken,
    Unavailable if the log cannot be written; then nothing has changed.

    `also` writes to the catalog in the same transaction.
    """
    of, engine = state.definitions, state.engine
    caught = {name: rows.at(engine.snapshot) for name, rows in found.items()}
    of.check_held(*(view.old for view in planned.views if view.old is not view.new))
    for view in planned.moved:
        check_replaced(view.new, view.hidden or "", engine)
    epoch = engine.snapshot.upper
    news = [_definition(planned, view, caught.get(view.name), epoch, state) for view in planned.views]

    def write(connection: sa.Connection, applied: Applied) -> None:
        definer = Definer(connection)
        for view, definition in zip(planned.views, news, strict=True):
            if definition is not view.old:
                definer.change(definition.record())
        note_change(connection)
        also(connection)
        state.catalog.witness(connection)

    state.commits.install({}, epoch, epoch, Made(0, (), ((write, Applied(epoch, 0)),)))
    _succeed(state, planned, caught, news)
    return epoch


def _definition(
    planned: PlannedReplacement, view: ReplacedView, rows: ReplacedRows | None, epoch: int, state: State
) -> Definition:
    """A view as it is from the epoch on."""
    new = replace(view.new, created=epoch) if view.name in planned.named else view.new
    if rows is None:
        return new
    there = state.engine.snapshot.relations.get(view.name)
    kept = [query for query in view.old.details.former if there is not None and query.until > there.since]
    return with_past(new, view.old, epoch, kept, rows.goes_on)


def _succeed(
    state: State, planned: PlannedReplacement, caught: Mapping[str, ReplacedRows], news: Sequence[Definition]
) -> None:
    """Lets the views go on under their new plans, once these are durable."""
    of, engine = state.definitions, state.engine
    known = dict(of.all)
    for view, new in zip(planned.views, news, strict=True):
        known[view.name] = new
        if view.hidden is None:
            continue
        of.drop_indexes(of.lookups(view.old))  # they are built again, for what the view is now
        of.set_aside.discard(view.name)
        failure = engine.snapshot.failure(view.hidden)
        of.queries.all.pop(view.hidden, None)
        if failure is None:
            continue
        for name in (view.hidden, view.name):
            if name in engine.snapshot.relations:
                engine.drop_view(name)
        known[view.name] = of.compute_later(new, failure)
    maintained = [view for view in planned.moved if view.is_there(engine.snapshot)]
    engine.succeed([caught[view.name].at(engine.snapshot).succession() for view in maintained])
    of.replace_all(known)
    of.clock.note_reader()
    of.clock.stop_unless_read()
