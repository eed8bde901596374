# Fraud, or how a view follows its tables through recursion.
#
# Money moves between customers. When one of them is reported, everybody whom their money
# reached, over however many hands, is risky.

sql
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE transfers (sender INTEGER NOT NULL, receiver INTEGER NOT NULL, amount NUMERIC(10, 2));
CREATE TABLE reported (customer INTEGER PRIMARY KEY);
INSERT INTO customers VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cem'), (4, 'Dia'), (5, 'Eve')
--
CREATE TABLE, epoch 0
CREATE TABLE, epoch 0
CREATE TABLE, epoch 0
INSERT 5, epoch 1

# The view is recursive SQL as any database takes it. Here it is not run when somebody asks:
# it is kept up to date.

sql
CREATE VIEW risky AS
WITH RECURSIVE risky (id) AS (
    SELECT customer FROM reported
    UNION
    SELECT transfers.receiver FROM risky JOIN transfers ON transfers.sender = risky.id
)
SELECT customers.id, customers.name FROM risky JOIN customers ON customers.id = risky.id
--
CREATE VIEW, epoch 1

# Ann pays Bob, Bob pays Cem, and Cem pays Bob back: a cycle. Dia pays Eve. A change is a line
# of JSON, and all lines of a request are one epoch.

delta transfers
{"insert": {"sender": 1, "receiver": 2, "amount": "50.00"}}
{"insert": {"sender": 2, "receiver": 3, "amount": "20.00"}}
{"insert": {"sender": 3, "receiver": 2, "amount": "5.00"}}
{"insert": {"sender": 4, "receiver": 5, "amount": "70.00"}}
--
4 changes, epoch 2

read risky
--
id | name
---+-----
(0 rows, epoch 2)

# Ann is reported. Whoever her money reached is flagged, in the epoch of the report.

delta reported
{"insert": {"customer": 1}}
--
1 change, epoch 3

read risky
--
id | name
---+-----
 1 | Ann
 2 | Bob
 3 | Cem
(3 rows, epoch 3)

# One more transfer reaches Dia, and through her Eve, who was paid long before.

delta transfers
{"insert": {"sender": 3, "receiver": 4, "amount": "1.00"}}
--
1 change, epoch 4

read risky order_by=name
--
id | name
---+-----
 1 | Ann
 2 | Bob
 3 | Cem
 4 | Dia
 5 | Eve
(5 rows, epoch 4)

# The report was a mistake. Everybody is cleared, Bob and Cem too, who hold each other up in
# their cycle as far as rows go, but are reached from nowhere any more.

delta reported
{"delete": {"customer": 1}}
--
1 change, epoch 5

read risky
--
id | name
---+-----
(0 rows, epoch 5)

# The view as it was an epoch before, and everything that ever happened to it.

read risky as_of=4
--
id | name
---+-----
 1 | Ann
 2 | Bob
 3 | Cem
 4 | Dia
 5 | Eve
(5 rows, epoch 4)

changes risky since=0
--
epoch | diff | id | name
------+------+----+-----
    3 |   +1 |  1 | Ann
    3 |   +1 |  2 | Bob
    3 |   +1 |  3 | Cem
    4 |   +1 |  4 | Dia
    4 |   +1 |  5 | Eve
    5 |   -1 |  1 | Ann
    5 |   -1 |  2 | Bob
    5 |   -1 |  3 | Cem
    5 |   -1 |  4 | Dia
    5 |   -1 |  5 | Eve

# Which customers were risky then and are not now? A query may have each table at its own time.

sql
SELECT name FROM risky VERSION AS OF 4 EXCEPT SELECT name FROM risky ORDER BY name
--
name
----
Ann
Bob
Cem
Dia
Eve
(5 rows, epoch 5)

