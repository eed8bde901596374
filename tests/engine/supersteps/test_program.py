"""Programs as text: what is run between exchanges, and where loops go back."""

from __future__ import annotations

from textwrap import dedent

import pytest

from engine.operators.operator import Operator
from engine.plan.nodes import Clamp, Concat, LoopBinding, Node, Recursive, Threshold, Variable
from engine.state.dictionary import Dictionary
from engine.supersteps.rendered import RenderedTask
from engine.supersteps.superstep_program import (
    BeginLoop,
    CheckLoop,
    Decide,
    FeedBack,
    Instruction,
    Round,
    RunLevel,
    WholeLoop,
)
from tests.engine.supersteps.specs import planned, spec
from tests.planner import samples


def program(tables: tuple[str, ...], *views: Node) -> str:
    """A line an instruction: what it runs, and after -> what is arranged elsewhere."""
    rendered = RenderedTask(spec(dict.fromkeys(tables), *views), Dictionary())
    instructions = rendered.program().instructions
    return "\n".join(f"{place:02} {_line(rendered, it)}" for place, it in enumerate(instructions))


def _line(rendered: RenderedTask, instruction: Instruction) -> str:
    def name(operator: Operator) -> str:
        return f"{operator.kind}{rendered.numbers[operator]}"

    kind = type(instruction).__name__
    match instruction:
        case RunLevel(operators=operators, sends=sends):
            sent = ["->", *map(name, sends)] if sends else []
            return " ".join((kind, *map(name, operators), *sent))
        case BeginLoop(loop=loop, offers=offers):
            return f"{kind} {name(loop)}" + " with offers" * offers
        case Decide(loop=loop, end=end):
            return f"{kind} {name(loop)}, past it to {end}"
        case CheckLoop(loop=loop, start=start, end=end):
            return f"{kind} {name(loop)}, to a later round {start}, out {end}"
        case FeedBack(loop=loop, start=start):
            return f"{kind} {name(loop)}, back to {start}"
        case Round(loop=loop) | WholeLoop(loop=loop):
            return f"{kind} {name(loop)}"
        case _:
            return kind


def text(lines: str) -> str:
    return dedent(lines.rstrip()).removeprefix("\n")


def test_a_join_is_one_exchange_and_its_result_another() -> None:
    assert program(("t", "u"), planned("SELECT t.b, u.d FROM t JOIN u ON t.a = u.a")) == text("""
        00 RunLevel Input0 Input2 Filter4 Filter7 -> History1 History3 Arrangement6 Arrangement9
        01 Exchange
        02 RunLevel History1 History3 Arrangement6 Arrangement9 Join10 -> History11
        03 Exchange
        04 RunLevel History11
        05 End
    """)


def test_only_what_changes_can_reach_is_run() -> None:
    """A constant has changed once, and a second view reads another table."""
    views = (
        planned("SELECT u.d FROM u JOIN (VALUES (1), (2)) v (n) ON u.a = v.n"),
        planned("SELECT count(*) FROM t"),
    )
    with_both = program(("t", "u"), *views)
    rendered = RenderedTask(spec({"u": None}, *views[:1]), Dictionary())
    constants = set(rendered.constants)
    assert constants
    assert not any(
        operator in constants
        for instruction in rendered.program().instructions
        if isinstance(instruction, RunLevel)
        for operator in instruction.operators
    )
    assert "Sums" in with_both
    assert "Sums" not in program(("u",), views[0])


RECURSION = """
    WITH RECURSIVE r (n) AS (SELECT src FROM edges UNION SELECT dst FROM edges JOIN r ON src = n) TABLE r
"""


def test_a_recursion_goes_back_to_its_round() -> None:
    assert program(("edges",), planned(RECURSION)) == text("""
        00 RunLevel Input0 -> History1 Arrangement2 Arrangement3
        01 Exchange
        02 RunLevel History1 Arrangement2 Arrangement3
        03 BeginLoop OutermostLoop4 with offers
        04 Exchange
        05 Decide OutermostLoop4, past it to 14
        06 Round OutermostLoop4
        07 RunLevel Variable5 EnteredArrangement6 ArrangementChanges7 EnteredArrangement9 -> Arrangement8
        08 Exchange
        09 CheckLoop OutermostLoop4, to a later round 6, out 14
        10 RunLevel Arrangement8 Join10 Concat11 -> Arrangement12
        11 Exchange
        12 RunLevel Arrangement12 Threshold13
        13 FeedBack OutermostLoop4, back to 6
        14 Exchange
        15 RunLevel Leave14 -> History15
        16 Exchange
        17 RunLevel History15
        18 End
    """)


def nested(distinct: bool) -> Node:
    """A recursion in a recursion; without `distinct` the inner one arranges nothing."""
    table = planned("SELECT src FROM edges")
    outer, inner = (Variable(name, table.schema) for name in ("outer", "inner"))
    step: Node = Concat((outer, inner))
    if distinct:
        step = Threshold(step, Clamp.DISTINCT)
    inside = Recursive((LoopBinding("inner", step),), "inner", limit=2)
    value = Threshold(Concat((table, inside)), Clamp.DISTINCT)
    return Recursive((LoopBinding("outer", value),), "outer")


def test_a_recursion_in_a_recursion() -> None:
    assert program(("edges",), nested(distinct=True)) == text("""
        00 RunLevel Input0 -> History1 Arrangement2
        01 Exchange
        02 RunLevel History1 Arrangement2
        03 BeginLoop OutermostLoop3 with offers
        04 Exchange
        05 Decide OutermostLoop3, past it to 21
        06 Round OutermostLoop3
        07 RunLevel Variable4 EnteredArrangement5 ArrangementChanges6
        08 Exchange
        09 CheckLoop OutermostLoop3, to a later round 6, out 21
        10 BeginLoop Loop7
        11 Round Loop7
        12 RunLevel Variable8 Enter9 Concat10 -> Arrangement11
        13 Exchange
        14 CheckLoop Loop7, to a later round 11, out 17
        15 RunLevel Arrangement11 Threshold12
        16 FeedBack Loop7, back to 11
        17 RunLevel Leave13 Concat14 -> Arrangement15
        18 Exchange
        19 RunLevel Arrangement15 Threshold16
        20 FeedBack OutermostLoop3, back to 6
        21 Exchange
        22 RunLevel Leave17 -> History18
        23 Exchange
        24 RunLevel History18
        25 End
    """)


def test_a_recursion_without_exchanges_is_run_whole() -> None:
    assert program(("edges",), nested(distinct=False)) == text("""
        00 RunLevel Input0 -> History1 Arrangement2
        01 Exchange
        02 RunLevel History1 Arrangement2
        03 BeginLoop OutermostLoop3 with offers
        04 Exchange
        05 Decide OutermostLoop3, past it to 15
        06 Round OutermostLoop3
        07 RunLevel Variable4 EnteredArrangement5 ArrangementChanges6
        08 Exchange
        09 CheckLoop OutermostLoop3, to a later round 6, out 15
        10 WholeLoop Loop7
        11 RunLevel Leave11 Concat12 -> Arrangement13
        12 Exchange
        13 RunLevel Arrangement13 Threshold14
        14 FeedBack OutermostLoop3, back to 6
        15 Exchange
        16 RunLevel Leave15 -> History16
        17 Exchange
        18 RunLevel History16
        19 End
    """)


@pytest.mark.parametrize("sql", [RECURSION, "SELECT t.b, u.d FROM t JOIN u ON t.a = u.a"])
def test_what_is_read_is_kept_until_then(sql: str) -> None:
    """An operator's changes are there at each place that reads them."""
    rendered = RenderedTask(spec(dict.fromkeys(samples.SCHEMAS), planned(sql)), Dictionary())
    compiled = rendered.program()
    for place, instruction in enumerate(compiled.instructions):
        if isinstance(instruction, RunLevel):
            readers = {source for arrangement in instruction.sends for source in arrangement.inputs[:1]}
            assert all(compiled.last_reads[source] >= place for source in readers)
