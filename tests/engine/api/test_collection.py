"""Each operator of the public API against what it says, by hand and over random changes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import date

import pytest

from engine.api import (
    Collection,
    Dataflow,
    EngineError,
    avg,
    count,
    descending,
    max_,
    min_,
    python,
    sql,
    sum_,
    when,
)
from engine.runtime.engine import Options
from tests.seeds import SEED

Bag = Counter[tuple]


def keyed(rows: Bag) -> dict[object, Bag]:
    groups: dict[object, Bag] = {}
    for row, n in rows.items():
        groups.setdefault(row[0], Counter())[row] += n
    return groups


def joined(left: Bag, right: Bag) -> Bag:
    found: Bag = Counter()
    for (k, x), n in left.items():
        for (other, y), m in right.items():
            if k == other:
                found[k, x, y] += n * m
    return found


def first_two(rows: Bag) -> Bag:
    found: Bag = Counter()
    for group in keyed(rows).values():
        found += Counter(sorted(group.elements(), key=lambda row: (-row[1], row))[:2])
    return found


OPERATORS: dict[str, tuple[Callable[[Collection, Collection], Collection], Callable[[Bag, Bag], Bag]]] = {
    "map": (
        lambda a, b: a.map(lambda row: (row.x, row.k + 1)),
        lambda a, b: Counter({(x, k + 1): n for (k, x), n in a.items()}),
    ),
    "map in Python": (
        lambda a, b: a.map(python(lambda k, x: (k, str(x)), k=int, text=str)),
        lambda a, b: Counter({(k, str(x)): n for (k, x), n in a.items()}),
    ),
    "filter": (
        lambda a, b: a.filter(lambda row: (row.x > 1) & (row.k != 0)),
        lambda a, b: Counter({row: n for row, n in a.items() if row[1] > 1 and row[0] != 0}),
    ),
    "filter in Python": (
        lambda a, b: a.filter(python(lambda k, x: x in (0, 3))),
        lambda a, b: Counter({row: n for row, n in a.items() if row[1] in (0, 3)}),
    ),
    "flat_map": (
        lambda a, b: a.flat_map(lambda row: [row, {"k": row.x, "x": row.k}]),
        lambda a, b: a + Counter({(x, k): n for (k, x), n in a.items()}),
    ),
    "flat_map in Python": (
        lambda a, b: a.flat_map(python(lambda k, x: range(x), n=int)),
        lambda a, b: Counter(i for (_, x) in a.elements() for i in [(j,) for j in range(x)]),
    ),
    "concat": (lambda a, b: a.concat(b), lambda a, b: a + b),
    "negate": (lambda a, b: a.concat(b, b.negate()), lambda a, b: a),
    "join": (lambda a, b: a.join(b, on="k"), joined),
    "join of two keys": (lambda a, b: a.join(b, on=(("k", "x"), ("k", "x"))), lambda a, b: product(a, b)),
    "join of names in a list": (lambda a, b: a.join(b, on=["k", "x"]), lambda a, b: product(a, b)),
    "cross": (
        lambda a, b: a.join(b, select=lambda left, right: (left.x, right.x)),
        lambda a, b: Counter((x, y) for _, x in a.elements() for _, y in b.elements()),
    ),
    "join_core": (lambda a, b: a.arrange_by("k").join_core(b.arrange_by("k")), joined),
    "join_many": (
        lambda a, b: a.join_many([b, a], [[(0, "x"), (1, "k")], [(1, "x"), (2, "k")]]),
        lambda a, b: Counter(
            (*left, *middle, *right)
            for left in a.elements()
            for middle in b.elements()
            for right in a.elements()
            if left[1] == middle[0] and middle[1] == right[0]
        ),
    ),
    "semijoin": (
        lambda a, b: a.semijoin(b, on=("x", "k")),
        lambda a, b: Counter({row: n for row, n in a.items() if row[1] in {k for k, _ in b}}),
    ),
    "antijoin": (
        lambda a, b: a.antijoin(b, on=("x", "k")),
        lambda a, b: Counter({row: n for row, n in a.items() if row[1] not in {k for k, _ in b}}),
    ),
    "union": (lambda a, b: a.union(b), lambda a, b: a | b),
    "intersect": (lambda a, b: a.intersect(b), lambda a, b: a & b),
    "except": (lambda a, b: a.except_(b), lambda a, b: a - b),
    "distinct": (lambda a, b: a.distinct(), lambda a, b: Counter(set(a))),
    "threshold": (
        lambda a, b: a.threshold(lambda n: n // 2),
        lambda a, b: Counter({row: n // 2 for row, n in a.items() if n // 2}),
    ),
    "reduce": (
        lambda a, b: a.reduce(
            "k", n=count(), total=sum_("x"), least=min_("x"), most=max_("x"), mean=avg("x")
        ),
        lambda a, b: Counter(
            (k, len(v), sum(v), min(v), max(v), sum(v) / len(v))
            for k, g in keyed(a).items()
            for v in [[x for _, x in g.elements()]]
        ),
    ),
    "reduce in Python": (
        lambda a, b: a.reduce("k", python(lambda key, rows: [((rows[-1][0][0],), len(rows))], last=int)),
        lambda a, b: sum((Counter({(k, max(g)[1]): len(g)}) for k, g in keyed(a).items()), Counter()),
    ),
    "count": (lambda a, b: a.count("k"), lambda a, b: Counter((k, g.total()) for k, g in keyed(a).items())),
    "count of all": (lambda a, b: a.count(), lambda a, b: Counter([(a.total(),)] if a else [])),
    "top_k": (lambda a, b: a.top_k(2, "k", [descending("x")]), lambda a, b: first_two(a)),
    "consolidate": (lambda a, b: a.concat(b).consolidate(), lambda a, b: a + b),
    "iterate": (
        lambda a, b: a.iterate(lambda c: c.concat(c.map(lambda row: (row.x, row.k))).distinct(), rounds=1),
        lambda a, b: Counter({*a, *((x, k) for k, x in a)}),
    ),
    "prioritize": (
        lambda a, b: a.distinct().prioritize(lambda row: row.x, lambda c: closure(c)),
        lambda a, b: Counter(closed(set(a))),
    ),
}


def product(a: Bag, b: Bag) -> Bag:
    return Counter({row: n * b[row] for row, n in a.items() if row in b})


def closure(edges: Collection) -> Collection:
    return edges.iterate(
        lambda paths: paths.concat(
            paths.join(edges, on=("x", "k"), select=lambda path, edge: {"k": path.k, "x": edge.x})
        ).distinct()
    )


def closed(pairs: set[tuple]) -> set[tuple]:
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs = pairs | more
    return pairs


@pytest.mark.parametrize("coordinates", [(), ("version", "epoch")], ids=["epochs", "product"])
@pytest.mark.parametrize("name", OPERATORS)
def test_operator(name: str, coordinates: tuple[str, ...]) -> None:
    make, expected = OPERATORS[name]
    rng = random.Random(f"{name} {SEED}")
    flow = Dataflow(*coordinates)
    inputs = [flow.input("a", k=int, x=int), flow.input("b", k=int, x=int)]
    output = make(*inputs).output()
    bags: list[Bag] = [Counter(), Counter()]
    for epoch in range(8):
        time = (0, epoch) if coordinates else epoch
        for input, bag in zip(inputs, bags, strict=True):
            for _ in range(rng.randint(0, 5)):
                row = (rng.randrange(3), rng.randrange(4))
                if bag[row] and rng.random() < 0.5:
                    bag[row] -= 1
                    input.remove(row, time)
                else:
                    bag[row] += 1
                    input.insert(row, time)
        flow.advance(*(((0, epoch + 1), (1, 0)) if coordinates else (epoch + 1,)))
        assert output.at(time) == dict(expected(*(+bag for bag in bags))), epoch


def test_values_are_pythons() -> None:
    flow = Dataflow()
    numbers = flow.input("numbers", a=int, b=int)
    output = numbers.map(
        lambda n: {
            "floor": n.a // n.b,
            "rest": n.a % n.b,
            "ratio": n.a / n.b,
            "sign": when(n.a < 0, "minus", "plus"),
            "size": abs(-n.a),
            "text": sql("repeat('x', CAST({0} AS INTEGER))", n.b * n.b, type=str),
        }
    ).output()
    pairs = [(a, b) for a in (-7, -6, 0, 5, 7) for b in (-3, -1, 2, 3)]
    for pair in pairs:
        numbers.insert(pair)
    flow.advance()
    expected = {(a // b, a % b, a / b, "minus" if a < 0 else "plus", abs(a), "x" * (b * b)) for a, b in pairs}
    assert set(output.rows()) == expected


def test_columns_of_every_type_and_none() -> None:
    flow = Dataflow()
    rows = flow.input("rows", name=str | None, at=date, weight=float, there=bool)
    output = rows.filter(lambda row: row.name.is_none() | row.there).output()
    rows.insert((None, date(2026, 1, 2), 0.5, False))
    rows.insert(("ü", date(1, 1, 1), float("inf"), True))
    rows.insert(("gone", date(2026, 1, 2), -0.0, False))
    flow.advance()
    assert output.rows() == {
        (None, date(2026, 1, 2), 0.5, False): 1,
        ("ü", date(1, 1, 1), float("inf"), True): 1,
    }


def test_a_row_that_fails_is_an_error_until_it_goes() -> None:
    flow = Dataflow()
    rows = flow.input("rows", n=int)
    output = rows.map(lambda row: 6 // row.n).output()
    for n in (0, 2):
        rows.insert((n,))
    flow.advance()
    assert output.rows() == {(3,): 1}
    assert output.errors()
    rows.remove((0,))
    flow.advance()
    assert not output.errors()


def test_nonsense_is_refused_by_name() -> None:
    flow = Dataflow()
    rows = flow.input("rows", n=int, name=str)
    with pytest.raises(EngineError, match="no column m"):
        rows.count("m")
    with pytest.raises(AttributeError, match="no column m"):
        rows.map(lambda row: row.m)
    with pytest.raises(EngineError, match="have no common type"):
        rows.filter(lambda row: row.n == row.name)
    with pytest.raises(EngineError, match="neither true nor false"):
        rows.filter(lambda row: row.n > 1 and row.n < 3)
    with pytest.raises(EngineError, match="column n"):
        rows.insert(("x", "y"))
    with pytest.raises(EngineError, match="is not the type"):
        flow.input("more", x=list)


def test_inspect_shows_times_of_loops() -> None:
    flow = Dataflow()
    rows = flow.input("rows", n=int)
    seen: list[tuple] = []
    rows.iterate(
        lambda c: c.map(lambda row: when(row.n < 2, row.n + 1, row.n)).inspect(
            lambda *line: seen.append(line)
        )
    ).output()
    rows.insert((0,))
    flow.advance()
    assert seen == [((1,), (0, 0), 1), ((1,), (0, 1), -1), ((2,), (0, 1), 1)]


def test_a_loop_without_an_end_changes_nothing() -> None:
    flow = Dataflow()
    rows = flow.input("rows", n=int)
    rows.iterate(lambda c: c.map(lambda row: row.n + 1)).output()
    steady = rows.output()
    rows.insert((0,))
    with pytest.raises(EngineError, match="still changes"):
        flow.advance()
    assert flow.frontier == (0,)
    rows.remove((0,))
    rows.insert((5,), time=3)
    flow.advance()
    assert steady.rows() == {}


def test_a_large_change_starts_a_loop_over() -> None:
    flow = Dataflow()
    edges = flow.input("edges", k=int, x=int)
    reach = closure(edges).output()
    for n in range(60):
        edges.insert((n, n + 1))
    flow.advance()
    for n in range(60):
        edges.remove((n, n + 1))
        edges.insert((n + 1, n))
    flow.advance()
    assert set(reach.rows()) == closed({(n + 1, n) for n in range(60)})
    (loop,) = flow.statistics()
    assert (loop.incremental, loop.rebuilt, loop.reason) == (1, 1, "a large change")


def test_mutual_recursion() -> None:
    flow = Dataflow()
    edges = flow.input("edges", source=int, target=int)
    roots = flow.input("roots", node=int)
    loop = flow.scope()
    even, odd = loop.variable(like=roots), loop.variable(node=int)
    step = {"on": ("node", "source"), "select": lambda at, edge: {"node": edge.target}}
    even.set(roots.concat(odd.join(loop.enter(edges), **step)).distinct())
    odd.set(even.join(edges, **step).distinct())
    evens, odds = even.leave().output(), odd.leave().output()
    for edge in ((0, 1), (1, 2), (2, 3)):
        edges.insert(edge)
    roots.insert((0,))
    flow.advance()
    assert (evens.rows(), odds.rows()) == ({(0,): 1, (2,): 1}, {(1,): 1, (3,): 1})
    edges.insert((3, 1))
    edges.insert((3, 3))
    flow.advance()
    assert set(evens.rows()) == {(0,), (1,), (2,), (3,)} == set(odds.rows()) | {(0,)}


def test_rows_that_enter_late_change_the_way_not_the_answer() -> None:
    flow = Dataflow()
    edges = flow.input("edges", source=int, target=int)

    def labels(late: bool) -> Collection:
        own = edges.flat_map(lambda e: [(e.source, e.source), (e.target, e.target)])
        own = own.map(lambda it: {"node": it[0], "label": it[1]}).distinct()
        loop = flow.scope()
        label = loop.variable(like=own)
        start = loop.enter_at(own, lambda it: it.label * 8) if late else own
        told = label.join(
            edges, on=("node", "source"), select=lambda it, e: {"node": e.target, "label": it.label}
        )
        label.set(start.concat(told).min("node", "label"))
        return label.leave()

    plain, late = labels(False).output(), labels(True).output()
    rng = random.Random(SEED)
    pairs: list[tuple[int, int]] = []
    for _ in range(40):
        if pairs and rng.random() < 0.4:
            edges.remove(pairs.pop(rng.randrange(len(pairs))))
        pairs.append((rng.randrange(20), rng.randrange(20)))
        edges.insert(pairs[-1])
        flow.advance()
        assert plain.rows() == late.rows()


def test_late_entries_do_not_hide_a_loop_without_an_end() -> None:
    flow = Dataflow(options=Options(max_rounds=50))
    rows = flow.input("rows", n=int)
    loop = flow.scope()
    numbers = loop.variable(n=int)
    late = loop.enter_at(rows, lambda row: row.n * 1000)
    numbers.set(late.concat(numbers.map(lambda row: when(row.n < 10, row.n + 1, row.n))).distinct())
    output = numbers.leave().output()
    rows.insert((8,))
    flow.advance()
    assert set(output.rows()) == {(8,), (9,), (10,)}
    rows.insert((1000,))
    flow.advance()
    assert (1000,) in output.rows()
    other = flow.scope()
    growing = other.variable(n=int)
    growing.set(other.enter_at(rows, lambda row: row.n).concat(growing.map(lambda row: row.n + 1)).distinct())
    with pytest.raises(EngineError, match="after 50 rounds"):
        growing.leave().output()


def test_interning_gives_ids_and_back() -> None:
    flow = Dataflow()
    words = flow.input("words", word=str)
    ids = words.intern()
    back = ids.join(words.intern(), on="id", select=lambda a, b: b.word).output()
    found = ids.output()
    for word in ("a", "b", "a"):
        words.insert((word,))
    flow.advance()
    assert len({row[1] for row in found.rows()}) == 2
    assert back.rows() == {("a",): 1, ("b",): 1}
