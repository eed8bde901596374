"""`12:00+00` and `13:00+01` are one instant, and two constants."""

from __future__ import annotations

from pathlib import Path

from service.settings.settings import Settings
from tests.service.client import Client
from tests.service.test_bit_columns import ask


def test_one_instant_in_two_zones_is_two_constants(tmp_path: Path) -> None:
    with Client(Settings(data=tmp_path)) as service:
        values = "(-5, '12:00+00'), (1, '13:00+01'), (2, '13:00+00')"
        ask(service, f"CREATE TABLE texts (id BIGINT, tt TIMETZ); INSERT INTO texts VALUES {values}")
        for numbers, condition in (
            ([-5], "tt = '12:00+00'"),
            ([1], "tt = '13:00+01'"),
            ([-5, 1], "tt IN ('12:00+00', '13:00+01')"),
            ([-5, 1], "tt IN ('14:00+02', '12:00+00', '13:00+01')"),
            ([1], "tt IN ('14:00+02', '15:00+03', '13:00+01')"),
            ([-5], "tt IN ('14:00+02', '15:00+03', '12:00+00')"),
            ([-5, 1], "tt = '14:00+02' OR tt = '12:00+00' OR tt = '13:00+01'"),
        ):
            ask(service, f"CREATE OR REPLACE VIEW zones AS SELECT id FROM texts WHERE {condition}")
            assert ask(service, "SELECT id FROM zones ORDER BY id") == [[number] for number in numbers], (
                condition
            )
        for text in ("12:00:00+00", "13:00:00+01"):
            ask(service, f"CREATE OR REPLACE VIEW zoned AS SELECT x FROM (VALUES ('{text}'::timetz)) AS t(x)")
            assert ask(service, "SELECT x FROM zoned") == [[text]]
        both = "SELECT '12:00+00'::timetz AS x UNION ALL SELECT '13:00+01'::timetz"
        ask(service, f"CREATE VIEW both_zones AS {both}")
        assert sorted(ask(service, "SELECT x::text FROM both_zones")) == [["12:00:00+00"], ["13:00:00+01"]]
