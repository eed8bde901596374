# Joins, or what a row brings with it when it comes and takes with it when it goes.

sql
CREATE TABLE products (sku TEXT PRIMARY KEY, price NUMERIC(8, 2) NOT NULL);
CREATE TABLE lines (invoice INTEGER, sku TEXT, pieces INTEGER);
INSERT INTO products VALUES ('apple', 0.50), ('bread', 3.20), ('cheese', 7.90);
INSERT INTO lines VALUES (1, 'apple', 6), (1, 'bread', 1), (2, 'apple', 2), (2, 'dates', 1)
--
CREATE TABLE, epoch 0
CREATE TABLE, epoch 0
INSERT 3, epoch 1
INSERT 4, epoch 2

# Every kind of join is kept. A left join remembers who has found nobody yet.

sql
CREATE VIEW invoices AS
SELECT l.invoice, sum(l.pieces * p.price) AS total, count(*) AS lines, count(p.sku) AS priced
FROM lines l LEFT JOIN products p ON p.sku = l.sku
GROUP BY l.invoice;
CREATE VIEW unsold AS
SELECT sku FROM products p WHERE NOT EXISTS (SELECT 1 FROM lines l WHERE l.sku = p.sku)
--
CREATE VIEW, epoch 2
CREATE VIEW, epoch 2

sql
SELECT * FROM invoices ORDER BY invoice;
SELECT * FROM unsold
--
invoice | total | lines | priced
--------+-------+-------+-------
      1 |  6.20 |     2 |      2
      2 |  1.00 |     2 |      1
(2 rows, epoch 2)
sku
------
cheese
(1 row, epoch 2)

# Dates get a price and apples a new one; somebody buys the cheese. Three changes of two
# tables, one epoch: no reader ever sees one without the others.

delta
{"tables": {
    "products": [{"insert": {"sku": "dates", "price": "4.00"}}, {"upsert": {"sku": "apple", "price": "0.60"}}],
    "lines": [{"insert": {"invoice": 3, "sku": "cheese", "pieces": 1}}]
}}
--
3 changes, epoch 3

sql
SELECT * FROM invoices ORDER BY invoice;
SELECT * FROM unsold
--
invoice | total | lines | priced
--------+-------+-------+-------
      1 |  6.80 |     2 |      2
      2 |  5.20 |     2 |      2
      3 |  7.90 |     1 |      1
(3 rows, epoch 3)
sku
---
(0 rows, epoch 3)

changes unsold since=2
--
epoch | diff | sku
------+------+-------
    3 |   -1 | cheese

# A table without a primary key is a bag: equal rows count. Of two equal lines one can go.

sql
INSERT INTO lines VALUES (3, 'cheese', 1)
--
INSERT 1, epoch 4

delta lines
{"delete": {"invoice": 3, "sku": "cheese", "pieces": 1}}
--
1 change, epoch 5

sql
SELECT * FROM lines WHERE invoice = 3;
SELECT total FROM invoices WHERE invoice = 3
--
invoice | sku    | pieces
--------+--------+-------
      3 | cheese |      1
(1 row, epoch 5)
total
-----
 7.90
(1 row, epoch 5)

