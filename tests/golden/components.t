# Strongly connected components, or how a recursion lies in another one.
#
# A trace of calls between modules: which of them are in one knot? An edge inside a knot has the
# same label at both ends, forwards and backwards. Labels are found along such edges alone, and
# edges by labels, until neither changes.

sql
CREATE TABLE calls (caller INTEGER, callee INTEGER);
INSERT INTO calls VALUES (0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 10), (4, 2), (8, 6)
--
CREATE TABLE, epoch 0
INSERT 12, epoch 1

# The names of WITH MUTUALLY RECURSIVE are updated in sequence: the labels of a round are those
# along the edges of that round. The last name is all calls as they were in the round before, so
# that `inside` is all calls in the first round, and those with the same labels in any other.

sql
CREATE VIEW knots AS
WITH MUTUALLY RECURSIVE
    inside (a INTEGER, b INTEGER) AS (
        SELECT caller, callee FROM calls EXCEPT ALL SELECT a, b FROM calls_before
        UNION ALL
        SELECT caller, callee
        FROM calls
        JOIN forwards AS f ON f.module = caller
        JOIN forwards AS g ON g.module = callee AND g.label = f.label
        JOIN backwards AS h ON h.module = caller
        JOIN backwards AS i ON i.module = callee AND i.label = h.label
    ),
    forwards (module INTEGER, label INTEGER) AS (
        WITH MUTUALLY RECURSIVE
            least (module INTEGER, label INTEGER) AS (
                SELECT module, min(label)
                FROM (
                    SELECT callee AS module, callee AS label FROM calls
                    UNION ALL
                    SELECT b, label FROM least JOIN inside ON a = module
                ) AS told
                GROUP BY module
            )
        SELECT module, label FROM least
    ),
    backwards (module INTEGER, label INTEGER) AS (
        WITH MUTUALLY RECURSIVE
            least (module INTEGER, label INTEGER) AS (
                SELECT module, min(label)
                FROM (
                    SELECT caller AS module, caller AS label FROM calls
                    UNION ALL
                    SELECT a, label FROM least JOIN inside ON b = module
                ) AS told
                GROUP BY module
            )
        SELECT module, label FROM least
    ),
    calls_before (a INTEGER, b INTEGER) AS (SELECT caller, callee FROM calls)
SELECT module, label FROM forwards UNION SELECT module, label FROM backwards
--
CREATE VIEW, epoch 1

read knots order_by=module
--
module | label
-------+------
     0 |     0
     1 |     1
     2 |     2
     3 |     2
     4 |     2
     5 |     5
     6 |     6
     7 |     6
     8 |     6
     9 |     9
    10 |    10
(11 rows, epoch 1)

# One call back makes one knot of the upper half, and goes again.

delta calls
{"insert": {"caller": 5, "callee": 0}}
--
1 change, epoch 2

changes knots since=1
--
epoch | diff | module | label
------+------+--------+------
    2 |   +1 |      1 |     0
    2 |   -1 |      1 |     1
    2 |   +1 |      2 |     0
    2 |   -1 |      2 |     2
    2 |   +1 |      3 |     0
    2 |   -1 |      3 |     2
    2 |   +1 |      4 |     0
    2 |   -1 |      4 |     2
    2 |   +1 |      5 |     0
    2 |   -1 |      5 |     5

delta calls
{"delete": {"caller": 5, "callee": 0}}
--
1 change, epoch 3

changes knots since=2
--
epoch | diff | module | label
------+------+--------+------
    3 |   -1 |      1 |     0
    3 |   +1 |      1 |     1
    3 |   -1 |      2 |     0
    3 |   +1 |      2 |     2
    3 |   -1 |      3 |     0
    3 |   +1 |      3 |     2
    3 |   -1 |      4 |     0
    3 |   +1 |      4 |     2
    3 |   -1 |      5 |     0
    3 |   +1 |      5 |     5

# A query reads the names before it in the same round, the others as they were a round ago.

sql
EXPLAIN OPTIMIZED
WITH MUTUALLY RECURSIVE
    fresh (n INTEGER) AS (SELECT caller FROM calls EXCEPT SELECT n FROM known),
    known (n INTEGER) AS (SELECT n FROM known UNION SELECT n FROM fresh)
SELECT n FROM known
--
r0 := scan calls → (caller INTEGER)
r1 := project r0 → (caller INTEGER)
    caller := r0.caller
r2 := distinct r1 → (caller INTEGER)
r3 := round before of known → (n INTEGER)
r4 := project r3 → (n INTEGER)
    n := r3.n
r5 := distinct r4 → (n INTEGER)
r6 := except all r2, r5 → (caller INTEGER)
    caller := r1.caller, r4.n
r7 := round before of known → (n INTEGER)
r8 := project r7 → (n INTEGER)
    n := r7.n
r9 := same round of fresh → (n INTEGER)
r10 := project r9 → (n INTEGER)
    n := r9.n
r11 := union all r8, r10 → (n INTEGER)
    n := r8.n, r10.n
r12 := distinct r11 → (n INTEGER)
r13 := fixpoint known r6, r12 → (n INTEGER)
    fresh := r6 (r6.caller)
    known := r12 (r11.n)
r14 := project r13 → (n INTEGER)
    n := r13.n
r15 := output r14 → (n INTEGER)
    n := r14.n
return r15
