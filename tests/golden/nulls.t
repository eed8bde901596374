# NULL, or what is not known.

sql
CREATE TABLE readings (sensor TEXT, celsius DOUBLE PRECISION);
INSERT INTO readings VALUES ('attic', 31.5), ('attic', NULL), ('cellar', NULL), (NULL, 20)
--
CREATE TABLE, epoch 0
INSERT 4, epoch 1

# Aggregates pass over NULL, count(*) does not. GROUP BY takes all NULLs for one group.

sql
CREATE VIEW sensors AS
SELECT sensor, count(*) AS readings, count(celsius) AS known, avg(celsius) AS mean
FROM readings GROUP BY sensor
--
CREATE VIEW, epoch 1

read sensors
--
sensor | readings | known | mean
-------+----------+-------+-----
NULL   |        1 |     1 | 20.0
attic  |        2 |     1 | 31.5
cellar |        1 |     0 | NULL
(3 rows, epoch 1)

# A comparison with NULL is neither true nor false: WHERE keeps what is true, and NOT does not
# bring the rest back.

sql
SELECT count(*) FROM readings WHERE celsius > 25;
SELECT count(*) FROM readings WHERE NOT celsius > 25;
SELECT count(*) FROM readings WHERE celsius IS DISTINCT FROM 31.5
--
count
-----
    1
(1 row, epoch 1)
count
-----
    1
(1 row, epoch 1)
count
-----
    3
(1 row, epoch 1)

# NOT IN over a list with a NULL in it is never true. The view below is empty for as long as
# there is a reading from nobody knows where.

sql
CREATE TABLE places (name TEXT PRIMARY KEY);
INSERT INTO places VALUES ('attic'), ('garden');
CREATE VIEW silent AS SELECT name FROM places WHERE name NOT IN (SELECT sensor FROM readings)
--
CREATE TABLE, epoch 1
INSERT 2, epoch 2
CREATE VIEW, epoch 2

read silent
--
name
----
(0 rows, epoch 2)

sql
DELETE FROM readings WHERE sensor IS NULL
--
DELETE 1, epoch 3

read silent
--
name
------
garden
(1 row, epoch 3)

# Columns say whether they take it.

sql
INSERT INTO places VALUES (NULL)
--
422 null_not_allowed: change 0 has NULL in column name of table places, which is NOT NULL
at statement 0

