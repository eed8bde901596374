# Tables and views that change while others read them.

sql
CREATE TABLE items (id INTEGER PRIMARY KEY, price INTEGER);
CREATE VIEW everything AS SELECT * FROM items;
CREATE VIEW total AS SELECT count(*) AS items, sum(price) AS price FROM everything;
INSERT INTO items VALUES (1, 10), (2, 20)
--
CREATE TABLE, epoch 0
CREATE VIEW, epoch 0
CREATE VIEW, epoch 0
INSERT 2, epoch 1

# A column is added at every epoch; a view has the columns that it had.

sql
ALTER TABLE items ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey', ADD CONSTRAINT cheap CHECK (price < 100);
SELECT * FROM items VERSION AS OF 1 ORDER BY id;
SELECT * FROM everything ORDER BY id
--
ALTER TABLE, epoch 1
id | price | colour
---+-------+-------
 1 |    10 | grey
 2 |    20 | grey
(2 rows, epoch 1)
id | price
---+------
 1 |    10
 2 |    20
(2 rows, epoch 1)

sql
INSERT INTO items VALUES (3, 100, 'red')
--
422 check_violated: change 0 violates constraint cheap of table items: CHECK (price < 100)
at statement 0

# Names change under a view that goes on with the old ones.

sql
ALTER TABLE items RENAME COLUMN price TO cents;
ALTER TABLE items RENAME TO goods;
INSERT INTO goods (id, cents) VALUES (3, 30);
SELECT * FROM total;
SHOW CREATE TABLE goods
--
ALTER TABLE, epoch 1
ALTER TABLE, epoch 1
INSERT 1, epoch 2
items | price
------+------
    3 |    60
(1 row, epoch 2)
name  | statement
------+-------------------------------------------------------------------------------------------------------------------------------------------------------------------
goods | CREATE TABLE goods (
  id INTEGER NOT NULL,
  cents INTEGER,
  colour TEXT DEFAULT 'grey' NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT cheap CHECK ("cents" < 100)
)
(1 row, epoch 2)

# A view is replaced under its dependants as long as they find their columns.

sql
CREATE OR REPLACE VIEW everything AS SELECT id, cents AS price, colour FROM goods WHERE cents > 10;
SELECT * FROM total
--
CREATE VIEW, epoch 3
items | price
------+------
    2 |    50
(1 row, epoch 3)

sql
CREATE OR REPLACE VIEW everything AS SELECT id FROM goods
--
409 in_use: view total reads everything and would fail: unknown column "price"
at statement 0
hint: replace total together with it, or drop total first

sql
ALTER TABLE goods DROP COLUMN cents
--
409 in_use: view everything reads column cents of table goods
at statement 0
hint: drop everything first

sql
ALTER TABLE goods ADD CONSTRAINT dear CHECK (cents > 10)
--
422 check_violated: a row violates constraint dear of table goods: CHECK (cents > 10)
at statement 0
hint: change these rows first

sql
DROP TABLE goods
--
409 in_use: table goods is read by everything
at statement 0
hint: drop total, everything first

sql
DROP TABLE goods CASCADE;
SHOW VIEWS
--
DROP TABLE, epoch 3
name | columns | state | sql
-----+---------+-------+----
(0 rows, epoch 3)

