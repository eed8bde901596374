# History, or every answer at every epoch.
#
# Each request that changes something is an epoch. What a table or view held at an epoch can be
# read later: from outside with as_of, inside a query with VERSION AS OF.

sql
CREATE TABLE stock (item TEXT PRIMARY KEY, pieces INTEGER NOT NULL);
CREATE VIEW total AS SELECT sum(pieces) AS pieces FROM stock
--
CREATE TABLE, epoch 0
CREATE VIEW, epoch 0

sql
INSERT INTO stock VALUES ('bolt', 100), ('nut', 80);
UPDATE stock SET pieces = pieces - 30 WHERE item = 'bolt';
DELETE FROM stock WHERE item = 'nut'
--
INSERT 2, epoch 1
UPDATE 1, epoch 2
DELETE 1, epoch 3

read stock as_of=1
--
item | pieces
-----+-------
nut  |     80
bolt |    100
(2 rows, epoch 1)

read total as_of=2
--
pieces
------
   150
(1 row, epoch 2)

read total
--
pieces
------
    70
(1 row, epoch 3)

changes total since=0
--
epoch | diff | pieces
------+------+-------
    1 |   -1 |   NULL
    1 |   +1 |    180
    2 |   +1 |    150
    2 |   -1 |    180
    3 |   +1 |     70
    3 |   -1 |    150

changes stock since=1 until=2
--
epoch | diff | item | pieces
------+------+------+-------
    2 |   +1 | bolt |     70
    2 |   -1 | bolt |    100

# A query can set today against yesterday.

sql
SELECT was.item, was.pieces AS was, now.pieces AS now
FROM stock VERSION AS OF 1 AS was LEFT JOIN stock AS now ON now.item = was.item
WHERE now.pieces IS DISTINCT FROM was.pieces
ORDER BY was.item
--
item | was |  now
-----+-----+-----
bolt | 100 |   70
nut  |  80 | NULL
(2 rows, epoch 3)

# A view that comes later has a history all the same: that of the tables it reads.

sql
CREATE VIEW scarce AS SELECT item FROM stock WHERE pieces < 90
--
CREATE VIEW, epoch 3

changes scarce since=0
--
epoch | diff | item
------+------+-----
    1 |   +1 | nut
    2 |   +1 | bolt
    3 |   -1 | nut

# A future epoch cannot be read.

read stock as_of=9
--
422 epoch_not_reached: epoch 9 does not exist yet
hint: the newest is 3

