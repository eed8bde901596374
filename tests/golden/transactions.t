# Blocks, or several statements that are one epoch.

sql
CREATE TABLE accounts (owner TEXT PRIMARY KEY, balance NUMERIC(10, 2) NOT NULL);
CREATE VIEW money AS SELECT sum(balance) AS money FROM accounts;
INSERT INTO accounts VALUES ('Ann', 100), ('Bob', 20)
--
CREATE TABLE, epoch 0
CREATE VIEW, epoch 0
INSERT 2, epoch 1

# Between BEGIN and COMMIT each statement sees what those before it did.

sql
BEGIN;
UPDATE accounts SET balance = balance - 30 WHERE owner = 'Ann';
UPDATE accounts SET balance = balance + 30 WHERE owner = 'Bob';
SELECT * FROM accounts ORDER BY owner;
COMMIT
--
BEGIN, epoch 2
UPDATE 1, epoch 2
UPDATE 1, epoch 2
owner | balance
------+--------
Ann   |   70.00
Bob   |   50.00
(2 rows, epoch 2)
COMMIT, epoch 2

# The money never changed, and so the view has nothing to tell.

changes money since=1
--
(no changes)

# If one of them fails, none of them has happened.

sql
BEGIN;
UPDATE accounts SET balance = balance - 1000 WHERE owner = 'Ann';
INSERT INTO accounts VALUES ('Bob', 1000);
COMMIT
--
409 key_exists: change 0 inserts a key that table accounts has already: owner = Bob
at statement 2
hint: use upsert, or in SQL INSERT ... ON CONFLICT, to replace the row

read accounts
--
owner | balance
------+--------
Ann   |   70.00
Bob   |   50.00
(2 rows, epoch 2)

# Outside a block every statement is an epoch of its own. A script stops at the first that
# fails, and what came before it stands.

sql
INSERT INTO accounts VALUES ('Cem', 5);
INSERT INTO accounts VALUES ('Ann', 7);
INSERT INTO accounts VALUES ('Dia', 9)
--
409 key_exists: change 0 inserts a key that table accounts has already: owner = Ann
at statement 1
hint: use upsert, or in SQL INSERT ... ON CONFLICT, to replace the row

read accounts
--
owner | balance
------+--------
Cem   |    5.00
Ann   |   70.00
Bob   |   50.00
(3 rows, epoch 3)

