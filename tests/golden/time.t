# Time, or views that change though nothing happens.
#
# now() is the time of the epoch. The service makes an epoch by itself when a view changes by time alone.

time 2026-03-01T12:00:00+00:00
--
epoch 0

sql
CREATE TABLE sessions (who TEXT, began TIMESTAMP, hours INTEGER);
CREATE VIEW online AS
SELECT who FROM sessions WHERE began <= now() AND began + hours * INTERVAL '1 hour' > now();
CREATE VIEW how_many AS SELECT count(*) AS people FROM online;
INSERT INTO sessions VALUES
  ('ada', '2026-03-01 11:00:00', 2), ('bob', '2026-03-01 12:30:00', 1), ('eve', '2026-02-01 00:00:00', 1)
--
CREATE TABLE, epoch 0
CREATE VIEW, epoch 0
CREATE VIEW, epoch 1
INSERT 3, epoch 2

read online
--
who
---
ada
(1 row, epoch 2)

# Nothing is due, so nothing happens.

time 2026-03-01T12:15:00+00:00
--
epoch 2

# Bob comes, and then ada goes.

time 2026-03-01T12:30:00+00:00
--
epoch 3

time 2026-03-01T13:20:00+00:00
--
epoch 4

changes how_many since=0
--
epoch | diff | people
------+------+-------
    2 |   -1 |      0
    2 |   +1 |      1
    3 |   -1 |      1
    3 |   +1 |      2
    4 |   +1 |      1
    4 |   -1 |      2

# A row that is taken away before its moment never comes; one that is late is not seen at all.

sql
DELETE FROM sessions WHERE who = 'bob';
INSERT INTO sessions VALUES ('cyd', '2026-03-01 11:00:00', 1)
--
DELETE 1, epoch 5
INSERT 1, epoch 6

read online
--
who
---
(0 rows, epoch 6)

read how_many as_of=2026-03-01T12:45:00Z
--
people
------
     2
(1 row, epoch 3)

time 2027-01-01T00:00:00+00:00
--
epoch 6

# A row costs what it is; the clock is a relation of one row.

sql
EXPLAIN SELECT who FROM sessions WHERE began > now() - INTERVAL '1 hour' AND began <= now()
--
-- answer
DuckDB over sessions (3 rows)
-- logical
r0 := scan sessions → (who TEXT, began TIMESTAMP, hours INTEGER)
r1 := filter r0 → (who TEXT, began TIMESTAMP, hours INTEGER)
    r0.began > (now() - INTERVAL '1' HOUR)
    r0.began <= now()
r2 := project r1 → (who TEXT)
    who := r0.who
r3 := output r2 → (who TEXT)
    who := r2.who
return r3
-- optimized
r0 := scan sessions → (who TEXT, began TIMESTAMP)
r1 := filter r0 → (who TEXT, began TIMESTAMP)
    NOT now() >= (r0.began + INTERVAL '1' HOUR)
    now() >= r0.began
r2 := project r1 → (who TEXT)
    who := r0.who
r3 := output r2 → (who TEXT)
    who := r2.who
return r3
-- dataflow
r0 := source sessions → (who TEXT, began TIMESTAMP, hours INTEGER)
r1 := map r0 → (who TEXT, began TIMESTAMP, c2 TIMESTAMP)
    #0 := #0
    #1 := #1
    #2 := #1 + INTERVAL '1' HOUR
r2 := filter r1 → (who TEXT, began TIMESTAMP, c2 TIMESTAMP)
    #1 IS NOT NULL
    #2 IS NOT NULL
r3 := source now() → (now TIMESTAMP NOT NULL)
r4 := temporal r2, r3 → (who TEXT, began TIMESTAMP, c2 TIMESTAMP)
    since #1
    until #2
r5 := map r4 → (who TEXT)
    #0 := #0
return r5

# The date may be shown, since it changes once a day. The time may not.

sql
CREATE VIEW ages AS SELECT who, current_date - began::date AS days FROM sessions;
SELECT * FROM ages;
CREATE VIEW clocks AS SELECT who, now() AS seen FROM sessions
--
422 unsupported_sql: now() outside of a comparison changes every row at every instant, so it cannot be maintained
at statement 2, line 3, column 35
hint: compare it with a column, plus or minus an interval, or use CURRENT_DATE

