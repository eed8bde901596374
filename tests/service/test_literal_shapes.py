"""Predicates of one shape are planned once, and answer as each does that is planned by itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal

import pytest

from service.reading import row_queries
from service.reading.literal_shapes import LiteralShape, probe, shape_of
from service.reading.row_queries import RowQueries
from service.settings.settings import Settings
from tests.seeds import each_seed, few
from tests.service.client import Client
from tests.service.test_point_reads import VALUES, Story


@pytest.mark.parametrize(
    ("text", "shape", "values"),
    [
        ("id = 5", "id = 0i", (5,)),
        ("id=-5 AND name = 'it''s'", "id=-0i AND name = 0t", (5, "it's")),
        ("c1 IN (1, 2.50, '')", "c1 IN (0i, 0d, 0t)", (1, Decimal("2.50"), "")),
        ("\"5 'a'\" = 5", "\"5 'a'\" = 0i", (5,)),
        ("d = '2020-01-01'::date", "d = 0t::date", ("2020-01-01",)),
        ("a = 5e3 AND b = 0x5 AND c = 1234567890123456789 AND d = 5.", None, ()),
        ("a = '--' AND b = '/*'", "a = 0t AND b = 0t", ("--", "/*")),
    ],
)
def test_a_shape_has_marks_for_values(text: str, shape: str | None, values: tuple) -> None:
    assert shape_of(text) == LiteralShape(shape or text, values)


@pytest.mark.parametrize(
    "text",
    [
        *("a = E'x'", "a = U&'x'", "a = b'1'", "d = DATE'2020-01-01'", "a = 'x''y", "a = 'x\\y'"),
        *("a = 5 -- it's", "a = 5 /* ' */", "a = $$x$$", "a = $1", "a = 'x' AND b = ?", 'a = "b'),
    ],
)
def test_what_only_a_parser_understands_has_no_shape(text: str) -> None:
    assert shape_of(text) == LiteralShape(text, ())


def test_a_probe_has_the_shape_and_values_of_its_own() -> None:
    text = "a = 0 AND b IN ('x', 'x', 1.0, 1.0) AND c1 = 0"
    found, values = probe(text)
    assert shape_of(found) == LiteralShape(shape_of(text).text, values)
    assert len(set(values)) == 6 and 0 not in values


@contextmanager
def each_by_itself(client: Client) -> Iterator[None]:
    """Each predicate is planned by itself, as if no other had its shape; nothing read before is known."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_queries, "shape_of", lambda text: LiteralShape(text, ()))
        forget(client)
        yield
    forget(client)


def forget(client: Client) -> None:
    reader = client.app.state.reader
    reader._kept.clear()
    reader._point_reads = RowQueries(client.runtime.dictionary)


def answer(client: Client, relation: str, params: dict) -> tuple[int, str]:
    kind = "views" if relation in "vw" else "tables"
    got = client.get(f"/v1/{kind}/{relation}/rows", **params)
    assert got.status_code < 500, got.text
    return got.status_code, got.text


def condition(rng: random.Random, story: Story, column: str) -> str:
    """A condition that equates a column, mostly; with values of its type, or of another."""
    own = VALUES[story.types.get(column, "BIGINT")]
    values = own if rng.random() < 0.8 else VALUES[rng.choice(list(VALUES))]

    def value() -> str:
        text = rng.choice([*values, "NULL", "0", "-0", "'5'", "00", "1.0", "5e0"])
        type = rng.choice([story.types.get(column, "BIGINT"), "TEXT", "SMALLINT", "NUMERIC(5, 1)"])
        return rng.choice(
            [text] * 5 + [f"({text})", f"CAST({text} AS {type})", f"{text}::{type}", f"- {text}"]
        )

    match rng.randrange(8):
        case 0:
            return f"{column} IN ({', '.join(value() for _ in range(rng.randrange(1, 4)))})"
        case 1:
            return f"{value()} = {column}"
        case 2:
            return f"{column} {rng.choice(['<', '>=', '<>'])} {value()}"
        case 3:
            return f"{column} = ANY(ARRAY[{value()}])"
        case _:
            return f"{column} = {value()}"


def question(rng: random.Random, story: Story) -> tuple[str, dict]:
    relation, path = rng.choice(story.paths)
    columns = story.relations[relation]
    named = [*path, *rng.sample(columns, rng.randrange(0, 2))]
    glue = " AND " if rng.random() < 0.9 else " OR "
    params = {"where": glue.join(condition(rng, story, column) for column in named)}
    if rng.random() < 0.2:
        params["order_by"] = f"{rng.choice(columns)} DESC"
    return relation, params


@each_seed(few(3))
def test_answers_are_those_of_each_by_itself(settings: Settings, seed: int) -> None:
    rng = random.Random(seed)
    with Client(replace(settings, spark="never")) as client:
        story = Story(client, seed)
        for _ in range(12):
            story.change()
        for _ in range(3):
            story.define()
        questions = [question(rng, story) for _ in range(60)]
        together = [answer(client, *asked) for asked in questions]
        with each_by_itself(client):
            for asked, given in zip(questions, together, strict=True):
                assert given == (alone := answer(client, *asked)), (asked, given, alone)
        assert any(status == 200 for status, _ in together)


@pytest.fixture
def keyed(settings: Settings) -> Iterator[Client]:
    with Client(replace(settings, spark="never")) as client:
        client.table("t", {"id": "BIGINT", "name": "TEXT", "day": "DATE"}, key=["id"])
        client.insert("t", *({"id": i, "name": f"n{i % 3}", "day": "2020-01-01"} for i in range(-3, 9)))
        yield client


def planned(client: Client, patch: pytest.MonkeyPatch) -> list[str]:
    """The predicates that are planned from now on."""
    texts: list[str] = []
    plan = RowQueries._planned

    def noted(self: RowQueries, definition: object, where: str, order: str) -> object:
        texts.append(where)
        return plan(self, definition, where, order)  # type: ignore[arg-type]

    patch.setattr(RowQueries, "_planned", noted)
    return texts


def test_a_shape_is_planned_once(keyed: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = planned(keyed, monkeypatch)
    for i in range(8):
        assert keyed.rows("t", where=f"id = {i} AND name = 'n{i % 3}'") == [(i, f"n{i % 3}", "2020-01-01")]
        assert not keyed.rows("t", where=f"id = {i} AND name = 'n{(i + 1) % 3}'")
    assert len(texts) == 1
    assert keyed.rows("t", where="id = -2") == [(-2, "n1", "2020-01-01")]
    assert keyed.rows("t", where="id = -3") == [(-3, "n0", "2020-01-01")]
    assert keyed.rows("t", where="id = - -3") == [(3, "n0", "2020-01-01")]
    assert keyed.rows("t", where="id IN (1, -2, 700)", order_by="id") == [
        *((-2, "n1", "2020-01-01"), (1, "n1", "2020-01-01")),
    ]


def test_parameters_that_are_texts_mean_what_they_mean_beside_others(keyed: Client) -> None:
    """Texts alone come to the route without the framework's checks."""
    path = "/v1/tables/t/rows"
    for asked in (
        *({"where": "id = 5"}, {"where": "id = 5"}, {"where": ""}, {"where": "id = "}, {"where": "x = 5"}),
        *({"as_of": "1"}, {"as_of": "x"}, {"as_of": ""}, {"order_by": "id DESC"}, {"cursor": "x"}, {}),
        *({"branch": "none", "where": "id = 5"}, {"valid_at": "2020-01-01T00:00:00Z"}, {"nothing": "1"}),
        *({"where": "id = 5", "as_of": "0"}, {"where": "id = 5", "as_of": "1"}, {"where": "name = 'n1'"}),
    ):
        alone, beside = keyed.get(path, **asked), keyed.get(path, **asked, format="json")
        assert (alone.status_code, alone.text) == (beside.status_code, beside.text), asked


def test_a_known_shape_is_answered_without_another_thread(
    keyed: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keyed.rows("t", where="id = 5")
    monkeypatch.setattr("service.reading.lanes.Lane.run", None)
    assert keyed.rows("t", where="id = 6") == [(6, "n0", "2020-01-01")]
    assert keyed.rows("t", where="id = 700") == []


def test_a_minus_before_nothing_is_that_of_all_values(keyed: Client) -> None:
    assert keyed.rows("t", where="id = -0") == [(0, "n0", "2020-01-01")]
    assert keyed.rows("t", where="id = -3") == [(-3, "n0", "2020-01-01")]


def test_the_values_of_a_shape_may_be_alike(keyed: Client) -> None:
    assert keyed.rows("t", where="id IN (5, 5)") == [(5, "n2", "2020-01-01")]
    assert len(keyed.rows("t", where="id IN (5, 6)")) == 2
    assert not keyed.rows("t", where="id = 5 AND id = 6")
    assert keyed.rows("t", where="id = 5 AND id = 5") == [(5, "n2", "2020-01-01")]


def test_an_error_names_the_value_that_was_sent(keyed: Client) -> None:
    assert keyed.rows("t", where="id = '5'") == [(5, "n2", "2020-01-01")]
    for wrong in ("five", "six"):
        refused = keyed.get("/v1/tables/t/rows", where=f"id = '{wrong}'")
        assert refused.status_code == 422 and f"'{wrong}'" in refused.json()["detail"], refused.text
    assert len(keyed.rows("t", where="day = '2020-01-01' AND id = 1")) == 1
    refused = keyed.get("/v1/tables/t/rows", where="day = '2020-13-01' AND id = 1")
    assert refused.status_code == 422 and "2020-13-01" in refused.json()["detail"]


def test_a_shape_means_what_the_table_is_now(keyed: Client) -> None:
    assert keyed.rows("t", where="name = 'n1' AND id = 1")
    again = {"sql": "DROP TABLE t; CREATE TABLE t (id TEXT PRIMARY KEY, name BIGINT)"}
    assert keyed.post("/v1/sql", again).status_code == 200
    keyed.insert("t", {"id": "1", "name": 5})
    refused = keyed.get("/v1/tables/t/rows", where="name = 'n1' AND id = 1")
    assert refused.status_code == 422, refused.text
    assert keyed.rows("t", where="name = '5' AND id = '1'") == [("1", 5)]
