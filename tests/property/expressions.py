"""Random scalar expressions: a grammar as a table of forms, with the sort of every argument tracked.

Sorts are families of types: "int" is SMALLINT, INTEGER and BIGINT, "float" is REAL and DOUBLE, so that
implicit coercions happen all the time. Three more keep floating point comparable between two engines:

- "wild": a float that may be NaN or infinite;
- "rough": a float whose bits are certain, but which must not be summed (the order would show);
- "approx": the result of such a sum or average; it may be shown and tested for NULL, never compared.

Forms under `RISKY` can fail for a row (a cast, an overflow, a division by zero) and are used where a
query says so.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.schema import Kind, Type
from tests.property.called import CALLS
from tests.property.row_values import ROW_TESTS
from tests.property.schemas import (
    CLOCKS,
    DAYS,
    IDENTIFIERS,
    INSTANTS,
    INTERVALS,
    MOMENTS,
    NUMBERED,
    PAIR,
    TEXTS,
    ZONED_CLOCKS,
)
from tests.property.terms import Term

OTHERS = ("time", "zoned", "bits", "instant", "interval", "bytes", "uuid", "list", "pair", "map", "natural")
SORTS = ("int", "float", "numeric", "text", "date", "timestamp", "bool", *OTHERS)
COMPARABLE = (
    *("int", "int", "int", "text", "text", "float", "numeric", "date", "timestamp", "wild", "rough"),
    *OTHERS,
)


def sort_of(kind: Type, special: bool = False) -> str:
    if kind.whole:
        return "natural"
    if kind.is_integer:
        return "int"
    if kind.is_float:
        return "wild" if special else "float"
    return {
        Kind.NUMERIC: "numeric",
        Kind.TEXT: "text",
        Kind.DATE: "date",
        Kind.TIMESTAMP: "timestamp",
        Kind.BOOLEAN: "bool",
        Kind.TIME: "time",
        Kind.TIMETZ: "zoned",
        Kind.BIT: "bits",
        Kind.TIMESTAMPTZ: "instant",
        Kind.INTERVAL: "interval",
        Kind.BYTEA: "bytes",
        Kind.UUID: "uuid",
        Kind.ARRAY: "list",
        Kind.STRUCT: "pair",
        Kind.MAP: "map",
    }[kind.kind]


@dataclass(frozen=True)
class Form:
    """One production: a template, the sorts of its arguments, how often, and DuckDB's spelling."""

    weight: int
    text: str
    sorts: tuple[str, ...]
    duck: str | None = None


@dataclass(frozen=True)
class Scope:
    """What an expression may refer to: `atoms` of the query itself, `outer` ones of the queries around it."""

    atoms: tuple[Term, ...] = ()
    outer: tuple[Term, ...] = ()

    def of(self, sort: str) -> list[Term]:
        return [atom for atom in self.atoms if atom.sort == sort]


_IS_ANY = (
    "CASE WHEN len({1}) = 0 THEN FALSE WHEN list_contains({1}, {0}) THEN TRUE "
    "WHEN list_count({1}) = len({1}) THEN {0} <> {0} END"
)
"""Whether an array has a number. DuckDB makes a subquery of `= ANY`, to which an aggregate of a constant
belongs then, and takes no array for an empty one."""


def _form(weight: int, text: str, *sorts: str, duck: str | None = None) -> Form:
    return Form(weight, text, sorts, duck)


FORMS: dict[str, tuple[Form, ...]] = {
    "int": (
        _form(5, "({} + {})", "int", "int"),
        _form(3, "({} - {})", "int", "int"),
        _form(2, "({} * {})", "int", "int"),
        _form(1, "(- {})", "int"),
        _form(1, "abs({})", "int"),
        _form(1, "({} % {})", "int", "divisor"),
        _form(2, "({} / {})", "int", "divisor", duck="({} // {})"),
        _form(2, "length({})", "text"),
        _form(1, "strpos({}, {})", "text", "needle"),
        _form(1, "position({} IN {})", "needle", "text"),
        _form(2, "extract({} FROM {})", "datefield", "date"),
        _form(2, "extract({} FROM {})", "timefield", "timestamp"),
        _form(1, "({} - {})", "date", "date"),
        _form(1, "CAST({} AS integer)", "bool"),
        _form(1, "CAST({} AS bigint)", "int"),
        _form(1, "CAST({} AS integer)", "numeric"),
        _form(1, "CAST({} AS integer)", "float"),
        _form(1, "sign({})", "int"),
        _form(1, "ascii({})", "text"),
        _form(1, "cardinality({})", "list", duck="len({})"),
        _form(1, "({})[{}]", "list", "position"),
        _form(1, "({}).a", "pair"),
        _form(1, "({})['a']", "map"),
        _form(1, "extract({} FROM {})", "timefield", "instant"),
        _form(1, "extract(hour FROM {})", "time"),
        _form(1, "extract(timezone FROM {})", "zoned"),
        _form(1, "length({})", "bits"),
        _form(1, "({} + {})", "natural", "int"),
        _form(1, "({} - {})", "int", "natural"),
        _form(1, "CAST({} AS bigint)", "natural"),
    ),
    "natural": (
        _form(1, "({} + 1)", "natural"),
        _form(1, "({} % 3)", "natural"),
        _form(1, "CAST(abs({}) AS UINTEGER)", "int"),
        _form(1, "CAST(length({}) AS UINTEGER)", "text"),
    ),
    "float": (
        _form(2, "({} + {})", "float", "float"),
        _form(2, "({} - {})", "float", "float"),
        _form(1, "({} * {})", "float", "quarter"),
        _form(1, "({} + {})", "float", "int"),
        _form(1, "({} * {})", "int", "float"),
        _form(1, "(- {})", "float"),
        _form(1, "abs({})", "float"),
        _form(2, "CAST({} AS double precision)", "int"),
        _form(1, "CAST({} AS real)", "float"),
        _form(1, "floor({})", "float"),
        _form(1, "ceil({})", "float"),
        _form(1, "round({})", "float", duck="round_even({}, 0)"),
    ),
    "wild": (
        _form(2, "({} + {})", "wild", "float"),
        _form(1, "({} * {})", "wild", "float"),
        _form(1, "{}", "float"),
    ),
    "rough": (
        _form(2, "({} / {})", "float", "quarter"),
        _form(1, "({} / {})", "wild", "float"),
        _form(1, "sqrt(abs({}))", "float"),
        _form(1, "CAST({} AS double precision)", "numeric"),
        _form(1, "({} + {})", "numeric", "float"),
        _form(1, "({} / {})", "rough", "quarter"),
    ),
    "approx": (_form(1, "COALESCE({}, {})", "approx", "float"), _form(1, "{}", "rough")),
    "numeric": (
        _form(3, "({} + {})", "numeric", "numeric"),
        _form(2, "({} - {})", "numeric", "numeric"),
        _form(1, "({} * {})", "numeric", "int"),
        _form(1, "({} * {})", "numeric", "cents"),
        _form(1, "({} + {})", "int", "numeric"),
        _form(1, "(- {})", "numeric"),
        _form(1, "abs({})", "numeric"),
        _form(1, "CAST({} AS numeric(9, 2))", "int"),
        _form(1, "CAST({} AS numeric(10, 1))", "numeric"),
        _form(1, "CAST({} AS numeric(8, 3))", "float"),
        _form(1, "round({}, 1)", "numeric"),
    ),
    "text": (
        _form(3, "upper({})", "text"),
        _form(2, "lower({})", "text"),
        _form(3, "({} || {})", "text", "text"),
        _form(2, "substr({}, {}, {})", "text", "position", "position"),
        _form(1, "substring({} FROM {})", "text", "position"),
        _form(1, "left({}, {})", "text", "position"),
        _form(1, "right({}, {})", "text", "position"),
        _form(1, "trim({})", "text"),
        _form(1, "replace({}, {}, {})", "text", "needle", "text"),
        _form(1, "reverse({})", "text"),
        _form(1, "concat({}, {})", "text", "text"),
        _form(2, "CAST({} AS text)", "int"),
        _form(1, "CAST({} AS text)", "date"),
        _form(1, "CAST({} AS text)", "timestamp"),
        _form(1, "CAST({} AS text)", "bool"),
        _form(1, "CAST({} AS text)", "numeric"),
        _form(1, "CAST({} AS varchar)", "text"),
        _form(1, "CAST({} AS text)", "uuid"),
        _form(1, "({}).b", "pair"),
        _form(1, "CAST({} AS text)", "time"),
        _form(1, "CAST({} AS text)", "zoned"),
        _form(1, "CAST({} AS text)", "bits"),
        _form(1, "array_to_string({}, ',')", "list"),
    ),
    "date": (
        _form(3, "({} + {})", "date", "position"),
        _form(2, "({} - {})", "date", "position"),
        _form(2, "CAST({} AS date)", "timestamp"),
        _form(1, "CAST(date_trunc({}, {}) AS date)", "dateunit", "date"),
    ),
    "timestamp": (
        _form(2, "date_trunc({}, {})", "timeunit", "timestamp"),
        _form(1, "({} AT TIME ZONE {})", "instant", "zone"),
        _form(1, "({} + {})", "date", "time"),
        _form(2, "({} + {})", "timestamp", "span"),
        _form(2, "({} - {})", "timestamp", "span"),
        _form(2, "CAST({} AS timestamp)", "date"),
        _form(1, "({} + {})", "date", "span"),
    ),
    "time": (
        _form(2, "CAST({} AS time)", "timestamp"),
        _form(1, "CAST({} AS time)", "zoned"),
        _form(1, "({} + {})", "time", "span"),
    ),
    "zoned": (
        _form(1, "({} + {})", "zoned", "span"),
        _form(1, "CAST({} AS timetz)", "time"),
        _form(1, "CAST({} AS timetz)", "instant"),
    ),
    "bits": (_form(1, "COALESCE({}, {})", "bits", "bits"),),
    "instant": (
        _form(2, "({} + {})", "instant", "span"),
        _form(1, "({} - {})", "instant", "span"),
        _form(1, "date_trunc({}, {})", "timeunit", "instant"),
        _form(2, "CAST({} AS timestamptz)", "timestamp"),
        _form(1, "({} AT TIME ZONE {})", "timestamp", "zone"),
    ),
    "interval": (
        _form(2, "({} - {})", "timestamp", "timestamp"),
        _form(2, "({} - {})", "instant", "instant"),
        _form(1, "({} + {})", "interval", "interval"),
        _form(1, "(- {})", "interval"),
        _form(1, "({} * 2)", "interval"),
    ),
    "bytes": (_form(1, "({} || {})", "bytes", "bytes"),),
    "uuid": (_form(1, "COALESCE({}, {})", "uuid", "uuid"),),
    "pair": (
        _form(2, f"CAST(ROW(({{}}).a, {{}}) AS {PAIR})", "pair", "text"),
        _form(
            1,
            f"CAST(CAST({{}} AS STRUCT(x BIGINT, y TEXT)) AS {PAIR})",
            "pair",
            duck=f"CASE WHEN {{0}} IS NOT NULL THEN CAST({{0}} AS {PAIR}) END",
        ),
    ),
    "map": (_form(1, "map_concat({}, {})", "map", "map"),),
    "list": (
        _form(2, "ARRAY[{}, {}]", "int", "int"),
        _form(1, "array_append({}, {})", "list", "int"),
        _form(1, "array_prepend({}, {})", "int", "list"),
        _form(1, "(COALESCE({}, ARRAY[1]) || COALESCE({}, ARRAY[2]))", "list", "list"),
    ),
    "bool": (
        _form(4, "({} AND {})", "bool", "bool"),
        _form(1, "({0} = ANY ({1}))", "int", "list", duck=_IS_ANY),
        _form(1, "({0} <> ALL ({1}))", "int", "list", duck=f"(NOT {_IS_ANY})"),
        _form(6, "({} OR {})", "bool", "bool"),
        _form(4, "(NOT {})", "bool"),
        _form(2, "({} LIKE {})", "text", "pattern"),
        _form(1, "({} NOT LIKE {})", "text", "pattern"),
        _form(1, "({} ILIKE {})", "text", "pattern"),
        _form(1, "({} IS TRUE)", "bool"),
        _form(1, "({} IS NOT FALSE)", "bool"),
        _form(1, "({} IS NOT TRUE)", "bool"),
        _form(1, "({} IS NULL)", "bool"),
        _form(1, "({} < {})", "int", "numeric"),
        _form(1, "({} = {})", "numeric", "int"),
        _form(1, "({} >= {})", "int", "float"),
        _form(1, "({} <= {})", "date", "timestamp"),
        _form(1, "({} = {})", "bool", "bool"),
        _form(1, "({} < {})", "natural", "int"),
        _form(1, "({} = {})", "int", "natural"),
        _form(1, "({} >= {})", "numeric", "natural"),
    ),
}

# Forms that every sort X in COMPARABLE adds to "bool", and every sort in SORTS to itself.
TESTS = (
    (4, "({} = {})", 2),
    (2, "({} <> {})", 2),
    (3, "({} < {})", 2),
    (1, "({} <= {})", 2),
    (2, "({} > {})", 2),
    (1, "({} >= {})", 2),
    (2, "({} IS NULL)", 1),
    (2, "({} IS NOT NULL)", 1),
    (1, "({} IS DISTINCT FROM {})", 2),
    (1, "({} IS NOT DISTINCT FROM {})", 2),
    (1, "({} BETWEEN {} AND {})", 3),
    (2, "({} IN ({}, {}))", 3),
    (1, "({} NOT IN ({}, {}))", 3),
)
POLYMORPHIC = (
    (2, "COALESCE({}, {})", "XX"),
    (1, "COALESCE({}, {}, {})", "XXX"),
    (1, "NULLIF({}, {})", "XX"),
    (2, "CASE WHEN {} THEN {} ELSE {} END", "BXX"),
    (1, "CASE WHEN {} THEN {} END", "BX"),
    (1, "CASE WHEN {} THEN {} WHEN {} THEN {} ELSE {} END", "BXBXX"),
    (1, "CASE {} WHEN {} THEN {} ELSE {} END", "XXXX"),
    (1, "GREATEST({}, {})", "XX"),
    (1, "LEAST({}, {})", "XX"),
)
OF_INTERVALS = tuple(each for each in POLYMORPHIC if not each[1].startswith(("GREATEST", "LEAST")))
"""DuckDB's greatest of a month and 31 days is the month, though it says that this is less."""

RISKY: tuple[tuple[str, Form], ...] = (
    ("int", _form(1, "CAST({} AS integer)", "text")),
    ("int", _form(1, "CAST({} AS bigint)", "text")),
    ("int", _form(1, "({} / {})", "int", "int", duck="({} // {})")),
    ("int", _form(1, "({} % {})", "int", "int")),
    ("int", _form(1, "CAST({} AS smallint)", "int")),
    ("int", _form(1, "CAST({} AS integer)", "int")),
    ("int", _form(1, "CAST({} * 20000 AS smallint)", "int")),
    ("int", _form(1, "CAST({} AS integer)", "wild")),
    ("numeric", _form(1, "CAST({} AS numeric(3, 2))", "int")),
    ("numeric", _form(1, "CAST({} AS numeric(5, 2))", "text")),
    ("date", _form(1, "CAST({} AS date)", "text")),
    ("bool", _form(1, "CAST({} AS boolean)", "text")),
    ("float", _form(1, "sqrt({})", "float")),
    ("float", _form(1, "CAST({} AS double precision)", "text")),
)

LITERALS: dict[str, tuple[str, ...]] = {
    "int": (
        "0",
        "1",
        "2",
        "3",
        "4",
        "(-1)",
        "CAST(NULL AS integer)",
        "CAST(2 AS bigint)",
        "CAST(1 AS smallint)",
    ),
    "float": ("CAST(0.5 AS double precision)", "CAST(1 AS real)", "CAST(NULL AS double precision)"),
    "wild": ("CAST('NaN' AS double precision)", "CAST(1.5 AS double precision)"),
    "rough": ("CAST(0.1 AS double precision)",),
    "approx": ("CAST(0.1 AS double precision)",),
    "numeric": ("1.5", "0.10", "2.0", "(-0.5)", "CAST(NULL AS numeric(9, 2))", "CAST(1.25 AS numeric(9, 2))"),
    "text": (*(f"'{text}'" for text in TEXTS), "CAST(NULL AS text)"),
    "date": (*(f"DATE '{day}'" for day in DAYS), "CAST(NULL AS date)"),
    "timestamp": (*(f"TIMESTAMP '{moment}'" for moment in MOMENTS), "CAST(NULL AS timestamp)"),
    "bool": ("TRUE", "FALSE", "CAST(NULL AS boolean)"),
    "time": (*(f"TIME '{clock}'" for clock in CLOCKS), "CAST(NULL AS time)"),
    "zoned": (*(f"TIMETZ '{clock}'" for clock in ZONED_CLOCKS), "CAST(NULL AS timetz)"),
    "bits": ("CAST(NULL AS bit)",),
    "instant": (*(f"TIMESTAMPTZ '{instant}'" for instant in INSTANTS), "CAST(NULL AS timestamptz)"),
    "interval": (*(f"INTERVAL '{span}'" for span in INTERVALS.values()), "CAST(NULL AS interval)"),
    "bytes": ("CAST('a' AS bytea)", "CAST('' AS bytea)", "CAST(NULL AS bytea)"),
    "uuid": (*(f"CAST('{each}' AS uuid)" for each in IDENTIFIERS), "CAST(NULL AS uuid)"),
    "list": ("ARRAY[1, 2]", "ARRAY[1, NULL]", "CAST(ARRAY[] AS integer[])", "CAST(NULL AS integer[])"),
    "pair": (
        *(f"CAST(ROW({a}, {b}) AS {PAIR})" for a, b in ((1, "'a'"), (2, "NULL"), ("NULL", "'b'"))),
        f"CAST(NULL AS {PAIR})",
    ),
    "map": (
        "MAP(ARRAY['a', 'b'], ARRAY[1, NULL])",
        "MAP(ARRAY['b', 'a'], ARRAY[0, 1])",
        f"CAST(NULL AS {NUMBERED})",
    ),
    "natural": ("CAST(0 AS UINTEGER)", "CAST(2 AS UINTEGER)", "CAST(NULL AS UINTEGER)"),
    "zone": ("'UTC'", "'Europe/Berlin'", "'America/New_York'"),
    "divisor": ("2", "3", "(-2)"),
    "quarter": (
        "CAST(0.5 AS double precision)",
        "CAST(2 AS double precision)",
        "CAST(-0.25 AS double precision)",
    ),
    "cents": ("1.5", "0.25", "(-2.0)"),
    "needle": ("'a'", "'b'", "'B'", "' '", "'é'"),
    "position": ("1", "2", "3"),
    "pattern": ("'a%'", "'%b%'", "'_'", "'a_'", "'%'", "''", "'%é%'"),
    "datefield": ("year", "month", "day", "quarter", "dow", "doy", "week", "isodow"),
    "timefield": ("year", "month", "day", "hour", "minute"),
    "dateunit": ("'month'", "'year'", "'quarter'", "'week'", "'day'"),
    "timeunit": ("'month'", "'year'", "'day'", "'hour'", "'minute'", "'week'"),
    "span": ("INTERVAL '1 day'", "INTERVAL '1 month'", "INTERVAL '36 hours'", "INTERVAL '90 minutes'"),
}

WIDER = {
    "numeric": ("int",),
    "float": (),
    "wild": ("float",),
    "rough": ("float", "wild"),
    "approx": ("rough", "float"),
}


class Expressions:
    """Writes expressions; who writes queries adds subqueries to it by overriding `subquery`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.risky = False

    def expression(self, sort: str, scope: Scope, depth: int) -> Term:
        """A random expression of the sort, `depth` forms high at most."""
        if sort not in FORMS:
            return self.literal(sort)
        if depth <= 0 or self.rng.random() < 0.3:
            return self.leaf(sort, scope)
        if self.rng.random() < (0.16 if sort == "bool" else 0.07):
            found = self.subquery(sort, scope, depth)
            if found is not None:
                return found
        form = self.form(sort, scope)
        parts = tuple(self.expression(each, scope, depth - 1) for each in form.sorts)
        return Term(sort, form.text, parts, form.duck)

    def form(self, sort: str, scope: Scope) -> Form:
        """A production of the sort; tests prefer what the scope has columns of."""
        if self.risky and self.rng.random() < 0.4:
            risky = [form for each, form in RISKY if each == sort]
            if risky:
                return self.rng.choice(risky)
        if sort in SORTS and sort != "bool" and self.rng.random() < 0.3:
            known = OF_INTERVALS if sort == "interval" else POLYMORPHIC
            weight, text, shape = self.rng.choices(known, [each[0] for each in known])[0]
            return Form(weight, text, tuple("bool" if s == "B" else sort for s in shape))
        if sort == "bool" and self.rng.random() < 0.6:
            weight, text, arity = self.rng.choices(TESTS, [each[0] for each in TESTS])[0]
            there = [atom.sort for atom in scope.atoms if atom.sort in COMPARABLE]
            chosen = self.rng.choice(there if there and self.rng.random() < 0.85 else COMPARABLE)
            return Form(weight, text, (chosen,) * arity)
        if sort == "bool" and self.rng.random() < 0.07:
            return self.row_test(scope)
        called = CALLS.get(sort)
        if called and self.rng.random() < 0.05:
            text, sorts, duck = self.rng.choice(called)
            return Form(1, text, sorts, duck)
        present = {atom.sort for atom in scope.atoms} | {"bool"}
        forms = [form for form in FORMS[sort] if present.issuperset(s for s in form.sorts if s in FORMS)]
        forms = forms if forms and self.rng.random() < 0.8 else list(FORMS[sort])
        return self.rng.choices(forms, [form.weight for form in forms])[0]

    def row_test(self, scope: Scope) -> Form:
        """Two rows of two values, of sorts that the scope has."""
        known = [atom.sort for atom in scope.atoms if atom.sort in COMPARABLE] or ["int"]
        first, second = self.rng.choice(known), self.rng.choice(known)
        text, duck = self.rng.choice(ROW_TESTS)
        return Form(1, text, (first, second) * 2, duck)

    def leaf(self, sort: str, scope: Scope) -> Term:
        """A column of the scope, now and then of an outer one, or a literal."""
        if scope.outer and self.rng.random() < 0.15:
            outer = [atom for atom in scope.outer if atom.sort == sort]
            if outer:
                return self.rng.choice(outer)
        atoms = scope.of(sort)
        for wider in WIDER.get(sort, ()):
            if not atoms or self.rng.random() < 0.1:
                atoms = atoms or scope.of(wider)
        if atoms and self.rng.random() < 0.85:
            return (
                Term(sort, "{}", (self.rng.choice(atoms),))
                if sort != atoms[0].sort
                else self.rng.choice(atoms)
            )
        if sort == "bool":
            return self.comparison(scope)
        return self.literal(sort)

    def comparison(self, scope: Scope) -> Term:
        """An atom against another or a literal: the least test that says something."""
        atoms = [atom for atom in scope.atoms if atom.sort in SORTS]
        if not atoms:
            return self.literal("bool")
        left = self.rng.choice(atoms)
        if self.rng.random() < 0.15:
            return Term("bool", self.rng.choice(("({} IS NULL)", "({} IS NOT NULL)")), (left,))
        others = [atom for atom in scope.of(left.sort) if atom != left]
        right = self.rng.choice(others) if others and self.rng.random() < 0.5 else self.literal(left.sort)
        operator = self.rng.choice(("=", "=", "<>", "<", ">", "<=", ">=", "IS DISTINCT FROM"))
        return Term("bool", f"({{}} {operator} {{}})", (left, right))

    def literal(self, sort: str) -> Term:
        return Term(sort, self.rng.choice(LITERALS[sort]))

    def subquery(self, sort: str, scope: Scope, depth: int) -> Term | None:
        return None
