"""The eight tables of TPC-H, with their primary keys (specification, section 1.4).

All columns but the keys' may be NULL, so that changes can remove values.
"""

from __future__ import annotations

from bench.suite.schema import relations

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
    "part": """
        p_partkey INTEGER PRIMARY KEY, p_name TEXT, p_mfgr TEXT, p_brand TEXT, p_type TEXT, p_size INTEGER,
        p_container TEXT, p_retailprice NUMERIC(15,2), p_comment TEXT""",
    "partsupp": """
        ps_partkey INTEGER, ps_suppkey INTEGER, ps_availqty INTEGER, ps_supplycost NUMERIC(15,2),
        ps_comment TEXT, PRIMARY KEY (ps_partkey, ps_suppkey)""",
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
"""Columns by table, in an order in which they can be loaded; the lines come last."""
RELATIONS = relations(TABLES)
