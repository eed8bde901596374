"""The tables of Nexmark, as in its generator for Flink.

Unlike the original, a bid has a number, so that single bids can be deleted; `side_input` is the bounded table
that q13 looks up.
"""

from __future__ import annotations

from bench.suite.schema import relations

TABLES = {
    "person": """
        id BIGINT PRIMARY KEY, name TEXT, email_address TEXT, credit_card TEXT, city TEXT, state TEXT,
        date_time TIMESTAMP, extra TEXT""",
    "auction": """
        id BIGINT PRIMARY KEY, item_name TEXT, description TEXT, initial_bid BIGINT, reserve BIGINT,
        date_time TIMESTAMP, expires TIMESTAMP, seller BIGINT, category BIGINT, extra TEXT""",
    "bid": """
        number BIGINT PRIMARY KEY, auction BIGINT, bidder BIGINT, price BIGINT, channel TEXT, url TEXT,
        date_time TIMESTAMP, extra TEXT""",
    "side_input": "key BIGINT PRIMARY KEY, value TEXT",
}
RELATIONS = relations(TABLES)
