"""TPC-H: the tables that its first queries read, and those queries as views, without ORDER BY and LIMIT."""

from __future__ import annotations

TABLES = {
    "region": """
        r_regionkey INTEGER PRIMARY KEY, r_name TEXT, r_comment TEXT""",
    "nation": """
        n_nationkey INTEGER PRIMARY KEY, n_name TEXT, n_regionkey INTEGER, n_comment TEXT""",
    "supplier": """
        s_suppkey INTEGER PRIMARY KEY, s_name TEXT, s_address TEXT, s_nationkey INTEGER, s_phone TEXT,
        s_acctbal NUMERIC(15,2), s_comment TEXT""",
    "customer": """
        c_custkey INTEGER PRIMARY KEY, c_name TEXT, c_address TEXT, c_nationkey INTEGER, c_phone TEXT,
        c_acctbal NUMERIC(15,2), c_mktsegment TEXT, c_comment TEXT""",
    "orders": """
        o_orderkey BIGINT PRIMARY KEY, o_custkey INTEGER, o_orderstatus TEXT, o_totalprice NUMERIC(15,2),
        o_orderdate DATE, o_orderpriority TEXT, o_clerk TEXT, o_shippriority INTEGER, o_comment TEXT""",
    "lineitem": """
        l_orderkey BIGINT, l_partkey INTEGER, l_suppkey INTEGER, l_linenumber INTEGER,
        l_quantity NUMERIC(15,2), l_extendedprice NUMERIC(15,2), l_discount NUMERIC(15,2),
        l_tax NUMERIC(15,2), l_returnflag TEXT, l_linestatus TEXT, l_shipdate DATE, l_commitdate DATE,
        l_receiptdate DATE, l_shipinstruct TEXT, l_shipmode TEXT, l_comment TEXT,
        PRIMARY KEY (l_orderkey, l_linenumber)""",
}
"""Columns by table, in an order in which they can be loaded; the lines are last."""
VIEWS = {
    "q1": """
        SELECT l_returnflag, l_linestatus, sum(l_quantity) AS quantity, sum(l_extendedprice) AS price,
            sum(l_extendedprice * (1 - l_discount)) AS discounted, count(*) AS lines
        FROM lineitem WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus""",
    "q3": """
        SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
        FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
        WHERE c_mktsegment = 'BUILDING' AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
        GROUP BY l_orderkey, o_orderdate, o_shippriority""",
    "q5": """
        SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
        FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
            JOIN supplier ON l_suppkey = s_suppkey AND c_nationkey = s_nationkey
            JOIN nation ON s_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey
        WHERE r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01'
        GROUP BY n_name""",
    "near": """
        WITH RECURSIVE near (nation, hops) AS (
            SELECT 0, 0 UNION SELECT (nation * 7 + 3) % 25, hops + 1 FROM near WHERE hops < 12)
        SELECT n_name, hops FROM near JOIN nation ON n_nationkey = nation""",
}
HYDRATED = """
    SELECT l_shipmode, l_suppkey, count(*) AS lines, sum(l_quantity) AS quantity
    FROM lineitem GROUP BY l_shipmode, l_suppkey"""
"""A view over lines that are there."""
