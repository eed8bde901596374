"""The example over a service in this process: its tables, its views, and what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.ipc
import pytest

from service.demo.story import statements
from service.settings.settings import Settings
from tests.service.client import Client

ARROW = "application/vnd.apache.arrow.stream"


@dataclass(frozen=True)
class Example:
    """The service with the example's tables and views; every call must be accepted."""

    client: Client

    def create(self) -> None:
        for statement in statements("tables.sql").values():
            self.post("/v1/tables", {"sql": statement})
        for name, query in statements("views.sql").items():
            self.post("/v1/views", {"name": name, "sql": query})

    def post(self, path: str, body: object) -> dict:
        answer = self.client.post(path, body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def load(self, table: str, file: Path) -> None:
        headers = {"Content-Type": "application/vnd.apache.parquet"}
        answer = self.client.post(f"/v1/tables/{table}/deltas", content=file.read_bytes(), headers=headers)
        assert answer.status_code == 200, answer.text

    def apply(self, **tables: list[dict]) -> int:
        """Changes of several tables in one epoch, which is returned."""
        return self.post("/v1/deltas", {"tables": tables})["epoch"]

    def rows(self, view: str, as_of: int | None = None) -> list[tuple]:
        query = {} if as_of is None else {"as_of": as_of}
        answer = self.client.get(f"/v1/views/{view}/rows", accept=ARROW, **query)
        assert answer.status_code == 200, answer.text
        table = pyarrow.ipc.open_stream(answer.content).read_all()
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def answers(self, views: Iterable[str], as_of: int | None = None) -> dict[str, object]:
        """What the oracle answers too; no view has a row twice."""
        return {view: self._answer(view, as_of) for view in views}

    def _answer(self, view: str, as_of: int | None) -> object:
        rows = self.rows(view, as_of)
        assert len(set(rows)) == len(rows), view
        if view == "affected":
            return set(rows)
        if view == "reinstall":
            return {section: (count, int(kib)) for section, count, kib in rows}
        return dict(rows)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Example]:
    settings = Settings(data=tmp_path_factory.mktemp("data"))
    with Client(settings) as client:
        yield Example(client)
