# The first rows of an order, and who moves up when one of them goes.

sql
CREATE TABLE scores (player TEXT, game TEXT, points INTEGER);
INSERT INTO scores VALUES ('ada', 'go', 31), ('bob', 'go', 12), ('cy', 'go', 31), ('ada', 'chess', 7), ('dee', 'chess', NULL);
CREATE VIEW best AS SELECT player, points FROM scores ORDER BY points DESC NULLS LAST LIMIT 2;
CREATE VIEW masters AS SELECT DISTINCT ON (game) game, player, points FROM scores ORDER BY game, points DESC NULLS LAST;
CREATE VIEW behind AS SELECT player, points FROM scores ORDER BY points DESC NULLS LAST OFFSET 3
--
CREATE TABLE, epoch 0
INSERT 5, epoch 1
CREATE VIEW, epoch 1
CREATE VIEW, epoch 1
CREATE VIEW, epoch 1

# Ada and Cy have as many points: of them Ada comes first, since her name does.

sql
SELECT * FROM masters ORDER BY game
--
game  | player | points
------+--------+-------
chess | ada    |      7
go    | ada    |     31
(2 rows, epoch 1)

# Ada's 31 points were a mistake. Bob moves up; in go, Cy is the master now.

sql
UPDATE scores SET points = 11 WHERE player = 'ada' AND game = 'go';
SELECT * FROM best ORDER BY points DESC;
SELECT * FROM masters ORDER BY game;
SELECT * FROM behind ORDER BY points DESC NULLS LAST
--
UPDATE 1, epoch 2
player | points
-------+-------
cy     |     31
bob    |     12
(2 rows, epoch 2)
game  | player | points
------+--------+-------
chess | ada    |      7
go    | cy     |     31
(2 rows, epoch 2)
player | points
-------+-------
ada    |      7
dee    |   NULL
(2 rows, epoch 2)

changes best since=1
--
epoch | diff | player | points
------+------+--------+-------
    2 |   -1 | ada    |     31
    2 |   +1 | bob    |     12

# Nobody is left.

sql
DELETE FROM scores;
SELECT count(*) FROM best;
SELECT count(*) FROM masters
--
DELETE 5, epoch 3
count
-----
    0
(1 row, epoch 3)
count
-----
    0
(1 row, epoch 3)
