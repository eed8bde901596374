"""Random window functions: calls over the rows of one SELECT, in every frame.

What a call gives must not depend on chance. RANK and its relatives, and aggregates over peers, depend on what
is ordered by alone. Where the place of a row among its peers counts, the order goes on to all columns in
reach, and a SELECT has one such call at most: of rows that are equal in all columns one engine may take
another one first in each call.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.property.expressions import SORTS, Expressions, Scope
from tests.property.places import DIRECTIONS
from tests.property.terms import NOTHING, Term, listed, optional

ORDERED = (*SORTS, "wild", "rough")


@dataclass(frozen=True)
class Call:
    """A window function: its text with `{}` for an argument of `argument`, if any, and what it depends on."""

    weight: int
    text: str
    argument: str = ""
    placed: bool = False  # on the place of a row among its peers
    framed: bool = True  # on the frame


def _calls(text: str, *sorts: str, placed: bool = False) -> dict[str, tuple[Call, ...]]:
    return {sort: (Call(1, text, sort, placed),) for sort in sorts}


_RANKS = tuple(Call(2, f"{name}()", framed=False) for name in ("rank", "dense_rank"))
_SHARES = tuple(Call(1, f"{name}()", framed=False) for name in ("percent_rank", "cume_dist"))
_PLACES = tuple(Call(2, text, "", True, False) for text in ("row_number()", "ntile(2)", "ntile(3)"))
_NEIGHBOURS = (
    Call(2, "lag({})", "X", True, False),
    Call(1, "lag({}, 2)", "X", True, False),
    Call(2, "lead({})", "X", True, False),
    Call(1, "lead({0}, 1, {0})", "X", True, False),
    Call(1, "first_value({})", "X", True),
    Call(1, "last_value({})", "X", True),
    Call(1, "nth_value({}, 2)", "X", True),
    Call(2, "min({})", "X"),
    Call(2, "max({})", "X"),
)
CALLS: dict[str, tuple[Call, ...]] = {
    "int": (
        *_RANKS,
        *_PLACES,
        Call(3, "count(*)"),
        Call(1, "count({})", "text"),
        Call(4, "sum({})", "int"),
        Call(1, "bit_or({})", "int"),
        Call(1, "count(DISTINCT {})", "int"),
    ),
    "rough": (*_SHARES, Call(2, "avg({})", "int"), Call(1, "median({})", "int")),
    "approx": (Call(1, "stddev_samp({})", "int"), Call(1, "avg({})", "numeric")),
    "numeric": (Call(2, "sum({})", "numeric"),),
    "float": (Call(2, "sum({})", "float"),),
    "text": (Call(1, "string_agg({}, '-')", "text", True),),
    "list": (Call(1, "array_agg({})", "int", True),),
    "bool": (Call(1, "bool_and({})", "bool"), Call(1, "bool_or({})", "bool")),
}
_FRAMES = (
    "{unit} BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "{unit} BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "{unit} BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "{unit} UNBOUNDED PRECEDING",
    "{unit} BETWEEN {n} PRECEDING AND CURRENT ROW",
    "{unit} BETWEEN {n} PRECEDING AND {m} FOLLOWING",
    "{unit} BETWEEN CURRENT ROW AND {n} FOLLOWING",
    "{unit} BETWEEN {n} PRECEDING AND {one} PRECEDING",
    "{unit} BETWEEN {one} FOLLOWING AND UNBOUNDED FOLLOWING",
)
_OF_TIME = ("date", "timestamp", "instant")
_SPANS = ("INTERVAL '1 day'", "INTERVAL '12 hours'", "INTERVAL '2 days'", "INTERVAL '1 month'")
_EXCLUSIONS = (
    "",
    "",
    "",
    "",
    " EXCLUDE CURRENT ROW",
    " EXCLUDE GROUP",
    " EXCLUDE TIES",
    " EXCLUDE NO OTHERS",
)


class Windows(Expressions):
    """Writes window functions over a scope."""

    def windowed(self, scope: Scope, sorts: tuple[str, ...]) -> tuple[Scope, Term, Term]:
        """The scope with calls among its atoms, some of `sorts`; the clauses WINDOW and QUALIFY."""
        definitions: list[Term] = []
        calls: list[Term] = []
        placeable = all(atom.sort in ORDERED for atom in scope.atoms)
        for _ in range(self.rng.choice((1, 1, 2))):
            sort = self.rng.choice([s for s in sorts if s in CALLS] or ["int"])
            call = self.call(sort, scope, placeable)
            if call is None:
                continue
            function, over, placed = call
            placeable = placeable and not placed
            if self.rng.random() < 0.25:
                name = f"w{len(definitions)}"
                definitions.append(Term("definition", f"{name} AS ({{}})", (over,)))
                calls.append(Term(sort, f"{{}} OVER {name}", (function,)))
            else:
                calls.append(Term(sort, "{} OVER ({})", (function, over)))
        window = optional(" WINDOW {}", listed("definitions", tuple(definitions))) if definitions else NOTHING
        tested = Scope(tuple(call for call in calls if call.sort in SORTS))
        qualify = NOTHING
        if tested.atoms and self.rng.random() < 0.3:
            qualify = optional(" QUALIFY {}", self.comparison(tested))
        return Scope((*calls, *calls, *scope.atoms), scope.outer), window, qualify

    def call(self, sort: str, scope: Scope, placeable: bool) -> tuple[Term, Term, bool] | None:
        """A function, what it is OVER, and whether it depends on places; None if the scope has no such."""
        neighbours = _NEIGHBOURS if sort in ORDERED else ()
        choices = [
            call
            for call in (*CALLS[sort], *neighbours)
            if (placeable or not call.placed) and (not call.argument or scope.of(self._argument(call, sort)))
        ]
        if not choices:
            return None
        chosen = self.rng.choices(choices, [call.weight for call in choices])[0]
        parts = (self.rng.choice(scope.of(self._argument(chosen, sort))),) if chosen.argument else ()
        over, placed = self.over_clause(chosen, scope, placeable)
        return Term(sort, chosen.text, parts), over, placed

    @staticmethod
    def _argument(call: Call, sort: str) -> str:
        return sort if call.argument == "X" else call.argument

    def over_clause(self, call: Call, scope: Scope, placeable: bool) -> tuple[Term, bool]:
        """PARTITION BY, ORDER BY and the frame; and whether the call depends on places, which ROWS counts."""
        atoms = [atom for atom in dict.fromkeys(scope.atoms) if atom.sort in ORDERED]
        keys = self.rng.sample(atoms, min(len(atoms), self.rng.choice((0, 0, 1, 1, 2))))
        partition = optional("PARTITION BY {} ", listed("items", tuple(keys))) if keys else NOTHING
        rows = ("ROWS", "ROWS") if placeable else ()
        unit = self.rng.choice(("", *rows, "RANGE", "GROUPS")) if call.framed else ""
        if "DISTINCT" in call.text or not atoms:
            unit = ""
        everything = call.placed or unit == "ROWS"
        first = self.rng.sample(atoms, min(len(atoms), self.rng.choice((1, 1, 2))))
        distance = [atom for atom in atoms if atom.sort in ("int", *_OF_TIME)]
        near = unit == "RANGE" and not everything and bool(distance) and self.rng.random() < 0.5
        if near:
            first = [self.rng.choice(distance)]
        others = [atom for atom in atoms if atom not in first] if everything else []
        needed = everything or bool(unit) or self.rng.random() < 0.8
        order = self.ordering((*first, *others)) if needed and first else NOTHING
        frame = self.frame(unit, near, first[0].sort in _OF_TIME) if needed and first else NOTHING
        return Term("over", "{}{}{}", (partition, order, frame)), everything

    def ordering(self, atoms: tuple[Term, ...]) -> Term:
        """ORDER BY the atoms, each in some direction; DuckDB's default for NULL is not PostgreSQL's."""
        items = []
        for atom in atoms:
            ours, theirs = self.rng.choice(DIRECTIONS)
            items.append(Term("item", "{}" + ours, (atom,), "{}" + theirs))
        return Term("order", "ORDER BY {} ", (listed("items", tuple(items)),))

    def frame(self, unit: str, near: bool, of_time: bool) -> Term:
        """A frame in the unit; RANGE with distances only where there is one integer or time to order by."""
        if not unit:
            return NOTHING
        shapes = _FRAMES if unit != "RANGE" or near else _FRAMES[:4]
        n, m, one = str(self.rng.randint(1, 3)), str(self.rng.randint(0, 2)), "1"
        if near and of_time:
            n, m, one = (self.rng.choice(_SPANS) for _ in range(3))
        text = self.rng.choice(shapes).format(unit=unit, n=n, m=m, one=one)
        exclusion = self.rng.choice(_EXCLUSIONS)
        return optional(text + exclusion)
