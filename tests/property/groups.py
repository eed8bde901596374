"""Random groups: GROUP BY with its sets, and the aggregate functions.

Where the answer of DuckDB's function depends on the order of its rows, its text says an order.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.property.expressions import SORTS, Scope
from tests.property.over import Windows
from tests.property.terms import NOTHING, Term, listed, optional


@dataclass(frozen=True)
class Aggregate:
    """A text with `{}` for each argument, or `{0}` where one stands twice; "any" is a sort that there is."""

    weight: int
    text: str
    arguments: tuple[str, ...] = ()
    duck: str | None = None


def _aggregate(weight: int, text: str, *arguments: str, duck: str | None = None) -> Aggregate:
    return Aggregate(weight, text, arguments, duck)


def _extremes(sort: str) -> tuple[Aggregate, ...]:
    return (
        _aggregate(2, "min({})", sort),
        _aggregate(2, "max({})", sort),
        _aggregate(1, "first({0} ORDER BY {0})", sort),
        _aggregate(1, "percentile_disc(0.5) WITHIN GROUP (ORDER BY {})", sort),
        _aggregate(1, "mode() WITHIN GROUP (ORDER BY {})", sort),
    )


def _small(duck: str) -> str:
    """BIGINT for DuckDB too: HUGEINT leaves a decimal no room for scale, UINTEGER has nothing below 0."""
    return f"CAST({duck} AS bigint)" if duck.startswith(("sum(", "regr_count(")) else duck


AGGREGATES: dict[str, tuple[Aggregate, ...]] = {
    "int": (
        _aggregate(8, "count(*)"),
        _aggregate(4, "count({})", "any"),
        _aggregate(4, "count(DISTINCT {})", "any"),
        _aggregate(8, "sum({})", "int"),
        _aggregate(2, "sum(DISTINCT {})", "int"),
        _aggregate(2, "min({})", "int"),
        _aggregate(2, "max({})", "int"),
        *_extremes("int"),
        _aggregate(1, "bit_and({})", "int"),
        _aggregate(1, "bit_or({})", "int"),
        _aggregate(1, "bit_xor({})", "int"),
        _aggregate(1, "approx_count_distinct({})", "any", duck="count(DISTINCT {})"),
        _aggregate(1, "regr_count({}, {})", "int", "int"),
    ),
    "float": (_aggregate(4, "sum({})", "float"), *_extremes("float")),
    "wild": (
        _aggregate(1, "sum({})", "wild"),
        _aggregate(1, "min({})", "wild"),
        _aggregate(1, "max({})", "wild"),
        _aggregate(1, "avg({})", "wild"),
    ),
    "rough": (
        _aggregate(4, "avg({})", "int"),
        _aggregate(2, "avg({})", "float"),
        _aggregate(2, "max({})", "rough"),
        _aggregate(2, "avg(DISTINCT {})", "int"),
        _aggregate(1, "median({})", "int"),
        _aggregate(1, "percentile_cont(0.5) WITHIN GROUP (ORDER BY {})", "float"),
    ),
    "approx": (
        _aggregate(3, "avg({})", "numeric"),
        _aggregate(2, "sum({})", "rough"),
        _aggregate(2, "avg({})", "rough"),
        _aggregate(1, "stddev({})", "int"),
        _aggregate(1, "stddev_pop({})", "numeric"),
        _aggregate(1, "var_samp({})", "float"),
        _aggregate(1, "variance(DISTINCT {})", "int"),
        _aggregate(1, "var_pop({})", "int"),
        _aggregate(1, "covar_pop({}, {})", "int", "int"),
        _aggregate(1, "covar_samp({}, {})", "int", "float"),
        _aggregate(1, "corr({}, {})", "int", "int"),
        _aggregate(1, "percentile_cont(0.3) WITHIN GROUP (ORDER BY {} DESC)", "int"),
    ),
    "numeric": (_aggregate(4, "sum({})", "numeric"), *_extremes("numeric")),
    "text": (
        *_extremes("text"),
        _aggregate(2, "string_agg({0}, ',' ORDER BY {0})", "text"),
        _aggregate(1, "string_agg(DISTINCT {0}, '-' ORDER BY {0} DESC)", "text"),
        _aggregate(1, "string_agg({0}, '')", "text", duck="string_agg({0}, '' ORDER BY {0})"),
    ),
    "date": _extremes("date"),
    "timestamp": _extremes("timestamp"),
    "time": _extremes("time"),
    "zoned": _extremes("zoned"),
    "bits": _extremes("bits"),
    "instant": _extremes("instant"),
    "interval": _extremes("interval"),
    "uuid": _extremes("uuid"),
    "natural": _extremes("natural"),
    "pair": _extremes("pair"),
    "map": _extremes("map"),
    "list": (
        _aggregate(1, "max({})", "list"),
        _aggregate(2, "array_agg({0} ORDER BY {0})", "int"),
        _aggregate(
            1,
            "array_agg(DISTINCT {0} ORDER BY {0} DESC)",
            "int",
            duck="list(DISTINCT {0} ORDER BY {0} DESC NULLS FIRST)",
        ),
    ),
    "bool": (
        _aggregate(2, "bool_and({})", "bool"),
        _aggregate(2, "bool_or({})", "bool"),
        _aggregate(1, "every({})", "bool", duck="bool_and({})"),
    ),
}
_SETS = (
    "ROLLUP ({0}, {1})",
    "ROLLUP ({1}, {0})",
    "CUBE ({0}, {1})",
    "GROUPING SETS (({0}, {1}), ({1}), ())",
    "GROUPING SETS (({0}), ({1}))",
    "{0}, ROLLUP ({1})",
)
_SETS_OF_ONE = ("ROLLUP ({0})", "CUBE ({0})", "GROUPING SETS (({0}), ())", "GROUPING SETS (({0}), ({0}))")


class Groups(Windows):
    """Writes GROUP BY and aggregates."""

    def grouped(self, scope: Scope, sorts: tuple[str, ...]) -> tuple[Term, Scope]:
        """GROUP BY, and the scope behind it: the keys, and aggregates of the sorts that are asked for."""
        keys: list[Term] = []
        for _ in range(self.rng.choice((0, 1, 1, 1, 2))):
            wanted = [atom for atom in scope.atoms if atom.sort in SORTS]
            if wanted:
                atom = self.rng.choice([a for a in wanted if a.sort in sorts] or wanted)
                keys.append(self.key(atom))
        found = [self.aggregate(sort, scope) for sort in (*sorts, "int") if sort in AGGREGATES]
        clause = optional(" GROUP BY {}", listed("items", tuple(keys))) if keys else NOTHING
        if keys and self.rng.random() < 0.2:
            keys = list(dict.fromkeys(keys))
            shapes = _SETS if len(keys) > 1 else _SETS_OF_ONE
            clause = optional(f" GROUP BY {self.rng.choice(shapes)}", *keys)
            found.append(Term("int", f"GROUPING({', '.join('{}' for _ in keys)})", tuple(keys)))
        return clause, Scope((*keys, *found), scope.outer)

    def key(self, atom: Term) -> Term:
        if self.rng.random() < 0.8 or atom.sort != "int":
            return atom
        return Term("int", self.rng.choice(("({} % 2)", "({} + 1)", "abs({})")), (atom,))

    def aggregate(self, sort: str, scope: Scope) -> Term:
        """A function that gives the sort, over what the scope has itself."""
        own = Scope(scope.atoms)
        choices = [e for e in AGGREGATES[sort] if "ORDER BY" not in e.text or all(map(own.of, e.arguments))]
        chosen = self.rng.choices(choices, [each.weight for each in choices])[0]
        known = [atom.sort for atom in scope.atoms if atom.sort != "approx"] or ["int"]
        if "ORDER BY" in chosen.text:  # of a column: to order by a literal is an error
            parts = tuple(self.rng.choice(own.of(argument)) for argument in chosen.arguments)
        else:
            parts = tuple(
                self.expression(self.rng.choice(known) if a == "any" else a, own, self.rng.choice((0, 0, 1)))
                for a in chosen.arguments
            )
        only = ""
        if self.rng.random() < 0.2:
            only = f" FILTER (WHERE {{{len(parts)}}})" if "{0}" in chosen.text else " FILTER (WHERE {})"
            parts = (*parts, self.expression("bool", own, 1))
        duck = (chosen.duck or chosen.text) + only
        return Term(sort, chosen.text + only, parts, _small(duck) if sort == "int" else duck)
