# Shortest paths, or recursion that throws away what has become worse.
#
# PostgreSQL allows no aggregate inside a recursion. Here it means what one expects: the
# distances change, round by round, until nothing changes any more.

sql
CREATE TABLE roads (a TEXT, b TEXT, km INTEGER, PRIMARY KEY (a, b));
CREATE VIEW distances AS
WITH RECURSIVE reach (place, km) AS (
    SELECT 'home', 0
    UNION
    SELECT roads.b, min(reach.km + roads.km)
    FROM reach JOIN roads ON roads.a = reach.place
    GROUP BY roads.b
)
SELECT place, min(km) AS km FROM reach GROUP BY place
--
CREATE TABLE, epoch 0
CREATE VIEW, epoch 0

sql
INSERT INTO roads VALUES
    ('home', 'mill', 4), ('home', 'lake', 10), ('mill', 'lake', 3), ('lake', 'peak', 6), ('peak', 'lake', 6)
--
INSERT 5, epoch 1

read distances order_by=km
--
place | km
------+---
home  |  0
mill  |  4
lake  |  7
peak  | 13
(4 rows, epoch 1)

# The road from the mill to the lake is closed: the lake is far, and so is the peak behind it.

delta roads
{"delete": {"a": "mill", "b": "lake"}}
--
1 change, epoch 2

read distances order_by=km
--
place | km
------+---
home  |  0
mill  |  4
lake  | 10
peak  | 16
(4 rows, epoch 2)

# A tunnel, and then a shorter tunnel. An upsert replaces the row of its key.

delta roads
{"upsert": {"a": "home", "b": "peak", "km": 9}}
--
1 change, epoch 3

delta roads
{"upsert": {"a": "home", "b": "peak", "km": 2}}
--
1 change, epoch 4

changes distances since=3
--
epoch | diff | place | km
------+------+-------+---
    4 |   +1 | peak  |  2
    4 |   -1 | peak  |  9
    4 |   +1 | lake  |  8
    4 |   -1 | lake  | 10

# The same with the recursion written out: explicit types, no implicit DISTINCT, and a limit of
# rounds that stops a counting that would not end.

sql
CREATE VIEW hops AS
WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 3)
    walk (place TEXT, hops INTEGER) AS (
        SELECT 'home', 0
        UNION
        SELECT roads.b, walk.hops + 1 FROM walk JOIN roads ON roads.a = walk.place
    )
SELECT place, hops FROM walk
--
CREATE VIEW, epoch 4

read hops order_by=hops,place
--
place | hops
------+-----
home  |    0
lake  |    1
mill  |    1
peak  |    1
lake  |    2
peak  |    2
(6 rows, epoch 4)

