# Types, or what a column can hold besides numbers, texts and days.

# A type of labels has a name. Each value has several texts, PostgreSQL's and ISO's among them.

sql
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE guests (
  id INTEGER PRIMARY KEY, at TIMESTAMPTZ NOT NULL, stayed INTERVAL, feels mood, tags TEXT[], details JSON, photo BYTEA
);
INSERT INTO guests VALUES
  (1, '2026-03-29 00:30:00+01', '1 hour 30 minutes', 'happy', '{new,"by train"}', '{"seats": [4, 5], "paid": true}',
   '\x6162'),
  (2, '2026-03-29T01:30:00Z', 'PT45M', 'ok', ARRAY['new', NULL], '{"seats": [9]}', NULL)
--
CREATE TYPE, epoch 0
CREATE TABLE, epoch 0
INSERT 2, epoch 1

# Everything that is read is in ISO 8601, moments in UTC, bytes in base64.

read guests
--
id | at                   | stayed  | feels | tags                | details                         | photo
---+----------------------+---------+-------+---------------------+---------------------------------+------
 1 | 2026-03-28T23:30:00Z | PT1H30M | happy | ["new", "by train"] | {"seats": [4, 5], "paid": true} | YWI=
 2 | 2026-03-29T01:30:00Z | PT45M   | ok    | ["new", null]       | {"seats": [9]}                  | NULL
(2 rows, epoch 1)

# A clock of Berlin: there the hour from two to three was left out that night.

sql
CREATE VIEW stays AS
SELECT id, at AT TIME ZONE 'Europe/Berlin' AS arrived, (at + stayed) AT TIME ZONE 'Europe/Berlin' AS gone,
       stayed * 2 AS twice, extract(minute FROM stayed) AS minutes
FROM guests WHERE stayed > INTERVAL '30 minutes'
--
CREATE VIEW, epoch 1

read stays
--
id | arrived             | gone                | twice   | minutes
---+---------------------+---------------------+---------+--------
 1 | 2026-03-29T00:30:00 | 2026-03-29T03:00:00 | PT3H    |      30
 2 | 2026-03-29T03:30:00 | 2026-03-29T04:15:00 | PT1H30M |      45
(2 rows, epoch 1)

# Arrows into JSON, subscripts and slices of arrays; what is beyond the end is NULL.

sql
CREATE VIEW seats AS
SELECT id, details -> 'seats' -> 0 AS first, details #>> '{seats,1}' AS second, (details ->> 'paid')::boolean AS paid,
       tags[1] AS tag, tags[2:] AS others, 'new' = ANY(tags) AS is_new
FROM guests WHERE details @> '{"seats": [9]}' OR details ? 'paid'
--
CREATE VIEW, epoch 1

read seats
--
id | first | second | paid | tag | others       | is_new
---+-------+--------+------+-----+--------------+-------
 1 |     4 |      5 | true | new | ["by train"] | true
 2 |     9 |   NULL | NULL | new | [null]       | true
(2 rows, epoch 1)

# Labels order as they stand in the type, arrays element by element, NULL being greater than all.

sql
CREATE VIEW best AS
SELECT max(feels) AS feels, min(feels) AS least, max(tags) AS tags, min(stayed) AS shortest, max(at) AS latest FROM guests
--
CREATE VIEW, epoch 1

read best
--
feels | least | tags          | shortest | latest
------+-------+---------------+----------+---------------------
happy | ok    | ["new", null] | PT45M    | 2026-03-29T01:30:00Z
(1 row, epoch 1)

delta guests
{"upsert": {"id": 2, "at": "2026-03-29T03:30:00+02:00", "stayed": "P1M", "feels": "sad", "tags": [], "details": [1, {"a": null}]}}
{"insert": {"id": 3, "at": "2026-03-30T00:00:00Z", "stayed": "P30D", "feels": "ok", "details": "text", "photo": "/w=="}}
--
2 changes, epoch 2

changes best since=1
--
epoch | diff | feels | least | tags                | shortest | latest
------+------+-------+-------+---------------------+----------+---------------------
    2 |   +1 | happy | sad   | ["new", "by train"] | PT1H30M  | 2026-03-30T00:00:00Z
    2 |   -1 | happy | ok    | ["new", null]       | PT45M    | 2026-03-29T01:30:00Z

changes seats since=1
--
epoch | diff | id | first | second | paid | tag | others | is_new
------+------+----+-------+--------+------+-----+--------+-------
    2 |   -1 |  2 |     9 | NULL   | NULL | new | [null] | true

# A month is as long as thirty days: they are equal. A group tells them apart.

sql
CREATE VIEW monthly AS SELECT id FROM guests WHERE stayed = INTERVAL '1 month';
CREATE VIEW spans AS SELECT stayed, count(*) AS n FROM guests WHERE id > 1 GROUP BY stayed
--
CREATE VIEW, epoch 2
CREATE VIEW, epoch 2

read monthly
--
id
--
 2
 3
(2 rows, epoch 2)

read spans
--
stayed | n
-------+--
P1M    | 1
P30D   | 1
(2 rows, epoch 2)

# What does not fit is refused by its column, and in a view it is an error of its row.

delta guests
{"insert": {"id": 4, "at": "2026-03-30T00:00:00Z", "feels": "angry"}}
--
422 invalid_value: line 1: column feels: "angry" is not a valid ENUM('sad', 'ok', 'happy')

sql
CREATE VIEW labels AS SELECT id, (details ->> 'paid')::mood AS feels FROM guests WHERE id = 1
--
CREATE VIEW, epoch 2

read labels
--
409 view_has_errors: view labels has errors at epoch 2: 'true' is not a valid ENUM('sad', 'ok', 'happy')
hint: use errors=skip to read the other rows; the view heals when the failing rows are gone

# A type that loses its name leaves what was made with it.

sql
DROP TYPE mood;
CREATE VIEW glad AS SELECT id FROM guests WHERE feels = 'happy';
SELECT 'ok'::mood AS m
--
422 unsupported_sql: type mood is not supported
at statement 2, line 3, column 14
hint: supported are SMALLINT, INTEGER, BIGINT and their unsigned kin, HUGEINT, REAL, DOUBLE PRECISION, NUMERIC(p, s), BOOLEAN, TEXT, VARCHAR, DATE, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ, INTERVAL, BYTEA, UUID, BIT, JSON, ENUM, and arrays, STRUCT and MAP

read glad
--
id
--
 1
(1 row, epoch 2)
