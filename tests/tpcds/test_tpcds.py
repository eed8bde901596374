"""The parts of `python -m tests.tpcds` that need no texts: real days, returns of sales, and a comparison."""

from __future__ import annotations

import duckdb

from tests.property.histories import is_valid
from tests.seeds import SEED
from tests.tpcds.fitting import FITTING
from tests.tpcds.maintained import random_history, verdicts
from tests.tpcds.rows import FIRST_DAY, day, time_of_day
from tests.tpcds.schema import TABLES
from tests.tpcds.texts import queries, with_ties_broken

OWN = {
    1: "SELECT i_category, count(*) AS n, sum(ss_net_paid) AS paid FROM store_sales, item, date_dim "
    "WHERE ss_item_sk = i_item_sk AND ss_sold_date_sk = d_date_sk AND d_year = 2000 AND i_category = 'Music' "
    "GROUP BY i_category",
    2: "SELECT c_customer_id, sr_return_amt FROM store_sales JOIN store_returns "
    "ON ss_item_sk = sr_item_sk AND ss_ticket_number = sr_ticket_number "
    "JOIN customer ON sr_customer_sk = c_customer_sk WHERE ss_quantity BETWEEN 20 AND 50",
}


def test_days_are_what_duckdb_says() -> None:
    names = TABLES["date_dim"].schema.names
    wanted = ("year", "month", "day", "quarter", "dow", "julian")
    parts = ", ".join(f"CAST(extract({part} FROM DATE '{FIRST_DAY}') AS INTEGER)" for part in wanted)
    known = dict(zip(names, day(FIRST_DAY), strict=True))
    mine = tuple(known[name] for name in ("d_year", "d_moy", "d_dom", "d_qoy", "d_dow", "d_date_sk"))
    with duckdb.connect() as connection:
        assert connection.execute(f"SELECT {parts}").fetchone() == mine
    assert len(time_of_day(0)) == len(TABLES["time_dim"].schema)


def test_there_are_24_tables() -> None:
    assert len(TABLES) == 24
    assert len({name for table in TABLES.values() for name in table.schema.names}) == sum(
        len(table.schema) for table in TABLES.values()
    )


def test_own_queries_have_rows_that_change_and_are_right() -> None:
    history = random_history(OWN, SEED, epochs=3)
    assert is_valid(tuple(TABLES.values()), history)
    for verdict in verdicts(OWN, history).values():
        assert (verdict.refused, verdict.wrong) == ("", "")
        assert verdict.rows > 0 and verdict.changes > 1


def test_what_cannot_be_planned_is_refused_with_the_reason() -> None:
    found = verdicts({1: "SELECT random() AS r FROM item"}, ())
    assert "RANDOM" in found[1].refused


def test_texts_are_the_first_statements_of_their_sections() -> None:
    line = "-" * 38
    fixture = "".join(f"{line}\n-- TPC-DS {n}\n{line}\n# x: true\nSELECT {n};\nSELECT 0;\n\n" for n in (1, 2))
    assert queries(fixture) == {1: "SELECT 1", 2: "SELECT 2"}


def test_ties_are_broken_by_all_columns() -> None:
    text = with_ties_broken("SELECT a, b FROM t ORDER BY b DESC LIMIT 1")
    with duckdb.connect() as connection:
        rows = connection.execute(f"WITH t(a, b) AS (VALUES (2, 5), (1, 5), (0, 4)) {text}").fetchall()
    assert rows == [(1, 5)]


def test_fitting_rows_come_and_go_and_name_columns() -> None:
    for fits in FITTING.values():
        for fit in fits:
            assert fit.values.keys() <= set(TABLES[fit.table].schema.names), fit
    bought = "SELECT ss_customer_sk FROM store_sales GROUP BY ALL HAVING count(*) > 14"
    elsewhere = (
        "SELECT c_customer_id FROM customer JOIN store_sales ON ss_customer_sk = c_customer_sk "
        "JOIN customer_address ON ca_address_sk = ss_addr_sk WHERE ca_city = 'There'"
    )
    queries = {34: bought, 46: elsewhere, 69: "SELECT d_date FROM date_dim WHERE d_year = 2004"}
    history = random_history(queries, SEED, epochs=8)
    assert is_valid(tuple(TABLES.values()), history)
    found = verdicts(queries, history)
    for number, verdict in found.items():
        assert (verdict.refused, verdict.wrong) == ("", "") and verdict.rows > 0, number
    assert found[34].changes > 1
