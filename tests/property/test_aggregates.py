"""Every aggregate function, plain, DISTINCT, with FILTER, grouped or not, in HAVING and correlated, against
DuckDB at every epoch of random histories, however they are divided.

Where DuckDB's answer depends on the order of its rows, its spelling says an order; ours must not need one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest

from engine.runtime.engine import Engine
from engine.schema import BIGINT, BOOLEAN, DATE, DOUBLE, INTEGER, TEXT, TIMESTAMP, Column, Schema, numeric
from tests.engine.supersteps.mixed import Mixed, executor_for
from tests.engine.supersteps.test_random_views import Here
from tests.property.cases import Case, answers
from tests.property.check import Make, check
from tests.property.histories import random_history
from tests.property.report import report
from tests.property.schemas import Table
from tests.property.terms import Term
from tests.property.views import View
from tests.seeds import SEED, each_seed, few

TABLES = (
    Table(
        "data",
        Schema(
            tuple(
                Column(name, type)
                for name, type in (
                    ("g", INTEGER),
                    ("i", INTEGER),
                    ("n", BIGINT),
                    ("d", numeric(9, 2)),
                    ("x", DOUBLE),
                    ("s", TEXT),
                    ("b", BOOLEAN),
                    ("day", DATE),
                    ("ts", TIMESTAMP),
                )
            )
        ),
    ),
    Table("groups_of", Schema((Column("g", INTEGER), Column("k", INTEGER)))),
)


@dataclass(frozen=True)
class Aggregate:
    """`text` of a function over the columns of `data`; `duck` is DuckDB's spelling where it differs.

    Its parentheses end in `~`, where FILTER may follow, and `?` stands where DISTINCT may.
    """

    text: str
    duck: str | None = None

    def sql(self, distinct: bool, only: str) -> tuple[str, str]:
        texts = (self.text, self.duck or self.text)
        one, other = (t.replace("?", "DISTINCT " if distinct else "").replace("~", only) for t in texts)
        return one, other


FUNCTIONS = tuple(
    Aggregate(*texts)
    for texts in (
        ("count(?s)~",),
        ("count(*)~",),
        ("sum(?n)~",),
        ("sum(?d)~",),
        ("avg(?i)~",),
        ("avg(?x)~",),
        ("min(s)~",),
        ("max(day)~",),
        ("bool_and(b)~",),
        ("bool_or(b)~",),
        ("every(b)~", "bool_and(b)~"),
        ("stddev(?i)~",),
        ("stddev_samp(?n)~",),
        ("stddev_pop(?d)~",),
        ("variance(?d)~",),
        ("var_samp(?x)~",),
        ("var_pop(?i)~",),
        ("stddev_pop(?x)~",),
        ("covar_pop(i, d)~",),
        ("covar_samp(x, n)~",),
        ("covar_samp(n, i)~",),
        ("corr(i, n)~",),
        ("corr(x, d)~",),
        ("regr_count(i, n)~",),
        ("regr_avgx(i, n)~",),
        ("regr_avgy(d, n)~",),
        ("regr_sxx(i, d)~",),
        ("regr_sxy(i, d)~",),
        ("regr_syy(i, d)~",),
        ("regr_slope(i, d)~",),
        ("regr_intercept(i, d)~",),
        ("regr_r2(i, d)~",),
        ("bit_and(?i)~",),
        ("bit_or(?n)~",),
        ("bit_xor(?n)~",),
        ("string_agg(s, ',')~", "string_agg(s, ',' ORDER BY s)~"),
        ("string_agg(?s, ', ' ORDER BY s DESC)~",),
        ("string_agg(s, '' ORDER BY day DESC, i)~", "string_agg(s, '' ORDER BY day DESC NULLS FIRST, i, s)~"),
        (
            "string_agg(?CAST(i AS TEXT), '{;}')~",
            "string_agg(?CAST(i AS TEXT), '{;}' ORDER BY CAST(i AS TEXT))~",
        ),
        ("median(x)~",),
        ("median(?i)~",),
        ("median(ts)~",),
        ("percentile_cont(0.3) WITHIN GROUP (ORDER BY x)~",),
        ("percentile_cont(0.3) WITHIN GROUP (ORDER BY d DESC)~",),
        ("percentile_disc(0.3) WITHIN GROUP (ORDER BY s)~",),
        ("percentile_disc(0.75) WITHIN GROUP (ORDER BY i DESC)~",),
        ("mode() WITHIN GROUP (ORDER BY i)~",),
        ("mode() WITHIN GROUP (ORDER BY s DESC)~",),
        ("mode(day)~", "mode(day ORDER BY day)~"),
        ("approx_count_distinct(s)~", "count(DISTINCT s)~"),
        ("first(s ORDER BY day, i)~", "first(s ORDER BY day, i, s)~"),
        ("last(i ORDER BY x, s)~", "last(i ORDER BY x, s, i)~"),
        ("first(n ORDER BY i DESC)~", "first(n ORDER BY i DESC NULLS FIRST, n)~"),
        ("any_value(i)~", "min(i)~"),
        ("arg_min(s, i)~", "arg_min(s, i ORDER BY s)~"),
        ("max_by(i, day)~", "arg_max(i, day ORDER BY i)~"),
        ("arg_max_null(i, x)~", "arg_max_null(i, x ORDER BY i)~"),
        ("product(i)~",),
        ("kurtosis(i)~",),
        ("skewness(x)~",),
        ("sem(i)~",),
        ("mad(x)~",),
        ("entropy(s)~",),
        ("geomean(CASE WHEN i > 0 THEN i END)~", "exp(avg(ln(CASE WHEN i > 0 THEN i END))~)"),
        ("fsum(x)~",),
        ("count_if(i > 1)~", "count(*) FILTER (WHERE i > 1)"),
        ("count(?s || 'x')~",),
        ("count(DISTINCT (i, s))",),
        ("array_agg(i ORDER BY day DESC, s)~", "list(i ORDER BY day DESC NULLS FIRST, s, i)~"),
        ("array_agg(?s)~", "list(?s ORDER BY s)~"),
        ("percentile_cont(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY x)~", "quantile_cont(x, [0.25, 0.5])~"),
        ("CAST(json_agg(i)~ AS TEXT)", "CAST(to_json(list(i ORDER BY i)~) AS VARCHAR)"),
        ("count(DISTINCT (b, x))~",),
        ("avg(day)~", "avg(CAST(day AS TIMESTAMP))~"),
    )
)
FILTERS = ("", "", " FILTER (WHERE b)", " FILTER (WHERE i > 0)")
SHAPES = (
    "SELECT g, {} FROM data GROUP BY g",
    "SELECT {} FROM data",
    "SELECT g, b, {} FROM data GROUP BY g, b",
    "SELECT {} FROM data WHERE i > 2 AND b",
    "SELECT k, (SELECT {} FROM data WHERE data.g = groups_of.g) FROM groups_of",
    "SELECT o.g, c.* FROM groups_of AS o LEFT JOIN LATERAL (SELECT {} FROM data WHERE i = o.k) AS c ON true",
)
A_VIEW = 5
"""Functions in a view, where it may have several."""


def random_views(rng: random.Random) -> Iterator[View]:
    """Views that together have every function once."""
    functions = rng.sample(FUNCTIONS, len(FUNCTIONS))
    number = 0
    while functions:
        shape = rng.choice(SHAPES)
        count = 1 if "(SELECT {}" in shape and "LATERAL" not in shape else A_VIEW
        chosen, functions = functions[:count], functions[count:]
        written = [f.sql("?" in f.text and rng.random() < 0.4, _filter(rng, f)) for f in chosen]
        ours, theirs = (", ".join(f"{w[side]} AS c{i}" for i, w in enumerate(written)) for side in (0, 1))
        if count == 1:
            ours, theirs = written[0]
        yield View(
            f"v{number}", Term("query", shape.replace("{}", ours), (), shape.replace("{}", theirs)), ()
        )
        number += 1


def _filter(rng: random.Random, function: Aggregate) -> str:
    taken = function.duck is not None and "FILTER" in function.duck
    return "" if taken else rng.choice(FILTERS)


def check_views(seed: int, epochs: int, make: Make = Engine, most: int | None = None) -> None:
    """Views of all functions, or `most` of these views."""
    rng = random.Random(f"aggregates {seed}")
    views = tuple(islice(random_views(rng), most))
    case = Case(seed, TABLES, views, random_history(rng, TABLES, epochs))
    found = answers(case)
    assert found.keys() == {view.name for view in case.views}, "DuckDB takes every view"
    mismatch = check(case, found, make)
    if mismatch is not None:
        pytest.fail(report(case, mismatch, case, mismatch), pytrace=False)


@each_seed(few(4))
def test_every_function_follows_its_rows(seed: int) -> None:
    check_views(seed, 6)


def test_functions_in_supersteps(tmp_path: Path) -> None:
    executor, rng = executor_for(SEED, tmp_path, Here(SEED))
    check_views(SEED, 3, lambda: Mixed(executor, rng, 0.7), few(24))
    assert executor.done
