"""Functions whose result type depends on the type of their first argument: a day stays a day.

A view takes the form for its argument's type. An ad-hoc query calls an overload as a DuckDB macro, which
`macro` creates. `{0}` is the argument; there is one form per type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from sqlglot import exp

from engine.schema import Kind, Type
from planner.dialects.forms import FORMS
from planner.sql_types import UNTYPED, data_type
from planner.sql_types.defaults import default_of

_DUCKDB = {
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMPTZ": "TIMESTAMPTZ",
    "TEXT": "VARCHAR",
    "TIME": "TIME",
    "TIMETZ": "TIMETZ",
    "BYTES": "BLOB",
    "BITS": "BIT",
    "NUMBER": "DOUBLE",
    "WHOLE": "BIGINT",
    "JSON": "JSON",
    "TRUTH": "BOOLEAN",
    "ANY": "",
    "INTERVAL": "INTERVAL",
}
"""The types of a macro's parameter; a decimal is a DOUBLE to it, and a map has no type of its own."""
_ELEMENTS = (
    "BOOLEAN SMALLINT INTEGER BIGINT FLOAT DOUBLE VARCHAR DATE TIME TIMESTAMP TIMESTAMPTZ INTERVAL UUID BLOB"
)
"""Types whose arrays a macro takes as they are; it takes others as JSON."""
_KINDS = {
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TIMESTAMPTZ: "TIMESTAMPTZ",
    Kind.TEXT: "TEXT",
    Kind.TIME: "TIME",
    Kind.TIMETZ: "TIMETZ",
    Kind.JSON: "JSON",
    Kind.ARRAY: "ARRAY",
    Kind.BYTEA: "BYTES",
    Kind.BIT: "BITS",
    Kind.BOOLEAN: "TRUTH",
    Kind.MAP: "MAP",
    Kind.INTERVAL: "INTERVAL",
}
_OF_DATES = ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TEXT", "TIME")
ANY = "ANY"
"""The form for an argument of any other type."""
PREFIX = "dialect_"
_NAME = re.compile(rf"{PREFIX}\w+", re.IGNORECASE)
_DEFAULT = "{DEFAULT}"
"""In the form of a macro that takes arrays: the default of their elements."""


@dataclass(frozen=True)
class Overload:
    """`forms` are templates by the type of the first argument; any other type is refused."""

    name: str
    arity: int
    forms: Mapping[str, str]

    def macro(self) -> str:
        """The statement that creates its macro; the macro fails for a type without a form."""
        names = [f"p{place}" for place in range(self.arity)]
        if "FLOAT" in self.forms:
            return (
                f"CREATE OR REPLACE MACRO {PREFIX}{self.name}({', '.join(names)}) AS {self._by_name(names)}"
            )
        refused = "error('this function of the dialect does not take this type')"
        known = {} if ANY in self.forms else dict.fromkeys(_OF_DATES, refused)
        of_types = ", ".join(
            f"({', '.join([f'{names[0]} {type}'.strip(), *names[1:]])})"
            f" AS {_filled(form.replace(_DEFAULT, _default(type)), names)}"
            for kind, form in {**known, **self.forms}.items()
            for type in _duckdb_types(kind)
        )
        return f"CREATE OR REPLACE MACRO {PREFIX}{self.name}{of_types}"

    def _by_name(self, names: list[str]) -> str:
        """The form for floats or for other numbers, whose types turn into each other."""
        floats, others = (_filled(self.forms[kind], names) for kind in ("FLOAT", "NUMBER"))
        return f"CASE WHEN typeof({names[0]}) IN ('DOUBLE', 'FLOAT') THEN {floats} ELSE {others} END"

    def form(self, type: Type) -> str | None:
        """The template for an argument of a type, or None."""
        if type is UNTYPED:
            return next(iter(self.forms.values()))
        kind = _KINDS.get(type.kind, "")
        if type.is_numeric:
            narrow = "WHOLE" if type.is_integer else "FLOAT" if type.is_float else "DECIMAL"
            kind = narrow if narrow in self.forms else "NUMBER"
        return self.forms.get(kind) or self.forms.get(ANY)


def _duckdb_types(kind: str) -> list[str]:
    """The types of the parameters that take a kind of argument."""
    if kind == "ARRAY":
        return [f"{each}[]" for each in _ELEMENTS.split()]
    return [_DUCKDB[kind]] if kind in _DUCKDB else []


def _default(type: str) -> str:
    """The default of an array's elements, as DuckDB's SQL, or an error."""
    if not type.endswith("[]"):
        return ""
    element = type.removesuffix("[]")
    text = default_of(data_type(exp.DataType.build(element, dialect="duckdb")))
    return f"error('{element} has no default')" if text is None else f"CAST('{text}' AS {element})"


def _filled(form: str, names: list[str]) -> str:
    return re.sub(r"\{(\d+)\}", lambda place: f"({names[int(place[1])]})", form)


def _once(form: str) -> str:
    """The form with its first argument computed once, so that nested calls stay small."""
    if form.count("{0}") < 2:
        return form
    return f"list_transform([{{0}}], lambda at_once: {form.replace('{0}', 'at_once')})[1]"


def _overload(name: str, forms: Mapping[str, str]) -> Overload:
    forms = {type: _once(form) for type, form in forms.items()}
    places = {int(place) for form in forms.values() for place in re.findall(r"\{(\d+)\}", form)}
    return Overload(name, max(places) + 1, forms)


OVERLOADS: Mapping[str, Overload] = {name: _overload(name, forms) for name, forms in FORMS.items()}


def overload(name: str) -> Overload | None:
    """The overload that a call's name means, or None."""
    return OVERLOADS.get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None


def macros_in(text: str) -> frozenset[str]:
    """The names of the macros that an SQL text may call."""
    return macro_names() & {name.lower() for name in _NAME.findall(text)}


@cache
def macro(name: str) -> str:
    """The statement that creates the macro of this name in DuckDB."""
    return OVERLOADS[name.removeprefix(PREFIX)].macro()


@cache
def macro_names() -> frozenset[str]:
    """The names of the macros."""
    return frozenset(f"{PREFIX}{name}" for name in OVERLOADS)
