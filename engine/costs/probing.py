"""Probing: what a change of one row takes, seen in trials: rows of a source are deleted and inserted again.

Some are taken at random, and some have the value that most rows of another source have to meet. What a change
reaches grows with the rows unless these were drawn with it; the trials of two shares tell how much.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from time import perf_counter

import numpy as np

from engine.costs.column_origins import ColumnOrigins
from engine.costs.draws import hashes
from engine.costs.trial import ProbedChange, Trial
from engine.costs.view_cost import ChangeCost
from engine.plan.nodes import Node

_AT_RANDOM, _HEAVIEST, _WARM = 48, 4, 3
_SECONDS = 0.25
"""What the probes of a source may take in one trial."""
_BAD = 0.99
_TELLING = 1_000
"""So many rows besides the fewest tell what a row takes."""
_MILLION = 1e6


@dataclass(frozen=True, eq=False)
class ProbedRows:
    """The rows of a source to be changed, int64[n, W], those of the heaviest keys first."""

    words: np.ndarray
    heavy: int


def probed_rows(plan: Node, rows: Mapping[str, np.ndarray]) -> dict[str, ProbedRows]:
    """Which rows to change, of the rows of a trial. Sources without rows are left out."""
    live = {source: words for source, delta in rows.items() if len(words := _live(delta))}
    heaviest = _heaviest(plan, live)
    found: dict[str, ProbedRows] = {}
    for source, words in live.items():
        heavy = [words[words[:, column] == value][:1] for column, value in heaviest.get(source, ())]
        step = max(1, len(words) // _AT_RANDOM)
        chosen = np.concatenate([*heavy[:_HEAVIEST], words[::step][:_AT_RANDOM]])
        found[source] = ProbedRows(chosen, sum(map(len, heavy[:_HEAVIEST])))
    return found


def _live(delta: np.ndarray) -> np.ndarray:
    """The rows that are there at the end of a history, int64[n, W]."""
    words = delta[:-2]
    if not words.shape[1]:
        return np.ascontiguousarray(words.T)
    _, places, groups = np.unique(hashes(words), return_index=True, return_inverse=True)
    counts = np.bincount(groups, weights=delta[-1])
    return np.ascontiguousarray(words[:, np.sort(places[counts > 0])].T)


def _heaviest(plan: Node, live: Mapping[str, np.ndarray]) -> dict[str, list[tuple[int, int]]]:
    """By source, the columns in which others meet it, with the value that most of their rows have; those of
    the most rows first."""
    found: dict[str, list[tuple[int, int, int]]] = {}
    for group in ColumnOrigins(plan).classes():
        known = [origin for origin in sorted(group) if origin.source in live]
        for origin in known:
            values = live[origin.source][:, origin.column]
            for other in known:
                if other != origin:
                    heavy = _heaviest_of(live[other.source][:, other.column], values)
                    if heavy is not None:
                        found.setdefault(origin.source, []).append((heavy[1], origin.column, heavy[0]))
    return {
        source: [(column, value) for _, column, value in sorted(heavy, reverse=True)]
        for source, heavy in found.items()
    }


def _heaviest_of(values: np.ndarray, among: np.ndarray) -> tuple[int, int] | None:
    """The value that comes most often, of those that are among others, and how often."""
    kept, counts = np.unique(values[np.isin(values, among)], return_counts=True)
    if not len(kept):
        return None
    place = int(counts.argmax())
    return int(kept[place]), int(counts[place])


@dataclass(frozen=True, eq=False)
class SourceProbes:
    """The probes of a source in one trial: for each changed row the differences that each operator passed,
    [n, operators], and the nanoseconds; those of the heaviest keys first."""

    passed: np.ndarray
    nanoseconds: np.ndarray
    heavy: int


def probe(trial: Trial, source: str, rows: ProbedRows) -> SourceProbes | None:
    """Change rows, as many as time allows; None if one change alone takes more than the allowance."""
    for words in rows.words[-_WARM:]:
        if trial.probe(source, words) is None:
            return None
    found: list[tuple[ProbedChange, ProbedChange]] = []
    until = perf_counter() + _SECONDS
    for words in rows.words:
        changed = trial.probe(source, words)
        if changed is None:
            return None
        found.append(changed)
        if perf_counter() > until and len(found) > rows.heavy:
            break
    passed = np.array([[change.passed for change in both] for both in found]).mean(axis=1)
    nanoseconds = np.array([min(change.nanoseconds for change in both) for both in found], np.float64)
    return SourceProbes(passed, nanoseconds, min(rows.heavy, len(found)))


def change_cost(shares: Sequence[float], probes: Sequence[SourceProbes], own: np.ndarray) -> ChangeCost:
    """What a change of a source takes of the operators that are the view's `own`, in the whole, given the
    probes in the trials of one share, or of two."""
    seen = [_Seen.of(each, own) for each in probes]
    last, share = seen[-1], shares[-1]
    growth = bad_growth = 0.0
    if len(seen) == 2 and share < 1.0:
        more = (1.0 - share) / (share - shares[0])
        growth = max(0.0, last.mean - seen[0].mean) * more
        doubt = 2.0 * sqrt(last.bad)
        bad_growth = max(growth, (last.bad - seen[0].bad - doubt) * more)
    a_row = last.nanoseconds_a_row
    return ChangeCost(
        last.median + growth,
        last.bad + bad_growth,
        (last.median_nanoseconds + a_row * growth) / _MILLION,
        (last.bad_nanoseconds + a_row * bad_growth) / _MILLION,
    )


@dataclass(frozen=True)
class _Seen:
    """What the probes of a trial have shown, in rows and nanoseconds of the view's own operators."""

    median: float
    mean: float
    bad: float
    median_nanoseconds: float
    bad_nanoseconds: float
    nanoseconds_a_row: float

    @classmethod
    def of(cls, probes: SourceProbes, own: np.ndarray) -> _Seen:
        rows = probes.passed[:, own].sum(axis=1)
        turns = np.where(probes.passed > 0, probes.passed + 1, 0)
        part = turns[:, own].sum(axis=1) / np.maximum(turns.sum(axis=1), 1)
        nanoseconds = probes.nanoseconds * part
        random = slice(probes.heavy, None) if probes.heavy < len(rows) else slice(None)
        at = int(np.searchsorted(np.sort(rows[random]), np.quantile(rows[random], _BAD)))
        bad = max(float(np.sort(rows[random])[min(at, len(rows[random]) - 1)]), *rows[: probes.heavy], 0.0)
        median = float(np.median(nanoseconds[random]))
        dear = nanoseconds[rows >= bad]
        return cls(
            float(np.median(rows[random])),
            float(rows[random].mean()),
            bad,
            median,
            max(median, float(np.median(dear)) if len(dear) else median),
            _a_row(rows, nanoseconds),
        )


def _a_row(rows: np.ndarray, nanoseconds: np.ndarray) -> float:
    """What a row more takes, as far as the probes tell."""
    more = rows - rows.min()
    if more.sum() < _TELLING:
        return 500.0
    return max(0.0, float(((nanoseconds - nanoseconds.min()) * more).sum() / (more * more).sum()))


def dearest_rows(probes: Iterable[SourceProbes], own: np.ndarray) -> np.ndarray:
    """For each operator, the most differences that it passed in a change, [operators]."""
    found = np.zeros(len(own))
    for each in probes:
        found = np.maximum(found, each.passed.max(axis=0))
    return np.where(own, found, 0.0)
