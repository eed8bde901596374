"""Runs a case through planner and engine and says where it departs from the referee.

One engine gets the history epoch by epoch: every view must hold the referee's answer at every epoch, when
the epoch is new and later when it is history. A second engine gets the same epochs divided otherwise, up
to all at once, with views created before, between and after: its changes must be the same, row by row.
"""

from __future__ import annotations

import json
import random
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

import numpy as np

from engine.codec.json import decode_rows, encode_rows
from engine.errors import InvalidValue
from engine.plan.nodes import Node
from engine.runtime.engine import Engine
from engine.schema import JSON, TEXT, Kind, Schema, Type, is_anonymous
from planner.errors import PlannerError
from service.errors import Invalid as TooMuch
from tests.property.asked import Asker, SourceFailed
from tests.property.beside import Beside
from tests.property.called import inlined
from tests.property.cases import Answers, Case
from tests.property.duck import Answer, Bag, Failure, normalise, same
from tests.property.histories import Change, Epoch, states
from tests.property.mismatch import Departure, Mismatch, departure
from tests.property.planning import Catalog
from tests.property.schemas import Row
from tests.property.views import View

Make = Callable[[], Engine]


_DEPENDS = re.compile(
    r"\b(LIMIT|ROWNUM|ASOF|OFFSET|FETCH|DISTINCT ON|QUALIFY|OVER|array_agg|string_agg|listagg|list|first|last"
    r"|any_value|mode|arg_min|arg_max|min_by|max_by)\b",
    re.IGNORECASE,
)
"""What may depend on the order of rows, which a view decides for itself."""
_DUCKDB_LIMITS = ("cannot be referenced before it is defined", "NTERNAL Error: Conflicting or cyclic column")
"""What DuckDB says where a LATERAL query gives a column the name of the one that it reads, and where its
planner loses its way among several of them."""


def check(
    case: Case,
    answers: Answers,
    make: Make = Engine,
    all_asked: bool = False,
    counted: Counter[str] | None = None,
) -> Mismatch | None:
    """The first departure from `answers` or from one engine to another; None if all is well. A view may be
    no query that can be asked ad hoc, unless `all_asked`.

    `counted` gets what was really compared: views at an epoch as `rows`, ad-hoc answers as `asked`.
    """
    counted = Counter() if counted is None else counted
    catalog = Catalog(case.tables)
    try:
        plans = plan(case, catalog)
        one = by_epoch(case, plans, answers, make, counted)
        asked(case, answers, one, catalog, all_asked, counted)
        divided(case, plans, answers, one, make)
    except Departure as found:
        return found.mismatch
    return None


# Planning


def plan(case: Case, catalog: Catalog) -> dict[str, Node]:
    """The plan of every view, over the tables of the catalog and the views before it, which it then has."""
    plans: dict[str, Node] = {}
    for view in case.views:
        with departure("crash", view.name, 0):
            try:
                plans[view.name] = catalog.add(view).plan
            except PlannerError as error:
                raise Departure(
                    Mismatch("refused", view.name, 0, "a plan", f"{error.code}: {error}")
                ) from error
    return plans


# One epoch at a time


def by_epoch(
    case: Case, plans: Mapping[str, Node], answers: Answers, make: Make, counted: Counter[str]
) -> Engine:
    """Every view right at every epoch, and unchanged when read again at the end."""
    engine = started(case, make)
    for view in case.views:
        create(engine, view, plans)
    seen: dict[tuple[str, int], tuple[np.ndarray, np.ndarray]] = {}
    for number, (epoch, state) in enumerate(
        zip(case.history, states(case.tables, case.history), strict=True), 1
    ):
        advance(engine, case, number, [epoch], answers)
        for table in case.tables:
            held = normalise(_plain(row, table.schema) for row in state[table.name].elements())
            _expect("rows", table.name, number, held, read(engine, table.name, number))
        for view in case.views:
            if engine.snapshot.failure(view.name) is None:
                seen[view.name, number] = engine.snapshot.rows(view.name)
                counted["rows"] += compared(engine, view, number, answers[view.name][number])
    for (name, number), rows in seen.items():
        with departure("crash", name, number):
            again = engine.snapshot.rows(name, number)
        if not all(map(np.array_equal, rows, again)):
            raise Departure(Mismatch("past", name, number, rows, again))
    return engine


def compared(engine: Engine, view: View, number: int, expected: Answer | None) -> bool:
    """Whether there was something to compare."""
    with departure("crash", view.name, number):
        errors = engine.snapshot.errors(view.name)
    if expected is None or (errors and view.fragile):
        return False
    if isinstance(expected, Failure):
        if not errors and not view.fragile:
            raise Departure(Mismatch("errors", view.name, number, expected, "no errors"))
        return bool(errors)
    if errors:
        raise Departure(Mismatch("errors", view.name, number, "no errors", errors))
    _expect("rows", view.name, number, expected, read(engine, view.name, number))
    return True


def _expect(kind: str, name: str, number: int, expected: Bag, got: Bag) -> None:
    if not same(expected, got):
        raise Departure(Mismatch(kind, name, number, expected, got))


# The same text asked ad hoc


def asked(
    case: Case, answers: Answers, engine: Engine, catalog: Catalog, every: bool, counted: Counter[str]
) -> None:
    """The text of a view, asked of its tables at the last epoch, has the view's rows, or is refused."""
    asker = Asker(engine, catalog.relations)
    try:
        for view in case.views:
            expected = answers[view.name][-1]
            if not isinstance(expected, Counter) or view.fragile or _is_open(view):
                continue
            with departure("asked", view.name, len(case.history)):
                try:
                    got = asker.rows(inlined(view.sql()), view.dialect)
                except (PlannerError, TooMuch) as error:
                    if every and not any(limit in str(error) for limit in _DUCKDB_LIMITS):
                        raise
                    continue
                except SourceFailed:
                    continue
                except InvalidValue as error:
                    if error.message != "division by zero":
                        raise
                    continue  # of floats, which a view divides to Infinity (docs/sql.md)
            if not same(expected, got):
                raise Departure(Mismatch("asked", view.name, len(case.history), expected, got))
            counted["asked"] += 1
    finally:
        asker.close()


def _is_open(view: View) -> bool:
    """Whether an ad-hoc answer may be another one."""
    return _DEPENDS.search(view.sql()) is not None


# Divided otherwise


def divided(case: Case, plans: Mapping[str, Node], answers: Answers, one: Engine, make: Make) -> None:
    """The same history in other pieces, with views built beside it along the way, has the same changes."""
    rng = random.Random(f"divided {case.seed}")
    last = len(case.history)
    cuts = sorted(rng.sample(range(1, last), rng.choice((0, 0, 1, 2)) if last > 2 else 0)) if last > 1 else []
    views = [view for view in case.views if not any(_is_limit(answer) for answer in answers[view.name])]
    views = [view for view in views if one.snapshot.failure(view.name) is None]
    when = {view.name: rng.choice((0, 0, *cuts, last)) for view in views}
    engine = started(case, make)
    with Beside(engine, rng) as beside:
        for lower, upper in zip((0, *cuts), (*cuts, last), strict=True):
            beside.begin([view for view in views if when[view.name] == lower], plans)
            beside.go_on()
            advance(engine, case, lower + 1, case.history[lower:upper], answers)
        beside.begin([view for view in views if when[view.name] == last], plans)
        beside.end()
    framed = any(re.search(r"\bOVER\b", view.sql()) for view in case.views)
    for view in views:
        _same_changes(engine, one, view.name, last, framed)
    for table in case.tables:
        _same_changes(engine, one, table.name, last)


def _same_changes(engine: Engine, one: Engine, name: str, last: int, framed: bool = False) -> None:
    """`framed`: DuckDB computes frames together; the last digit of a float may depend on the others."""
    with departure("crash", name, last):
        expected, got = one.snapshot.changes(name, 0, last), engine.snapshot.changes(name, 0, last)
        if not np.array_equal(expected, got) and not (framed and _near(engine, one, name, last)):
            raise Departure(
                Mismatch("batching", name, last, _readable(one, name, expected), _readable(engine, name, got))
            )
        for number in range(1, last + 1):
            errors, others = one.snapshot.errors(name, number), engine.snapshot.errors(name, number)
            if errors != others:
                raise Departure(Mismatch("batching", name, number, errors, others))


def _near(engine: Engine, one: Engine, name: str, last: int) -> bool:
    return all(same(read(one, name, n), read(engine, name, n)) for n in range(1, last + 1))


def _is_limit(answer: Answer | None) -> bool:
    return isinstance(answer, Failure) and answer.limit


def _readable(engine: Engine, name: str, delta: np.ndarray) -> list[tuple[object, ...]]:
    rows = values(delta[:-2], engine.snapshot.schema(name), engine)
    return [(int(epoch), int(diff), row) for epoch, diff, row in zip(delta[-2], delta[-1], rows, strict=True)]


# The engine's side


def started(case: Case, make: Make = Engine) -> Engine:
    engine = make()
    for table in case.tables:
        engine.create_source(table.name, table.schema, table.key)
    return engine


def create(engine: Engine, view: View, plans: Mapping[str, Node]) -> None:
    with departure("crash", view.name, engine.snapshot.upper - 1):
        engine.create_view(view.name, plans[view.name])


def advance(engine: Engine, case: Case, first: int, epochs: Sequence[Epoch], answers: Answers) -> None:
    """Stage the epochs from `first` on as one and publish them; a view may fail only where it should."""
    deltas: dict[str, np.ndarray] = {}
    changes = [(first + i, change) for i, epoch in enumerate(epochs) for change in epoch]
    for table in case.tables:
        mine = [(number, change) for number, change in changes if change.table == table.name]
        if mine:
            deltas[table.name] = delta_of(mine, table.schema, engine)
    last = first + len(epochs) - 1
    with departure("crash", "", last):
        stage = engine.stage(deltas, last + 1)
        stage.publish()
    for name, reason in stage.failed.items():
        answer = answers[name][last]
        if answer is not None and not _is_limit(answer):
            raise Departure(Mismatch("crash", name, last, answer, reason))
    for name in answers.keys() & engine.snapshot.relations.keys():
        each = answers[name]
        if _is_limit(each[last]) and engine.snapshot.failure(name) is None:
            raise Departure(Mismatch("errors", name, last, each[last], "not failed"))


def delta_of(changes: Sequence[tuple[int, Change]], schema: Schema, engine: Engine) -> np.ndarray:
    rows = [_sent(change.row, schema) for _, change in changes]
    words = encode_rows(rows, schema, engine.dictionary)
    tail = np.array([[number for number, _ in changes], [change.diff for _, change in changes]], np.int64)
    return np.ascontiguousarray(np.concatenate([words, tail]))


def _sent(row: Row, schema: Schema) -> Row:
    """The row with its documents as values."""
    pairs = zip(row, schema.types, strict=True)
    return tuple(json.loads(v) if t.kind is Kind.JSON and isinstance(v, str) else v for v, t in pairs)


def read(engine: Engine, name: str, number: int) -> Bag:
    """The relation's rows at an epoch as normalised values."""
    with departure("crash", name, number):
        words, counts = engine.snapshot.rows(name, number)
        rows = values(words, engine.snapshot.schema(name), engine)
    bag: Bag = Counter()
    for row, count in zip(rows, counts.tolist(), strict=True):
        bag[row] += count
    return bag


def values(words: np.ndarray, schema: Schema, engine: Engine) -> list[tuple[object, ...]]:
    """Rows as Python values that compare with DuckDB's; a document is its text, so that null is not NULL."""
    shown = Schema(tuple(replace(c, type=TEXT) if c.type == JSON else c for c in schema.columns))
    return [_plain(row, shown) for row in decode_rows(words, shown, engine.dictionary)]


def _plain(row: Row, schema: Schema) -> Row:
    """JSON values as DuckDB would give them."""
    return tuple(_value(value, column.type) for value, column in zip(row, schema.columns, strict=True))


def _value(value: object, type: Type) -> object:
    if value is None:
        return None
    match type.kind:
        case Kind.ARRAY:
            return tuple(_value(each, *type.parts) for each in value)  # type: ignore[attr-defined]
        case Kind.STRUCT:
            values = value.values() if isinstance(value, dict) else value
            made = tuple(_value(each, part) for each, part in zip(values, type.parts, strict=True))  # type: ignore[call-overload]
            names = (field.name for field in type.fields)
            return made if is_anonymous(type) else tuple(zip(names, made, strict=True))
        case Kind.MAP:
            entries = value.items() if isinstance(value, dict) else value
            return tuple(tuple(map(_value, entry, type.parts)) for entry in entries)  # type: ignore[attr-defined]
    if isinstance(value, float) and type.kind is Kind.REAL:
        return float(np.float32(value))  # JSON has the shortest text of it
    if not isinstance(value, str) or type.kind in _TEXTS:
        return value
    if type.is_float:
        return value if value == "NaN" else float(value)
    return _FROM_JSON[type.kind](value)


def _interval(text: str) -> timedelta:
    """An ISO 8601 duration; a month is 30 days, as where intervals are compared."""
    day, _, clock = text.removeprefix("P").partition("T")
    units = {"Y": 360, "M": 30, "D": 1}
    days = sum(int(n) * units[unit] for n, unit in re.findall(r"(-?\d+)([YMD])", day))
    parts = {unit: float(n) for n, unit in re.findall(r"(-?[\d.]+)([HMS])", clock)}
    return timedelta(days, parts.get("S", 0), 0, 0, parts.get("M", 0), parts.get("H", 0))


_TEXTS = frozenset({Kind.TEXT, Kind.ENUM, Kind.JSON, Kind.TIMETZ, Kind.BIT})
_FROM_JSON: dict[Kind, Callable[[str], object]] = {
    Kind.NUMERIC: Decimal,
    Kind.DATE: date.fromisoformat,
    Kind.TIME: time.fromisoformat,
    Kind.TIMESTAMP: datetime.fromisoformat,
    Kind.TIMESTAMPTZ: datetime.fromisoformat,
    Kind.INTERVAL: _interval,
    Kind.BYTEA: b64decode,
    Kind.UUID: UUID,
}
