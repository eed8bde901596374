"""Date functions of the dialects: each has the meaning in its table, or is refused by its name and place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from sqlglot import exp

from planner.dialects import adding, differences, parts, truncation
from planner.dialects.call import DateCall
from planner.dialects.date_tables import FAMILIES, NUMERIC, TABLES, UNCHECKED
from planner.dialects.overloads import PREFIX
from planner.dialects.signatures import Signature, signatures
from planner.dialects.units import CALENDAR, is_clock
from planner.native.templates import call_of, sql
from planner.positions import refuse

_WAY_OUT = "add an INTERVAL, use EXTRACT, or write the query in the dialect postgres"

Meaning = Callable[[DateCall], exp.Expression]


def _day_or_number(call: DateCall) -> exp.Expression:
    """The day of a moment, or a number truncated to an integer."""
    return call_of(PREFIX + "truncated_or_number", [call["at"]], call.name.lower())


def _truncate_or_number(call: DateCall) -> exp.Expression:
    """A moment truncated to a unit, or a number truncated to some digits."""
    digits = isinstance(call["unit"], exp.Literal) and not call["unit"].is_string
    if digits or isinstance(call["unit"], exp.Neg):
        return sql("trunc({0}, {1})", [call["at"], call["unit"]])
    return truncation.truncate(call)


def _oracle_truncate(call: DateCall) -> exp.Expression:
    """The same with Oracle's formats."""
    digits = isinstance(call["unit"], exp.Literal) and not call["unit"].is_string
    if digits or isinstance(call["unit"], exp.Neg):
        return sql("trunc({0}, {1})", [call["at"], call["unit"]])
    return truncation.truncate_day(call)


def _last_day(call: DateCall) -> exp.Expression:
    """The last day of the month, or of the given unit."""
    if "unit" in call.args:
        return truncation.last_day_of(call)
    return call.sql("last_day(CAST({0} AS TIMESTAMP))", "at")


def _last_day_kept(call: DateCall) -> exp.Expression:
    return call_of(PREFIX + "last_day_kept", [call["at"]], call.name.lower())


def _truncate_calendar(call: DateCall) -> exp.Expression:
    """A day for weeks and longer units, a moment for the others."""
    unit = call.unit()
    moment = truncation.truncate_moment(call)
    return moment if is_clock(unit) or unit == "DAY" else sql("CAST({0} AS DATE)", [moment])


def _as(type: str, sign: int) -> Meaning:
    """An interval added to `at`, cast to `type`."""

    def meaning(call: DateCall) -> exp.Expression:
        if not isinstance(call["by"], exp.Interval):
            call.refuse("a second argument that is not an interval")
        count, unit = adding.counted(call["by"], call)
        if type == "TIMESTAMPTZ" and unit in CALENDAR and unit != "DAY":
            call.refuse(f"the unit {unit.lower()}", "add it to a DATETIME")
        by = adding.span(count, unit, call.family, sign)
        return sql(f"CAST({{0}} AS {type}) + {{1}}", [call["at"], by])

    return meaning


def _datetime(call: DateCall) -> exp.Expression:
    """A moment in a zone, or a day and a time of day."""
    zone = call["zone"]
    if isinstance(zone, exp.Literal) and zone.is_string:
        return call.sql("timezone({1}, CAST({0} AS TIMESTAMPTZ))", "at", "zone")
    return call.sql("CAST({0} AS DATE) + CAST({1} AS TIME)", "at", "zone")


def _only_interval(sign: int) -> Meaning:
    def meaning(call: DateCall) -> exp.Expression:
        if not isinstance(call["by"], exp.Interval):
            call.refuse("a second argument that is not an interval", "use INTERVAL")
        return adding.shift_by(call, sign)

    return meaning


MEANINGS: Mapping[str, Meaning] = {
    "add_months": adding.add_months,
    "add_months_at_end": adding.add_months_at_end,
    "boundaries": differences.boundaries,
    "datetime_shift_back_by": _as("TIMESTAMP", -1),
    "datetime_shift_by": _as("TIMESTAMP", 1),
    "day_or_number": _day_or_number,
    "days": differences.days,
    "elapsed": differences.elapsed,
    "extract": parts.extract,
    "last_day": _last_day,
    "last_day_kept": _last_day_kept,
    "months_between": differences.months_between,
    "next_day": truncation.next_day,
    "next_day_kept": truncation.next_day_kept,
    "oracle_truncate": _oracle_truncate,
    "previous_day": truncation.previous_day,
    "shift": adding.shift,
    "shift_back": adding.shift_back,
    "shift_back_by": adding.shift_back_by,
    "shift_back_interval": _only_interval(-1),
    "shift_by": adding.shift_by,
    "shift_day": adding.shift_day,
    "shift_day_back": adding.shift_day_back,
    "shift_interval": _only_interval(1),
    "shift_moment": adding.shift_moment,
    "slice": truncation.slice_of,
    "slice_from": truncation.slice_from,
    "truncate": truncation.truncate,
    "truncate_calendar": _truncate_calendar,
    "truncate_day": truncation.truncate_day,
    "truncate_moment": truncation.truncate_moment,
    "truncate_or_number": _truncate_or_number,
    "truncate_given": truncation.truncate_given("moment"),
    "truncate_given_or_zoned": truncation.truncate_given("zoned_moment"),
    "truncate_zoned": truncation.truncate_zoned,
    "datetime": _datetime,
    "time_boundaries": differences.time_boundaries,
    "truncate_there": truncation.truncate_there,
    "truncate_time": truncation.truncate_time,
    "week": parts.week,
    "year_and_week": parts.year_and_week,
    "zoned_shift_back_by": _as("TIMESTAMPTZ", -1),
    "zoned_shift_by": _as("TIMESTAMPTZ", 1),
}


@cache
def functions(family: str) -> Mapping[str, tuple[Signature[str], ...]]:
    """The argument lists of a system's date functions, by name in upper case."""
    return signatures(TABLES.get(family, {}))


@cache
def all_names() -> frozenset[str]:
    """The names of date functions in any dialect, without those that take formats."""
    return (UNCHECKED | {name for family in TABLES for name in functions(family)}) - NUMERIC


def date_call(node: exp.Expression, dialect: str) -> exp.Expression:
    """The meaning of a date function's call in DuckDB's SQL; the node itself for any other node."""
    family = FAMILIES.get(dialect, "")
    if isinstance(node, exp.Extract):
        name, args = "EXTRACT", [node.this, node.expression]
    elif isinstance(node, exp.Anonymous):
        name, args = node.name.upper(), node.expressions
    else:
        return node
    forms = functions(family).get(name, ())
    if not forms and family and name in all_names():
        refuse(node, f"the function {name.lower()} of {dialect} is not supported", _WAY_OUT)
    if not forms:
        return node
    form = next((form for form in forms if form.takes(len(args))), None)
    if form is None:
        refuse(
            node,
            f"{name.lower()} with {len(args)} arguments is not supported in {dialect}",
            "; ".join(f"{form} is" for form in forms),
        )
    call = DateCall(name, dict(zip(form.places, args, strict=False)), node, dialect, family)
    return _meant(form.meaning, call, args)


def _meant(meaning: str, call: DateCall, args: Sequence[exp.Expression]) -> exp.Expression:
    match meaning[0]:
        case "@":
            name, _, given = meaning[1:].partition(":")
            return _units(name, given, call) if given else MEANINGS[name](call)
        case "#":
            return parts.part_of(meaning[1:], args[0], call.name)
    return sql(meaning, args)


def _units(name: str, unit: str, call: DateCall) -> exp.Expression:
    """A function with its unit in its name."""
    sign = 1 if name == "shift_on" else -1
    by = adding.span(call["n"], unit, call.family, sign)
    return adding.shifted(call["at"], by, unit, call)


def interval_sum(node: exp.Expression, dialect: str) -> exp.Expression:
    """A sum of a day or moment and an interval literal, in systems where a day stays a day."""
    family = FAMILIES.get(dialect, "")
    if not isinstance(node, exp.Add | exp.Sub) or family in ("", "redshift", "sqlite"):
        return node
    at, by = node.this, node.expression
    if isinstance(at, exp.Interval) and isinstance(node, exp.Add):
        at, by = by, at
    if not isinstance(by, exp.Interval) or isinstance(at, exp.Interval):
        return node
    sign = -1 if isinstance(node, exp.Sub) else 1
    if family == "bigquery":  # DATE + INTERVAL is a DATETIME
        at = call_of(f"{PREFIX}moment", [at], "the sum")
    call = DateCall("the sum", {"at": at, "by": by}, node, dialect, family)
    return adding.shift_by(call, sign)
