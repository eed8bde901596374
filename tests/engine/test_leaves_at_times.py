"""Reduces at times of several coordinates, inside and outside of loops, against plain Python at every time.

Texts, floats and numbers wider than a word need state of their own: exact parts of floats, and traces in the
order of texts. Histories come all at once or by any sequence of frontiers.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from engine.api import Dataflow, Input, avg, count, descending, max_, min_, sum_
from engine.api.collection import Collection
from engine.plan.nodes import AggregateSpec, Function, Ordering, Reduce
from engine.plan.window_functions import Window, Windowed, WindowFunction
from engine.schema import BIGINT, DOUBLE, TEXT, numeric
from tests.engine.test_times import SIDE, Change, random_frontiers, state
from tests.seeds import each_seed, few

TEXTS = ("", "a", "ab", "abcdefgh", "abcdefghi", "abcdefghj", "b", "ä", None)
FLOATS = (0.1, 0.2, -0.3, 1e16, -1e16, 1e-300, 2.5, None)
NUMBERS = (1, -2, 12345678901234567890123, -9 * 10**30)
ROUNDS = 3

Row = tuple
Bag = Counter[Row]


def parts(flow: Dataflow) -> tuple[Input, Input]:
    rows = flow.input("rows", k=int, t=str | None, x=float | None, y=float | None, n=numeric(38, 0))
    return rows, flow.input("edges", a=int, b=int)


def groups(rows: Bag) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows.elements():
        found.setdefault(row[0], []).append(row)
    return found


def known(values: Iterable) -> list:
    return [value for value in values if value is not None]


def total(values: Iterable[float | None]) -> float | None:
    exact = [Fraction(value) for value in known(values)]
    return float(sum(exact)) if exact else None


def average(values: Iterable[float | None]) -> float | None:
    exact = total(values)
    return None if exact is None else exact / len(known(values))


def text_key(text: str | None) -> tuple:
    """Orders texts by their bytes, None last."""
    return (1, b"") if text is None else (0, text.encode())


def aggregates(rows: Collection, edges: Collection) -> Collection:
    texts, numbers = {"first": min_("t"), "last": max_("t")}, {"least": min_("n"), "sum": sum_("n")}
    return rows.reduce("k", n=count(), **texts, x=sum_("x"), m=avg("y"), **numbers)


def aggregates_expected(rows: Bag, edges: Bag) -> Bag:
    found: Bag = Counter()
    for k, group in groups(rows).items():
        _, texts, xs, ys, numbers = zip(*group, strict=True)
        first = min(known(texts), key=text_key, default=None)
        last = max(known(texts), key=text_key, default=None)
        found[
            k, len(group), first, last, total(xs), average(ys), Decimal(min(numbers)), Decimal(sum(numbers))
        ] = 1
    return found


def comoments(rows: Collection, edges: Collection) -> Collection:
    spec = AggregateSpec(Function.COMOMENT, 2, DOUBLE, "c", 3)
    return Collection(rows.flow, Reduce(rows.node, (0,), (spec,)))


def comoments_expected(rows: Bag, edges: Bag) -> Bag:
    found: Bag = Counter()
    for k, group in groups(rows).items():
        pairs = [(Fraction(x), Fraction(y)) for _, _, x, y, _ in group if x is not None and y is not None]
        xs, ys = (sum(side) for side in zip(*pairs, strict=True)) if pairs else (0, 0)
        value = float(len(pairs) * sum(x * y for x, y in pairs) - xs * ys) if pairs else None
        found[k, value] = 1
    return found


def tops(rows: Collection, edges: Collection) -> Collection:
    return rows.select("k", "t", "n").top_k(2, "k", (descending("t"), "n"), offset=1)


def tops_expected(rows: Bag, edges: Bag) -> Bag:
    found: Bag = Counter()
    for group in groups(rows).values():
        texts = sorted(((k, t, n) for k, t, _, _, n in group), key=lambda row: row[2])
        texts.sort(key=lambda row: text_key(row[1])[1], reverse=True)
        texts.sort(key=lambda row: row[1] is None)
        found.update(texts[1:3])
    return found


def labels(rows: Collection, edges: Collection) -> Collection:
    """The least text that reaches each node."""
    own = rows.select("k", "t").filter(lambda it: it.t != "a").min("k", "t")

    def body(it: Collection) -> Collection:
        moved = it.join(edges, (["k"], ["a"]), lambda x, e: {"k": e.b, "t": x.t})
        return moved.concat(own).min("k", "t")

    return own.iterate(body)


def labels_expected(rows: Bag, edges: Bag) -> Bag:
    own = {(k, t) for k, t, *_ in rows if t not in ("a", None)}
    found: dict[int, str] = {}
    while True:
        every = own | {(b, found[a]) for a, b in edges if a in found}
        best = {k: min((t for j, t in every if j == k), key=text_key) for k, _ in every}
        if best == found:
            return Counter(best.items())
        found = best


def flows(rows: Collection, edges: Collection) -> Collection:
    """Sums of floats that flow along edges for some rounds."""
    own = rows.select("k", "x").sum("k", "x")

    def body(it: Collection) -> Collection:
        moved = it.join(edges, (["k"], ["a"]), lambda x, e: {"k": e.b, "x": x.x})
        return moved.concat(own).sum("k", "x")

    return own.iterate(body, ROUNDS)


def flows_expected(rows: Bag, edges: Bag) -> Bag:
    own = [(k, total(x for _, _, x, _, _ in group)) for k, group in groups(rows).items()]
    found = dict(own)
    for _ in range(ROUNDS):
        every = own + [(b, found[a]) for (a, b), n in edges.items() for _ in range(n) if a in found]
        found = {k: total(x for j, x in every if j == k) for k, _ in every}
    return Counter(found.items())


def best_texts(rows: Collection, edges: Collection) -> Collection:
    """The two greatest texts that reach each node."""
    own = rows.select("k", "t").distinct()

    def body(it: Collection) -> Collection:
        moved = it.join(edges, (["k"], ["a"]), lambda x, e: {"k": e.b, "t": x.t})
        return moved.concat(own).distinct().top_k(2, "k", (descending("t"),))

    return own.iterate(body)


def best_texts_expected(rows: Bag, edges: Bag) -> Bag:
    own = {(k, t) for k, t, *_ in rows}
    found = own
    while True:
        every = own | {(b, t) for a, b in edges for k, t in found if k == a}
        best: set[tuple[int, str | None]] = set()
        for k in {k for k, _ in every}:
            texts = sorted((t for j, t in every if j == k), key=lambda t: text_key(t)[1], reverse=True)
            texts.sort(key=lambda t: t is None)
            best |= {(k, t) for t in texts[:2]}
        if best == found:
            return Counter(best)
        found = best


ENDS = tuple(
    Windowed(function, argument, type, name=name)
    for function, argument, type, name in (
        (WindowFunction.ROW_NUMBER, None, BIGINT, "place"),
        (WindowFunction.LAST, 1, TEXT, "text"),
        (WindowFunction.MAX, 1, TEXT, "last"),
        (WindowFunction.SUM, 2, DOUBLE, "total"),
        (WindowFunction.SUM, 4, numeric(38, 0), "sum"),
    )
)


def windowed(
    rows: Collection, order: tuple[int, ...], functions: tuple[Windowed, ...], descends: bool = False
) -> Collection:
    """A window over each k."""
    by = tuple(Ordering(column, descends) for column in order)
    return Collection(rows.flow, Window(rows.node, (0,), by, len(by), functions))


def running(rows: Collection, edges: Collection) -> Collection:
    """Functions of every sort of argument, in the order of texts and of numbers."""
    previous = (replace(f, start=-1, end=-1) if f.name == "text" else f for f in ENDS)
    return windowed(rows, (1, 4, 2, 3), tuple(previous)).select("k", "place", "text", "last", "total", "sum")


def running_expected(rows: Bag, edges: Bag) -> Bag:
    found: Bag = Counter()
    for k, group in groups(rows).items():
        group.sort(key=lambda row: (text_key(row[1]), row[4], *((x is None, x or 0) for x in row[2:4])))
        for place in range(len(group)):
            _, texts, xs, _, numbers = zip(*group[: place + 1], strict=True)
            last = max(known(texts), key=text_key, default=None)
            before = texts[-2] if place else None
            found[k, place + 1, before, last, total(xs), Decimal(sum(numbers))] += 1
    return found


def numbered(rows: Collection, edges: Collection) -> Collection:
    """As `best_texts`, by numbers of places."""
    own = rows.select("k", "t").distinct()

    def body(it: Collection) -> Collection:
        moved = it.join(edges, (["k"], ["a"]), lambda x, e: {"k": e.b, "t": x.t})
        placed = windowed(moved.concat(own).distinct(), (1,), ENDS[:1], descends=True)
        return placed.filter(lambda it: it.place <= 2).select("k", "t")

    return own.iterate(body)


Make = Callable[[Collection, Collection], Collection]
LEAVES: list[tuple[Make, Callable[[Bag, Bag], Bag]]] = [
    (aggregates, aggregates_expected),
    (comoments, comoments_expected),
    (tops, tops_expected),
    (labels, labels_expected),
    (flows, flows_expected),
    (best_texts, best_texts_expected),
    (running, running_expected),
    (numbered, best_texts_expected),
]


def history(
    rng: random.Random, names: tuple[str, ...], make: Callable[[], tuple], number: int
) -> list[Change]:
    """Rows that come at any time; some of them go at later ones."""
    changes: list[Change] = []
    for _ in range(number):
        row, came = make(), tuple(rng.randrange(SIDE) for _ in names)
        changes.append((row, came, 1))
        if rng.random() < 0.6:
            changes.append((row, tuple(rng.randrange(c, SIDE) for c in came), -1))
    return changes


@pytest.mark.parametrize(("make", "expected"), LEAVES, ids=[make.__name__ for make, _ in LEAVES])
@each_seed(few(15))
def test_leaves_at_any_times(seed: int, make: Make, expected: Callable[[Bag, Bag], Bag]) -> None:
    rng = random.Random(seed)
    names = ("version", "epoch", "third")[: rng.choice((2, 2, 3))]

    def row() -> tuple:
        texts, floats = rng.choice(TEXTS), rng.choices(FLOATS, k=2)
        return rng.randrange(3), texts, *floats, rng.choice(NUMBERS)

    changes = {
        "rows": history(rng, names, row, rng.randint(3, 12)),
        "edges": history(rng, names, lambda: (rng.randrange(3), rng.randrange(3)), rng.randint(1, 4)),
    }
    found = []
    for steps in (1, rng.randint(2, 5)):
        flow = Dataflow(*names)
        inputs = parts(flow)
        output = make(*inputs).output()
        for input in inputs:
            for line, time, diff in changes[input.node.name]:
                input.update_all([(line, diff)], time)
        for frontier in random_frontiers(rng, flow.order, steps):
            flow.advance(*map(flow.order.unpack, frontier.words))
        for time in itertools.product(range(SIDE), repeat=len(names)):
            wanted = expected(*(state(changes[input.node.name], time) for input in inputs))
            assert Counter(output.at(time)) == wanted, (seed, time)
        found.append(output.changes())
    assert found[0] == found[1]


def test_a_sum_that_overflows_is_an_error_where_it_does() -> None:
    flow = Dataflow("version", "epoch")
    rows = flow.input("rows", k=int, n=int)
    output = rows.sum("k", "n").output()
    rows.update_all([((1, 2**62), 1)], (0, 0))
    rows.update_all([((1, 2**62), 1), ((2, 5), 1)], (0, 1))
    rows.update_all([((1, -1), 1)], (1, 0))
    flow.advance((2, 0), (0, 2))
    errors = {
        time: [n for _, n in flow.engine.snapshot.errors(output.name, flow.order.pack(time))]
        for time in ((0, 0), (0, 1), (1, 0), (1, 1))
    }
    assert errors == {(0, 0): [], (0, 1): [1], (1, 0): [], (1, 1): []}
    assert output.at((1, 1)) == {(1, 2**63 - 1): 1, (2, 5): 1}
