"""nextval, currval, lastval and setval in statements.

A call is computed before its statement runs, and its number takes its place. So it may stand where it is
computed once: in a SELECT without FROM, and in the VALUES of an INSERT. Other rows take numbers by a DEFAULT.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from planner.errors import InvalidQuery, Unsupported
from planner.parsing.namespace import Namespace
from planner.positions import fail
from planner.statements.declarations import sequence_named
from planner.statements.statements import Insert, Select, Statement
from service.errors import Invalid
from service.running.runtime import Runtime
from service.sql.script_session import ScriptSession

_CALLS = frozenset({"nextval", "currval", "lastval", "setval"})
_WRITES = frozenset({"nextval", "setval"})
_RETURNING = "INSERT ... RETURNING tells which numbers rows were given"
_FORM = "write nextval('name'), currval('name') or setval('name', number [, is_called])"


def counts(statement: Statement) -> bool:
    """Whether a statement calls a function of sequences."""
    return isinstance(statement, Select | Insert) and next(_calls(_tree(statement)), None) is not None


def used_sequences(statement: Statement, names: Namespace) -> list[tuple[str, bool]]:
    """The full names of the sequences in a statement, and whether it changes them."""
    found = []
    for call in _calls(_tree(statement)):
        if call.expressions:
            found.append((_name(call, names), call.name.lower() in _WRITES))
    return found


@dataclass(frozen=True)
class SequenceCalls:
    """Computes the calls of a statement for a session."""

    runtime: Runtime
    session: ScriptSession
    names: Namespace

    async def computed(self, statement: Statement) -> Statement:
        """The statement with numbers for its calls."""
        return await _replaced(statement, self._number)

    async def described(self, statement: Statement) -> Statement:
        """The statement with zeros for its calls, which it has the types of."""

        async def zero(call: exp.Anonymous) -> int:
            return 0

        return await _replaced(statement, zero)

    async def _number(self, call: exp.Anonymous) -> int:
        given = self.session.given
        match call.name.lower(), call.expressions:
            case "lastval", []:
                fail(Unsupported("lastval is not supported", _RETURNING), call)
            case "nextval", [_]:
                name = _name(call, self.names)
                number = await self.runtime.objects.next_number(name)
                given[name] = number
                return number
            case "currval", [_]:
                name = _name(call, self.names)
                if self.runtime.objects.is_counted_by_rows(name):
                    what = f"currval of sequence {name}, which rows take numbers of, is not supported"
                    fail(Unsupported(what, _RETURNING), call)
                if name not in given:
                    raise Invalid(
                        f"currval of sequence {name} is not defined in this session yet", code="invalid_value"
                    )
                return given[name]
            case "setval", [_, to, *rest] if len(rest) <= 1:
                number, is_taken = _whole(to), not rest or _true(rest[0])
                name = _name(call, self.names)
                await self.runtime.objects.set_sequence(name, number, is_taken=is_taken)
                if is_taken:
                    given[name] = number
                return number
        fail(InvalidQuery(f"{call.name} does not take these arguments", _FORM), call)


async def _replaced(statement: Statement, number: Callable[[exp.Anonymous], Awaitable[int]]) -> Statement:
    assert isinstance(statement, Select | Insert)
    tree = _tree(statement).copy()
    for call in list(_calls(tree)):
        _check_place(call, tree)
        found = await number(call)
        literal: exp.Expression = exp.Literal.number(abs(found))
        literal = exp.Neg(this=literal) if found < 0 else literal
        whole = call.parent if isinstance(call.parent, exp.Dot) else call  # pg_catalog.setval(...)
        whole.replace(exp.cast(literal, "bigint"))
    if isinstance(statement, Select):
        return replace(statement, query=tree)
    assert isinstance(tree, exp.Insert)
    return replace(statement, tree=tree, query=tree.expression)


def _tree(statement: Statement) -> exp.Expression:
    assert isinstance(statement, Select | Insert)
    return statement.query if isinstance(statement, Select) else statement.tree


def _calls(tree: exp.Expression) -> Iterator[exp.Anonymous]:
    return (node for node in tree.find_all(exp.Anonymous, bfs=False) if node.name.lower() in _CALLS)


def _check_place(call: exp.Anonymous, tree: exp.Expression) -> None:
    """Raises Unsupported where a call would be computed for each row of a query, or only for some."""
    around = call.find_ancestor(exp.Select, exp.Values, exp.If, exp.Case, exp.Returning, exp.OnConflict)
    in_values = isinstance(around, exp.Values) and around.parent is tree and isinstance(tree, exp.Insert)
    in_select = (
        around is tree
        and isinstance(tree, exp.Select)
        and not any(tree.args.get(part) for part in ("from_", "where", "having", "limit", "offset", "with_"))
    )
    if not (in_values or in_select):
        fail(
            Unsupported(
                f"{call.name} for the rows of a query is not supported",
                "give the column of a table DEFAULT nextval('name'), or SELECT nextval('name') alone",
            ),
            call,
        )


def _name(call: exp.Anonymous, names: Namespace) -> str:
    name = sequence_named(call.expressions[0], names)
    if name is None:
        fail(InvalidQuery(f"{call.name} takes the name of a sequence as a text", _FORM), call)
    return name


def _whole(value: exp.Expression) -> int:
    literal = value.find(exp.Literal)
    text = literal.this if literal is not None else ""
    if not text.isdigit() or len(list(value.find_all(exp.Literal))) != 1:
        fail(InvalidQuery("setval takes a whole number", _FORM), value)
    return -int(text) if value.find(exp.Neg) is not None else int(text)


def _true(value: exp.Expression) -> bool:
    if not isinstance(value, exp.Boolean):
        fail(InvalidQuery("the third argument of setval is TRUE or FALSE", _FORM), value)
    return bool(value.this)
