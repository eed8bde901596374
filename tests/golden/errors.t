# Errors, or what is said when something is wrong, and where.

sql
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer TEXT, amount NUMERIC(8, 2));
INSERT INTO orders VALUES (1, 'Ann', 10)
--
CREATE TABLE, epoch 0
INSERT 1, epoch 1

# Names that are not there. The statement is counted from 0, line and column from 1.

sql
SELECT count(*) FROM orders;
SELECT count(*) FROM order_s
--
422 unknown_table: no table or view "order_s"
at statement 1, line 2, column 22
hint: did you mean orders?

sql
CREATE VIEW big AS
SELECT id, amuont FROM orders
--
422 unknown_column: unknown column "amuont"
at statement 0, line 2, column 12
hint: did you mean orders.amount?

# Text that is no SQL, and SQL that cannot be kept up to date.

sql
SELECT id FROM orders WHERE
--
400 syntax_error: syntax error at or near "WHERE"
at statement 0, line 1, column 23
hint: an expression is missing

sql
CREATE VIEW lucky AS SELECT id, random() AS ticket FROM orders
--
422 unsupported_sql: RANDOM() is not deterministic, so a view over it cannot be maintained
at statement 0, line 1, column 33
hint: write the value as a constant, or keep it in a table

sql
CREATE TABLE parts (id INTEGER, name TEXT COLLATE "C")
--
422 unsupported_sql: COLLATE on column name is not supported
at statement 0, line 1, column 43
hint: use NOT NULL, DEFAULT, GENERATED, PRIMARY KEY, UNIQUE, CHECK or FOREIGN KEY

# Values that do not fit.

sql
INSERT INTO orders VALUES (2, 'Bob', 12345678.90)
--
422 invalid_value: column amount: "12345678.90" is not a valid NUMERIC(8, 2): out of range
at statement 0

sql
INSERT INTO orders (id, amount) VALUES (2, 'a lot')
--
422 invalid_value: column amount: could not convert string "a lot" to DECIMAL(8,2)
at statement 0

sql
INSERT INTO orders VALUES (2, 'Bob', 1, 'x')
--
422 invalid_query: 4 values for 3 columns
at statement 0, line 1, column 28

delta orders
{"insert": {"id": 2, "customer": "Bob", "amount": "1.00"}}
{"insert": {"id": "three", "customer": "Cem", "amount": "2.00"}}
--
422 invalid_value: line 2: column id: "three" is not a valid BIGINT

# What the state forbids. Nothing of the request was applied.

sql
INSERT INTO orders VALUES (1, 'Bob', 5)
--
409 key_exists: change 0 inserts a key that table orders has already: id = 1
at statement 0
hint: use upsert, or in SQL INSERT ... ON CONFLICT, to replace the row

delta orders
{"insert": {"id": 7, "customer": "Dia", "amount": "1.00"}}
{"delete": {"id": 8}}
--
409 row_not_found: change 1 deletes a row that table orders does not have: id = 8

read orders
--
id | customer | amount
---+----------+-------
 1 | Ann      |  10.00
(1 row, epoch 1)

# A row that fails in a view fails that view, and no other, until the row is gone.

sql
CREATE VIEW shares AS SELECT id, 100 / (amount - 10)::integer AS share FROM orders
--
CREATE VIEW, epoch 1

sql
SELECT * FROM shares
--
409 view_has_errors: view shares has errors at epoch 1: division by zero: 100 // 0
at statement 0
hint: use errors=skip to read the other rows; the view heals when the failing rows are gone

sql
UPDATE orders SET amount = 30 WHERE id = 1;
SELECT * FROM shares
--
UPDATE 1, epoch 2
id | share
---+------
 1 |     5
(1 row, epoch 2)

# What is read by a view stays.

sql
DROP TABLE orders
--
409 in_use: table orders is read by shares
at statement 0
hint: drop shares first

