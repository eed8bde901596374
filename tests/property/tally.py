"""What a run has checked: pairs of a view and a history, by construct, and what was refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from tests.property.cases import Answers, Case
from tests.property.duck import Failure

WORDS = (
    "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "USING", "LATERAL", "GROUP BY", "HAVING",
    "FILTER", "count(DISTINCT", "DISTINCT", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL", "WITH",
    "WITH RECURSIVE", "WITH MUTUALLY RECURSIVE", "RETURN AT RECURSION LIMIT",
    "ERROR AT RECURSION LIMIT", "EXISTS", "IN", "(SELECT", "NOT IN (SELECT", "ANY (", "ALL (", "CASE",
    "COALESCE", "NULLIF", "LIKE", "CAST", "upper", "substr", "length", "||", "date_trunc", "extract",
    "INTERVAL", "IS DISTINCT FROM", "avg", "sum", "min", "max", "VALUES",
    "NATURAL", "SEMI JOIN", "ANTI JOIN", "ROLLUP", "CUBE", "GROUPING SETS", "GROUPING(", "DISTINCT ON",
    "LIMIT", "OFFSET", "NULLS FIRST", "QUALIFY", "WINDOW", "PARTITION BY", "ROWS BETWEEN", "RANGE BETWEEN",
    "GROUPS BETWEEN", "EXCLUDE TIES", "row_number()", "rank()", "percent_rank()", "cume_dist()", "ntile(",
    "lag(", "lead(", "first_value", "last_value", "nth_value", "string_agg", "WITHIN GROUP", "median",
    "corr", "stddev", "var_pop", "bit_xor", "bool_and", "mode()", "generate_series", "unnest",
    "array_agg", "ARRAY[", "AT TIME ZONE", "timestamptz",
    "bytea", "uuid", "ASOF", "TUMBLE(", "HOP(", "UINTEGER", "INTERVAL '1 day' PRECEDING", "NOT IN ((",
    "clamped(", "next_of(", "ways_from(", "twice(",
)  # fmt: skip


def words_of(text: str) -> set[str]:
    """The constructs that occur in SQL."""
    return {word for word in WORDS if word in text}


@dataclass
class Tally:
    pairs: int = 0
    constructs: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    compared: Counter[str] = field(default_factory=Counter)
    """What `check` has counted."""
    answers: Counter[str] = field(default_factory=Counter)
    """Views at an epoch as `epochs`; those with rows, with other ones than before, and that fail."""

    def add(self, case: Case, answers: Answers) -> None:
        self.pairs += len(case.views)
        self.compared["reading"] += sum(1 for view in case.views if view.reads)
        self.refused.update(case.refused)
        for view in case.views:
            self.constructs.update(words_of(view.sql()))
            for old, new in pairwise(answers[view.name]):
                failed = new is None or isinstance(new, Failure)
                self.answers.update(epochs=1, filled=bool(new), moved=old != new, failed=failed)

    def __str__(self) -> str:
        counts = ", ".join(f"{word} {count}" for word, count in self.constructs.most_common())
        refused = ", ".join(f"{word} {count}" for word, count in self.refused.most_common())
        compared = ", ".join(f"{word} {count}" for word, count in (self.answers + self.compared).items())
        return (
            f"{self.pairs} pairs of a view and a history; {compared}\n{counts}\nrefused: {refused or 'none'}"
        )
