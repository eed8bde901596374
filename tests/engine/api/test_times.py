"""Times in the API: the worked example of McSherry's "Differential dataflow", frontiers, forgetting."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from engine.api import Dataflow, EngineError, Input, Output, python

CHANGES = {
    (0, 0): [("a", 1), ("b", 3), ("cc", 2)],
    (0, 1): [("a", -1), ("b", -3)],
    (1, 0): [("a", -1), ("b", -1)],
    (1, 1): [("a", 1), ("b", 2)],
}
PRINTED = {
    (0, 0): {(1, 2): 1, (2, 1): 1},
    (0, 1): {(1, 2): -1},
    (1, 0): {(1, 1): 1, (1, 2): -1},
    (1, 1): {(1, 2): 1},
}
PRINTED_WITHOUT_INPUT = {**PRINTED, (1, 1): {(1, 1): -1, (1, 2): 2}}


def example() -> tuple[Dataflow, Input, Output]:
    """How many distinct strings there are of each length."""
    flow = Dataflow("epoch", "round")
    strings = flow.input("strings", text=str)
    lengths = strings.map(python(lambda text: (len(text), text), length=int, text=str))
    kinds = lengths.reduce("length", python(lambda key, rows: [((len(rows),), 1)], kinds=int))
    return flow, strings, kinds.output()


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("with_input", [True, False])
def test_worked_example(with_input: bool, at_once: bool) -> None:
    flow, strings, kinds = example()
    frontiers = {(0, 0): [(0, 1), (1, 0)], (0, 1): [(0, 2), (1, 0)], (1, 0): [(0, 2), (1, 1), (2, 0)]}
    for time, changes in CHANGES.items():
        if with_input or time != (1, 1):
            strings.update_all([((text,), diff) for text, diff in changes], time)
        if not at_once and time in frontiers:
            flow.advance(*frontiers[time])
    flow.advance((0, 2), (2, 0))
    expected = PRINTED if with_input else PRINTED_WITHOUT_INPUT
    assert dict(kinds.changes()) == expected
    assert {time: kinds.difference(time) for time in expected} == expected
    assert kinds.at((1, 1)) == ({(1, 1): 1, (2, 1): 1} if with_input else {(1, 2): 1, (2, 1): 1})


def test_collections_and_differences_are_written_and_read() -> None:
    flow = Dataflow("version", "epoch")
    rows = flow.input("rows", n=int)
    rows.set({(1,): 2, (2,): 1}, (0, 0))
    rows.set({(1,): 1}, (0, 1))
    rows.set({(3,): 1}, (1, 0))
    rows.set({(1,): 1, (3,): 1}, (1, 1))
    assert rows.difference((0, 1)) == {(1,): -1, (2,): -1}
    assert rows.difference((1, 0)) == {(1,): -2, (2,): -1, (3,): 1}
    assert rows.difference((1, 1)) == {(1,): 2, (2,): 1}
    assert rows.at((1, 1)) == {(1,): 1, (3,): 1}
    output = rows.output()
    flow.advance((2, 0), (0, 2))
    assert output.at((1, 1)) == rows.at((1, 1)) == {(1,): 1, (3,): 1}
    assert output.at((0, 1)) == {(1,): 1}


def test_probes_and_frontiers() -> None:
    flow = Dataflow("version", "epoch")
    rows = flow.input("rows", n=int)
    probe = rows.probe()
    flow.advance((0, 2), (1, 0))
    assert probe.frontier == ((0, 2), (1, 0))
    assert probe.done((0, 1)) and not probe.done((1, 0)) and not probe.done((5, 5))
    with pytest.raises(EngineError, match="is complete"):
        rows.insert((1,), (0, 1))
    with pytest.raises(EngineError, match="goes back"):
        flow.advance((0, 0))
    with pytest.raises(EngineError, match="coordinates"):
        flow.advance()
    with pytest.raises(EngineError, match="needs the coordinates"):
        rows.insert((1,), 3)
    with pytest.raises(EngineError, match="version -1"):
        rows.insert((1,), (-1, 0))


def test_forgetting_keeps_what_can_still_be_read() -> None:
    flow = Dataflow("version", "epoch")
    rows = flow.input("rows", n=int)
    output = rows.distinct().output()
    for version in range(3):
        for epoch in range(6):
            rows.update((epoch % 2,), 1 if version < 2 else -1, (version, epoch))
    flow.advance((0, 6))
    before = {(v, e): output.at((v, e)) for v in range(3) for e in (4, 5)}
    held = flow.differences()
    with pytest.raises(EngineError, match="not all of it is complete"):
        flow.forget((1, 4))
    flow.forget((0, 4))
    assert {time: output.at(time) for time in before} == before
    assert flow.differences() < held
    with pytest.raises(EngineError, match="history begins"):
        output.at((1, 3))
    late = rows.count("n").output()
    assert late.at((1, 4)) == {(0, 6): 1, (1, 4): 1}


def test_versions_that_share_differences() -> None:
    """A second version is told by its changes alone, and follows the first from then on."""
    flow = Dataflow("version", "epoch")
    edges = flow.input("edges", source=int, target=int)
    reach = edges.iterate(
        lambda paths: paths.concat(
            paths.join(edges, on=("target", "source"), select=lambda path, edge: (path.source, edge.target))
        ).distinct()
    ).output()
    for n in range(4):
        edges.insert((n, n + 1), (0, n))
    edges.remove((1, 2), (1, 2))
    flow.advance((2, 0), (0, 4))
    assert len(reach.at((0, 3))) == 10
    assert set(reach.at((1, 3))) == {(0, 1), (2, 3), (2, 4), (3, 4)}


def test_tables_are_loaded_at_times() -> None:
    flow = Dataflow()
    rows = flow.input("rows", n=int)
    total = rows.count().output()
    rows.load(pa.table({"n": [1, 2, 3]}), time=np.array([0, 1, 1]), diff=np.array([1, 1, 2]))
    flow.advance(2)
    assert [total.at(0), total.at(1)] == [{(1,): 1}, {(4,): 1}]
    with pytest.raises(EngineError, match="complete"):
        rows.load(pa.table({"n": [1]}), time=np.array([1]))
