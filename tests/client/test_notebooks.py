"""What a notebook shows: rows, tables and views as HTML, and cells that follow a view."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import freshet
from freshet import Connection, Table
from tests.service.waiting import wait_until


class Cell:
    """IPython's display handle: what the cell has shown."""

    def __init__(self) -> None:
        self.shown: list[Any] = []

    def display(self, what: object, display_id: bool) -> Cell:
        assert display_id
        self.update(what)
        return self

    def update(self, what: object) -> None:
        self.shown.append(what)


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    cell = Cell()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=cell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=cell.display))
    return cell


@pytest.fixture
def table(embedded: Connection, name: str) -> Table:
    return embedded.table(name).create("id BIGINT, name TEXT")


def test_rows_are_tables(table: Table) -> None:
    epoch = table.insert([{"id": 1, "name": "<b> & co"}, {"id": 2}]).epoch
    shown = table.rows(order_by="id")._repr_html_()
    assert f"<caption>2 rows at epoch {epoch}</caption>" in shown
    assert '<th title="BIGINT">id</th>' in shown
    assert "<tr><td>1</td><td>&lt;b&gt; &amp; co</td></tr><tr><td>2</td><td></td></tr>" in shown
    assert f"<caption>{table.name}: 2 rows at epoch {epoch}</caption>" in table._repr_html_()


def test_many_rows_are_cut(table: Table) -> None:
    table.insert([{"id": n} for n in range(50)])
    assert "50 rows" in table.rows()._repr_html_()
    for shown in (table.rows()._repr_html_(), table._repr_html_()):
        assert "the first 20" in shown
        assert shown.count("<tr>") == 21


def test_a_relation_that_is_not_there_says_so(embedded: Connection) -> None:
    assert "absent" in embedded.view("absent")._repr_html_()


def test_a_live_cell_follows_a_view(embedded: Connection, table: Table, cell: Cell) -> None:
    view = embedded.create_view(f"{table.name}_v", f"SELECT COUNT(*) AS c FROM {table.name}")
    live = view.live()
    assert "<td>0</td>" in cell.shown[0]._repr_html_()
    for number in range(5):
        table.insert({"id": number})
    wait_until(lambda: "<td>5</td>" in cell.shown[-1]._repr_html_())
    live.stop()


def test_a_live_cell_says_when_its_view_is_gone(embedded: Connection, table: Table, cell: Cell) -> None:
    table.live()
    table.insert({"id": 1})
    wait_until(lambda: "1 row " in repr(cell.shown[-1]))
    table.drop()
    wait_until(lambda: "no longer followed" in repr(cell.shown[-1]))


def test_a_live_cell_needs_a_notebook(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(freshet.Error, match="needs a notebook"):
        table.live()
