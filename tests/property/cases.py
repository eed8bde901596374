"""A case: tables, views over them and a history, with the referee's answer at every epoch."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tests.property.duck import Answer, Bag, Broken, Failure, Invalid, Referee
from tests.property.fixpoint import Diverges
from tests.property.histories import History, random_history, states
from tests.property.planning import Catalog
from tests.property.schemas import Table, random_tables
from tests.property.views import View, random_view

LENGTHS = (3, 5, 6, 8, 10)
"""How many epochs a random history has."""

# What a view answers at each epoch from 0 (empty tables) on; None where it reads a view that fails.
Answers = Mapping[str, tuple[Answer | None, ...]]


@dataclass(frozen=True)
class Case:
    seed: int
    tables: tuple[Table, ...]
    views: tuple[View, ...]
    history: History
    refused: tuple[str, ...] = ()  # constructs for which views were left out: the documentation says so


def random_case(seed: int, candidates: int = 24, lengths: Sequence[int] = LENGTHS) -> tuple[Case, Answers]:
    """Views over one history, and the answers; of the candidates most without any life are left out."""
    rng = random.Random(seed)
    case, _ = random_candidates(rng, seed, candidates, lengths)
    found = answers(case)
    chosen = _chosen(rng, [view for view in case.views if view.name in found], found)
    return replace(case, views=chosen), {view.name: found[view.name] for view in chosen}


def random_candidates(
    rng: random.Random, seed: int, count: int = 24, lengths: Sequence[int] = LENGTHS
) -> tuple[Case, Catalog]:
    """Views over one history that nobody has answered, and the catalog that has planned them."""
    tables = random_tables(rng)
    history = random_history(rng, tables, rng.choice(lengths))
    catalog = Catalog(tables)
    views, refused = _candidates(rng, tables, catalog, count)
    return Case(seed, tables, tuple(views), history, tuple(refused)), catalog


def _candidates(
    rng: random.Random, tables: tuple[Table, ...], catalog: Catalog, count: int
) -> tuple[list[View], list[str]]:
    """Views that DuckDB takes, over the tables and each other; and what others were refused for."""
    views: list[View] = []
    refused: list[str] = []
    referee = Referee(tables)
    for number in itertools.count():
        if len(views) + len(refused) == count:
            break
        view = random_view(rng, f"v{number}", tables, tuple(views))
        try:
            if not is_valid(referee, view):
                continue
            construct = catalog.refuses(view)
            if construct is None:
                views.append(view)
            else:
                refused.append(construct)
        except Broken:
            referee.close()
            referee = Referee(tables)
            for known in views:
                known.answer(referee)
    referee.close()
    return views, refused


def is_valid(referee: Referee, view: View) -> bool:
    """Whether DuckDB takes the view, over empty tables; it is left behind there for others to read."""
    try:
        if view.recursion is None:
            referee.types(view.sql("duckdb"))
        return not isinstance(view.answer(referee), Failure)
    except (Invalid, Diverges):
        return False


def answers(case: Case) -> Answers:
    """The referee's answers; a view that it cannot answer at some epoch is missing, with its readers."""
    while True:
        found: dict[str, list[Answer | None]] = {view.name: [] for view in case.views}
        referee = Referee(case.tables)
        try:
            _answer_all(referee, case, found)
            return {name: tuple(each) for name, each in found.items()}
        except Broken as broken:
            case = replace(case, views=tuple(view for view in case.views if view.name != broken.args[0]))
        finally:
            referee.close()


def _answer_all(referee: Referee, case: Case, found: dict[str, list[Answer | None]]) -> None:
    """Append every view's answer at every epoch; raises Broken with the name of the view that did it."""
    kept = {name for view in case.views for name in view.reads}
    empty: dict[str, Bag] = {table.name: Bag() for table in case.tables}
    for state in itertools.chain((empty,), states(case.tables, case.history)):
        referee.load(state)
        for view in case.views:
            if view.name in found:
                try:
                    _answer(referee, view, found, view.name in kept)
                except Broken as broken:
                    raise Broken(view.name) from broken


def _answer(referee: Referee, view: View, found: dict[str, list[Answer | None]], keep: bool) -> None:
    """Append the view's answer at this epoch, or forget the view."""
    read = view.reads
    if any(name not in found for name in read):
        del found[view.name]
        return
    if any(not _healthy(found[name][-1]) for name in read):
        found[view.name].append(None)
        return
    try:
        found[view.name].append(view.answer(referee, keep))
    except (Invalid, Diverges):
        del found[view.name]


def _healthy(answer: Answer | None) -> bool:
    return answer is not None and not isinstance(answer, Failure)


def _chosen(rng: random.Random, views: list[View], found: Answers) -> tuple[View, ...]:
    """Some of the views, and what they read: mostly those that have rows and change."""
    lively = [view for view in views if is_lively(found[view.name])]
    dull = [view for view in views if view not in lively]
    wanted = lively + rng.sample(dull, min(len(dull), 1 + len(lively) // 5))
    names = {view.name for view in wanted}
    for view in reversed(views):
        if view.name in names:
            names |= view.reads
    return tuple(view for view in views if view.name in names)


def is_lively(answers: tuple[Answer | None, ...]) -> bool:
    """Whether the view has rows most of the time, and other ones most of the time."""
    after = answers[1:]
    filled = sum(1 for answer in after if answer)
    moved = sum(1 for old, new in zip(answers, after, strict=False) if old != new)
    return filled > 0.6 * len(after) and moved > 0.6 * (len(after) - 1)
