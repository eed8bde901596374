"""Assertions: views that are to have no rows, and the check that an epoch leaves them without.

An assertion is a view of the rows that break it. It is maintained like any other, so that a check costs what
the epoch changes in it. One that warns is a view and nothing more. For one that refuses, every staged epoch
is looked at before it is logged: an epoch that would give the view a row is refused, with such rows, and so
is one whose changes the view cannot follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np

from engine.plan.clocked import CLOCK
from engine.plan.nodes import sources_of
from engine.runtime.building import Building
from engine.runtime.engine import Engine, Stage
from engine.state.dictionary import Dictionary
from engine.state.reading import Rows
from planner.errors import InvalidQuery
from planner.statements.breach import Breach
from planner.suggestions import did_you_mean
from service.changes.resolve import named_row
from service.definitions.definition import Definition
from service.errors import Conflict, NamingConflict, NotFound

_SHOWN = 3


def refusing(definitions: Mapping[str, Definition]) -> tuple[Definition, ...]:
    """The assertions that refuse epochs, by name."""
    found = (d for _, d in sorted(definitions.items()) if d.details.breach is Breach.REFUSE)
    return tuple(found)


def check_stage(
    assertions: Iterable[Definition], engine: Engine, stage: Stage, changed: Collection[str] | None
) -> None:
    """Raises NamingConflict if the open stage breaks an assertion, or changes what one reads that cannot be
    checked. `changed` are the tables that change, None if any may."""
    for assertion in assertions:
        name = assertion.name
        if name in stage.failed or not _runs(assertion, engine):
            if changed is None or not _tables(assertion).isdisjoint(changed):
                raise _unchecked(name, _reason(assertion, engine, stage))
            continue
        rows, errors = engine.staged(name)
        if rows.shape[1]:
            raise _broken(assertion, rows[:-2, rows[-1] > 0], engine.dictionary)
        if errors.shape[1]:
            raise _unchecked(name, engine.dictionary.text(int(errors[0, 0])))


def check_built(assertion: Definition, building: Building) -> None:
    """Raises NamingConflict if an assertion that refuses epochs is broken where it has been built, or has
    errors there."""
    if assertion.details.breach is not Breach.REFUSE:
        return
    relation, dictionary, epoch = building.relation(), building.dictionary, building.epoch
    _require_none(assertion, relation.rows(epoch), dictionary)
    if errors := relation.errors.at(epoch, relation.kept.order.masks, dictionary, 1):
        raise _unchecked(assertion.name, errors[0][0])


def check_installed(definitions: Iterable[Definition], engine: Engine) -> None:
    """Raises NamingConflict if one of the definitions, which the engine has, is a broken assertion that
    refuses epochs."""
    for definition in definitions:
        if definition.details.breach is Breach.REFUSE and _runs(definition, engine):
            _require_none(definition, engine.snapshot.rows(definition.name), engine.dictionary)


def check_replaced(assertion: Definition, hidden: str, engine: Engine) -> None:
    """Raises NamingConflict if an assertion that refuses epochs would be broken by what the engine maintains
    as `hidden`, or cannot be checked there."""
    if assertion.details.breach is not Breach.REFUSE:
        return
    _require_none(assertion, engine.snapshot.rows(hidden), engine.dictionary)
    if errors := engine.snapshot.errors(hidden, most=1):
        raise _unchecked(assertion.name, errors[0][0])


def must_assert(name: str, definitions: Mapping[str, Definition], missing_ok: bool = False) -> None:
    """Raises NotFound unless there is an assertion of the name; with `missing_ok`, nothing may be there."""
    there = definitions.get(name)
    if (there is None and not missing_ok) or (there is not None and there.details.breach is None):
        hint = did_you_mean(name, (it.name for it in definitions.values() if it.details.breach is not None))
        if there is not None:
            hint = f"{name} is a {'view' if there.is_view else 'table'}"
        raise NotFound(f"there is no assertion called {name}", hint)


def must_be_view(name: str, definitions: Mapping[str, Definition]) -> None:
    """Raises NotFound if there is an assertion of the name, which is no view to whoever drops views."""
    there = definitions.get(name)
    if there is not None and there.details.breach is not None:
        raise NotFound(
            f"there is no view called {name}", f"{name} is an assertion: write DROP ASSERTION {name}"
        )


def must_stay(view: Definition | None) -> None:
    """Raises Conflict if the view that is to be replaced is an assertion."""
    if view is not None and view.details.breach is not None:
        raise Conflict(
            f"{view.name} is an assertion, which no other view can replace",
            f"DROP ASSERTION {view.name} first",
            code="in_use",
        )


def asserting(view: Definition, breach: Breach) -> Definition:
    """The view as an assertion. Raises InvalidQuery if time alone could break it."""
    if breach is Breach.REFUSE and CLOCK in sources_of(view.relation.plan):
        raise InvalidQuery(
            f"assertion {view.name} reads the time, which passes although it is broken",
            'let it warn: WITH (WARN) behind CREATE ASSERTION, or "breach": "warn" over HTTP',
        )
    return replace(view, details=replace(view.details, breach=breach))


def _runs(assertion: Definition, engine: Engine) -> bool:
    snapshot = engine.snapshot
    there = assertion.name in snapshot.relations
    return assertion.failure is None and there and snapshot.failure(assertion.name) is None


def _tables(assertion: Definition) -> set[str]:
    return {source.name for source in sources_of(assertion.relation.plan)}


def _require_none(assertion: Definition, rows: Rows, dictionary: Dictionary) -> None:
    words, counts = rows
    if len(counts):
        raise _broken(assertion, words, dictionary)


def _broken(assertion: Definition, words: np.ndarray, dictionary: Dictionary) -> NamingConflict:
    shown = sorted(named_row(assertion.schema, row, dictionary) for row in words.T[:_SHOWN])
    rows = "; ".join(f"({row})" for row in shown)
    more = f" and {words.shape[1] - _SHOWN} more" if words.shape[1] > _SHOWN else ""
    return NamingConflict(
        f"assertion {assertion.name} would be broken by {rows}{more}",
        "nothing was changed",
        assertion.name,
        Conflict("an assertion would be broken", "nothing was changed", code="assertion_broken"),
    )


def _reason(assertion: Definition, engine: Engine, stage: Stage) -> str:
    """Why an assertion does not run."""
    name, snapshot = assertion.name, engine.snapshot
    known = snapshot.failure(name) if name in snapshot.relations else None
    return stage.failed.get(name) or assertion.failure or known or "it is not there yet"


def _unchecked(name: str, reason: str) -> NamingConflict:
    return NamingConflict(
        f"assertion {name} cannot be checked: {reason}",
        f"nothing was changed; try again later, or DROP ASSERTION {name}",
        name,
        Conflict("an assertion cannot be checked", "nothing was changed", code="assertion_unchecked"),
    )
