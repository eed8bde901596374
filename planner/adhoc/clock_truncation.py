"""date_trunc to an hour or less, as PostgreSQL does it: the offset of a moment stays.

DuckDB truncates the clock's time and then looks for a moment at which the clock shows it. In the hour that a
change of the clocks repeats, there are two, and it takes the second. Here the moment goes back by what was
cut off.
"""

from __future__ import annotations

from sqlglot import exp

_NAME = "clock_trunc"
_UNITS = frozenset({"HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "MILLISECONDS", "MICROSECONDS"})
_PLAIN = "date_trunc(unit, value)"
_OF_MOMENT = "value - (CAST(value AS TIMESTAMP) - date_trunc(unit, CAST(value AS TIMESTAMP)))"
_FORMS = {"TIMESTAMPTZ": _OF_MOMENT, **dict.fromkeys(("DATE", "TIMESTAMP", "INTERVAL"), _PLAIN)}
CLOCK_MACROS = {
    _NAME: f"CREATE OR REPLACE MACRO {_NAME}"
    + ", ".join(f"(unit, value {type}) AS {form}" for type, form in _FORMS.items())
}
"""The statements that create the functions which a query calls instead, by their names."""


def with_clock_truncation(query: exp.Expression) -> None:
    """Replaces the truncations to an hour or less in a query of DuckDB's."""
    for node in list(query.find_all(exp.TimestampTrunc, exp.DateTrunc)):
        unit = node.args.get("unit")
        if unit is None or unit.name.upper() not in _UNITS or isinstance(node.this, exp.Literal | exp.Null):
            continue
        text = exp.Literal.string(unit.name.lower())
        node.replace(exp.Anonymous(this=_NAME, expressions=[text, node.this.copy()]))
