"""A call of a dialect's date function, with its arguments by the names of their places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from sqlglot import exp

from planner.dialects.units import DAYS, unit, word
from planner.native.templates import sql
from planner.positions import refuse


@dataclass(frozen=True)
class DateCall:
    """`args` are by place: `at` is a day or moment, `n` a number, `unit` a name, `a` and `b` are two moments.

    `family` is the system whose rules apply.
    """

    name: str
    args: Mapping[str, exp.Expression]
    node: exp.Expression
    dialect: str
    family: str

    def __getitem__(self, place: str) -> exp.Expression:
        return self.args[place]

    def unit(self, place: str = "unit") -> str:
        """The unit that an argument names."""
        name = word(self.args[place])
        found = unit(name, self.family)
        if found is None:
            self.refuse(f"the unit {name.lower()}" if name else "a computed unit")
        return found

    def day(self, place: str = "day") -> int:
        """The number of a weekday, from Monday as 1, written in full or as two or three letters."""
        name = word(self.args[place])
        for number, day in enumerate(DAYS, 1):
            if name in (day, day[:3], day[:2]):
                return number
        self.refuse(f"the day {name.lower()}" if name else "a computed day")

    def refuse(self, what: str = "this form", hint: str = "") -> NoReturn:
        """Raise Unsupported for the function, with its dialect and place."""
        refuse(self.node, f"{what} is not supported in {self.name.lower()} of {self.dialect}", hint)

    def sql(self, template: str, *places: str) -> exp.Expression:
        """DuckDB's SQL with the arguments at these places."""
        return sql(template, [self.args[place] for place in places])


def number(value: int) -> exp.Expression:
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))
