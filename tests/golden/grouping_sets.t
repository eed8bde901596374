# Totals of totals: every set of keys is an aggregation of its own, kept like any other.

sql
CREATE TABLE sales (shop TEXT, item TEXT, pieces INTEGER);
CREATE VIEW totals AS
SELECT shop, item, GROUPING(shop, item) AS level, sum(pieces) AS pieces, count(*) AS sales
FROM sales
GROUP BY ROLLUP (shop, item)
--
CREATE TABLE, epoch 0
CREATE VIEW, epoch 0

# There is always a grand total.

read totals
--
shop | item | level | pieces | sales
-----+------+-------+--------+------
NULL | NULL |     3 | NULL   |     0
(1 row, epoch 0)

sql
INSERT INTO sales VALUES ('east', 'tea', 3), ('east', 'tea', 2), ('east', 'cup', 1), ('west', 'tea', 9), ('west', NULL, 4);
SELECT * FROM totals ORDER BY level, shop, item
--
INSERT 5, epoch 1
shop | item | level | pieces | sales
-----+------+-------+--------+------
east | cup  |     0 |      1 |     1
east | tea  |     0 |      5 |     2
west | tea  |     0 |      9 |     1
west | NULL |     0 |      4 |     1
east | NULL |     1 |      6 |     3
west | NULL |     1 |     13 |     2
NULL | NULL |     3 |     19 |     5
(7 rows, epoch 1)

# The item that nobody knows is a group; the rows above it, where NULL stands for all items,
# are told apart by their level. West closes down.

sql
DELETE FROM sales WHERE shop = 'west'
--
DELETE 2, epoch 2

changes totals since=1
--
epoch | diff | shop | item | level | pieces | sales
------+------+------+------+-------+--------+------
    2 |   +1 | NULL | NULL |     3 |      6 |     3
    2 |   -1 | NULL | NULL |     3 |     19 |     5
    2 |   -1 | west | NULL |     0 |      4 |     1
    2 |   -1 | west | NULL |     1 |     13 |     2
    2 |   -1 | west | tea  |     0 |      9 |     1

sql
DELETE FROM sales;
SELECT * FROM totals
--
DELETE 3, epoch 3
shop | item | level | pieces | sales
-----+------+-------+--------+------
NULL | NULL |     3 | NULL   |     0
(1 row, epoch 3)
