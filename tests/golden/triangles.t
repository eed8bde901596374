# Triangles of a graph: a join in a cycle.
#
# However two of its relations are joined first, a node with many edges gives a result as large as
# their square. So the join takes one column at a time, from whichever relation has the fewest rows
# for it, and keeps nothing but the edges in two orders.

sql
CREATE TABLE follows (who TEXT, whom TEXT);
CREATE VIEW triangles AS
SELECT a.who AS one, b.who AS two, c.who AS three
FROM follows AS a JOIN follows AS b ON b.who = a.whom JOIN follows AS c ON c.who = b.whom AND c.whom = a.who
WHERE a.who <= b.who AND a.who <= c.who
--
CREATE TABLE, epoch 0
CREATE VIEW, epoch 0

sql
INSERT INTO follows VALUES ('ann', 'bob'), ('bob', 'cleo'), ('cleo', 'ann'), ('cleo', 'bob'), ('dan', 'dan')
--
INSERT 5, epoch 1

sql
SELECT * FROM triangles
--
one | two | three
----+-----+------
dan | dan | dan
ann | bob | cleo
(2 rows, epoch 1)

# One edge goes, and the triangle with it; another closes one with what is there.

sql
BEGIN;
DELETE FROM follows WHERE who = 'cleo' AND whom = 'ann';
INSERT INTO follows VALUES ('bob', 'bob');
COMMIT
--
BEGIN, epoch 2
DELETE 1, epoch 2
INSERT 1, epoch 2
COMMIT, epoch 2

sql
SELECT * FROM triangles
--
one | two  | three
----+------+------
dan | dan  | dan
bob | cleo | bob
bob | bob  | cleo
bob | bob  | bob
(4 rows, epoch 2)

# What the plan says of it: the columns that are equal, the way that a change of each relation takes
# through the others, and what is kept.

sql
EXPLAIN SELECT a.who FROM follows AS a JOIN follows AS b ON b.who = a.whom JOIN follows AS c ON c.who = b.whom AND c.whom = a.who
--
-- answer
DuckDB over follows (5 rows), follows (lookup in the order of follows (who), with the rows of follows), follows (lookup in the order of follows (who, whom), with the rows of follows)
-- logical
r0 := scan follows → (who TEXT, whom TEXT)
r1 := scan follows → (who TEXT, whom TEXT)
r2 := inner join r0, r1 → (who TEXT, whom TEXT, who TEXT, whom TEXT)
    r1.who = r0.whom
r3 := scan follows → (who TEXT, whom TEXT)
r4 := inner join r2, r3 → (who TEXT, whom TEXT, who TEXT, whom TEXT, who TEXT, whom TEXT)
    r3.who = r1.whom
    r3.whom = r0.who
r5 := project r4 → (who TEXT)
    who := r0.who
r6 := output r5 → (who TEXT)
    who := r5.who
return r6
-- optimized
r0 := scan follows → (who TEXT, whom TEXT)
r1 := scan follows → (who TEXT, whom TEXT)
r2 := inner join r0, r1 → (who TEXT, whom TEXT, who TEXT, whom TEXT)
    r0.whom = r1.who
r3 := project r2 → (who TEXT, whom TEXT)
    who := r0.who
    whom := r1.whom
r4 := scan follows → (who TEXT, whom TEXT)
r5 := inner join r3, r4 → (who TEXT, whom TEXT, who TEXT, whom TEXT)
    r0.who = r4.whom
    r1.whom = r4.who
r6 := project r5 → (who TEXT)
    who := r0.who
r7 := output r6 → (who TEXT)
    who := r6.who
return r7
-- dataflow
r0 := source follows → (who TEXT, whom TEXT)
r1 := filter r0 → (who TEXT, whom TEXT)
    #0 IS NOT NULL
    #1 IS NOT NULL
r2 := worst-case optimal join r1, r1, r1 → (who TEXT, whom TEXT, who TEXT, whom TEXT, who TEXT, whom TEXT)
    i0.#0 = i2.#1
    i0.#1 = i1.#0
    i1.#1 = i2.#0
    from i0: i1.#1 from the fewest of i1 by #0 | i2 by #1
    from i1: i0.#0 from the fewest of i0 by #1 | i2 by #0
    from i2: i0.#1 from the fewest of i0 by #0 | i1 by #1
    arranged: r1 by #0 #1
    arranged: r1 by #1 #0
r3 := map r2 → (who TEXT NOT NULL)
    #0 := #0
return r3
