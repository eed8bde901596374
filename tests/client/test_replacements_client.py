"""Replacements of views through both connections."""

from __future__ import annotations

import asyncio

import pytest

import freshet
from tests.service.client import Process


def test_a_replacement_is_made_seen_and_applied(service: Process) -> None:
    with freshet.connect(service.url) as db:
        table = db.table("rp").create("id BIGINT PRIMARY KEY, n BIGINT")
        db.create_view("rp_n", "SELECT n FROM rp")
        db.create_view("rp_total", "SELECT sum(n) AS n FROM rp_n")
        epoch = table.insert([{"id": 1, "n": 10}, {"id": 2, "n": 5}]).epoch
        made = db.create_replacement("rp_more", {"rp_n": "SELECT n * 2 AS n FROM rp"})
        assert made.state == "ready" and [view["name"] for view in made.views] == ["rp_n", "rp_total"]
        assert db.preview_replacement("rp_more", "rp_total").dicts() == [
            {"n": 15, "_diff": -1},
            {"n": 30, "_diff": 1},
        ]
        assert db.preview_replacement("rp_more", as_of=epoch).dicts() == [
            {"n": 5, "_diff": -1},
            {"n": 20, "_diff": 1},
        ]
        assert [it.name for it in db.replacements()] == ["rp_more"]
        with db.view("rp_total").follow() as feed:
            assert db.apply_replacement("rp_more") == epoch + 1
            assert sorted(change.diff for change in next(feed)) == [-1, 1]
        assert db.view("rp_total").rows().dicts() == [{"n": 30}]
        with pytest.raises(freshet.NotFoundError):
            db.replacement("rp_more")


def test_without_waiting(service: Process) -> None:
    asyncio.run(_without_waiting(service))


async def _without_waiting(service: Process) -> None:
    async with freshet.connect_async(service.url) as db:
        await db.table("arp").create("id BIGINT PRIMARY KEY")
        await db.create_view("arp_n", "SELECT id FROM arp")
        await db.create_replacement("arp_r", {"arp_n": "SELECT id + 1 AS id FROM arp"})
        assert (await db.preview_replacement("arp_r")).dicts() == []
        assert (await db.replacement("arp_r")).state == "ready"
        await db.apply_replacement("arp_r")
        await db.create_replacement("arp_r", {"arp_n": "SELECT id FROM arp"})
        await db.drop_replacement("arp_r")
        assert "arp_r" not in [it.name for it in await db.replacements()]
