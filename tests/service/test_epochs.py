"""Groups of requests: what is accepted, refused, repeated and retried, over a real engine and log."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from engine.codec.json import decode_rows, encode_rows
from engine.errors import EngineError
from engine.schema import BIGINT, TEXT, Column, Schema
from planner.statements.table_rules import Action, ForeignKey, TableRules
from service.catalog.catalog import Catalog, CommittedEpochs
from service.catalog.details import Details
from service.changes.table_changes import Applied, ChangeOp, Idempotency, TableChanges
from service.definitions.intended_view import intend
from service.errors import Conflict, Deposed, Invalid, Unavailable
from service.metrics import Metrics
from service.running.state import State, recover
from service.settings.settings import Settings
from service.writing.request import Request
from tests.seeds import each_seed, few

SCHEMA = Schema((Column("id", BIGINT), Column("name", TEXT)))


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    state = recover(Settings(data=tmp_path), Metrics())
    state.definitions.create_table("t", SCHEMA, (0,))
    state.definitions.create_table("bag", SCHEMA, None)
    create_view(state, "names", "SELECT name, count(*) AS n FROM t GROUP BY name")
    yield state
    state.close()


def create_view(state: State, name: str, sql: str) -> None:
    intended = intend(state.definitions, name, sql, "postgres")
    building = state.engine.begin_view(name, intended.definition.relation.plan)
    try:
        building.compute()
        intended.make(building, state.definitions)
    finally:
        state.engine.discard(building)


def request(state: State, *changes: tuple, table: str = "t", key: str | None = None) -> Request:
    """A request of (operation, id, name) changes. `key` makes it idempotent, with the changes as digest."""
    definition = state.definitions.known.get(table)
    words = encode_rows([row for _, *row in changes], definition.loose, state.engine.dictionary)
    ops = np.array([op for op, *_ in changes], np.int8)
    idempotency = None if key is None else Idempotency(key, repr(changes).encode())
    return Request(((definition, TableChanges(definition.schema, ops, words)),), idempotency)


def rows(state: State, name: str, epoch: int | None = None) -> list[tuple]:
    words, counts = state.engine.snapshot.rows(name, epoch)
    schema = state.engine.snapshot.schema(name)
    found = decode_rows(np.repeat(words, counts, axis=1), schema, state.engine.dictionary)
    return sorted(found, key=repr)


def test_each_accepted_request_has_an_epoch_of_its_own(state: State) -> None:
    outcomes = state.epochs.commit(
        [
            request(state, (ChangeOp.INSERT, 1, "a")),
            request(state, (ChangeOp.INSERT, 1, "b")),
            request(state, (ChangeOp.UPSERT, 1, "c"), (ChangeOp.INSERT, 2, "c")),
            request(state, (ChangeOp.DELETE, 3, None)),
            request(state, (ChangeOp.DELETE, 1, None)),
        ]
    )
    assert [o if isinstance(o, Applied) else o.code for o in outcomes] == [
        Applied(1, 1),
        "key_exists",
        Applied(2, 2),
        "row_not_found",
        Applied(3, 1),
    ]
    assert [rows(state, "t", epoch) for epoch in range(4)] == [
        [],
        [(1, "a")],
        [(1, "c"), (2, "c")],
        [(2, "c")],
    ]
    assert [rows(state, "names", epoch) for epoch in range(4)] == [[], [("a", 1)], [("c", 2)], [("c", 1)]]


def test_a_refusal_undoes_what_later_requests_saw(state: State) -> None:
    """The second request fails; the third depends on what the second would have inserted."""
    outcomes = state.epochs.commit(
        [
            request(state, (ChangeOp.INSERT, 1, "a")),
            request(state, (ChangeOp.INSERT, 2, "b"), (ChangeOp.INSERT, 1, "b")),
            request(state, (ChangeOp.DELETE, 2, None)),
            request(state, (ChangeOp.INSERT, 2, "d")),
        ]
    )
    assert [isinstance(o, Applied) for o in outcomes] == [True, False, False, True]
    assert rows(state, "t") == [(1, "a"), (2, "d")]


@each_seed(few(5))
def test_any_grouping_gives_the_same_answers(state: State, seed: int) -> None:
    """Requests in random groups, against a model that takes them one by one."""
    chance = random.Random(seed)
    model: dict[int, str] = {}
    bag: Counter = Counter()
    history: list[tuple[list, list]] = []
    for _ in range(12):
        group, expected = [], []
        for _ in range(chance.randint(1, 8)):
            table = chance.choice(["t", "bag"])
            ops = list(ChangeOp) if table == "t" else [ChangeOp.INSERT, ChangeOp.DELETE]
            changes = [
                (chance.choice(ops), chance.randint(0, 3), chance.choice("ab"))
                for _ in range(chance.randint(1, 3))
            ]
            group.append(request(state, *changes, table=table))
            accepted = apply_to_model(table, changes, model, bag)
            expected.append(accepted)
            if accepted:
                history.append((sorted(model.items()), sorted(bag.elements())))
        outcomes = state.epochs.commit(group)
        assert [isinstance(o, Applied) for o in outcomes] == expected
    for epoch, (table_rows, bag_rows) in enumerate(history, 1):
        assert rows(state, "t", epoch) == table_rows
        assert rows(state, "bag", epoch) == bag_rows
        assert rows(state, "names", epoch) == sorted(Counter(n for _, n in table_rows).items())


def apply_to_model(table: str, changes: list, model: dict[int, str], bag: Counter) -> bool:
    """Applies changes to the model, all or none. Returns whether they could be applied."""
    trial, trial_bag = dict(model), Counter(bag)
    for op, id, name in changes:
        held = id in trial if table == "t" else trial_bag[id, name] > 0
        if (op is ChangeOp.DELETE and not held) or (op is ChangeOp.INSERT and held and table == "t"):
            return False
        if table == "bag":
            trial_bag[id, name] += -1 if op is ChangeOp.DELETE else 1
        elif op in (ChangeOp.DELETE, ChangeOp.DISCARD):
            trial.pop(id, None)
        else:
            trial[id] = name
    model.clear()
    model.update(trial)
    bag.clear()
    bag.update(+trial_bag)
    return True


# Idempotency


def test_a_key_twice_in_a_group(state: State) -> None:
    same = request(state, (ChangeOp.INSERT, 1, "a"), key="k")
    other = request(state, (ChangeOp.INSERT, 2, "a"), key="k")
    plain = request(state, (ChangeOp.INSERT, 3, "a"))
    first, second, third, fourth = state.epochs.commit([same, same, plain, other])
    assert first == second == Applied(1, 1)
    assert third == Applied(2, 1)
    assert isinstance(fourth, Invalid)
    assert rows(state, "t") == [(1, "a"), (3, "a")]


def test_a_refused_key_is_free(state: State) -> None:
    bad = request(state, (ChangeOp.DELETE, 1, None), key="k")
    insert = request(state, (ChangeOp.INSERT, 1, "a"))
    first, second, third = state.epochs.commit([bad, insert, bad])
    assert isinstance(first, Conflict)
    assert second == Applied(1, 1)
    assert third == Applied(2, 1)


# Definitions that change under a request


def test_a_request_for_a_table_that_was_replaced(state: State) -> None:
    old = request(state, (ChangeOp.INSERT, 1, "a"), table="bag")
    state.definitions.drop(["bag"], view=False)
    [outcome] = state.epochs.commit([old])
    assert outcome.code == "table_changed"
    state.definitions.create_table("bag", SCHEMA, None)
    [outcome] = state.epochs.commit([old])
    assert outcome.code == "table_changed"


# Failures


def test_a_receipt_is_written_with_its_epoch(state: State) -> None:
    with state.catalog.changing() as changing:
        changing.connection.execute(sa.text("CREATE TABLE seen (epoch INTEGER)"))

    def receipt(connection: sa.Connection, applied: Applied) -> None:
        connection.execute(sa.text("INSERT INTO seen VALUES (:epoch)"), {"epoch": applied.epoch})

    def refusing(connection: sa.Connection, applied: Applied) -> None:
        receipt(connection, applied)
        raise Conflict("no")

    good = request(state, (ChangeOp.INSERT, 1, "a"))
    outcomes = state.epochs.commit(
        [
            replace(good, receipt=receipt),
            replace(good, receipt=receipt),
            replace(request(state, (ChangeOp.INSERT, 2, "b")), receipt=refusing),
            replace(request(state, (ChangeOp.INSERT, 3, "c")), receipt=receipt),
        ]
    )
    assert [o if isinstance(o, Applied) else o.code for o in outcomes] == [
        Applied(1, 1),
        "key_exists",
        "conflict",
        Applied(2, 1),
    ]
    assert rows(state, "t") == [(1, "a"), (3, "c")]
    with state.catalog.changing() as changing:
        seen = changing.connection.execute(sa.text("SELECT epoch FROM seen ORDER BY epoch")).scalars()
        assert list(seen) == [1, 2]


def test_the_culprit_fails_alone(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the engine cannot take one of the requests, it takes the others."""
    stage = state.engine.stage
    poison = state.engine.dictionary.word("poison")

    def refuse(deltas: dict[str, np.ndarray], upper: int, **options: bool):
        if any((delta == poison).any() for delta in deltas.values()):
            raise EngineError("cannot be done")
        return stage(deltas, upper, **options)

    monkeypatch.setattr(state.engine, "stage", refuse)
    outcomes = state.epochs.commit(
        [request(state, (ChangeOp.INSERT, i, "poison" if i == 2 else "fine")) for i in range(4)]
    )
    assert [o.epoch if isinstance(o, Applied) else o.message for o in outcomes] == [1, 2, "cannot be done", 3]
    assert rows(state, "t") == [(0, "fine"), (1, "fine"), (3, "fine")]


class Failing:
    """A log that fails before or after the commit, and may then not answer."""

    def __init__(self, catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
        self.append, self.newest = catalog.append, catalog.newest_of_mine
        self.before = self.after = self.mute = self.deposed = False
        monkeypatch.setattr(catalog, "append", self._append)
        monkeypatch.setattr(catalog, "newest_of_mine", self._newest)

    def _append(self, *args) -> None:
        if self.before:
            raise OperationalError("INSERT", {}, Exception("gone"))
        self.append(*args)
        if self.after:
            raise OperationalError("COMMIT", {}, Exception("gone"))

    def _newest(self):
        if self.mute:
            raise OperationalError("SELECT", {}, Exception("gone"))
        if self.deposed:
            raise Deposed("http://second")
        return self.newest()


def test_a_log_that_fails_applies_nothing(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Failing(state.catalog, monkeypatch)
    failing.before = True
    outcomes = state.epochs.commit([request(state, (ChangeOp.INSERT, i, "a")) for i in (1, 2)])
    assert [outcome.code for outcome in outcomes] == ["log_unavailable"] * 2
    assert rows(state, "t") == []
    failing.before = False
    assert state.epochs.commit([request(state, (ChangeOp.INSERT, 1, "a"))]) == [Applied(1, 1)]


def test_a_commit_that_was_not_confirmed_but_kept(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Failing(state.catalog, monkeypatch)
    failing.after = True
    assert state.epochs.commit([request(state, (ChangeOp.INSERT, 1, "a"))]) == [Applied(1, 1)]
    assert rows(state, "t") == [(1, "a")]


def test_who_is_deposed_before_it_knows_does_not_promise_that_nothing_was_done(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`not_leader` would: a client sends statements again that get it."""
    failing = Failing(state.catalog, monkeypatch)
    failing.after, failing.deposed = True, True
    [outcome] = state.epochs.commit([request(state, (ChangeOp.INSERT, 1, "a"))])
    assert isinstance(outcome, Unavailable)
    assert outcome.code == "log_unavailable" and "may have taken over" in outcome.message


@pytest.mark.parametrize("kept", [False, True])
def test_while_it_is_not_known_nothing_is_accepted(
    state: State, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    failing = Failing(state.catalog, monkeypatch)
    failing.mute = True
    failing.before, failing.after = not kept, kept
    [outcome] = state.epochs.commit([request(state, (ChangeOp.INSERT, 1, "a"))])
    assert isinstance(outcome, Unavailable)
    failing.before = failing.after = False
    [outcome] = state.epochs.commit([request(state, (ChangeOp.INSERT, 2, "b"))])
    assert isinstance(outcome, Unavailable)
    failing.mute = False
    [outcome] = state.epochs.commit([request(state, (ChangeOp.INSERT, 2, "b"))])
    if kept:
        # The log is ahead of the visible state. Only a restart, which reads the log, repairs that.
        assert isinstance(outcome, Unavailable)
        assert "restart" in outcome.hint
    else:
        assert outcome == Applied(1, 1)


# Transactions


def test_a_transaction_reads_what_it_wrote(state: State) -> None:
    state.epochs.commit([request(state, (ChangeOp.INSERT, 1, "a"))])

    def work(transaction) -> list[int]:
        def change(op: ChangeOp, id: int, name: str | None) -> None:
            words = encode_rows([(id, name)], state.definitions.known.get("t").loose, state.engine.dictionary)
            transaction.apply({"t": TableChanges.of(op, SCHEMA_KEYED, words)})

        change(ChangeOp.INSERT, 2, "b")
        change(ChangeOp.UPSERT, 1, "c")
        seen = sorted(transaction.rows("t")[0][0].tolist())
        change(ChangeOp.DELETE, 1, None)
        with pytest.raises(Conflict):
            change(ChangeOp.INSERT, 2, "x")
        with pytest.raises(Conflict):
            change(ChangeOp.DELETE, 1, None)
        return seen + sorted(transaction.rows("t")[0][0].tolist())

    assert state.epochs.transact(work) == (Applied(2, 3), [1, 2, 2])
    assert rows(state, "t") == [(2, "b")]
    assert rows(state, "names") == [("b", 1)]
    assert rows(state, "t", 1) == [(1, "a")]


SCHEMA_KEYED = Schema((Column("id", BIGINT, False), Column("name", TEXT)))


def test_a_transaction_that_raises_leaves_nothing(state: State) -> None:
    def work(transaction) -> None:
        words = encode_rows([(1, "a")], state.definitions.known.get("t").loose, state.engine.dictionary)
        transaction.apply({"t": TableChanges.of(ChangeOp.INSERT, SCHEMA_KEYED, words)})
        raise RuntimeError

    with pytest.raises(RuntimeError):
        state.epochs.transact(work)
    assert rows(state, "t") == []
    assert state.engine.snapshot.upper == 1


def test_of_changes_that_are_refused_together_none_is_made(state: State) -> None:
    """The first table could take its part, the second one cannot; the work goes on without both."""

    def work(transaction) -> None:
        words = encode_rows([(1, "a")], state.definitions.known.get("t").loose, state.engine.dictionary)
        possible = TableChanges.of(ChangeOp.INSERT, SCHEMA_KEYED, words)
        missing = TableChanges.of(ChangeOp.DELETE, SCHEMA, words)
        with pytest.raises(Conflict):
            transaction.apply({"t": possible, "bag": missing})
        assert not transaction.rows("t")[1].size
        transaction.apply({"bag": TableChanges.of(ChangeOp.INSERT, SCHEMA, words)})

    assert state.epochs.transact(work)[0] == Applied(1, 1)
    assert rows(state, "t") == []
    assert rows(state, "bag") == [(1, "a")]


def test_a_transaction_that_changes_nothing_makes_no_epoch(state: State) -> None:
    assert state.epochs.transact(lambda transaction: "seen") == (Applied(0, 0), "seen")


def test_a_bag_in_a_transaction(state: State) -> None:
    def work(transaction) -> None:
        words = encode_rows([(1, "a")] * 2, SCHEMA, state.engine.dictionary)
        transaction.apply({"bag": TableChanges.of(ChangeOp.INSERT, SCHEMA, words)})
        transaction.apply({"bag": TableChanges.of(ChangeOp.DELETE, SCHEMA, words[:, :1].copy())})
        with pytest.raises(Conflict):
            transaction.apply({"bag": TableChanges.of(ChangeOp.DELETE, SCHEMA, words)})

    state.epochs.transact(work)
    assert rows(state, "bag") == [(1, "a")]


def test_an_epoch_of_another_process(state: State) -> None:
    state.catalog.append(CommittedEpochs(1, 1, 0), b"another's")
    for _ in range(2):
        [outcome] = state.epochs.commit([request(state, (ChangeOp.INSERT, 1, "a"))])
        assert isinstance(outcome, Unavailable)
    assert rows(state, "t") == []


def test_definitions_that_the_catalog_cannot_keep(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    definitions = state.definitions

    @contextmanager
    def failing() -> Iterator[None]:
        raise OperationalError("BEGIN", {}, Exception("gone"))
        yield

    with monkeypatch.context() as patch:
        patch.setattr(state.catalog, "changing", failing)
        with pytest.raises(OperationalError):
            definitions.create_table("u", SCHEMA, None)
        with pytest.raises(OperationalError):
            create_view(state, "v", "SELECT id FROM t")
        with pytest.raises(OperationalError):
            definitions.drop(["names"], view=True)
    assert sorted(definitions.all) == ["bag", "names", "t"]
    definitions.create_table("u", SCHEMA, None)
    create_view(state, "v", "SELECT id FROM t")
    state.epochs.commit([request(state, (ChangeOp.INSERT, 1, "a"))])
    assert rows(state, "names") == [("a", 1)]
    assert rows(state, "v") == [(1,)]


def test_what_cascades_keeps_its_turn(state: State) -> None:
    """Requests are committed in the order in which they came, also around one whose deletions cascade."""
    foreign = ForeignKey("parent", ("id",), "t", ("id",), Action.CASCADE)
    details = Details(TableRules(constraints=(foreign,)))
    state.definitions.create_table("children", SCHEMA, None, details=details)
    state.epochs.commit([request(state, *((ChangeOp.INSERT, id, "a") for id in range(200)))])
    group = []
    for id in range(200):
        group += [
            request(state, (ChangeOp.INSERT, id, "b"), table="children"),
            request(state, (ChangeOp.DELETE, id, None)),
            request(state, (ChangeOp.INSERT, id, "c"), table="children"),
        ]
    outcomes = state.epochs.commit(group)
    epochs = [outcome.epoch for outcome in outcomes if isinstance(outcome, Applied)]
    assert epochs == sorted(epochs)
    codes = [outcome.code for outcome in outcomes[2::3]]  # type: ignore[union-attr]
    assert codes == ["foreign_key_violated"] * 200
    assert rows(state, "t") == rows(state, "children") == []


def test_what_was_committed_stands_when_a_later_group_fails(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def answered(keys: Sequence[str]) -> dict:
        asked.append(keys)
        if len(asked) > 1:
            raise OperationalError("select", {}, Exception("gone"))
        return {}

    monkeypatch.setattr(state.catalog, "answered", answered)
    change = (ChangeOp.UPSERT, 1, "a")
    first, second = state.epochs.commit([request(state, change, key="k"), request(state, change, key="k")])
    assert first == Applied(1, 1)
    assert isinstance(second, OperationalError)
