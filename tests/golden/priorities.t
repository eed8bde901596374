# Circles of friends by their least member, where the least start first.
#
# Without the hint every person tells every friend of a circle of their own, and takes it back
# when a lesser one comes along. With it, most never get to say their own.

sql
CREATE TABLE friends (a INTEGER, b INTEGER, PRIMARY KEY (a, b));
CREATE VIEW circles AS
WITH MUTUALLY RECURSIVE
    meetings (a INTEGER, b INTEGER) AS (SELECT a, b FROM friends UNION ALL SELECT b, a FROM friends),
    circle (person INTEGER, least INTEGER) AS (
        SELECT person, min(least)
        FROM (
            SELECT /*+ PRIORITY(least * 10) */ a AS person, a AS least FROM friends
            UNION ALL
            SELECT /*+ PRIORITY(least * 10) */ b, b AS least FROM friends
            UNION ALL
            SELECT meetings.b, circle.least FROM circle JOIN meetings ON meetings.a = circle.person
        ) AS told
        GROUP BY person
    )
SELECT person, least FROM circle
--
CREATE TABLE, epoch 0
CREATE VIEW, epoch 0

sql
INSERT INTO friends VALUES (5, 2), (2, 9), (9, 8), (7, 4)
--
INSERT 4, epoch 1

read circles order_by=person
--
person | least
-------+------
     2 |     2
     4 |     4
     5 |     2
     7 |     4
     8 |     2
     9 |     2
(6 rows, epoch 1)

# The circles meet, and part again in another place.

delta friends
{"insert": {"a": 4, "b": 8}}
--
1 change, epoch 2

changes circles since=1
--
epoch | diff | person | least
------+------+--------+------
    2 |   +1 |      4 |     2
    2 |   -1 |      4 |     4
    2 |   +1 |      7 |     2
    2 |   -1 |      7 |     4

delta friends
{"delete": {"a": 2, "b": 9}}
--
1 change, epoch 3

read circles order_by=person
--
person | least
-------+------
     2 |     2
     4 |     4
     5 |     2
     7 |     4
     8 |     4
     9 |     4
(6 rows, epoch 3)

# Who is told does not start anything: there is nothing to prioritise.

sql
CREATE VIEW told AS
WITH RECURSIVE r (person) AS (
    SELECT 5
    UNION
    SELECT /*+ PRIORITY(b) */ b FROM r JOIN friends ON a = person
)
SELECT person FROM r
--
422 invalid_query: PRIORITY is a hint for the terms of a recursion that do not recur
at statement 0, line 5, column 25
hint: write it at a SELECT where the recursion starts

# Neither is it a hint where the answer could depend on the rounds, as that of counting does.

sql
CREATE VIEW told AS
WITH RECURSIVE r (person, times) AS (
    SELECT /*+ PRIORITY(a) */ a, 1 AS times FROM friends
    UNION
    SELECT b, count(*) FROM r JOIN friends ON a = person GROUP BY b
)
SELECT person FROM r
--
422 unsupported_sql: PRIORITY is not supported with COUNT over the recursion's rows
at statement 0, line 3, column 25
hint: remove the hint PRIORITY: the result is the same without it
