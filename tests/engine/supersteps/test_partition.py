"""By how many words arrangements are divided: what meets is in one shard."""

from __future__ import annotations

import pytest

from engine.operators.arrangement import Arrangement
from engine.operators.equijoin import JoinOperator
from engine.operators.group_operators import GroupOperator
from engine.operators.history import History
from engine.operators.multijoin import MultiJoinOperator
from engine.operators.nearest_join import NearestJoinOperator
from engine.state.dictionary import Dictionary
from engine.supersteps.partition import partition_words
from engine.supersteps.rendered import RenderedTask
from tests.engine.supersteps.specs import planned, spec


def rendered(keys: dict[str, tuple[int, ...] | None], *queries: str) -> RenderedTask:
    return RenderedTask(spec(keys, *map(planned, queries)), Dictionary())


def words(of: RenderedTask, reader: type) -> list[list[int]]:
    """For each operator that reads arrangements, by how many words these are divided."""
    return [[of.words[source] for source in op.inputs] for op in of.operators if isinstance(op, reader)]  # type: ignore[index]


def test_a_join_divides_both_sides_by_its_key() -> None:
    both = rendered({"t": None, "u": None}, "SELECT t.b, u.d FROM t JOIN u ON t.a = u.a AND t.c = u.d")
    (join,) = (op for op in both.operators if isinstance(op, JoinOperator))
    assert join.key == 2
    assert words(both, JoinOperator) == [[2, 2]]


def test_a_nearest_join_divides_both_sides_by_its_key() -> None:
    nearest = rendered(
        {"t": None, "u": None}, "SELECT t.b, u.d FROM t ASOF JOIN u ON t.a = u.a AND t.c >= u.d"
    )
    assert words(nearest, NearestJoinOperator) == [[1, 1]]


def test_a_group_is_in_one_shard() -> None:
    groups = rendered({"t": None}, "SELECT a, count(*) FROM t GROUP BY a", "SELECT count(*) FROM t")
    assert words(groups, GroupOperator) == [[1], [0]]


def test_what_nobody_looks_up_is_divided_by_all_of_its_words() -> None:
    alone = rendered({"t": None}, "SELECT a, b FROM t")
    assert {op.name: alone.words[op] for op in alone.operators if isinstance(op, History)} == {
        "t": 3,
        "v0": 2,
    }


def test_a_table_with_a_key_is_divided_by_it() -> None:
    keyed = rendered({"k": (0,), "edges": (0, 1)})
    assert {op.name: keyed.words[op] for op in keyed.operators if isinstance(op, History)} == {
        "k": 1,
        "edges": 2,
    }


def test_one_that_is_joined_by_more_is_divided_by_the_fewest() -> None:
    """Arrangements that are joined with one another, even by way of a third, are divided alike."""
    chain = rendered(
        {"t": None, "u": None, "edges": None},
        "SELECT t.b, u.d FROM t JOIN u ON t.a = u.a",
        "SELECT a, sum(d) FROM u GROUP BY a",
    )
    joined = {source for op in chain.operators if isinstance(op, JoinOperator) for source in op.inputs}
    arrangement = next(op for op in chain.operators if op in joined)
    assert isinstance(arrangement, Arrangement)
    fewer = partition_words(chain.operators, {arrangement: 0})
    assert {fewer[source] for source in joined} == {0}  # type: ignore[index]


@pytest.mark.parametrize("key", [0, 1, 2])
def test_all_readers_of_an_arrangement_agree(key: int) -> None:
    """A rule that must hold of any program: no reader looks for fewer words than rows are divided by."""
    of = rendered(
        {"edges": tuple(range(key)) or None},
        "SELECT x.src, z.dst FROM edges x, edges y, edges z WHERE x.dst = y.src AND y.dst = z.src",
        """WITH RECURSIVE r (n) AS (SELECT src FROM edges UNION SELECT dst FROM edges JOIN r ON src = n)
        TABLE r""",
        "SELECT src, count(*) FROM edges GROUP BY src",
        "SELECT src, dst, max(w) FROM edges GROUP BY src, dst",
    )
    for op in of.operators:
        if isinstance(op, JoinOperator | GroupOperator):
            sources = [getattr(source, "arrangement", source) for source in op.inputs]
            divided = {of.words[source] for source in sources}
            assert len(divided) == 1
            assert max(divided) <= op.key
    assert any(isinstance(op, MultiJoinOperator | JoinOperator) for op in of.operators)
