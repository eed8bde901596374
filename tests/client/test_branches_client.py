"""Branches through both connections."""

from __future__ import annotations

import asyncio

import pytest

import freshet
from tests.service.client import Process
from tests.service.waiting import wait_until


def test_a_connection_on_a_branch(service: Process) -> None:
    with freshet.connect(service.url) as db:
        table = db.table("br").create("id BIGINT PRIMARY KEY, n BIGINT")
        db.create_view("br_total", "SELECT sum(n) AS n FROM br")
        table.insert([{"id": 1, "n": 10}])
        made = db.create_branch("branch_a")
        there = db.on_branch("branch_a")
        there.table("br").upsert([{"id": 1, "n": 11}, {"id": 2, "n": 5}])
        assert there.view("br_total").rows().dicts() == [{"n": 16}]
        assert db.view("br_total").rows().dicts() == [{"n": 10}]
        assert there.sql("SELECT count(*) AS c FROM br").dicts() == [{"c": 2}]
        assert [c.diff for c in there.view("br_total").changes()] == [-1, 1]
        assert len(there.view("br_total").why(n=16)["tables"]["br"]) == 2
        assert there.view("br_total").why_not(n=10)["because"]["rule"] == "the group has other values"
        assert [it["diff"] for it in there.view("br_total").why_changed(n=16)] == [1]
        assert there.table("br").rows(as_of=made.begins).dicts() == [{"id": 1, "n": 10}]
        with there.changing() as changing:
            changing.table("br").insert({"id": 3, "n": 1})
        with there.table("br").follow() as feed:
            there.table("br").delete({"id": 3})
            assert [change.diff for change in next(feed)] == [-1]
        assert db.diff("br", "branch_a").dicts() == [
            {"id": 1, "n": 10, "_diff": -1},
            {"id": 1, "n": 11, "_diff": 1},
            {"id": 2, "n": 5, "_diff": 1},
        ]
        assert [it.name for it in db.branches()] == ["branch_a"] == [db.branch("branch_a").name]
        with pytest.raises(freshet.InvalidRequestError, match="cannot be defined on branch"):
            there.table("other").create("a BIGINT")
        with pytest.raises(freshet.InvalidRequestError, match="cannot be defined on branch"):
            there.table("br").drop()
        with pytest.raises(freshet.InvalidRequestError, match="cannot be checked on branch"):
            there.check_view("br_total")
        there.create_view("br_most", "SELECT max(n) AS n FROM br")
        assert there.view("br_most").rows().dicts() == [{"n": 11}]
        assert {view.name for view in there.views()} >= {"br_most", "br_total"}
        assert "br_most" not in {view.name for view in db.views()}
        with pytest.raises(freshet.NotFoundError):
            db.view("br_most").rows()
        there.create_view("br_least", "SELECT min(n) AS n FROM br")
        there.view("br_least").drop()
        table.upsert([{"id": 1, "n": 0}])
        with pytest.raises(freshet.ConflictError, match="have both changed"):
            db.merge_branch("branch_a")
        merged = db.merge_branch("branch_a", on_conflict="theirs")
        assert (merged.changes, merged.conflicts, merged.into) == (2, 1, "main")
        assert (merged.views, merged.left_out) == (["br_most"], [])
        assert db.view("br_most").rows().dicts() == [{"n": 11}]
        db.drop_branch("branch_a")
        made = db.create_branch("branch_live", live=True)
        assert (made.live, made.follows, made.waits) == (True, made.parted, None)
        newest = table.upsert([{"id": 9, "n": 1}]).epoch
        wait_until(lambda: db.branch("branch_live").follows == newest)
        assert len(db.on_branch("branch_live").table("br").rows(where="id = 9")) == 1
        db.drop_branch("branch_live")
        assert db.branches() == []
        with pytest.raises(freshet.NotFoundError):
            there.table("br").rows()


def test_without_waiting(service: Process) -> None:
    asyncio.run(_without_waiting(service))


async def _without_waiting(service: Process) -> None:
    async with freshet.connect_async(service.url) as db:
        table = await db.table("abr").create("id BIGINT PRIMARY KEY")
        await db.create_branch("branch_b")
        there = db.on_branch("branch_b")
        await there.table("abr").insert({"id": 1})
        assert len(await there.table("abr").rows()) == 1
        assert len(await table.rows()) == 0
        assert len(await db.diff("abr", "branch_b")) == 1
        assert (await db.merge_branch("branch_b")).changes == 1
        assert (await db.branch("branch_b")).merged
        await db.drop_branch("branch_b")
        assert await db.branches() == []
