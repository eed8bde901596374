"""Random events: of fifty, one is a new person, three are auctions and the rest are bids.

An event refers to recent auctions and persons; some of these are deleted before what refers to them.
"""

from __future__ import annotations

from bench.suite.nexmark.schema import RELATIONS
from bench.suite.tables import Change, Tables

_MACROS = (
    "CREATE MACRO draw(n, salt, below) AS CAST(hash(n, salt) % below AS BIGINT)",
    "CREATE MACRO pick(n, salt, choices) AS choices[1 + draw(n, salt, len(choices))]",
    """CREATE MACRO events(low, high) AS TABLE
        SELECT
            range AS n,
            range // 50 AS round,
            range % 50 AS place,
            TIMESTAMP '2026-01-01' + INTERVAL 1 MILLISECOND * (range * 170 + draw(range, 'at', 900)) AS moment
        FROM range(low, high)""",
)
_EVENTS = {
    "person": """
        SELECT
            round AS id,
            pick(n, 'first', ['Ada', 'Bob', 'Cleo', 'Dan']) || ' ' || pick(n, 'last', ['Abe', 'Noe']) AS name,
            'p' || n || '@example.org' AS email_address,
            CAST(draw(n, 'card', 10**16) AS TEXT) AS credit_card,
            pick(n, 'city', ['Portland', 'Boise', 'Palo Alto', 'Phoenix', 'Seattle']) AS city,
            pick(n, 'state', ['OR', 'ID', 'CA', 'AZ', 'WA']) AS state,
            moment AS date_time,
            'extra' AS extra
        FROM events({low}, {high}) WHERE place = 0""",
    "auction": """
        SELECT
            round * 3 + place - 1 AS id,
            'item ' || n AS item_name,
            'what it is' AS description,
            1 + draw(n, 'initial', 100) AS initial_bid,
            100 + draw(n, 'reserve', 1000) AS reserve,
            moment AS date_time,
            moment + INTERVAL 1 SECOND * draw(n, 'expires', 30) AS expires,
            greatest(round - draw(n, 'seller', 6), 0) AS seller,
            10 + draw(n, 'category', 5) AS category,
            'extra' AS extra
        FROM events({low}, {high}) WHERE place BETWEEN 1 AND 3""",
    "bid": """
        SELECT
            n AS number,
            greatest(round * 3 - draw(n, 'auction', 12), 0) AS auction,
            greatest(round - draw(n, 'bidder', 8), 0) AS bidder,
            1 + draw(n, 'price', 2000000) AS price,
            pick(n, 'channel', ['Google', 'Facebook', 'Baidu', 'Apple', 'channel-17']) AS channel,
            'https://www.nexmark.com/' || pick(n, 'item', ['abo', 'zod']) || '/qry/item.htm?query=1'
                || if(draw(n, 'url', 3) = 0, '', '&channel_id=' || draw(n, 'id', 99)) AS url,
            moment AS date_time,
            pick(n, 'extra', ['cactus', 'c', 'magic circle', '']) AS extra
        FROM events({low}, {high}) WHERE place > 3""",
}


class Events(Tables):
    """The tables, and the number of the next event."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(RELATIONS, seed)
        self._next = 0
        for macro in _MACROS:
            self.connection.execute(macro)

    def side_input(self, keys: int) -> Change:
        """Insert the table of q13."""
        rows = f"SELECT range AS key, 'value ' || range AS value FROM range({keys})"
        return self.insert_all({"side_input": rows})

    def happen(self, count: int) -> Change:
        """Insert the next `count` events."""
        low, self._next = self._next, self._next + count
        return self.insert_all({name: sql.format(low=low, high=self._next) for name, sql in _EVENTS.items()})
