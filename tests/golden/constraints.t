# Tables that look after their rows.

sql
CREATE TABLE authors (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);
CREATE TABLE books (
  isbn TEXT PRIMARY KEY,
  author BIGINT REFERENCES authors ON DELETE CASCADE,
  net NUMERIC(8, 2) NOT NULL DEFAULT 10 CONSTRAINT not_free CHECK (net > 0),
  gross NUMERIC(8, 2) GENERATED ALWAYS AS (net * 1.07) STORED
);
CREATE VIEW shelf AS SELECT a.name, count(*) AS books, sum(b.gross) AS worth
FROM authors AS a JOIN books AS b ON b.author = a.id GROUP BY a.name
--
CREATE TABLE, epoch 0
CREATE TABLE, epoch 0
CREATE VIEW, epoch 0

# A column that is left out has its default, or counts; what is generated is computed.

sql
INSERT INTO authors (name) VALUES ('Woolf'), ('Joyce') RETURNING id, name;
INSERT INTO books (isbn, author) VALUES ('1', 1), ('2', 2) RETURNING *
--
id | name
---+------
 1 | Woolf
 2 | Joyce
(2 rows, epoch 1)
isbn | author |   net | gross
-----+--------+-------+------
   1 |      1 | 10.00 | 10.70
   2 |      2 | 10.00 | 10.70
(2 rows, epoch 2)

delta books
{"insert": {"isbn": "3", "author": 1, "net": 20}}
--
1 change, epoch 3

read shelf
--
name  | books | worth
------+-------+------
Joyce |     1 | 10.70
Woolf |     2 | 32.10
(2 rows, epoch 3)

# What breaks a rule is refused whole, by its name, on every way in.

delta books
{"insert": {"isbn": "4", "author": 1}}
{"insert": {"isbn": "5", "author": 1, "net": -1}}
--
422 check_violated: change 1 violates constraint not_free of table books: CHECK (net > 0)

delta books
{"insert": {"isbn": "4", "author": 9}}
--
409 foreign_key_violated: a row of table books has author = 9, which table authors does not have: constraint books_author_fkey
hint: insert the row of authors before it, or in the same epoch

sql
INSERT INTO authors (name) VALUES ('Joyce')
--
409 unique_violated: two rows of table authors have name = Joyce, which constraint authors_name_key forbids
at statement 0
hint: add ON CONFLICT to say what happens to such a row

sql
INSERT INTO books (isbn, gross) VALUES ('4', 1)
--
422 invalid_query: column gross is generated: it cannot be given a value
at statement 0, line 1, column 41
hint: leave it out

# Rows may meet others in a key.

sql
INSERT INTO authors (name) VALUES ('Joyce'), ('Poe') ON CONFLICT (name) DO NOTHING RETURNING name;
INSERT INTO books (isbn, net) VALUES ('1', 5), ('6', 5)
ON CONFLICT (isbn) DO UPDATE SET net = books.net + EXCLUDED.net RETURNING isbn, net
--
name
----
Poe
(1 row, epoch 4)
isbn |   net
-----+------
   1 | 15.00
   6 |  5.00
(2 rows, epoch 5)

sql
MERGE INTO books USING (VALUES ('1', 0), ('6', 7), ('7', 8)) AS new (isbn, net) ON books.isbn = new.isbn
WHEN MATCHED AND new.net = 0 THEN DELETE
WHEN MATCHED THEN UPDATE SET net = new.net
WHEN NOT MATCHED THEN INSERT (isbn, author, net) VALUES (new.isbn, 2, new.net)
RETURNING isbn, net
--
isbn |   net
-----+------
   1 | 15.00
   6 |  7.00
   7 |  8.00
(3 rows, epoch 6)

# With an author go their books.

sql
DELETE FROM authors WHERE name = 'Woolf';
SELECT isbn, author FROM books ORDER BY isbn
--
DELETE 1, epoch 7
isbn | author
-----+-------
   2 |      2
   6 |   NULL
   7 |      2
(3 rows, epoch 7)

changes shelf since=3
--
epoch | diff | name  | books | worth
------+------+-------+-------+------
    5 |   -1 | Woolf |     2 | 32.10
    5 |   +1 | Woolf |     2 | 37.45
    6 |   -1 | Joyce |     1 | 10.70
    6 |   +1 | Joyce |     2 | 19.26
    6 |   +1 | Woolf |     1 | 21.40
    6 |   -1 | Woolf |     2 | 37.45
    7 |   -1 | Woolf |     1 | 21.40

# A foreign key is judged when the epoch ends, so the order inside of a block does not matter.

sql
CREATE TABLE notes (isbn TEXT REFERENCES books, note TEXT);
BEGIN;
INSERT INTO notes VALUES ('9', 'read it');
INSERT INTO books (isbn) VALUES ('9');
COMMIT
--
CREATE TABLE, epoch 7
BEGIN, epoch 8
INSERT 1, epoch 8
INSERT 1, epoch 8
COMMIT, epoch 8

sql
DELETE FROM books WHERE isbn = '9'
--
409 foreign_key_violated: table books cannot lose isbn = 9: table notes refers to it by constraint notes_isbn_fkey
at statement 0
hint: delete the rows of notes first, or declare ON DELETE CASCADE

