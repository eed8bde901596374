# EXPLAIN, or what becomes of a query before it runs.
#
# The logical form is what the SQL says, the optimized form is what is left to do, and the
# dataflow is what runs. All three are the same bytes every time.

sql
CREATE TABLE sales (shop INTEGER, item TEXT, pieces INTEGER);
CREATE TABLE shops (id INTEGER PRIMARY KEY, city TEXT)
--
CREATE TABLE, epoch 0
CREATE TABLE, epoch 0

sql
EXPLAIN
SELECT shops.city, sum(sales.pieces) AS pieces
FROM sales, shops
WHERE shops.id = sales.shop AND sales.item = 'tea'
GROUP BY shops.city
--
-- answer
DuckDB over sales (0 rows), shops (lookup in the key of shops (id), with the rows of sales)
-- logical
r0 := scan sales → (shop INTEGER, item TEXT, pieces INTEGER)
r1 := scan shops → (id INTEGER NOT NULL, city TEXT)
r2 := inner join r0, r1 → (shop INTEGER, item TEXT, pieces INTEGER, id INTEGER NOT NULL, city TEXT)
r3 := filter r2 → (shop INTEGER, item TEXT, pieces INTEGER, id INTEGER NOT NULL, city TEXT)
    r1.id = r0.shop
    r0.item = 'tea'
r4 := aggregate r3 → (city TEXT, sum BIGINT)
    by r1.city
    sum := sum(r0.pieces)
r5 := project r4 → (city TEXT, pieces BIGINT)
    city := r1.city
    pieces := r4.sum
r6 := output r5 → (city TEXT, pieces BIGINT)
    city := r5.city
    pieces := r5.pieces
return r6
-- optimized
r0 := scan sales → (shop INTEGER, item TEXT, pieces INTEGER)
r1 := filter r0 → (shop INTEGER, item TEXT, pieces INTEGER)
    r0.item = 'tea'
r2 := project r1 → (shop INTEGER, pieces INTEGER)
    shop := r0.shop
    pieces := r0.pieces
r3 := scan shops → (id INTEGER NOT NULL, city TEXT)
r4 := inner join r2, r3 → (shop INTEGER, pieces INTEGER, id INTEGER NOT NULL, city TEXT)
    r0.shop = r3.id
r5 := project r4 → (pieces INTEGER, city TEXT)
    pieces := r0.pieces
    city := r3.city
r6 := aggregate r5 → (city TEXT, sum BIGINT)
    by r3.city
    sum := sum(r0.pieces)
r7 := project r6 → (city TEXT, pieces BIGINT)
    city := r3.city
    pieces := r6.sum
r8 := output r7 → (city TEXT, pieces BIGINT)
    city := r7.city
    pieces := r7.pieces
return r8
-- dataflow
r0 := source sales → (shop INTEGER, item TEXT, pieces INTEGER)
r1 := filter r0 → (shop INTEGER, item TEXT, pieces INTEGER)
    #0 IS NOT NULL
    #1 = 'tea'
r2 := map r1 → (shop INTEGER NOT NULL, pieces INTEGER)
    #0 := #0
    #1 := #2
r3 := source shops → (id INTEGER NOT NULL, city TEXT)
r4 := join r2, r3 → (shop INTEGER NOT NULL, pieces INTEGER, id INTEGER NOT NULL, city TEXT)
    r2.#0 = r3.#0
r5 := map r4 → (city TEXT, pieces INTEGER)
    #0 := #3
    #1 := #1
r6 := reduce r5 → (city TEXT, sum(#1) BIGINT)
    by #0
    #1 := sum(#1) BIGINT
r7 := map r6 → (city TEXT, pieces BIGINT)
    #0 := #0
    #1 := #1
return r7

sql
CREATE VIEW tea AS SELECT shop, pieces FROM sales WHERE item = 'tea';
EXPLAIN DATAFLOW VIEW tea
--
CREATE VIEW, epoch 0
r0 := source sales → (shop INTEGER, item TEXT, pieces INTEGER)
r1 := filter r0 → (shop INTEGER, item TEXT, pieces INTEGER)
    #1 = 'tea'
r2 := map r1 → (shop INTEGER, pieces INTEGER)
    #0 := #0
    #1 := #2
return r2

# A correlated subquery becomes a join.

sql
EXPLAIN OPTIMIZED
SELECT id, (SELECT max(pieces) FROM sales WHERE sales.shop = shops.id) AS best FROM shops
--
r0 := scan shops → (id INTEGER NOT NULL)
r1 := scan sales → (shop INTEGER, pieces INTEGER)
r2 := filter r1 → (shop INTEGER, pieces INTEGER)
    r1.shop IS NOT NULL
r3 := project r2 → (pieces INTEGER, id INTEGER NOT NULL)
    pieces := r1.pieces
    id := r1.shop
r4 := aggregate r3 → (id INTEGER NOT NULL, max INTEGER)
    by r3.id
    max := max(r1.pieces)
r5 := left join r0, r4 → (id INTEGER NOT NULL, id INTEGER, max INTEGER)
    r0.id = r3.id
r6 := project r5 → (id INTEGER NOT NULL, best INTEGER)
    id := r0.id
    best := r4.max
r7 := output r6 → (id INTEGER NOT NULL, best INTEGER)
    id := r6.id
    best := r6.best
return r7

sql
EXPLAIN DATAFLOW
WITH RECURSIVE chain (id) AS (
    SELECT 1
    UNION
    SELECT sales.pieces FROM chain JOIN sales ON sales.shop = chain.id
)
SELECT id FROM chain
--
r0 := constant → (c0 BOOLEAN NOT NULL)
    TRUE
r1 := map r0 → (c0 INTEGER NOT NULL)
    #0 := 1
  r2 := variable v0.0 → (c0 INTEGER)
  r3 := filter r2 → (c0 INTEGER)
      #0 IS NOT NULL
r4 := source sales → (shop INTEGER, item TEXT, pieces INTEGER)
r5 := filter r4 → (shop INTEGER, item TEXT, pieces INTEGER)
    #0 IS NOT NULL
r6 := map r5 → (shop INTEGER NOT NULL, pieces INTEGER)
    #0 := #0
    #1 := #2
  r7 := join r3, r6 → (c0 INTEGER, shop INTEGER NOT NULL, pieces INTEGER)
      r3.#0 = r6.#0
  r8 := map r7 → (pieces INTEGER)
      #0 := #2
  r9 := concat r1, r8 → (c0 INTEGER)
  r10 := threshold distinct r9 → (c0 INTEGER)
r11 := recursive v0.0 r10 → (c0 INTEGER)
    v0.0 := r10
r12 := map r11 → (id INTEGER)
    #0 := #0
return r12

