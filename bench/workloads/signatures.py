"""W7: signatures of methods, six texts a row, with every text replaced by an id.

`chain` joins the rows with the texts' ids six times, so six arrangements hold whole rows. `rows` gives every
row an id first, and replaces one attribute at a time, (row id, text); joins on row ids put the needed parts
of rows together again. Both read one arrangement of the texts and their ids.

A text is represented by its word: the dictionary with the bytes is the same for both, and is left out.
DuckDB, which numbers the texts, joins words as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bench.data import SEED, choose, replace
from bench.workloads.base import Deltas, Phase, View, integers
from engine.kernels.hashing import hash_texts
from engine.plan.nodes import Concat, Join, Node, Source, project
from engine.plan.row_ids import Intern

COLUMNS = ("signature", "name", "parameters", "class", "result", "descriptor")
SCHEMAS = {"methods": integers(*COLUMNS)}
METHODS = Source("methods", SCHEMAS["methods"])
EVERY = tuple(range(len(COLUMNS)))
NAMES = Intern(Concat(tuple(project(METHODS, (c,)) for c in EVERY)))
NAMES_SQL = (
    "SELECT text, row_number() OVER () AS id FROM ("
    + " UNION ".join(f"SELECT {column} AS text FROM methods" for column in COLUMNS)
    + ")"
)
TOGETHER = (0, 3, 4)
"""The attributes that are put together again: the signature, its class and its result."""


def _chain() -> tuple[View, ...]:
    """All rows with ids for texts, by one join after the other."""
    coded: Node = METHODS
    for _ in EVERY:
        # The first text goes, and its id comes last.
        width = len(coded.schema)
        coded = project(Join(coded, NAMES, (0,), (0,)), (*range(1, width), width + 1))
    ids = ", ".join(f"n{c}.id AS {column}" for c, column in enumerate(COLUMNS))
    joins = " ".join(f"JOIN names n{c} ON n{c}.text = m.{column}" for c, column in enumerate(COLUMNS))
    return (View("coded", f"SELECT {ids} FROM methods m {joins}", plan=coded, compared=0),)


def _attributes() -> tuple[View, ...]:
    """(row id, text's id) for each attribute; and some of them put together again."""
    rows = Intern(METHODS)
    coded = [
        project(Join(project(rows, (len(COLUMNS), c)), NAMES, (1,), (0,)), (0, len(NAMES.schema) + 1))
        for c in EVERY
    ]
    views = [
        View(
            f"attribute{c}",
            f"SELECT r.id AS row, n.id FROM rows r JOIN names n ON n.text = r.{column}",
            plan=coded[c],
            compared=0,
        )
        for c, column in enumerate(COLUMNS)
    ]
    first, *others = TOGETHER
    together = coded[first]
    names = f"attribute{first}.id AS id{first}"
    joins = f"attribute{first}"
    for c in others:
        width = len(together.schema)
        together = project(Join(together, coded[c], (0,), (0,)), (*range(width), width + 1))
        names += f", attribute{c}.id AS id{c}"
        joins += f" JOIN attribute{c} USING (row)"
    views.append(View("together", f"SELECT row, {names} FROM {joins}", plan=together, compared=0))
    numbered = "SELECT *, row_number() OVER () AS id FROM (SELECT DISTINCT * FROM methods)"
    return (View("rows", numbered, plan=rows, compared=len(COLUMNS)), *views)


@dataclass(frozen=True)
class Size:
    rows: int
    phases: tuple[Phase, ...]


class Signatures:
    schemas = SCHEMAS

    def __init__(self, size: Size, by_rows: bool) -> None:
        form = "by row id" if by_rows else "by a chain of joins"
        self.title = f"W7 texts of {size.rows:,} methods, {form}"
        self.phases = size.phases
        self.views = (
            View("names", NAMES_SQL, plan=NAMES, compared=1),
            *(_attributes() if by_rows else _chain()),
        )
        self._rng = np.random.default_rng(SEED)
        self._kinds = max(10, size.rows // 20)
        self.tables = {"methods": self._methods(size.rows)}

    def change(self, batch: int, epoch: int) -> Deltas:
        methods = self.tables["methods"]
        positions = choose(self._rng, methods.shape[1], batch)
        return {"methods": replace(methods, positions, self._methods(batch), epoch)}

    def _methods(self, count: int) -> np.ndarray:
        """The words of random methods: many classes share a package, and many methods a name."""
        rows = []
        for owner, name, a, b, result in self._rng.integers(0, self._kinds, (count, 5)).tolist():
            of = f"org.example.package{owner % 97}.part{owner % 7}.Class{owner}"
            parameters = f"(org.example.Type{a % 50},int,org.example.Type{b % 50}[])"
            kind = f"org.example.Type{result % 50}"
            descriptor = f"(Lorg/example/Type{a % 50};I[Lorg/example/Type{b % 50};)L{kind.replace('.', '/')};"
            signature = f"<{of}: {kind} method{name}{parameters}>"
            rows.append((signature, f"method{name}", parameters, of, kind, descriptor))
        return np.array([_words(column) for column in zip(*rows, strict=True)])


def _words(texts: tuple[str, ...]) -> np.ndarray:
    """The words of texts."""
    array = pa.array(texts, pa.large_string())
    _, offsets, data = array.buffers()
    return hash_texts(np.frombuffer(offsets, np.int64)[: len(texts) + 1], np.frombuffer(data, np.uint8), 0)
