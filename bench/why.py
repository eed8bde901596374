"""What an explanation takes: `python -m bench why`.

Views of each kind over the packages of Debian 12, and the 22 of TPC-H; of each, rows drawn by chance are
asked for one after the other. No HTTP is in between: a question is the search for the row, its explanation,
and the document that is answered.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import numpy as np
import orjson
import pyarrow.parquet as parquet

from bench.costs.subjects import SUBJECTS
from bench.measure import Timing
from bench.suite.schema import relations
from bench.table import Row, duration, markdown
from engine.codec.arrow import encode_arrow
from engine.codec.json import decode_rows, encode_rows
from engine.operators.allowance import Spending
from engine.runtime.engine import Engine
from planner import plan_query
from planner.relation import Relation
from service.definitions.definition import Definition
from service.demo.story import HERE, statements
from service.derivations.asking import allowed, row_of
from service.derivations.search import SearchLimits
from service.derivations.told import document
from service.derivations.why import AskedEpoch, Why
from service.errors import Invalid

FULL, QUICK = (0.1, 50), (0.002, 2)
"""The scale of TPC-H, and how many rows of each view are explained."""
_EPOCH = 2
_SEED = 1
_ROOTS = ("libwebp7", "libc6", "debconf-2.0", "0ad-data")
_OF_DEBIAN = {
    **statements("views.sql"),
    "needed": "SELECT depends_on, count(*) AS packages FROM depends GROUP BY depends_on",
    "sized": "SELECT d.package, d.depends_on, p.section, p.size FROM depends d JOIN packages p"
    " ON p.name = d.depends_on WHERE d.kind = 'Depends'",
    "unneeded": "SELECT name, section FROM packages p WHERE NOT EXISTS"
    " (SELECT 1 FROM depends d WHERE d.depends_on = p.name)",
    "virtual": "SELECT DISTINCT d.depends_on FROM depends d LEFT JOIN packages p ON p.name = d.depends_on"
    " WHERE p.name IS NULL",
    "largest": "SELECT section, name, size FROM (SELECT section, name, size, rank() OVER"
    " (PARTITION BY section ORDER BY size DESC) AS place FROM packages) AS ranked WHERE place <= 10",
    "named": "SELECT package AS name FROM depends UNION SELECT depends_on FROM depends"
    " UNION SELECT name FROM packages",
}
"""The views of the demo, and one of each further kind."""


@dataclass(eq=False)
class Figures:
    """What so many questions about rows of a view took, the first one by itself."""

    view: str
    rows: int
    taken: list[int] = field(default_factory=list)
    processor: list[int] = field(default_factory=list)
    refused: int = 0

    @property
    def timing(self) -> Timing:
        return Timing.of(self.taken, sum(self.processor) / 1e9)


def run(scale: float, questions: int) -> dict[str, list[Figures]]:
    """The figures by suite."""
    tpch = SUBJECTS["tpch"](scale, None)
    return {
        "Debian 12": list(measured(*_debian(), _OF_DEBIAN, questions)),
        f"TPC-H at scale {scale}": list(measured(tpch.engine, dict(tpch.relations), tpch.queries, questions)),
    }


def text(found: Mapping[str, Iterable[Figures]]) -> str:
    """The figures as tables in Markdown, without views that have no rows."""
    header = ("view", "rows", "first", "median", "99th pct", "processor", "refused")
    return "\n\n".join(
        f"{suite}:\n\n{markdown([_line(each) for each in figures if each.taken], header)}"
        for suite, figures in found.items()
    )


def _line(figures: Figures) -> Row:
    timing = figures.timing
    return (
        figures.view,
        f"{figures.rows:,}",
        duration(figures.taken[0] / 1e9),
        duration(timing.median),
        duration(timing.p99),
        duration(timing.processor_each),
        f"{figures.refused:,}",
    )


def _debian() -> tuple[Engine, dict[str, Relation]]:
    """The demo's tables, with advisories for a few packages."""
    columns = {
        name: sql.partition("(")[2].rpartition(")")[0] for name, sql in statements("tables.sql").items()
    }
    found = relations(columns)
    engine = Engine()
    advisories = [(f"DSA-{i}", package, "high") for i, package in enumerate(_ROOTS, 1)]
    words = {"advisories": encode_rows(advisories, found["advisories"].schema, engine.dictionary)}
    for name in ("packages", "depends"):
        table = parquet.read_table(HERE / f"{name}.parquet")
        words[name] = encode_arrow(table, found[name].schema, engine.dictionary)
    for name, relation in found.items():
        engine.create_source(name, relation.schema, relation.key or None)
    deltas = {name: np.vstack([its, np.ones((2, its.shape[1]), np.int64)]) for name, its in words.items()}
    engine.stage({name: np.ascontiguousarray(its) for name, its in deltas.items()}, _EPOCH).publish()
    return engine, found


def measured(
    engine: Engine, known: dict[str, Relation], queries: Mapping[str, str], questions: int
) -> Iterable[Figures]:
    definitions = {name: Definition(i, relation, 0) for i, (name, relation) in enumerate(known.items())}
    for name, sql in queries.items():
        planned = plan_query(sql, known)
        engine.create_view(name, planned.plan)
        known[name] = Relation(name, planned.schema, planned.plan, is_view=True)
        definitions[name] = Definition(len(definitions), known[name], 0, planned=planned)
    asked = AskedEpoch(
        definitions,
        engine.snapshot,
        engine.snapshot.upper - 1,
        datetime(2026, 1, 1),
        engine.dictionary,
        10_000,
        SearchLimits(),
    )
    for name in queries:
        yield _asked(definitions[name], asked, questions)


def _asked(view: Definition, asked: AskedEpoch, questions: int) -> Figures:
    words, _ = asked.snapshot.rows(view.name, asked.epoch)
    figures = Figures(view.name, words.shape[1])
    chosen = random.Random(_SEED).sample(range(words.shape[1]), min(questions, words.shape[1]))
    for place in chosen:
        (row,) = decode_rows(words[:, [place]], view.schema, asked.dictionary)
        values = dict(zip(view.schema.names, row, strict=True))
        began, used = time.perf_counter_ns(), time.process_time_ns()
        try:
            allowed(view.name, partial(_answer, view, asked, values))
        except Invalid:
            figures.refused += 1
        figures.taken.append(time.perf_counter_ns() - began)
        figures.processor.append(time.process_time_ns() - used)
    return figures


def _answer(view: Definition, asked: AskedEpoch, values: Mapping[str, object], spending: Spending) -> None:
    found = Why(asked, spending).of_view(view, row_of(view, values, asked))
    orjson.dumps(document(found, asked.dictionary), default=str)
